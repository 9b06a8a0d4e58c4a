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
  recursion,  // of one repetition, with one worker and with two; and what a call takes
};

// What a recursion computes. The size: of a tree, the levels below its root; of fib its argument; of an integral
// where it ends; of queens the length of the board's side.
enum class recursion : std::uint8_t { none, tree, fib, integrate, queens };

struct row {
  std::string_view name;
  std::string_view title;  // {} stands for the size; of a tree, for its number of leaves
  std::string_view unit;
  double ns_per_unit;
  kind what;
  std::uint64_t size, quick_size;  // 0: the row has none
  recursion computes = recursion::none;
  unsigned children = 0;           // of an inner node of a tree
  unsigned elements_a_stage = 0;   // of a pipeline, such as those of the row `loops`
};
std::span<const row> rows();

// Elements of each of the loops in the row `loops`, and how long an element takes.
inline constexpr std::uint64_t elements_of_loops = 1000;
inline constexpr double ns_of_element = 10;

// Loops in the row `triad`.
inline constexpr int triads = 8;

// Leaves of a tree.
std::uint64_t leaves_of(std::uint64_t children, std::uint64_t levels);

// Calls of a recursion. Takes as long as the recursion itself.
std::uint64_t calls_of(const row&, std::uint64_t size);

}  // namespace weir::bench::from_main
