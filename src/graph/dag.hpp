// A graph as arrays: for every task the tasks before it, or after it. What aggregation and runs of bulk graphs work on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weir::graphs {

using index = std::uint32_t;

// For every task a list of others; the arrays are somebody else's.
struct lists {
  const std::size_t* begin = nullptr;
  const std::size_t* end = nullptr;
  const index* item = nullptr;

  std::size_t size(index t) const { return end[t] - begin[t]; }
  std::span<const index> of(index t) const { return {item + begin[t], size(t)}; }
};

// The same with arrays of its own.
struct own_lists {
  std::vector<std::size_t> offset{0};  // one more than tasks
  std::vector<index> item;

  lists view() const { return {offset.data(), offset.data() + 1, item.data()}; }
};

// From the tasks before each to the tasks after each. The lists descend, so that the last one is the nearest: what runs
// next should be what lies next in memory. O(tasks + edges).
own_lists transposed(const lists& before, std::size_t tasks);

// Whether every task's number is larger than those before it: then 0, 1, 2, ... is a topological order.
bool is_ascending(const lists& before, std::size_t tasks);

// An order in which every task comes after those before it (Kahn, 1962). Shorter than the number of tasks exactly if there
// is a cycle. O(tasks + edges).
std::vector<index> topological_order(const lists& before, const lists& after, std::size_t tasks);

// The tasks of a cycle, each before the next; there must be one. `order`: what topological_order returned.
std::vector<index> find_cycle(const lists& before, const std::vector<index>& order, std::size_t tasks);

// "a cycle of 3 tasks: task 1 -> task 2 -> task 7 -> task 1", with long ones shortened.
std::string cycle_text(const std::vector<index>& cycle, const auto& name_of) {
  constexpr std::size_t most_named = 10;
  std::string text =
      "a cycle of " + std::to_string(cycle.size()) + (cycle.size() == 1 ? " task: " : " tasks: ") + name_of(cycle[0]);
  for (std::size_t i = 1; i < cycle.size(); i++)
    if (i < most_named || i + 1 == cycle.size()) text += (i >= most_named ? " -> ... -> " : " -> ") + name_of(cycle[i]);
  return text + " -> " + name_of(cycle[0]);
}

}  // namespace weir::graphs
