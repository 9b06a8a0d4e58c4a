// Reading what several logs hold as one sequence.
#pragma once

#include "trace/log.hpp"

#include <string>
#include <vector>

namespace weir::trace {

// Who looks at the records. A task is seen after every task it depends on.
class visitor {
 public:
  virtual ~visitor() = default;
  virtual void task(int worker, const std::string& name, const task_record&, const std::uint64_t* edges) = 0;
  virtual void sleep(int worker, const sleep_record&) = 0;
  virtual void buffers(const buffers_record&) = 0;
};

// All records in order of their ends; logs are empty afterwards. Memory: what the logs hold, and a chunk of each that was
// written to the spill file. Returns how many chunks could not be read back.
std::size_t merge(common&, const std::vector<log*>&, visitor&);

}  // namespace weir::trace
