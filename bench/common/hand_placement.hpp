// What a programmer who knows the machine says about a task: the node it is to run on (`--annotate`).
#pragma once

#include <weir/weir.hpp>

#include <cstddef>

namespace weir::bench {

// Parts of a problem, numbered so that neighbours belong together, as evenly over the workers as their number allows.
// Whoever is told of a part wishes for its worker's node; without annotations nobody wishes for anything.
class hand_placement {
 public:
  hand_placement() = default;
  hand_placement(const runtime& rt, bool annotate) : rt_(annotate ? &rt : nullptr) {}

  placement of(std::size_t part, std::size_t parts) const {
    if (rt_ == nullptr) return {};
    const std::size_t worker = part * static_cast<std::size_t>(rt_->workers()) / parts;
    return prefer(rt_->node_of_worker(static_cast<int>(worker)));
  }

 private:
  const runtime* rt_ = nullptr;
};

}  // namespace weir::bench
