// Whether the memory that tasks use lies where a few of the workers are: what auto watches.
#pragma once

#include "base/base.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weir::place {

// Bytes by node, of tasks that were looked at. By any thread, at any time; two that add at once may lose one task.
class concentration {
 public:
  // `workers`: of each node.
  explicit concentration(std::vector<double> workers) : share_(std::move(workers)), bytes_(share_.size()) {
    double all = 0;
    for (const double w : share_) all += w;
    for (double& w : share_) w /= all;
  }
  void add(std::uint64_t bytes, int node) { add_to(bytes_[static_cast<std::size_t>(node)], bytes); }
  void task_done() { add_to(tasks_, 1); }
  std::uint64_t tasks() const { return tasks_.load(std::memory_order_relaxed); }
  void forget() {
    for (auto& b : bytes_) b.store(0, std::memory_order_relaxed);
    tasks_.store(0, std::memory_order_relaxed);
  }

  struct heaviest {
    int node = -1;
    double of_all = 0;  // bytes
  };
  heaviest most() const {
    heaviest h;
    double all = 0, most = 0;
    for (std::size_t n = 0; n < bytes_.size(); n++) {
      const auto b = static_cast<double>(bytes_[n].load(std::memory_order_relaxed));
      all += b;
      if (b <= most) continue;
      most = b;
      h.node = static_cast<int>(n);
    }
    h.of_all = all > 0 ? most / all : 0;
    return h;
  }
  // One node has more than twice its share, or, where that is most of it, more than halfway between its share and all:
  // its workers would need half as long again, or more, if all tasks ran where their memory is.
  bool is_uneven() const {
    const heaviest h = most();
    if (h.node < 0) return false;
    const double fair = share_[static_cast<std::size_t>(h.node)];
    return h.of_all > std::min(2 * fair, (1 + fair) / 2);
  }

 private:
  static void add_to(atomic<std::uint64_t>& to, std::uint64_t n) {
    to.store(to.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::vector<double> share_;
  std::vector<atomic<std::uint64_t>> bytes_;
  atomic<std::uint64_t> tasks_{0};
};

}  // namespace weir::place
