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
  // That has no place yet: nobody knows better than that it will be spread.
  void add_unplaced(std::uint64_t bytes) { add_to(unplaced_, bytes); }
  std::uint64_t unplaced() const { return unplaced_.load(std::memory_order_relaxed); }
  void task_done() { add_to(tasks_, 1); }
  std::uint64_t tasks() const { return tasks_.load(std::memory_order_relaxed); }
  void forget() {
    for (auto& b : bytes_) b.store(0, std::memory_order_relaxed);
    tasks_.store(0, std::memory_order_relaxed);
    unplaced_.store(0, std::memory_order_relaxed);
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
  // What lies on nodes beyond their shares is more than half of what it would be if all lay on the one that has most. So
  // much others would read from afar for ever, if no worker is to be idle.
  bool is_uneven() const {
    const heaviest h = most();
    return h.node >= 0 && beyond_shares() > (1 - share_[static_cast<std::size_t>(h.node)]) / 2;
  }

 private:
  // Of all bytes.
  double beyond_shares() const {
    const auto spread = static_cast<double>(unplaced());
    double all = spread, beyond = 0;
    for (const auto& b : bytes_) all += static_cast<double>(b.load(std::memory_order_relaxed));
    for (std::size_t n = 0; n < bytes_.size() && all > 0; n++) {
      const double there = static_cast<double>(bytes_[n].load(std::memory_order_relaxed)) + spread * share_[n];
      beyond += std::max(0.0, there / all - share_[n]);
    }
    return beyond;
  }
  static void add_to(atomic<std::uint64_t>& to, std::uint64_t n) {
    to.store(to.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::vector<double> share_;
  std::vector<atomic<std::uint64_t>> bytes_;
  atomic<std::uint64_t> tasks_{0}, unplaced_{0};
};

}  // namespace weir::place
