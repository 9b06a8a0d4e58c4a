// T(n): subtrees, of an order that puts them one behind the other, as nested dissection and all postorders do: first the rows
// of one part, then those of the other, then those that separate them. Such a part is a range of tasks that wait for none
// outside of it; one worker can do it from its first task to its last, as a sequential program would. What separates parts
// stays as it is, for the next algorithm: F shares it out level by level.
//
// The ranges nest. `open_` are the largest found so far that are not in another one, from left to right: the next task joins
// all that it depends on, and what lies between them.
//
// No cycle: aggregates are ranges of a topological order, so edges lead from one to a later one.
#include "graph/aggregate.hpp"

#include <algorithm>

namespace weir::graphs {
namespace {

class subtree_search {
 public:
  subtree_search(const coarse_input& in, std::size_t most) : in_(in), most_(most), begins_(in.tasks, 0) {
    if (in.order.empty()) return;
    position_.resize(in.tasks);
    for (std::size_t i = 0; i < in.tasks; i++) position_[in.order[i]] = static_cast<index>(i);
  }

  partition result() {
    for (std::size_t i = 0; i < in_.tasks; i++) add(i);
    for (const range& r : open_) cut(r);
    partition p{std::vector<index>(in_.tasks), 0};
    for (std::size_t i = 0; i < in_.tasks; i++) {
      p.count += begins_[i];
      p.of[in_.at(i)] = static_cast<index>(p.count - 1);
    }
    return p;
  }

 private:
  // From here to where the next one begins, or the tasks end.
  struct range {
    std::size_t begin;
    bool is_large;  // has more tasks than an aggregate may have, and is cut up already
  };

  // Position of the first task that this one waits for; its own if it waits for none.
  std::size_t first_before(std::size_t position) const {
    std::size_t first = position;
    for (index b : in_.before.of(in_.at(position))) first = std::min<std::size_t>(first, position_.empty() ? b : position_[b]);
    return first;
  }
  void cut(const range& r) {
    if (!r.is_large) begins_[r.begin] = 1;
  }

  void add(std::size_t at) {
    const std::size_t first = first_before(at);
    std::size_t begin = at, joined = open_.size();
    while (begin > first) begin = open_[--joined].begin;
    const bool is_large = at + 1 - begin > most_;
    if (is_large) {
      std::for_each(open_.begin() + static_cast<std::ptrdiff_t>(joined), open_.end(), [&](const range& r) { cut(r); });
      begins_[at] = 1;
    }
    open_.resize(joined);
    open_.push_back({begin, is_large});
  }

  const coarse_input& in_;
  const std::size_t most_;
  std::vector<index> position_;       // in the topological order; empty: a task's number
  std::vector<std::uint8_t> begins_;  // by position: whether an aggregate begins there
  std::vector<range> open_;
};

}  // namespace

partition aggregate_subtrees(const coarse_input& in, std::size_t most_tasks) {
  return subtree_search(in, most_tasks).result();
}

}  // namespace weir::graphs
