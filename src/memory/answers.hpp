// Answers that hold until something has changed: kept and found by any thread, without a lock.
#pragma once

#include "base/base.hpp"
#include "memory/pools.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::memory {

// How often what answers are about has changed, and 1. Who looks, to keep an answer, reads it before; who changes
// something adds to it behind. So an answer that has the present count says what who reads that would find.
template <class Atomics = real_atomics>
class change_count {
 public:
  std::uint64_t now() const { return count_.load(std::memory_order_acquire); }
  void note_change() { count_.fetch_add(1, std::memory_order_release); }

 private:
  typename Atomics::template atomic<std::uint64_t> count_{1};
};

// Nodes by name, each as of a count of changes. An entry is two words: what is said, and that and the name combined by
// exclusive or. Halves of two entries, which one may see while others write, are nobody's name: Hyatt and Mann, A
// lock-less transposition table implementation for parallel search chess engines, ICGA Journal 25 (1), 2002.
template <class Atomics = real_atomics>
class answer_set {
 public:
  // The node that was kept under this name at this count; place_unknown: none was.
  int find(std::uint64_t name, std::uint64_t count) const {
    for (const entry& e : entries_) {
      const std::uint64_t said = e.said.load(std::memory_order_relaxed);
      if (e.is_of(name, said)) return said >> node_bits == count ? static_cast<int>(said & most_nodes) : place_unknown;
    }
    return place_unknown;
  }

  // In the place of one of the same name, or of one that is out of date, or of any.
  void keep(std::uint64_t name, int node, std::uint64_t count) {
    entry* chosen = nullptr;
    for (entry& e : entries_) {
      const std::uint64_t said = e.said.load(std::memory_order_relaxed);
      const bool same = e.is_of(name, said);
      if (same || (chosen == nullptr && said >> node_bits != count)) chosen = &e;
      if (same) break;
    }
    if (chosen == nullptr) chosen = &entries_[name % entries_.size()];
    const std::uint64_t said = count << node_bits | static_cast<std::uint64_t>(node);
    chosen->said.store(said, std::memory_order_relaxed);
    chosen->combined.store(said ^ name, std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned node_bits = 16;
  static constexpr std::uint64_t most_nodes = (std::uint64_t{1} << node_bits) - 1;
  // Zeros are an empty one, for there is no count 0.
  struct entry {
    typename Atomics::template atomic<std::uint64_t> said{0}, combined{0};
    bool is_of(std::uint64_t name, std::uint64_t says) const {
      return (combined.load(std::memory_order_relaxed) ^ says) == name;
    }
  };
  std::array<entry, 4> entries_;
};

}  // namespace weir::memory
