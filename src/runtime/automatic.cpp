// weir::aggregate with "auto": what a prediction goes by is measured, and so are candidates where there is a body.
#include "runtime/graph.hpp"

#include <weir/coarse_graph.hpp>
#include <weir/detail/trial.hpp>

#include <algorithm>
#include <limits>

namespace weir {
namespace {

using graphs::candidate;
using graphs::run_costs;

// Of tasks that are as short as aggregates may be: what a run takes longer than they do, per task.
double measured_manage_ns(runtime& rt) {
  constexpr std::uint64_t task_ns = 2000;
  constexpr graph::task_id steps = 16;
  const auto width = static_cast<graph::task_id>(4 * rt.workers());
  std::vector<std::size_t> offsets{0};
  std::vector<graph::task_id> before;
  for (graph::task_id t = 0; t < steps * width; t++) {
    if (t >= width) {
      before.push_back(t - width);
      before.push_back(t - t % width - width + (t + 1) % width);
    }
    offsets.push_back(before.size());
  }
  graph g(offsets, before);
  const auto body = [](graph::task_id) {
    for (const std::uint64_t end = os::now_ns() + task_ns; os::now_ns() < end;) {}
  };
  std::uint64_t fastest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 4; i++) {
    const std::uint64_t begin = os::now_ns();
    g.run(rt, body);
    fastest = std::min(fastest, os::now_ns() - begin);
  }
  const double per_task = static_cast<double>(fastest) * rt.workers() / static_cast<double>(steps * width);
  // Less than this is never; more means that the machine is busy with other things.
  constexpr double least = 50, most = 2000;
  return std::clamp(per_task - static_cast<double>(task_ns), least, most);
}

run_costs costs_of(runtime& rt, std::size_t tasks, double task_ns) {
  run_costs c;
  c.workers = rt.workers();
  c.manage_ns = measured_manage_ns(rt);
  c.task_ns = task_ns;
  std::uint64_t cache_bytes = 0;
  for (const machine::cache& level : detail::state_of(rt).machine.caches) cache_bytes = std::max(cache_bytes, level.bytes);
  // A task touches about two lines of its own. In a cache a jump costs little; else some of a miss is hidden.
  constexpr double bytes_per_task = 128, jump_in_cache_ns = 5, jump_in_memory_ns = 25;
  c.jump_ns = static_cast<double>(tasks) * bytes_per_task < static_cast<double>(cache_bytes) ? jump_in_cache_ns : jump_in_memory_ns;
  return c;
}

std::uint64_t sequential_ns(const graphs::coarse_input& in, const detail::bulk_body& body) {
  const std::uint64_t begin = os::now_ns();
  for (std::size_t i = 0; i < in.tasks; i++) {
    const graphs::index t = in.at(i);
    body.call(body.callable, &t, 1);
  }
  return os::now_ns() - begin;
}

struct tried {
  std::unique_ptr<detail::coarse_state> coarse;
  double usual_seconds = 0;

  bool everything_in_one() const { return coarse->algorithms == graphs::everything_in_one; }
};

// After some rounds only those go on that come near.
void try_all(runtime& rt, const detail::bulk_body& body, std::vector<tried>& all) {
  constexpr int rounds_of_all = 2, rounds = 5;
  constexpr double near = 1.3;
  engine::engine& e = detail::state_of(rt).engine;
  detail::trial trial(all.size());
  for (int round = 1; round <= rounds; round++) {
    trial.round([&](std::size_t i) {
      detail::coarse_state& c = *all[i].coarse;
      detail::run_in_bulk(e, {e, c.aggregates.forward(), body, c.scope, c.members.view()});
    });
    if (round == rounds_of_all) trial.drop_slower(near, [&](std::size_t i) { return all[i].everything_in_one(); });
  }
  for (std::size_t i = 0; i < all.size(); i++) all[i].usual_seconds = trial.usual_seconds(i);
}

// Fastest first; before all of them everything in one aggregate, if nothing is faster than that by enough to be worth the other
// workers' time.
void rank(std::vector<tried>& all) {
  constexpr double worth = 0.97;
  std::ranges::stable_sort(all, {}, &tried::usual_seconds);
  const auto one = std::ranges::find_if(all, &tried::everything_in_one);
  if (all.front().usual_seconds >= worth * one->usual_seconds) std::rotate(all.begin(), one, one + 1);
}

std::unique_ptr<detail::coarse_state> made(detail::graph_state& g, candidate&& c) { return std::make_unique<detail::coarse_state>(g, c.coarse_string, std::move(c.result)); }

}  // namespace

coarse_graph aggregate(const graph& fine, std::string_view coarse_string, runtime& rt, double task_ns) {
  if (coarse_string != "auto") return aggregate(fine, coarse_string);
  if (!(task_ns >= 0 && task_ns <= 1e12)) throw usage_error("weir::aggregate(): a task cannot cost " + std::to_string(task_ns) + " ns");
  detail::graph_state& g = *fine.state_;
  const detail::run_guard guard(g.running, "weir::aggregate()");
  graphs::bulk& bulk = g.in_bulk();
  std::vector<graphs::index> order;
  const graphs::coarse_input in = graphs::input_of(bulk, order);
  run_costs costs = costs_of(rt, in.tasks, 1);
  constexpr double usual_ns = 100;  // between a substitution with a sparse row and a factorisation of it
  if (task_ns > 0) costs.task_ns = in.weight.empty() ? task_ns : task_ns * static_cast<double>(in.tasks) / std::max(1e-30, graphs::sequential_ns(in, costs));
  else if (in.weight.empty()) costs.task_ns = usual_ns;
  return coarse_graph(made(g, std::move(graphs::candidates(in, bulk.after(), costs, 1).front())).release());
}

std::vector<coarse_graph> detail::aggregate_by_trial(const graph& fine, runtime& rt, const bulk_body& body, std::size_t most) {
  if (most == 0) throw usage_error("weir::aggregate_candidates(): none are asked for: expected 1 or more");
  graph_state& g = *fine.state_;
  const run_guard guard(g.running, "weir::aggregate()");
  state_of(rt).engine.throw_if_unable_to_wait();
  graphs::bulk& bulk = g.in_bulk();
  std::vector<graphs::index> order;
  const graphs::coarse_input in = graphs::input_of(bulk, order);
  constexpr std::size_t kept = 9;
  constexpr double near = 1.5;
  std::uint64_t sequential = sequential_ns(in, body);
  sequential = std::min(sequential, sequential_ns(in, body));
  run_costs costs = costs_of(rt, in.tasks, 1);
  costs.task_ns = static_cast<double>(sequential) / std::max(1.0, graphs::sequential_ns(in, costs));
  std::vector<tried> all;
  for (candidate& c : graphs::candidates(in, bulk.after(), costs, kept)) all.push_back({made(g, std::move(c)), {}});
  try_all(rt, body, all);
  rank(all);
  const double limit = near * all.front().usual_seconds;
  std::vector<coarse_graph> chosen;
  for (tried& t : all)
    if (chosen.size() < most && t.usual_seconds <= limit) chosen.push_back(coarse_graph(t.coarse.release()));
  return chosen;
}

}  // namespace weir
