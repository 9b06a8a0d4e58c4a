// Who is how far from whom: what a machine with workers looks like to those who send tasks and to those who steal.
#pragma once

#include "machine/machine.hpp"

#include <cstdint>
#include <vector>

namespace weir::sched {

inline constexpr int max_distance_classes = 16;

// Workers are 0 .. workers() - 1. The machine must outlive it.
class neighbourhood {
 public:
  // `node_of_worker[i]`: node index of worker i.
  neighbourhood(const machine::description&, std::vector<int> node_of_worker);

  int workers() const { return static_cast<int>(node_of_worker_.size()); }
  int nodes() const { return machine_.node_count(); }
  int node_of(int worker) const { return node_of_worker_[static_cast<std::size_t>(worker)]; }
  const std::vector<int>& workers_of(int node) const { return workers_of_node_[static_cast<std::size_t>(node)]; }
  bool has_worker(int node) const { return node >= 0 && node < nodes() && !workers_of(node).empty(); }

  // 0: the same node.
  int distance_class(int from, int to) const {
    return class_[static_cast<std::size_t>(from) * static_cast<std::size_t>(nodes()) + static_cast<std::size_t>(to)];
  }
  // As the firmware tells them, by class.
  const std::vector<double>& distances() const { return distances_; }

  // Other nodes with workers, nearest first.
  const std::vector<int>& others(int node) const { return others_[static_cast<std::size_t>(node)]; }
  // Whom a worker of that node robs: by level, nearest first; level 0 are those of its own node.
  using levels = std::vector<std::vector<int>>;
  const levels& victims(int worker, int node) const {
    return asked_.empty() || worker >= workers() ? victims_[static_cast<std::size_t>(node)]
                                                 : asked_[static_cast<std::size_t>(worker)];
  }
  // In an order of somebody else's, by worker: then each of other nodes is a level of its own.
  void set_victims(const std::vector<std::vector<int>>& by_worker);

 private:
  void classify_distances();
  void order_victims();
  void order_nodes();

  const machine::description& machine_;
  const std::vector<int> node_of_worker_;
  std::vector<std::vector<int>> workers_of_node_;
  std::vector<double> distances_;
  std::vector<std::uint8_t> class_;  // nodes x nodes
  std::vector<levels> victims_;      // by node
  std::vector<levels> asked_;        // by worker, if anybody has set them
  std::vector<std::vector<int>> others_;
};

}  // namespace weir::sched
