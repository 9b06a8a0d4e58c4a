// How evenly the memory of data lies, where it moves with the tasks that update it.
#pragma once

#include "memory/memory.hpp"

#include <weir/policy.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weir::place {

// By any thread. Memory is that of all versions; what is counted may be off by 64 KiB a thread
// (memory::pools::count_precision_bytes), and be negative.
class data_balance {
 public:
  // `ns_per_byte`: what it takes longer to read a byte from elsewhere, nodes x nodes, [from][to].
  data_balance(const memory::pools& memory, const policy_machine& m, const std::vector<double>& ns_per_byte)
      : memory_(memory),
        precision_(static_cast<double>(m.node_of_worker.size() * memory::pools::count_precision_bytes)) {
    const auto all = static_cast<double>(m.node_of_worker.size());
    for (int from = 0; from < m.nodes; from++) {
      one n{static_cast<double>(std::count(m.node_of_worker.begin(), m.node_of_worker.end(), from)) / all, 0};
      for (int to = 0; to < m.nodes; to++)
        if (m.has_worker[static_cast<std::size_t>(to)])
          n.farthest_ns_per_byte =
              std::max(n.farthest_ns_per_byte, ns_per_byte[static_cast<std::size_t>(from * m.nodes + to)]);
      nodes_.push_back(n);
    }
  }

  // False if there are no data.
  bool holds_as_much(int node, int as_node) const {
    return memory_.live_bytes() != 0 && memory_.live_bytes(node) >= memory_.live_bytes(as_node);
  }
  // Of data of this size on `node`, which tasks like `ops` update: the share that belongs there. 1, unless the node
  // holds more than its workers' share of all data, by more than their counts may be off, and such a task brings them
  // to wherever it runs; then that share over what the node holds.
  //
  // Short tasks cost no look at the counters, which change as data come and go, every 64 KiB.
  double belonging(std::uint64_t bytes, int node, const detail::task_ops& ops) const {
    if (node < 0) return 1;
    const one& n = nodes_[static_cast<std::size_t>(node)];
    const double bring_ns = static_cast<double>(bytes) * n.farthest_ns_per_byte;
    if (ops.typical_ns.load(std::memory_order_relaxed) < bring_ns || bring_ns == 0) return 1;
    const auto held = static_cast<double>(memory_.live_bytes(node));
    const double fair = n.share * static_cast<double>(memory_.live_bytes());
    return fair <= 0 || held - fair <= precision_ ? 1 : fair / held;
  }

 private:
  struct one {
    double share;                 // of all workers
    double farthest_ns_per_byte;  // from where there are workers
  };
  const memory::pools& memory_;
  const double precision_;  // of a node's count, in bytes
  std::vector<one> nodes_;
};

}  // namespace weir::place
