// Bytes per node, and the node from which they are cheapest to reach: what the push rules share. On any number of nodes:
// what most machines need lies inside, the rest is allocated when a task comes that touches more.
#pragma once

#include <weir/policy.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace weir::place {

// Weighted bytes by node (Drebes et al., PACT 2016, section 2.3, Algorithm 1, lines 5-21).
class byte_tally {
 public:
  void add(std::uint64_t bytes, int node, double weight) {
    total_ += bytes;
    if (node < 0 || bytes == 0) return;  // not placed yet, or spread: counts for the threshold only
    const auto n = static_cast<std::int16_t>(node);
    for (int i = 0; i < used_; i++)
      if (entries_[static_cast<std::size_t>(i)].node == n) {
        entries_[static_cast<std::size_t>(i)].weight += weight * static_cast<double>(bytes);
        return;
      }
    if (used_ == inside) return add_beyond(n, weight * static_cast<double>(bytes));
    entries_[static_cast<std::size_t>(used_++)] = {n, weight * static_cast<double>(bytes)};
  }
  std::uint64_t total_bytes() const { return total_; }

  // The node with the lowest sum of weight times access cost, of those that have a worker; ties go to the activating
  // worker's own node `own`. O(nodes x nodes touched). `here` if nothing is placed.
  int cheapest_node(const policy_machine& m, int own, bool writes) const {
    if (used_ == 0) return policy::here;
    int best = policy::here;
    double lowest = 0;
    const auto cost_from = [&](int from) {
      double sum = 0;
      for (int i = 0; i < used_; i++) {
        const auto& e = entries_[static_cast<std::size_t>(i)];
        sum += e.weight * (writes ? m.write(from, e.node) : m.read(from, e.node));
      }
      if (beyond_ != nullptr) [[unlikely]]
        for (const entry& e : *beyond_) sum += e.weight * (writes ? m.write(from, e.node) : m.read(from, e.node));
      return sum;
    };
    if (own >= 0 && m.has_worker[static_cast<std::size_t>(own)]) {
      best = own;
      lowest = cost_from(best);
    }
    for (int n = 0; n < m.nodes; n++) {
      if (!m.has_worker[static_cast<std::size_t>(n)] || n == own) continue;
      const double cost = cost_from(n);
      if (best == policy::here || cost < lowest) {
        best = n;
        lowest = cost;
      }
    }
    return best;
  }

 private:
  struct entry {
    std::int16_t node;
    double weight;
  };
  [[gnu::noinline, gnu::cold]] void add_beyond(std::int16_t node, double weighted) {
    if (beyond_ == nullptr) beyond_ = std::make_unique<std::vector<entry>>();
    for (entry& e : *beyond_)
      if (e.node == node) {
        e.weight += weighted;
        return;
      }
    beyond_->push_back({node, weighted});
  }

  // Fewer and tasks on machines of 24 nodes, which there are, would allocate; more and a tally takes more stack.
  static constexpr int inside = 32;
  std::array<entry, inside> entries_;
  int used_ = 0;
  std::uint64_t total_ = 0;
  std::unique_ptr<std::vector<entry>> beyond_;
};

}  // namespace weir::place
