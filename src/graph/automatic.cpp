// auto: candidates from the graph's shape, and a simulated run of each.
#include "graph/automatic.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <set>

namespace weir::graphs {
namespace {

// Of each aggregate: its tasks, what they wait for in memory, and itself.
std::vector<double> aggregate_costs(const coarse_input& in, const aggregation& a, const run_costs& c) {
  const std::size_t count = a.members.offset.size() - 1;
  std::vector<index> of(in.tasks);
  for (index k = 0; k < count; k++)
    for (index t : a.members.view().of(k)) of[t] = k;
  std::vector<double> cost(count, c.manage_ns);
  for (index k = 0; k < count; k++) {
    index last = a.members.view().of(k)[0];
    double weight = 0;
    std::size_t jumps = 0, handed_on = 0;
    for (index t : a.members.view().of(k)) {
      weight += in.weight_of(t);
      jumps += t - last > 1 ? 1 : 0;
      last = t;
      for (index b : in.before.of(t)) handed_on += of[b] != k ? 1 : 0;
    }
    cost[k] += weight * c.task_ns + static_cast<double>(jumps) * c.jump_ns + static_cast<double>(handed_on) * c.handed_on_ns;
  }
  return cost;
}

// Candidates that have not been tried, tried.
class search {
 public:
  search(const coarse_input& in, const lists& after, const run_costs& costs) : in_(in), after_(after), costs_(costs) {}

  void consider(const std::string& text) {
    if (!seen_.insert(text).second) return;
    candidate c{text, aggregate(in_, after_, parse_coarse_string(text)), 0};
    c.predicted_ns = predicted_ns(in_, c.result, costs_);
    found.push_back(std::move(c));
  }
  // The number of aggregates of the last candidate.
  std::size_t last_count() const { return found.back().result.members.offset.size() - 1; }

  std::vector<candidate> found;

 private:
  const coarse_input& in_;
  const lists& after_;
  const run_costs& costs_;
  std::set<std::string> seen_;
};

std::string with(const char* algorithm, double parameter) {
  const double least = algorithm[0] == 'F' ? 1 : 2;
  return std::string(algorithm) + "(" + std::to_string(static_cast<std::uint64_t>(std::clamp(parameter, least, 1e9))) + ")";
}

}  // namespace

double sequential_ns(const coarse_input& in, const run_costs& c) {
  double weight = 0;
  for (index t = 0; t < in.tasks; t++) weight += in.weight_of(t);
  return weight * c.task_ns;
}

double predicted_ns(const coarse_input& in, const aggregation& a, const run_costs& c) {
  const std::size_t count = a.members.offset.size() - 1;
  const std::vector<double> cost = aggregate_costs(in, a, c);
  const own_lists after = transposed(a.before.view(), count);
  std::vector<index> missing(count);
  using moment = std::pair<double, index>;  // when it is ready, or done
  std::priority_queue<moment, std::vector<moment>, std::greater<>> ready, running;
  for (index k = 0; k < count; k++) {
    missing[k] = static_cast<index>(a.before.view().size(k));
    if (missing[k] == 0) ready.emplace(0, k);
  }
  double now = 0;
  int idle = c.workers;
  while (!ready.empty() || !running.empty()) {
    while (idle > 0 && !ready.empty()) {
      const index k = ready.top().second;
      ready.pop();
      running.emplace(now + cost[k], k);
      idle--;
    }
    const auto [when, done] = running.top();
    running.pop();
    now = when;
    idle++;
    for (index k : after.view().of(done))
      if (--missing[k] == 0) ready.emplace(now, k);
  }
  return now;
}

// A grain at which managing an aggregate is a twentieth of its work is small enough if it leaves each worker several of
// them, and larger ones save little; so the sizes tried begin there.
std::vector<candidate> candidates(const coarse_input& in, const lists& after, const run_costs& costs, std::size_t most_kept) {
  search s(in, after, costs);
  const double tasks = static_cast<double>(in.tasks), workers = costs.workers, mean_ns = in.tasks == 0 ? costs.task_ns : std::max(1.0, sequential_ns(in, costs) / tasks);
  const double grain = std::max(2.0, std::ceil(costs.manage_ns / (0.05 * mean_ns)));
  s.consider("C");
  if (const double rows = static_cast<double>(s.last_count()); rows * 4 <= tasks) {
    for (double rows_in_one : {2.0, 4.0, 8.0, 16.0, 64.0})
      if (rows_in_one * 2 * workers <= rows) s.consider("C" + with("D", rows_in_one));
    for (double per_level : {1.0, 2.0, 4.0, 8.0}) s.consider("C" + with("F", per_level * workers));
  } else {
    s.consider("S");
    const bool sequences = static_cast<double>(s.last_count()) * 1.5 <= tasks;
    const std::string first = sequences ? "S" : "";
    for (double size : {grain, 4 * grain, 16 * grain})
      if (size * 2 * workers <= tasks) s.consider(first + with("D", size));
    s.consider(first + "D(400)");
    for (double per_level : {2.0, 4.0}) s.consider(first + with("D", 4 * grain) + with("F", per_level * workers));
  }
  // Parts of a nested dissection: so many that the workers can share them out, and what separates them level by level.
  for (double parts : {8.0, 32.0, 128.0})
    for (double per_level : {1.0, 2.0}) s.consider(with("T", tasks / (parts * workers)) + with("F", per_level * workers));
  for (double per_level : {1.0, 2.0, 4.0}) s.consider(with("F", per_level * workers));
  s.consider("F(32)");
  std::stable_sort(s.found.begin(), s.found.end(), [](const candidate& a, const candidate& b) { return a.predicted_ns < b.predicted_ns; });
  if (s.found.size() > most_kept) s.found.resize(most_kept);
  candidate one{everything_in_one, aggregate(in, after, parse_coarse_string(everything_in_one)), sequential_ns(in, costs) + costs.manage_ns};
  s.found.insert(std::upper_bound(s.found.begin(), s.found.end(), one, [](const candidate& a, const candidate& b) { return a.predicted_ns < b.predicted_ns; }), std::move(one));
  return std::move(s.found);
}

}  // namespace weir::graphs
