// Divisions of whole programs: by number of bands, and for each by several seeds.
#include <bench/partition/bound.hpp>

#include "partition/partition.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weir::bench {
namespace {

using namespace partition;
using task_graph = partition::graph;  // weir::graph is another one

constexpr double line_bytes = 64;
// Numbers of bands, and what is good enough, are those of src/partition/in_time.cpp.
constexpr std::uint32_t numbers_of_bands[] = {1, 4, 16, 64, 256};
constexpr double good_enough = 0.03;

// What a byte costs from another node more than at home, as the mean of both directions.
double more_ns_per_byte(const policy_machine& m, int a, int b) {
  return std::max(0.0, (m.read(a, b) - m.read(a, a) + m.read(b, a) - m.read(b, b)) / 2 / line_bytes);
}

double nearest_ns_per_byte(const policy_machine& m) {
  double nearest = 0;
  for (int a = 0; a < m.nodes; a++)
    for (int b = 0; b < a; b++)
      if (const double more = more_ns_per_byte(m, a, b); more > 0 && (nearest == 0 || more < nearest)) nearest = more;
  return nearest;
}

target target_of(const policy_machine& m) {
  target t;
  t.capacity.assign(static_cast<std::size_t>(m.nodes), 0);
  for (const int n : m.node_of_worker) t.capacity[static_cast<std::size_t>(n)]++;
  const double nearest = nearest_ns_per_byte(m);
  for (int a = 0; nearest > 0 && a < m.nodes; a++)
    for (int b = 0; b < m.nodes; b++) t.distance.push_back(a == b ? 0 : more_ns_per_byte(m, a, b) / nearest);
  return t;
}

// What it takes to read at home all that a task names, as policies assume of one none of which has run; in tenths of
// nanoseconds, so that tasks of a few bytes differ.
constexpr double units_per_ns = 10;
std::vector<std::uint64_t> costs_of(const whole_program& p, const policy_machine& m) {
  double line_ns = m.read(0, 0);
  for (int n = 1; n < m.nodes; n++) line_ns = std::min(line_ns, m.read(n, n));
  std::vector<std::uint64_t> cost;
  for (const std::uint64_t bytes : p.bytes)
    cost.push_back(std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::llround(static_cast<double>(bytes) * line_ns / line_bytes * units_per_ns))));
  return cost;
}

std::vector<edge> edges_of(const whole_program& p) {
  std::vector<edge> edges;
  for (const task_window::link& l : p.links) edges.push_back({l.from, l.to, l.bytes});
  return edges;
}

std::unique_ptr<partitioner> slowest_partitioner() {
  const std::vector<std::string> names = partitioner_names();
  const bool has_scotch = std::find(names.begin(), names.end(), "scotch") != names.end();
  return make_partitioner(has_scotch ? slowest_scotch : std::string_view());
}

}  // namespace

class offline_bound::search {
 public:
  search(const whole_program& p, const policy_machine& m, how h)
      : how_(h), with_(slowest_partitioner()), name_(with_->name()), cost_(costs_of(p, m)), edges_(edges_of(p)),
        after_(successors_of(cost_.size(), edges_)), order_(order_of(after_)), depth_(depth_of(after_, order_)),
        whole_(make_graph(cost_, edges_)), cost_of_byte_(nearest_ns_per_byte(m) * units_per_ns) {
    for (const edge& e : edges_) all_bytes_ += static_cast<double>(e.bytes);
    options_.onto = target_of(m);
    options_.imbalance = h.imbalance;
    for (const std::uint32_t bands : numbers_of_bands) {
      task_graph g = whole_;
      g.bands = cut_into_bands(depth_, cost_, bands, g.band);
      if (!divisions_.empty() && g.bands <= divisions_.back().bands) break;  // the graph has no more depths
      divisions_.push_back(divide(g));
    }
    choose();
  }

  const std::string& name() const { return name_; }
  const std::vector<offline_division>& divisions() const { return divisions_; }
  const offline_division& best() const { return divisions_[best_]; }
  double all_bytes() const { return all_bytes_; }
  bytes_between looked_at(std::span<const int> node) const {
    const figures f = measure(whole_, options_.onto, node);
    const timetable t = schedule(after_, order_, cost_, options_.onto, node, cost_of_byte_);
    return {f.cut_bytes, f.distant_bytes, f.imbalance.empty() ? 0 : f.imbalance[0], t.efficiency(),
            t.length / units_per_ns};
  }

 private:
  offline_division divide(const task_graph& g) {
    division fewest;
    for (int s = 1; s <= how_.seeds; s++) {
      options_.seed = static_cast<std::uint64_t>(s);
      division d = with_->partition(g, options_);
      if (fewest.part.empty() || d.measured.distant_bytes < fewest.measured.distant_bytes) fewest = std::move(d);
    }
    return {looked_at(fewest.part), g.bands};
  }
  void choose() {
    double earliest = divisions_.front().length_ns;
    for (const offline_division& d : divisions_) earliest = std::min(earliest, d.length_ns);
    const auto is_early = [&](const offline_division& d) { return d.length_ns <= earliest * (1 + good_enough); };
    bool any = false;
    for (std::size_t i = 0; i < divisions_.size(); i++) {
      if (!is_early(divisions_[i])) continue;
      if (!any || divisions_[i].cut_bytes < best().cut_bytes) best_ = i;
      any = true;
    }
  }

  const how how_;
  const std::unique_ptr<partition::partitioner> with_;
  const std::string name_;
  const std::vector<std::uint64_t> cost_;
  const std::vector<edge> edges_;
  const successors after_;
  const std::vector<vertex> order_;
  const std::vector<std::uint32_t> depth_;
  const task_graph whole_;     // without bands
  const double cost_of_byte_;  // at distance 1
  options options_;
  double all_bytes_ = 0;
  std::vector<offline_division> divisions_;
  std::size_t best_ = 0;
};

offline_bound::offline_bound(const whole_program& p, const policy_machine& m, how h)
    : search_(std::make_unique<search>(p, m, h)) {}
offline_bound::~offline_bound() = default;
const std::string& offline_bound::partitioner() const { return search_->name(); }
const std::vector<offline_division>& offline_bound::divisions() const { return search_->divisions(); }
const offline_division& offline_bound::best() const { return search_->best(); }
double offline_bound::all_bytes() const { return search_->all_bytes(); }
bytes_between offline_bound::of_run(std::span<const int> node) const { return search_->looked_at(node); }

}  // namespace weir::bench
