// Whether one worker did nearly all while others were idle, and what a trace tells of why.
#pragma once

#include "trace_file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::tools {

struct critical_path;

// Of one worker or several.
struct work_totals {
  std::uint64_t tasks = 0, ns = 0, required_ns = 0, read_local = 0, read_remote = 0;
  void add(const work_totals&);
};

struct one_sided_run {
  int worker = -1, node = -1;  // who did nearly all; no worker: a node's; neither: all of them, one at a time
  double share = 0;            // of the time in tasks; one at a time: of the time in which any ran
  std::string reason;          // as weir::name_of(), or "one task"; empty: the trace does not tell
  std::string text;            // two sentences, on three lines
};

class work_by_worker {
 public:
  void begin(const trace_about&);
  // `own_ns`: its time without that of tasks that ran while it waited.
  void add(const trace_task&, std::uint64_t own_ns);
  std::optional<one_sided_run> one_sided(const critical_path&) const;
  std::uint64_t ns() const { return all().ns; }

 private:
  struct span {
    std::uint64_t begin, end;
  };
  struct why {
    std::string reason, what, advice;
  };
  // Stretches in which some worker ran tasks.
  struct stretches {
    std::uint64_t count = 0, ns = 0;
  };
  work_totals all() const;
  work_totals of_node(int node) const;
  bool alone_on_node(int worker) const;
  std::optional<one_sided_run> who() const;
  why reason(const one_sided_run&, const work_totals&, const critical_path&) const;
  stretches stretches_apart(std::uint64_t gap_ns) const;

  int nodes_ = 0;
  std::vector<int> worker_nodes_;
  std::vector<work_totals> workers_;
  std::vector<span> busy_;  // when tasks ran, without overlaps, in order
  std::uint64_t longest_ns_ = 0;
  std::string longest_;
};

}  // namespace weir::tools
