// Regions of interest: what was counted between a begin and an end. Regions have numbers, may overlap, and may run many
// times.
#pragma once

#include "counters.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::emulator {

inline constexpr int max_regions = 256;
// The region that is the whole program, from before it starts until after it has ended.
inline constexpr int whole_program = 255;

// One run of one region.
struct region_report {
  int number = 0;
  int run = 0;                  // from 0
  bool complete = true;         // false: still open when the program ended
  std::uint64_t begin_ps = 0, end_ps = 0;
  totals counted;
};

// Not thread safe: begins and ends are rare, and their caller holds a lock.
class regions {
 public:
  bool open(int number) const { return runs_[index(number)].begun.has_value(); }
  bool any_open() const { return open_count_ > 0; }
  // Open regions, ascending.
  std::vector<int> open_numbers() const;

  // Does nothing if it is open: several threads may mark the same region.
  void begin(int number, std::uint64_t now_ps, totals so_far);
  // Nothing if it is not open.
  std::optional<region_report> end(int number, std::uint64_t now_ps, const totals& so_far, bool complete = true);

 private:
  struct start {
    std::uint64_t ps;
    totals counted;
  };
  struct state {
    std::optional<start> begun;
    int run = 0;
  };
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }

  std::array<state, max_regions> runs_;
  int open_count_ = 0;
};

// One line of JSON, and back; from text throws std::exception if it is none of ours.
std::string to_text(const region_report& report);
region_report report_from_text(const std::string& text);

}  // namespace weir::emulator
