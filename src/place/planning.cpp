// A window as a graph: a vertex for each task, and one for each node, which is fixed there and has the bytes as edges
// that lie on it.
#include "place/planning.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

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

// Deals work out in the order in which it comes, to each node its share in one piece.
class in_pieces {
 public:
  in_pieces(const std::vector<double>& capacity, double work)
      : capacity_(capacity), unit_(work / std::accumulate(capacity.begin(), capacity.end(), 0.0)),
        end_(capacity.front() * unit_) {}
  int node_for(std::uint64_t cost) {
    const double middle = done_ + static_cast<double>(cost) / 2;
    while (node_ + 1 < capacity_.size() && middle >= end_) end_ += capacity_[++node_] * unit_;
    done_ += static_cast<double>(cost);
    return static_cast<int>(node_);
  }

 private:
  const std::vector<double>& capacity_;
  const double unit_;
  double end_, done_ = 0;
  std::size_t node_ = 0;
};

double sum_of(const std::vector<std::uint64_t>& all) { return std::accumulate(all.begin(), all.end(), 0.0); }

}  // namespace

// The graph of a window, and divisions of it: tried, simulated, compared.
class planning::divisions {
 public:
  divisions(const planning& by, const task_window& w)
      : by_(by), w_(w), tasks_(w.size()), nodes_(by.onto_.capacity.size()), cost_(w.cost_ns()), order_(tasks_ + nodes_) {
    cost_.resize(tasks_ + nodes_, 0);
    edges_.reserve(w.links().size() + w.bonds().size());
    for (const task_window::link& l : w.links()) edges_.push_back({l.from, l.to, l.bytes});
    for (const task_window::bond& b : w.bonds()) edges_.push_back({vertex_of(b.node), b.task, b.bytes});
    after_ = partition::successors_of(cost_.size(), edges_);
    // Nodes first, then tasks as they were created.
    std::iota(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(nodes_), vertex_of(0));
    std::iota(order_.begin() + static_cast<std::ptrdiff_t>(nodes_), order_.end(), partition::vertex{0});
  }

  // Of each task its node.
  std::vector<int> best() {
    try_out(followed());
    if (is_worth_another(passes_of_refinement)) try_out(refined(part_));
    if (is_worth_another(passes_of_division)) try_out(divided());
    part_.resize(tasks_);
    return std::move(part_);
  }

 private:
  // What they take, in ns an edge, on a server of today, roughly: who divides for longer than that gains loses.
  static constexpr double passes_of_refinement = 300, passes_of_division = 1000;
  static constexpr double good_enough = 0.03;

  partition::vertex vertex_of(int node) const {
    return static_cast<partition::vertex>(tasks_ + static_cast<std::size_t>(node));
  }

  void try_out(std::vector<int> part) {
    const double ns = simulated(by_.onto_, part, by_.cost_of_byte_);
    if (!part_.empty() && ns >= ns_) return;
    part_ = std::move(part);
    ns_ = ns;
  }
  double simulated(const partition::target& onto, const std::vector<int>& part, double cost_of_byte) const {
    return partition::schedule(after_, order_, cost_, onto, part, cost_of_byte).length;
  }
  // Whether what there is to gain is more than it takes. The most that there is: no worker ever waits for a part's
  // tasks, and all that is read lies at home.
  bool is_worth_another(double ns_an_edge) {
    if (bound_ns_ == 0) {
      partition::target one = partition::equal_parts(1);
      one.capacity[0] = std::accumulate(by_.onto_.capacity.begin(), by_.onto_.capacity.end(), 0.0);
      bound_ns_ = simulated(one, std::vector<int>(cost_.size(), 0), 0);
    }
    return ns_ - bound_ns_ * (1 + by_.imbalance_ + good_enough) > ns_an_edge * static_cast<double>(edges_.size());
  }

  // Each task where most bytes are that it uses, those of tasks before it included; where that is less than half of
  // what it names, in pieces, as the tasks come.
  std::vector<int> followed() const {
    std::vector<int> part(tasks_ + nodes_);
    std::iota(part.begin() + static_cast<std::ptrdiff_t>(tasks_), part.end(), 0);
    in_pieces others(by_.onto_.capacity, sum_of(w_.cost_ns()));
    std::vector<std::uint64_t> bytes(nodes_);
    auto l = w_.links().begin();
    auto b = w_.bonds().begin();
    for (std::size_t i = 0; i < tasks_; i++) {
      std::fill(bytes.begin(), bytes.end(), 0);
      for (; l != w_.links().end() && l->to == i; ++l) bytes[static_cast<std::size_t>(part[l->from])] += l->bytes;
      for (; b != w_.bonds().end() && b->task == i; ++b) bytes[static_cast<std::size_t>(b->node)] += b->bytes;
      const auto most = std::max_element(bytes.begin(), bytes.end());
      const auto node = static_cast<int>(most - bytes.begin());
      const bool has_workers = by_.onto_.capacity[static_cast<std::size_t>(node)] > 0;
      const int piece = others.node_for(w_.cost_ns()[i]);
      part[i] = has_workers && 2 * *most >= w_.bytes()[i] ? node : piece;
    }
    return part;
  }
  partition::options options() const {
    partition::options o;
    o.onto = by_.onto_;
    o.imbalance = by_.imbalance_;
    o.seed = by_.seed_;
    o.fixed.assign(tasks_ + nodes_, partition::anywhere);
    std::iota(o.fixed.begin() + static_cast<std::ptrdiff_t>(tasks_), o.fixed.end(), 0);
    return o;
  }
  std::vector<int> refined(const std::vector<int>& part) const {
    partition::options o = options();
    o.initial = part;
    return by_.with_->partition(partition::make_graph(cost_, edges_), o).part;
  }
  std::vector<int> divided() const {
    partition::options o = options();
    o.initial.assign(tasks_ + nodes_, partition::anywhere);
    for (std::size_t i = 0; i < tasks_; i++) o.initial[i] = w_.node(i);
    return partition::divide_in_time(*by_.with_, cost_, edges_, o, by_.cost_of_byte_).part;
  }

  const planning& by_;
  const task_window& w_;
  const std::size_t tasks_, nodes_;
  std::vector<std::uint64_t> cost_;
  std::vector<partition::edge> edges_;
  partition::successors after_;
  std::vector<partition::vertex> order_;
  std::vector<int> part_;  // the best so far
  double ns_ = 0, bound_ns_ = 0;
};

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
  const std::vector<int> part = divisions(*this, w).best();
  for (std::size_t i = 0; i < w.size(); i++) w.place(i, part[i]);
  if (how_ == how::once) over_.store(!w.links().empty(), std::memory_order_relaxed);
  if (w.size() > overlap_) w.keep_from(w.size() - overlap_);
}

// Tasks that have nothing in common, and nothing with what lies somewhere: those that are created one after the other
// are mostly neighbours in what comes.
void planning::deal_in_order(task_window& w) const {
  in_pieces dealt(onto_.capacity, sum_of(w.cost_ns()));
  for (std::size_t i = 0; i < w.size(); i++) w.place(i, dealt.node_for(w.cost_ns()[i]));
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
