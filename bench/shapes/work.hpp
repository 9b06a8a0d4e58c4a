// What a task does: it reads a word of every line of what it reads, computes for a while, and writes a word of every
// line of what it writes. What it writes depends on what it read, on the order of that, and on the task's number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace weir::bench::shapes {

using word = std::uint64_t;
inline constexpr std::size_t words_of_line = 8;

// What a microsecond of computation is: an iteration has 5 instructions, and `weir emulate` counts 0.25 ns for each.
// On a CPU of some 3 GHz it takes about as long.
inline constexpr std::uint64_t iterations_of_us = 800;

void compute_for(std::uint64_t iterations);

inline word mixed(word x) {
  x = (x ^ x >> 32) * 0x9e3779b97f4a7c15u;
  return x ^ x >> 29;
}

// Adds memory to a value: other memory, or the same in another order, gives another value.
inline word reading(word value, std::span<const word> memory) {
  for (std::size_t i = 0; i < memory.size(); i += words_of_line) value = value * 6364136223846793005u + memory[i];
  return value;
}
template <class Group>
  requires(!std::is_convertible_v<const Group&, std::span<const word>>)
word reading(word value, const Group& group) {
  for (std::size_t i = 0; i < group.size(); i++) value = reading(value, std::span<const word>(group[i]));
  return value;
}

inline void writing(word value, std::span<word> memory) {
  for (std::size_t i = 0; i < memory.size(); i += words_of_line) memory[i] = value + i;
}
inline void writing(word, std::span<const word>) {}
template <class Group>
  requires(!std::is_convertible_v<const Group&, std::span<const word>>)
void writing(word value, const Group& group) {
  for (std::size_t i = 0; i < group.size(); i++) writing(value + mixed(i), group[i]);
}

// The body of a task with accesses. One that produces does not read what it writes; one that updates does.
template <bool Updates>
struct body {
  word number;
  std::uint64_t iterations;

  template <class... Views>
  void operator()(const Views&... views) const {
    word value = number;
    ((value = added(value, views)), ...);
    compute_for(iterations);
    (writing(mixed(value), views), ...);
  }

 private:
  template <class View>
  static word added(word value, const View& view) {
    if constexpr (!Updates && writable<View>()) return value;
    else return reading(value, view);
  }
  template <class View>
  static constexpr bool writable() {
    if constexpr (std::is_convertible_v<const View&, std::span<word>>) return true;
    else if constexpr (std::is_convertible_v<const View&, std::span<const word>>) return false;
    else return std::is_convertible_v<decltype(std::declval<const View&>()[0]), std::span<word>>;
  }
};

}  // namespace weir::bench::shapes
