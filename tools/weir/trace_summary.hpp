// What a trace sums up to.
#pragma once

#include "trace_file.hpp"
#include "trace_one_sided.hpp"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir::tools {

// Durations, counted in classes that grow by 1/32: medians are right to 2 %, in memory that does not grow with their number.
class duration_counts {
 public:
  void add(std::uint64_t ns) { counts_[class_of(ns)]++; }
  double median() const;  // ns

 private:
  static std::uint32_t class_of(std::uint64_t ns);
  static double middle_of(std::uint32_t index);
  std::map<std::uint32_t, std::uint64_t> counts_;
};

struct task_totals {
  std::uint64_t count = 0, total_ns = 0, longest_ns = 0, local = 0, bytes = 0, stolen = 0, pushed = 0, failed = 0, skipped = 0;
  duration_counts durations;
  void add(const trace_task&);
  // Share of bytes on the executing worker's node; none if there were no bytes.
  std::optional<double> locality() const { return bytes == 0 ? std::nullopt : std::optional(static_cast<double>(local) / static_cast<double>(bytes)); }
};

struct worker_totals {
  // Busy: in tasks, and not asleep in one that waits. Asleep: from the first task's begin to the last one's end.
  std::uint64_t tasks = 0, busy_ns = 0, asleep_ns = 0, stolen = 0, pushed = 0;
};

// The longest chain of tasks each of which depends on the one before: no number of workers makes the run shorter. Each
// with its own time, without that of tasks that ran while it waited.
struct critical_path {
  std::uint64_t ns = 0, tasks = 0;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> by_name;  // tasks, ns
};

class trace_summary {
 public:
  // Reads the file; 40 bytes of memory a task, for the critical path; 16 more for each time nobody ran one.
  explicit trace_summary(const std::string& path);

  const trace_about& about() const { return about_; }
  std::uint64_t begin_ns() const { return first_; }  // of the first task
  std::uint64_t span_ns() const { return last_ > first_ ? last_ - first_ : 0; }  // to the end of the last
  const task_totals& all() const { return all_; }
  const std::map<std::string, task_totals>& by_name() const { return by_name_; }
  const std::vector<worker_totals>& workers() const { return workers_; }
  // Tasks taken from a worker (steals) or sent by one (pushes), node to node: [from][to]. Row `nodes`: from threads of
  // the program.
  const std::vector<std::vector<std::uint64_t>>& steals() const { return steals_; }
  const std::vector<std::vector<std::uint64_t>>& pushes() const { return pushes_; }
  critical_path longest_path() const;
  const work_by_worker& work() const { return work_; }

 private:
  struct step {
    std::uint64_t end = 0, path_ns = 0;  // of the longest path that ends with the task
    std::uint32_t name = 0;
    std::int32_t before_worker = -1;     // the task before it on that path
    std::uint64_t before_end = 0, own_ns = 0;
  };
  void begin(const trace_about&);
  void add(const trace_task&);
  void add(const trace_sleep&);
  void extend_path(const trace_task&, std::uint64_t own_ns);
  // What of this was not spent in tasks or asleep while the task waited.
  struct slice {
    std::uint64_t begin, ns;
  };
  std::uint64_t without_nested(int worker, std::uint64_t begin, std::uint64_t end, bool nested);
  std::vector<std::vector<slice>> nested_;  // by worker: those whose outer task has not come yet
  work_by_worker work_;
  std::vector<std::uint64_t> asleep_in_tasks_;  // by worker
  std::vector<std::vector<std::pair<std::uint64_t, std::uint64_t>>> sleeps_;  // by worker: begin and end of the others
  const step* find(int worker, std::uint64_t end) const;
  std::uint32_t index_of(std::string_view name);

  trace_about about_;
  std::uint64_t first_ = ~std::uint64_t{0}, last_ = 0;
  task_totals all_;
  std::map<std::string, task_totals> by_name_;
  std::vector<worker_totals> workers_;
  std::vector<std::vector<std::uint64_t>> steals_, pushes_;
  std::vector<std::vector<step>> steps_;  // by worker, in order of end
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> index_of_name_;
  int longest_worker_ = -1;
  std::uint64_t longest_end_ = 0, longest_ns_ = 0;
};

}  // namespace weir::tools
