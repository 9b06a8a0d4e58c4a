// A task goes to the node from which its inputs are cheapest to read, and those without inputs to the nodes in turn:
// what local does, and auto where it has no plan. policies/local.cpp says where that is from. What is to leave an
// overfull node counts less (by_inputs.cpp).
#pragma once

#include "place/dealing.hpp"
#include "place/place.hpp"
#include "place/turns.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::place {

class near_inputs {
 public:
  explicit near_inputs(policy_parameters&);  // threshold and stride

  void begin(const policy_machine&);
  policy::wish place(const task_view&, const policy::asker&);

 private:
  policy::wish spread(const task_view&, const policy::asker&);
  int node_of_creator(const policy::asker&) const;
  int turn(int thread, std::size_t first);

  const std::uint64_t push_threshold_bytes_;
  const std::uint32_t stride_;
  const policy_machine* machine_ = nullptr;
  std::vector<int> order_;                 // the nodes in turn
  std::vector<std::size_t> go_of_worker_;  // where in it its node's go begins
  turns turns_;
  dealing dealing_;
};

}  // namespace weir::place
