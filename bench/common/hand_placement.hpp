// What a programmer who knows the machine says about a task: the node it is to run on (`--annotate`).
#pragma once

#include <weir/weir.hpp>

#include <cstddef>

namespace weir::bench {

// Parts of a problem, numbered so that neighbours belong together, as evenly over the workers as their number allows.
// Without annotations nobody is told anything.
class hand_placement {
 public:
  hand_placement() = default;
  hand_placement(const runtime& rt, bool annotate) : rt_(annotate ? &rt : nullptr) {}

  // Of a task that works on a part: it should run on the part's node, and may be stolen.
  placement of(std::size_t part, std::size_t parts) const {
    return rt_ == nullptr ? placement() : prefer(node_of(part, parts));
  }
  // Of the task that writes it first: there and nowhere else, because that is where its pages stay.
  placement home_of(std::size_t part, std::size_t parts) const {
    return rt_ == nullptr ? placement() : require(node_of(part, parts));
  }

 private:
  int node_of(std::size_t part, std::size_t parts) const {
    return rt_->node_of_worker(static_cast<int>(part * static_cast<std::size_t>(rt_->workers()) / parts));
  }

  const runtime* rt_ = nullptr;
};

}  // namespace weir::bench
