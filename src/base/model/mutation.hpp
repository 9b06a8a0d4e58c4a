// One operation of a protocol made weaker, chosen by its place in the source: that some test then fails shows that its
// memory order is needed. weaken.py goes through all places.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <source_location>
#include <string>
#include <tuple>

namespace weir::model {

// What of an operation has a memory order. A compare-exchange has two. Fences come last.
enum class part : std::uint8_t { load, store, modify, success, failure, fence, light_fence, heavy_fence };

// Which operations tests came to, with the memory order that each asked for.
class places {
 public:
  void note(const std::source_location& where, part p, std::memory_order order) {
    seen_.emplace(where.file_name(), where.line(), where.column(), p, order);
  }
  // A line for each: "sched/deque.hpp:127:30 load seq_cst".
  std::string text() const;

 private:
  std::set<std::tuple<const char*, std::uint_least32_t, std::uint_least32_t, part, std::memory_order>> seen_;
};

struct mutation {
  // From such a line, with the order to take instead; a fence that is relaxed does nothing. Empty: none.
  static mutation parse(const std::string& text);

  bool is_at(const std::source_location& place, part p) const {
    return place.line() == line && place.column() == column && p == what && is_in(place.file_name());
  }
  bool is_in(const char* path) const;

  std::string file;  // from the folder behind src/ or include/ on
  std::uint_least32_t line = 0, column = 0;
  part what{};
  std::memory_order order{};
};

}  // namespace weir::model
