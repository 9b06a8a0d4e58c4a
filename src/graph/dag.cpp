// Graphs as arrays: turned round, put in order, cycles found.
#include "graph/dag.hpp"

#include <algorithm>

namespace weir::graphs {

own_lists transposed(const lists& before, std::size_t tasks) {
  own_lists after;
  after.offset.assign(tasks + 1, 0);
  for (index t = 0; t < tasks; t++)
    for (index b : before.of(t)) after.offset[b + 1]++;
  for (std::size_t t = 0; t < tasks; t++) after.offset[t + 1] += after.offset[t];
  after.item.resize(after.offset[tasks]);
  // Each list is filled from its front, its offset going along; afterwards every offset is where the next list begins.
  for (std::size_t t = tasks; t-- > 0;)
    for (index b : before.of(static_cast<index>(t))) after.item[after.offset[b]++] = static_cast<index>(t);
  for (std::size_t t = tasks; t > 0; t--) after.offset[t] = after.offset[t - 1];
  after.offset[0] = 0;
  return after;
}

bool is_ascending(const lists& before, std::size_t tasks) {
  for (index t = 0; t < tasks; t++)
    for (index b : before.of(t))
      if (b >= t) return false;
  return true;
}

std::vector<index> topological_order(const lists& before, const lists& after, std::size_t tasks) {
  std::vector<index> left(tasks), order;
  order.reserve(tasks);
  for (index t = 0; t < tasks; t++) {
    left[t] = static_cast<index>(before.size(t));
    if (left[t] == 0) order.push_back(t);
  }
  for (std::size_t done = 0; done < order.size(); done++)
    for (index a : after.of(order[done]))
      if (--left[a] == 0) order.push_back(a);
  return order;
}

// Who is not in the order has one before it that is not: going back from one to the next ends in a cycle.
std::vector<index> find_cycle(const lists& before, const std::vector<index>& order, std::size_t tasks) {
  std::vector<char> ordered(tasks, 0);
  for (index t : order) ordered[t] = 1;
  const auto back = [&](index t) {
    const auto list = before.of(t);
    return *std::find_if(list.begin(), list.end(), [&](index b) { return ordered[b] == 0; });
  };
  index at = static_cast<index>(std::find(ordered.begin(), ordered.end(), 0) - ordered.begin());
  for (std::size_t i = 0; i < tasks; i++) at = back(at);
  std::vector<index> cycle{at};
  for (index t = back(at); t != at; t = back(t)) cycle.push_back(t);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

}  // namespace weir::graphs
