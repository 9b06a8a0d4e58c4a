// Distances become classes; nodes and workers are listed by them.
#include "sched/neighbourhood.hpp"

#include <algorithm>
#include <utility>

namespace weir::sched {

neighbourhood::neighbourhood(const machine::description& m, std::vector<int> node_of_worker)
    : machine_(m),
      node_of_worker_(std::move(node_of_worker)),
      workers_of_node_(static_cast<std::size_t>(m.node_count())) {
  for (int w = 0; w < workers(); w++) workers_of_node_[static_cast<std::size_t>(node_of(w))].push_back(w);
  classify_distances();
  order_victims();
  order_nodes();
  if (!distances_.empty()) distances_[0] = 10;  // the node itself, in the firmware's scale
}

void neighbourhood::classify_distances() {
  const auto distance = [&](int a, int b) { return a == b ? 0 : machine_.distance_between(a, b); };
  for (int a = 0; a < nodes(); a++)
    for (int b = 0; b < nodes(); b++) distances_.push_back(distance(a, b));
  std::sort(distances_.begin(), distances_.end());
  distances_.erase(std::unique(distances_.begin(), distances_.end()), distances_.end());
  // Machines with more distances than we count apart: the farthest ones share the last class.
  if (distances_.size() > max_distance_classes) distances_.resize(max_distance_classes);
  for (int a = 0; a < nodes(); a++)
    for (int b = 0; b < nodes(); b++) {
      const auto at = std::lower_bound(distances_.begin(), distances_.end(), distance(a, b));
      const auto index =
          at == distances_.end() ? distances_.size() - 1 : static_cast<std::size_t>(at - distances_.begin());
      class_.push_back(static_cast<std::uint8_t>(index));
    }
}

void neighbourhood::order_victims() {
  victims_.assign(static_cast<std::size_t>(nodes()), levels(distances_.size()));
  for (int node = 0; node < nodes(); node++)
    for (int w = 0; w < workers(); w++)
      victims_[static_cast<std::size_t>(node)][static_cast<std::size_t>(distance_class(node, node_of(w)))].push_back(
          w);
}

void neighbourhood::order_nodes() {
  others_.resize(static_cast<std::size_t>(nodes()));
  for (int from = 0; from < nodes(); from++) {
    std::vector<int>& others = others_[static_cast<std::size_t>(from)];
    for (int to = 0; to < nodes(); to++)
      if (to != from && has_worker(to)) others.push_back(to);
    std::stable_sort(others.begin(), others.end(),
                     [&](int a, int b) { return distance_class(from, a) < distance_class(from, b); });
  }
}

void neighbourhood::set_victims(const std::vector<std::vector<int>>& by_worker) {
  for (std::size_t w = 0; w < by_worker.size(); w++) {
    levels& of = asked_.emplace_back(1);
    for (const int victim : by_worker[w])
      if (node_of(victim) == node_of(static_cast<int>(w))) of[0].push_back(victim);
      else of.push_back({victim});
  }
}

}  // namespace weir::sched
