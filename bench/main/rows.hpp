// What is measured, as data: the rows of the table, shared by the programs and the command that runs them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weir::bench::from_main {

// Where the measured code is: main() itself, or a task that main() has started.
enum class place : std::uint8_t { main, task };
std::string_view name_of(place);

enum class kind : std::uint8_t {
  once,      // nanoseconds of one repetition
  element,   // of one repetition, divided by the size
  overhead,  // of one repetition, and how much more than the serial program's they are
  tree,      // of one repetition, with one worker and with two; the size is the number of levels below the root
};

struct row {
  std::string_view name;
  std::string_view title;  // {} stands for the size; of a tree, for its number of leaves
  std::string_view unit;
  double ns_per_unit;
  kind what;
  std::uint64_t size, quick_size;  // 0: the row has none
  unsigned children = 0;           // of an inner node of a tree
};
std::span<const row> rows();

// Elements of each of the loops in the row `loops`, and how long an element takes.
inline constexpr std::uint64_t elements_of_loops = 1000;
inline constexpr double ns_of_element = 10;

// Loops in the row `triad`.
inline constexpr int triads = 8;

// Leaves of a tree.
std::uint64_t leaves_of(std::uint64_t children, std::uint64_t levels);

}  // namespace weir::bench::from_main
