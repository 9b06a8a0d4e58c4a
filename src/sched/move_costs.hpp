// What it costs to run a task on another node than the one where it waits.
#pragma once

#include "sched/ready_task.hpp"

#include <weir/policy.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weir::sched {

class move_costs {
 public:
  explicit move_costs(const policy_machine& m) : nodes_(static_cast<std::size_t>(m.nodes)) {
    for (int from = 0; from < m.nodes; from++)
      for (int to = 0; to < m.nodes; to++)
        ns_per_byte_.push_back(std::max(0.0, m.read(to, from) - m.read(from, from)) / policy_machine::line_bytes);
  }

  const std::vector<double>& ns_per_byte() const { return ns_per_byte_; }  // [from][to]
  double ns_per_byte(int from, int to) const {
    return ns_per_byte_[static_cast<std::size_t>(from) * nodes_ + static_cast<std::size_t>(to)];
  }
  // In ns, beyond what it costs to run the task on `from`.
  double of(task_hint hint, int from, int to) const {
    return static_cast<double>(hint.bytes()) * ns_per_byte(from, to);
  }

 private:
  const std::size_t nodes_;
  std::vector<double> ns_per_byte_;  // nodes x nodes, [from][to]
};

}  // namespace weir::sched
