// What is being run, how far it is, and an estimate of the time left: a line on a terminal, nothing in a pipe.
#pragma once

#include "plan.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace weir::tools {

class eval_progress {
 public:
  // seconds_of: what a group took that was run before, 0 if it was not.
  eval_progress(const std::vector<run_group>& groups, const std::function<double(const run_group&)>& seconds_of);
  ~eval_progress() { clear(); }
  eval_progress(const eval_progress&) = delete;
  eval_progress& operator=(const eval_progress&) = delete;

  void begin(const run_group& g);
  void printed();                    // one more result of this group
  void end(const run_group& g, double seconds, bool measured);
  void clear();
  // Seconds until all is done: what is left by the files' own figures, times what this machine took against them so far.
  double seconds_left() const;

 private:
  void show();

  bool terminal_, shown_ = false;
  std::size_t groups_, done_ = 0, results_ = 0;
  double measured_ = 0, expected_ = 0, left_ = 0;   // seconds: of finished groups, measured and by the file; of the others
  std::string name_;
  double current_expected_ = 0;
  std::chrono::steady_clock::time_point began_;
};

// "about 12 min", "about 40 s"
std::string duration_text(double seconds);

}  // namespace weir::tools
