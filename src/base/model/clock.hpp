// Vector clocks, and what one event passes on to another that synchronises with it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace weir::model {

inline constexpr int max_threads = 8;  // of one test, the main one included

// How many events of each thread are known. Event number c of thread t is known iff clock[t] >= c; events count from 1.
struct vector_clock {
  std::array<std::uint16_t, max_threads> count{};

  std::uint16_t& operator[](int thread) { return count[static_cast<std::size_t>(thread)]; }
  std::uint16_t operator[](int thread) const { return count[static_cast<std::size_t>(thread)]; }

  void join(const vector_clock& other) {
    for (std::size_t i = 0; i < count.size(); i++) count[i] = std::max(count[i], other.count[i]);
  }
  bool covers(const vector_clock& other) const {
    for (std::size_t i = 0; i < count.size(); i++)
      if (count[i] < other.count[i]) return false;
    return true;
  }
};

// What a thread knows. happened: events that happen before; decides what is a data race. view: these, and events that
// are ordered before by seq_cst fences; decides which stores are too old to be read. view always covers happened.
struct knowledge {
  vector_clock happened;
  vector_clock view;

  void join(const knowledge& other) {
    happened.join(other.happened);
    view.join(other.view);
  }
};

}  // namespace weir::model
