// Reading the traces that weir writes, event by event: docs/tracing.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::tools {

// What "otherData" says.
struct trace_about {
  std::string policy, machine, chosen;
  int nodes = 0, workers = 0;
  std::uint64_t tasks = 0, tasks_lost = 0, run_ns = 0;
  std::vector<int> worker_nodes;                                     // by worker
  std::vector<std::vector<std::uint64_t>> bytes_read, bytes_written; // node of the worker, node of the memory
};

// Worker and time of ending in ns.
struct trace_task_id {
  int worker = 0;
  std::uint64_t end = 0;
};

struct trace_task {
  std::string_view name;  // until the next event
  int worker = 0;
  std::uint64_t begin = 0, end = 0;  // ns
  trace_task_id id;
  int node = 0, home = -1;           // -1: none
  std::uint64_t read_local = 0, read_remote = 0, write_local = 0, write_remote = 0;
  enum class origin { own, stolen, pushed } from = origin::own;
  int from_worker = -1;              // -1: a thread of the program
  bool nested = false, required = false, failed = false, skipped = false;
  std::vector<trace_task_id> after;

  std::uint64_t local() const { return read_local + write_local; }
  std::uint64_t bytes() const { return local() + read_remote + write_remote; }
};

struct trace_sleep {
  int worker = 0;
  std::uint64_t begin = 0, end = 0;
  bool nested = false;
};

// Bytes in version buffers on a node, or in those of a kind that lies on several nodes: then node is -1.
struct trace_buffers {
  int node = -1;
  std::string_view name;
  std::uint64_t time = 0, bytes = 0;
};

// Called in the order of the file, which is that of ending; a task comes after every task it depends on.
struct trace_handlers {
  std::function<void(const trace_about&)> about;  // first
  std::function<void(const trace_task&)> task;
  std::function<void(const trace_sleep&)> sleep;
  std::function<void(const trace_buffers&)> buffers;
};

// Some 100 MB a second, with memory for one event. Throws bench::input_error for a file that is empty, ends early, is no
// trace of weir's or one of another version.
void read_trace(const std::string& path, const trace_handlers&);

// "12.3 us": three digits, and a unit that suits.
std::string time_text(double ns);

}  // namespace weir::tools
