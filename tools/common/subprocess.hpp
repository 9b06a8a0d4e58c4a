// Runs a program and collects what it prints.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace weir::tools {

struct finished_process {
  int status = 0;          // exit status, or 128 + the signal that ended it
  bool timed_out = false;  // it was killed
  std::string output, errors;
};

// Runs arguments[0] without a shell. `input`: what it reads. Throws std::system_error if it cannot be started.
finished_process run_process(const std::vector<std::string>& arguments, std::chrono::milliseconds limit,
                             const std::string& input = {});

}  // namespace weir::tools
