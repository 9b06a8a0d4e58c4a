// One line on a terminal that says what is running now.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>

namespace weir::tools {

class run_progress {
 public:
  explicit run_progress(std::size_t total) : total_(total), terminal_(::isatty(STDERR_FILENO) == 1) {}
  ~run_progress() { clear(); }
  run_progress(const run_progress&) = delete;
  run_progress& operator=(const run_progress&) = delete;

  void next(const std::string& what) {
    done_++;
    if (!terminal_) return;
    fmt::print(stderr, "\r\033[K[{}/{}] {}", done_, total_, what);
    shown_ = true;
  }
  void clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
  }

 private:
  std::size_t total_, done_ = 0;
  bool terminal_, shown_ = false;
};

}  // namespace weir::tools
