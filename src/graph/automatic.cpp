// auto: candidates from the graph's shape, and a simulated run of each.
#include "graph/automatic.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
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

// Candidates, each tried once. Those that begin with the same step share it.
class search {
 public:
  search(const coarse_input& in, const lists& after, const run_costs& costs) : in_(in), after_(after), costs_(costs) {}

  // What some steps make of the graph.
  double count_after(const std::string& text) { return static_cast<double>(after_steps(parse_coarse_string(text)).whole.count); }

  void consider(const std::string& text) {
    if (!seen_.insert(text).second) return;
    candidate c{text, made(parse_coarse_string(text)), 0};
    c.predicted_ns = predicted_ns(in_, c.result, costs_);
    found.push_back(std::move(c));
  }
  // Strings of one kind. The first of each stands for all: where it is far from the best, so are the others.
  void consider(const std::vector<std::vector<std::string>>& families) {
    constexpr double hopeless = 1.3;
    std::vector<double> first;
    for (const auto& texts : families) {
      consider(texts.front());
      first.push_back(found.back().predicted_ns);
    }
    const double best = std::ranges::min(first);
    for (std::size_t f = 0; f < families.size(); f++)
      if (first[f] <= hopeless * best) std::ranges::for_each(families[f], [&](const std::string& text) { consider(text); });
  }

  std::vector<candidate> found;

 private:
  const stage& begun_with(const coarsening& step) {
    if (const std::string first = to_string({step}); first != shared_) {
      stage_ = first_step(in_, after_, step);
      shared_ = first;
    }
    return stage_;
  }
  stage after_steps(const std::vector<coarsening>& steps) {
    stage s = begun_with(steps.front());
    for (std::size_t i = 1; i < steps.size(); i++) s = next_step(std::move(s), steps[i]);
    return s;
  }
  aggregation made(const std::vector<coarsening>& steps) { return last_step(in_, after_steps(steps)); }

  const coarse_input& in_;
  const lists& after_;
  const run_costs& costs_;
  std::set<std::string> seen_;
  std::string shared_;  // the step that led to `stage_`
  stage stage_;
};

std::string with(const char* algorithm, double parameter) {
  const double least = algorithm[0] == 'F' ? 1 : 2;
  return std::string(algorithm) + "(" + std::to_string(static_cast<std::uint64_t>(std::clamp(parameter, least, 1e9))) + ")";
}

// Rows of tasks that follow each other in memory, put together: as many as leave each worker several. In a grid of three
// dimensions planes of rows follow each other, too: parts of a plane are read from one end to the other, and wait for few others.
std::vector<std::string> continuations(double rows, double planes, double workers) {
  std::vector<std::string> texts;
  for (double rows_in_one : {8.0, 4.0, 2.0, 16.0, 64.0})
    if (rows_in_one * 2 * workers <= rows) texts.push_back("C" + with("D", rows_in_one));
  if (planes >= 4 * workers)
    for (double parts_for_each : {4.0, 2.0, 8.0})
      if (const double size = std::ceil(rows / planes / (parts_for_each * workers)); size > 1) texts.push_back("C" + with("C", size));
  for (double per_level : {2.0, 1.0, 4.0}) texts.push_back("C" + with("F", per_level * workers));
  return texts;
}

// A grain at which managing an aggregate is a twentieth of its work is small enough if it leaves each worker several of
// them, and larger ones save little; so the sizes tried begin there.
std::vector<std::string> depth_fronts(const std::string& first, double tasks, double grain, double workers) {
  std::vector<std::string> texts;
  for (double size : {4 * grain, grain, 16 * grain})
    if (size * 2 * workers <= tasks) texts.push_back(first + with("D", size));
  texts.push_back(first + "D(400)");
  for (double per_level : {2.0, 4.0}) texts.push_back(first + with("D", 4 * grain) + with("F", per_level * workers));
  return texts;
}

// Parts of a nested dissection: so many that the workers can share them out, and few, because what separates them takes several
// times as long a row. That as rows of tasks, which stay in the cache of who does one after the other, or shared out level by level.
std::vector<std::string> subtrees(double tasks, double workers) {
  std::vector<std::string> texts;
  for (double parts : {4.0, 8.0, 2.0}) {
    const std::string whole = with("T", tasks / (parts * workers));
    for (double per_level : {2.0, 1.0}) texts.push_back(whole + with("F", per_level * workers));
    texts.push_back(whole + "C");
  }
  return texts;
}

std::vector<std::string> fronts(double workers) { return {with("F", 2 * workers), with("F", workers), with("F", 4 * workers), "F(32)"}; }

// What everything_in_one makes, without looking at any edge.
aggregation in_one(const coarse_input& in) {
  aggregation a;
  if (in.tasks == 0) return a;
  a.members.offset.push_back(in.tasks);
  a.members.item.resize(in.tasks);
  for (std::size_t i = 0; i < in.tasks; i++) a.members.item[i] = in.at(i);
  a.before.offset.push_back(0);
  return a;
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

std::vector<candidate> candidates(const coarse_input& in, const lists& after, const run_costs& costs, std::size_t most_kept) {
  search s(in, after, costs);
  const double tasks = static_cast<double>(in.tasks), workers = costs.workers, mean_ns = in.tasks == 0 ? costs.task_ns : std::max(1.0, sequential_ns(in, costs) / tasks);
  const double grain = std::max(2.0, std::ceil(costs.manage_ns / (0.05 * mean_ns)));
  std::vector<std::vector<std::string>> families{subtrees(tasks, workers), fronts(workers)};
  if (const double rows = s.count_after("C"); rows * 4 <= tasks) families.push_back(continuations(rows, s.count_after("CC"), workers));
  else families.push_back(depth_fronts(s.count_after("S") * 1.5 <= tasks ? "S" : "", tasks, grain, workers));
  s.consider(families);
  const auto faster = [](const candidate& a, const candidate& b) { return a.predicted_ns < b.predicted_ns; };
  std::stable_sort(s.found.begin(), s.found.end(), faster);
  if (s.found.size() > most_kept) s.found.resize(most_kept);
  candidate one{everything_in_one, in_one(in), sequential_ns(in, costs) + costs.manage_ns};
  s.found.insert(std::upper_bound(s.found.begin(), s.found.end(), one, faster), std::move(one));
  return std::move(s.found);
}

}  // namespace weir::graphs
