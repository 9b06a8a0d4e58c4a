// A window as a graph: a vertex for each task, and one for each node, which is fixed there and has the bytes as edges
// that lie on it.
#include "place/planning.hpp"

#include <algorithm>
#include <numeric>

namespace weir::place {
namespace {

constexpr double line_bytes = 64;

// What reading costs more than at home, as the mean of both directions, in units of the nearest; and that unit in ns a
// byte.
double distances_of(const policy_machine& m, std::vector<double>& distance) {
  double nearest = 0;
  for (int a = 0; a < m.nodes; a++)
    for (int b = 0; b < m.nodes; b++) {
      const double more = a == b ? 0 : (m.read(a, b) - m.read(a, a) + m.read(b, a) - m.read(b, b)) / 2;
      distance.push_back(std::max(more, 0.0));
      if (more > 0 && (nearest == 0 || more < nearest)) nearest = more;
    }
  for (double& d : distance) d = nearest > 0 ? d / nearest : 0;
  if (nearest == 0) distance.clear();  // all are as far: a cut costs a cache miss
  return nearest / line_bytes;
}



}  // namespace

planning::planning(policy_parameters& p, how h)
    : how_(h),
      window_(p.count("window", 4096, 2, 10'000'000, "tasks that are seen together before they run")),
      overlap_(h == how::again ? p.count("overlap", window_ / 4, 0, window_ - 1,
                                         "of those, the last ones, which the next window has, too")
                               : 0),
      imbalance_(p.number("imbalance", 0.05, 0, 10, "how much more than its share a node may get; 0.05 is 5 %")),
      seed_(p.count("seed", 1, 0, 1'000'000'000'000, "of partitioning, and of choices between equals")),
      with_(partition::make_partitioner(p.word("with", partition::partitioner_names(), "the partitioner"))) {}

void planning::begin(const policy_machine& m) {
  onto_.capacity.assign(static_cast<std::size_t>(m.nodes), 0);
  for (const int n : m.node_of_worker) onto_.capacity[static_cast<std::size_t>(n)]++;
  cost_of_byte_ = distances_of(m, onto_.distance);
}

void planning::divide(task_window& w) {
  if (w.links().empty() && w.bonds().empty()) return deal_in_order(w);
  divide_by_graph(w);
  if (how_ == how::once) over_.store(!w.links().empty(), std::memory_order_relaxed);
  if (w.size() > overlap_) w.keep_from(w.size() - overlap_);
}

// Tasks that have nothing in common, and nothing with what lies somewhere: those that are created one after the other
// are mostly neighbours in what comes.
void planning::deal_in_order(task_window& w) const {
  const double work = std::accumulate(w.cost_ns().begin(), w.cost_ns().end(), 0.0);
  const double capacity = std::accumulate(onto_.capacity.begin(), onto_.capacity.end(), 0.0);
  double done = 0, share = onto_.capacity[0] / capacity * work;
  int node = 0;
  for (std::size_t i = 0; i < w.size(); i++) {
    const double middle = done + static_cast<double>(w.cost_ns()[i]) / 2;
    while (node + 1 < onto_.parts() && middle >= share)
      share += onto_.capacity[static_cast<std::size_t>(++node)] / capacity * work;
    w.place(i, node);
    done += static_cast<double>(w.cost_ns()[i]);
  }
}

void planning::divide_by_graph(task_window& w) {
  const std::size_t tasks = w.size(), nodes = onto_.capacity.size();
  std::vector<std::uint64_t> cost = w.cost_ns();
  cost.resize(tasks + nodes, 0);
  std::vector<partition::edge> edges;
  edges.reserve(w.links().size() + w.bonds().size());
  for (const task_window::link& l : w.links()) edges.push_back({l.from, l.to, l.bytes});
  for (const task_window::bond& b : w.bonds())
    edges.push_back({static_cast<partition::vertex>(tasks + static_cast<std::size_t>(b.node)), b.task, b.bytes});
  partition::options o;
  o.onto = onto_;
  o.imbalance = imbalance_;
  o.seed = seed_;
  o.fixed.assign(tasks + nodes, partition::anywhere);
  std::iota(o.fixed.begin() + static_cast<std::ptrdiff_t>(tasks), o.fixed.end(), 0);
  o.initial.assign(tasks + nodes, partition::anywhere);
  for (std::size_t i = 0; i < tasks; i++) o.initial[i] = w.node(i);
  const partition::timely_division d = partition::divide_in_time(*with_, cost, edges, o, cost_of_byte_);
  for (std::size_t i = 0; i < tasks; i++) w.place(i, d.part[i]);
}

policy::wish planning::as_planned(const task_view& task, int node) {
  std::uint64_t written = 0, unplaced = 0;
  flow::for_each_output(user_memory_of(task), &task.frame(), [&](std::uint64_t bytes, int at) {
    written += bytes;
    unplaced += at == detail::node_unknown ? bytes : 0;
  });
  return {node, 2 * unplaced > written};
}

}  // namespace weir::place
