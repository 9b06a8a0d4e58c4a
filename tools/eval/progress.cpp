// One line, overwritten.
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace weir::tools {

eval_progress::eval_progress(const std::vector<run_group>& groups, const std::function<double(const run_group&)>& seconds_of) : terminal_(::isatty(STDERR_FILENO) == 1), groups_(groups.size()) {
  for (const run_group& g : groups) {
    const double seconds = seconds_of(g);
    if (seconds <= 0 && !g.left_out.empty()) {
      groups_--;
      continue;
    }
    if (seconds > 0) done_++, measured_ += seconds, expected_ += g.expected_seconds;
    else left_ += g.expected_seconds;
  }
}

void eval_progress::begin(const run_group& g) {
  name_ = g.experiment;
  for (const auto& [key, value] : g.fields)
    if (key == "kernel" || key == "name") name_ += " " + value;
  results_ = 0;
  current_expected_ = g.expected_seconds;
  began_ = std::chrono::steady_clock::now();
  show();
}

void eval_progress::printed() {
  results_++;
  show();
}

void eval_progress::end(const run_group& g, double seconds, bool measured) {
  done_++;
  left_ -= g.expected_seconds;
  current_expected_ = 0;
  if (measured) measured_ += seconds, expected_ += g.expected_seconds;
}

double eval_progress::seconds_left() const {
  const double pace = expected_ > 0 ? measured_ / expected_ : 1;
  const double spent = current_expected_ > 0 ? std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count() : 0;
  return std::max(left_ - current_expected_, 0.0) * pace + std::max(current_expected_ * pace - spent, 0.0);
}

void eval_progress::show() {
  if (!terminal_) return;
  fmt::print(stderr, "\r\033[K[{}/{}] {}{}, {} left", done_ + 1, groups_, name_, results_ == 0 ? "" : fmt::format(", {} result{}", results_, results_ == 1 ? "" : "s"), duration_text(seconds_left()));
  std::fflush(stderr);
  shown_ = true;
}

void eval_progress::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("about {:.0f} s", seconds);
  return seconds < 5400 ? fmt::format("about {:.0f} min", seconds / 60) : fmt::format("about {:.1f} h", seconds / 3600);
}

}  // namespace weir::tools
