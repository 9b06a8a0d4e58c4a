// How evenly the memory of data lies, where it moves with the tasks that update it.
#pragma once

#include "memory/pools.hpp"

#include <weir/policy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::place {

class data_balance {
 public:
  // `ns_per_byte`: what it takes longer to read a byte from elsewhere, nodes x nodes, [from][to].
  data_balance(const memory::pools& memory, const policy_machine& m, const std::vector<double>& ns_per_byte)
      : memory_(memory), workers_(static_cast<double>(m.node_of_worker.size())) {
    for (int n = 0; n < m.nodes; n++) {
      const auto first = ns_per_byte.begin() + static_cast<std::ptrdiff_t>(n) * m.nodes;
      nodes_.push_back({static_cast<double>(std::count(m.node_of_worker.begin(), m.node_of_worker.end(), n)),
                        *std::max_element(first, first + m.nodes)});
    }
  }

  // To some 64 KiB a thread. False if there are no data.
  bool holds_as_much(int node, int as_node) const {
    return memory_.live_bytes() != 0 && memory_.live_bytes(node) >= memory_.live_bytes(as_node);
  }
  // Of what tasks like `ops` update on `node`, the share that belongs there: 1, unless the node holds more than its
  // workers' share of all data, and such a task brings what it updates to wherever it runs. Two or three loads.
  double belonging(std::uint64_t bytes, int node, const detail::task_ops& ops) const {
    if (node < 0) return 1;
    const one& n = nodes_[static_cast<std::size_t>(node)];
    const double held = static_cast<double>(memory_.live_bytes(node)) * workers_;
    const double fair = static_cast<double>(memory_.live_bytes()) * n.workers;
    if (held <= fair || n.workers == 0) return 1;
    const double bring_ns = static_cast<double>(bytes) * n.farthest_ns_per_byte;
    if (ops.typical_ns.load(std::memory_order_relaxed) < bring_ns) return 1;
    return std::max(0.0, fair) / held;
  }

 private:
  struct one {
    double workers, farthest_ns_per_byte;
  };
  const memory::pools& memory_;
  const double workers_;
  std::vector<one> nodes_;
};

}  // namespace weir::place
