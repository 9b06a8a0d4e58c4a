// Who gets memory of the program's own that no task has written yet: the nodes in turn, and who shares pages the same.
#pragma once

#include "place/place.hpp"
#include "place/turns.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace weir::place {

// A page lies on one node, whoever writes the rest of it. So tasks that begin to write on the same page go to the same
// node, and so do those that write tiles of the same rows of a matrix whose rows are no longer than some pages: blocks
// beside each other share most of these. Only the last pages are remembered: blocks that share one are mostly written
// soon after each other.
class dealing {
 public:
  // 0: it writes none.
  static std::uintptr_t page_of(flow::frame* task) {
    return flow::place_of_written(task, rows_together_bytes) >> page_bits;
  }
  // turn(): the node whose turn it is.
  template <class Turn>
  int node_for(flow::frame* task, Turn&& turn) {
    return node_for(page_of(task), std::forward<Turn>(turn));
  }
  template <class Turn>
  int node_for(std::uintptr_t page, Turn&& turn) {
    if (page == 0) return turn();
    atomic<std::uint64_t>& entry = entries_[(page * 0x9e3779b97f4a7c15u) >> (64 - entry_bits)];
    std::uint64_t known = entry.load(std::memory_order_relaxed);
    if (known >> node_bits == page) return static_cast<int>(known & most_nodes) - 1;
    const int node = turn();
    if (static_cast<std::uint64_t>(node) >= most_nodes) return node;
    const std::uint64_t mine = page << node_bits | static_cast<std::uint64_t>(node + 1);
    // Somebody may have begun with the same page meanwhile.
    if (!entry.compare_exchange_strong(known, mine, std::memory_order_relaxed, std::memory_order_relaxed) &&
         known >> node_bits == page)
      return static_cast<int>(known & most_nodes) - 1;
    return node;
  }

 private:
  // The smallest pages there are. Where they are larger, fewer tasks are taken for neighbours than are.
  static constexpr unsigned page_bits = 12;
  // Longer rows: with many columns of blocks, a few nodes would get all of them. Shorter: blocks on different nodes
  // have rows on the same pages.
  static constexpr std::size_t rows_together_bytes = std::size_t{4} << page_bits;
  static constexpr unsigned node_bits = 16, entry_bits = 10;
  static constexpr std::uint64_t most_nodes = (1u << node_bits) - 1;
  std::array<atomic<std::uint64_t>, std::size_t{1} << entry_bits> entries_{};  // page << node_bits | node + 1
};

}  // namespace weir::place
