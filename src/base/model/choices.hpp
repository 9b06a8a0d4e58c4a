// Where the exploration goes: every decision of a run (which thread next, which store a load reads) is one choice
// among n. A run is the list of its choices and can be repeated from it.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace weir::model {

class choices {
 public:
  enum class mode { exhaustive, random, replay };

  // A depth-first walk over all runs: each run repeats the last one up to its last choice that has an alternative.
  void start_exhaustive();
  // Independent random runs.
  void start_random(std::uint64_t seed);
  // One run, from the text that text() gave. Missing choices are 0.
  void start_replay(const std::string& text);

  // To be called before each run but the first. False: every run has been made.
  bool next_run();

  // 0 <= result < n. `schedule` tells scheduling from other decisions: option 0 of a scheduling choice is "go on with
  // the current thread", which random runs prefer by a degree that differs from run to run.
  int choose(int n, bool schedule);

  mode how() const { return mode_; }
  std::string text() const;

 private:
  struct choice {
    std::uint16_t taken;
    std::uint16_t options;
  };

  int fresh_choice(int n, bool schedule);

  mode mode_ = mode::exhaustive;
  std::vector<choice> path_;
  std::size_t position_ = 0;
  std::mt19937_64 random_;
  unsigned stay_of_16_ = 8;  // probability of going on with the current thread, in sixteenths
};

}  // namespace weir::model
