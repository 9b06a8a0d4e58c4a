// D(m): depth fronts (Rossignon et al., PDSEC 2013, section III.A.3, Algorithm 1).
//
// The algorithm's outer two loops are one queue: what a master leaves is appended to the level after its own, and levels
// are worked off in turn. Its "released" are the tasks all of whose predecessors have been put into some aggregate.
//
// No cycle: when a task is put into an aggregate its predecessors are in this one or in earlier ones.
#include "graph/aggregate.hpp"

#include <algorithm>

namespace weir::graphs {
namespace {

class depth_front {
 public:
  depth_front(const coarse_input& in, const lists& after, std::size_t most) : in_(in), after_(after), most_(most), missing_(in.tasks), p_{std::vector<index>(in.tasks, none), 0} {
    ready_.reserve(in.tasks);
    for (index t = 0; t < in.tasks; t++) missing_[t] = static_cast<index>(in.before.size(t));
    for (std::size_t i = 0; i < in.tasks; i++)
      if (missing_[in.at(i)] == 0) ready_.push_back(in.at(i));
  }

  partition result() {
    for (std::size_t next = 0; next < ready_.size(); next++) aggregate(ready_[next]);
    return std::move(p_);
  }

 private:
  static constexpr index none = 0xffffffffu;

  void aggregate(index master) {
    mine_ = static_cast<index>(p_.count++);
    std::size_t left = most_;
    level_.assign(1, master);
    while (!level_.empty() && left > 0) {
      released_.clear();
      const std::size_t taken = std::min(left, level_.size());
      for (std::size_t i = 0; i < taken; i++) take(level_[i]);
      ready_.insert(ready_.end(), level_.begin() + static_cast<std::ptrdiff_t>(taken), level_.end());
      left -= taken;
      sort_released();
      level_.swap(released_);
    }
    ready_.insert(ready_.end(), level_.begin(), level_.end());
  }

  void take(index t) {
    p_.of[t] = mine_;
    // Nearest first.
    const auto after = after_.of(t);
    for (std::size_t i = after.size(); i-- > 0;)
      if (--missing_[after[i]] == 0) released_.push_back(after[i]);
  }

  // Those with most predecessors in this aggregate first; equal ones as they came.
  void sort_released() {
    if (released_.size() < 2) return;
    keys_.clear();
    for (std::size_t i = 0; i < released_.size(); i++) {
      std::uint32_t inside = 0;
      for (index b : in_.before.of(released_[i])) inside += p_.of[b] == mine_ ? 1 : 0;
      keys_.push_back(static_cast<std::uint64_t>(~inside) << 32 | i);
    }
    if (std::is_sorted(keys_.begin(), keys_.end())) return;
    std::sort(keys_.begin(), keys_.end());
    sorted_.clear();
    for (std::uint64_t k : keys_) sorted_.push_back(released_[k & 0xffffffffu]);
    released_.swap(sorted_);
  }

  const coarse_input& in_;
  const lists& after_;
  const std::size_t most_;
  std::vector<index> missing_;  // predecessors in no aggregate yet
  partition p_;
  std::vector<index> ready_;    // masters, present and future
  index mine_ = 0;
  std::vector<index> level_, released_, sorted_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace

partition aggregate_depth_fronts(const coarse_input& in, const lists& after, std::size_t most_tasks) { return depth_front(in, after, most_tasks).result(); }

}  // namespace weir::graphs
