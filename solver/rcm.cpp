// Reverse Cuthill-McKee: breadth first from a row at the edge, neighbours of few neighbours first, and then backwards.
#include "adjacency.hpp"

#include <algorithm>
#include <vector>

namespace weir::solver::detail {
namespace {

class breadth_first {
 public:
  explicit breadth_first(const adjacency& g) : g_(g), seen_by_(static_cast<std::size_t>(g.rows), 0) {}

  // Appends the rows that can be reached from `root` to `order`, in the order of Cuthill and McKee. Returns the number of
  // levels; last_level() is where the last one begins.
  int walk(index root, array<index>& order) {
    search_++;
    std::size_t at = order.size();
    int levels = 0;
    push(root, order);
    while (at < order.size()) {
      last_level_ = at;
      levels++;
      for (const std::size_t end = order.size(); at < end; at++) {
        const std::size_t first = order.size();
        for (const index j : g_.of(order[at]))
          if (seen_by_[j] != search_) push(j, order);
        std::sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.end(), [this](index a, index b) { return std::pair(g_.degree(a), a) < std::pair(g_.degree(b), b); });
      }
    }
    return levels;
  }
  std::size_t last_level() const { return last_level_; }
  bool seen(index i) const { return seen_by_[i] != 0; }

 private:
  void push(index i, array<index>& order) {
    seen_by_[i] = search_;
    order.push_back(i);
  }

  const adjacency& g_;
  std::vector<index> seen_by_;  // the last search that came here; 0: none
  index search_ = 0;
  std::size_t last_level_ = 0;
};

// More rounds find roots a little farther out; each costs a walk through the component.
constexpr int most_rounds = 8;

// George and Liu: from the farthest level, the row with the fewest neighbours, as long as it gets farther.
void walk_from_the_edge(const adjacency& g, breadth_first& search, index root, array<index>& order) {
  const std::size_t begin = order.size();
  int levels = search.walk(root, order);
  for (int round = 0; round < most_rounds; round++) {
    const auto last = order.begin() + static_cast<std::ptrdiff_t>(search.last_level());
    const index other = *std::min_element(last, order.end(), [&](index a, index b) { return g.degree(a) < g.degree(b); });
    order.resize(begin);
    const int found = search.walk(other, order);
    if (found <= levels) return;
    levels = found;
  }
}

}  // namespace

array<index> rcm(const adjacency& g) {
  array<index> order;
  order.reserve(static_cast<std::size_t>(g.rows));
  breadth_first search(g);
  for (index i = 0; i < g.rows; i++)
    if (!search.seen(i)) walk_from_the_edge(g, search, i, order);
  std::ranges::reverse(order);
  return order;
}

}  // namespace weir::solver::detail
