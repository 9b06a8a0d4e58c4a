// Runs a program whose output is looked at while it comes, and which ends with us.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::tools {

struct watched_program {
  std::vector<std::string> arguments;
  double limit_s = 0;      // 0: none
  std::vector<int> cpus;   // which it may run on; empty: those that we may
};

struct watched_process {
  int status = 0;             // exit status, or 128 + the signal that ended it
  bool timed_out = false;     // it was ended because time was over
  int interrupted = 0;        // the signal that asked us to end; the program was ended for it
  std::string output, errors;
};

// Runs arguments[0], found in PATH if it has no slash, without input. SIGINT, SIGTERM and SIGHUP end it first; so do
// limit_s seconds. line() gets each complete line of either channel. If this process is killed, the program gets
// SIGTERM. Throws std::system_error if it cannot be started.
watched_process run_watched(const watched_program& what, const std::function<void(std::string_view)>& line);

}  // namespace weir::tools
