// The operations of one run, kept to print the way to a failure.
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace weir::model {

using site = std::source_location;

enum class operation : std::uint8_t {
  load, store, read_modify_write, failed_compare, fence, light_fence, heavy_fence, plain_read, plain_write,
  wait, wake, woken, pause, spawn, join, finish
};

struct event {
  int thread = 0;
  operation what{};
  std::memory_order order = std::memory_order_relaxed;
  int location = -1;       // number of the atomic or plain cell, in order of construction; -1: none
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  int newer = 0;           // a load: how many newer stores of the location there were
  site where{};
};

class trace {
 public:
  void clear() { events_.clear(); }
  void add(const event& e) { events_.push_back(e); }
  // One line an event, oldest first; at most the last `limit` of them.
  std::string text(std::size_t limit = 200) const;

 private:
  std::vector<event> events_;
};

// "deque.hpp:95"
std::string to_string(const site& where);

}  // namespace weir::model
