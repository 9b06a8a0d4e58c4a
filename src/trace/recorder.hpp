// One trace: the logs of a runtime's workers, and the file it becomes.
#pragma once

#include "trace/log.hpp"

#include <string>
#include <vector>

namespace weir::trace {

// Of the runtime, for the head of the file.
struct about {
  std::string policy, machine;
  int nodes = 0;
  std::vector<int> worker_nodes;  // by worker
  std::vector<std::vector<int>> worker_cpus;  // that each is bound to, the system's numbers, for names
  bool bound = false;
  std::string chosen;  // by the policy, and why: lines
};

// What a file says about itself: `format` and `version` in "otherData". Readers refuse other versions.
inline constexpr const char* format_name = "weir trace";
inline constexpr int format_version = 1;

class recorder {
 public:
  // `path` may be written at the end. Throws configuration_error if it cannot; leaves no file behind.
  explicit recorder(std::string path, std::size_t most_memory_bytes = default_memory_bytes);

  // A worker's log; called by that worker.
  log& make_log(int worker, int node, int nodes, const memory::pools& buffers, const memory::regions& user_memory);

  // When no worker writes any more: the file, if any task ran. The first recorder of a process to come here gets `path`,
  // the others path.2.json and so on. Throws weir::error; then there is no file, or one
  // without some of the tasks, as the message says. Some 1 us a task.
  void write(const about&);

  // Records beyond this go to a file without a name beside the trace. More: longer runs without writing; less: writing,
  // some 30 ns a task, begins earlier.
  static constexpr std::size_t default_memory_bytes = 256u << 20;

 private:
  const std::string path_;
  common common_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<log>> logs_;
};

}  // namespace weir::trace
