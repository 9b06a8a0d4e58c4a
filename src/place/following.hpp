// Dependence easy placement, for the policies that use it: follow says what it is.
#pragma once

#include "place/dealing.hpp"
#include "place/place.hpp"
#include "place/turns.hpp"

#include <cstdint>
#include <vector>

namespace weir::place {

class following {
 public:
  following(std::uint32_t stride, std::uint64_t seed) : stride_(stride), seed_(seed) {}
  explicit following(policy_parameters&);  // stride and seed

  void begin(const policy_machine&);
  policy::wish place(const task_view&, const policy::asker&);
  // Of a task that was to be on this node, and on what it finds there: that, or the node where most of it lies, if
  // that is twice as much at least.
  int unless_elsewhere(const task_view&, int node) const;

 private:
  int dealt(flow::frame* task, const policy::asker&);
  std::uint32_t chance(int thread, std::uint32_t n);

  const std::uint32_t stride_;
  const std::uint64_t seed_;
  std::vector<int> nodes_;      // that have workers
  std::vector<int> served_by_;  // by node
  turns turns_, asked_;
  dealing dealing_;
};

}  // namespace weir::place
