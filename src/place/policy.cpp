// What a policy answers that leaves a question to its default, and what is made of answers that make no sense.
#include "place/place.hpp"

#include <weir/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>

namespace weir {

double policy::cost(const task_view&, int) const { return 0; }

policy::wish policy::place(const task_view& task, const asker& who) {
  if (const int node = task.planned(); node >= 0) return node;
  const policy_machine& m = machine();
  const auto cost_on = [&](int node) {
    const double ns = cost(task, node);
    if (!std::isfinite(ns) || ns < 0)
      throw std::range_error("cost of task " + std::string(task.name()) + " on node " + std::to_string(node) + " is " +
                             std::to_string(ns) + "; expected 0 or more nanoseconds");
    return ns;
  };
  const bool may_stay = who.node >= 0 && m.has_worker[static_cast<std::size_t>(who.node)];
  int best = may_stay ? who.node : here;
  double least = may_stay ? cost_on(who.node) : 0;
  for (int n = 0; n < m.nodes; n++) {
    if (!m.has_worker[static_cast<std::size_t>(n)] || (may_stay && n == who.node)) continue;
    const double ns = cost_on(n);
    if (best != here && ns >= least) continue;
    best = n;
    least = ns;
  }
  return best;
}

std::vector<int> policy::victims(int) const { return {}; }
void policy::observe(const event&) {}

int task_view::planned() const { return flow::node_of_plan(flow::affinity_of(*frame_)); }
bool task_view::planned_with_data() const { return flow::is_planned_with_data(flow::affinity_of(*frame_)); }

void task_window::place(std::size_t i, int node) {
  if (i >= size() || node < policy::here)
    throw usage_error("created(): task " + std::to_string(i) + " of " + std::to_string(size()) +
                      " is placed on node " + std::to_string(node) + "; expected a task of the window, and -1 or a "
                      "node");
  nodes_[i] = node;
}

void task_window::keep_from(std::size_t i) { kept_from_ = cut_ ? size() : std::clamp<std::size_t>(i, 1, size()); }

void task_view::visit_inputs(void (*f)(void*, const part&), void* to) const {
  flow::for_each_data_input(frame_, [&](std::uint64_t bytes, int node, const flow::access& a) {
    f(to, {bytes, node, flow::is_updated(a)});
  });
  flow::for_each_user_input({regions_, found_}, frame_,
                            [&](std::uint64_t bytes, int node) { f(to, {bytes, node, false}); });
}

void task_view::visit_outputs(void (*f)(void*, const part&), void* to) const {
  flow::for_each_output({regions_, found_}, frame_,
                        [&](std::uint64_t bytes, int node) { f(to, {bytes, node, false}); });
}

namespace place {

policy_machine seen_by_policies(const machine::description& m, const std::vector<int>& node_of_worker) {
  constexpr double usual_local_ns = 80;  // what most servers need for a local line, where only distances are known
  policy_machine seen;
  seen.nodes = m.node_count();
  seen.node_of_worker = node_of_worker;
  seen.has_worker.assign(static_cast<std::size_t>(seen.nodes), 0);
  for (const int n : node_of_worker) seen.has_worker[static_cast<std::size_t>(n)] = 1;
  const double read_unit = m.read_ns.empty() ? usual_local_ns / machine::local_distance : 1;
  const double write_unit = m.write_ns.empty() ? usual_local_ns / machine::local_distance : 1;
  for (int from = 0; from < seen.nodes; from++)
    for (int to = 0; to < seen.nodes; to++) {
      seen.read_ns.push_back(read_unit * m.read_cost(from, to));
      seen.write_ns.push_back(write_unit * m.write_cost(from, to));
    }
  return seen;
}

namespace {

// Calls f(), which may be a program's own. `said`: that it has failed before.
template <class F>
void guarded(atomic<bool>& said, const char* consequence, F&& f) noexcept {
  const auto say = [&](const char* what) {
    if (!said.exchange(true, std::memory_order_relaxed))
      std::fprintf(stderr, "weir: policy: %s; %s\n", what, consequence);
  };
  try {
    f();
  } catch (const std::exception& e) {
    say(e.what());
  } catch (...) {
    say("it has thrown something that is no std::exception");
  }
}

policy::wish checked(policy::wish w, const policy_machine& m) {
  if (w.node < policy::here || w.node >= m.nodes)
    throw std::range_error("place() wants node " + std::to_string(w.node) + "; expected -1 to " +
                           std::to_string(m.nodes - 1));
  if (w.node >= 0 && !m.has_worker[static_cast<std::size_t>(w.node)])
    throw std::range_error("place() wants node " + std::to_string(w.node) +
                           ", which has no worker; expected one that has");
  return w;
}

}  // namespace

policy::wish ask(policy& p, const policy_machine& m, const task_view& task, const policy::asker& who,
                 atomic<bool>& said) noexcept {
  policy::wish w;
  guarded(said, "the task stays where it became ready, and so do others of which this is true",
          [&] { w = checked(p.place(task, who), m); });
  return w;
}

void tell(policy& p, const policy::event& e, atomic<bool>& said) noexcept {
  guarded(said, "it has not observed this, nor anything of which this is true", [&] { p.observe(e); });
}

bool joins(policy& p, const task_view& task, atomic<bool>& said) noexcept {
  bool answer = false;
  guarded(said, "the task is in no window, and so are others of which this is true", [&] { answer = p.joins(task); });
  return answer;
}

void show(policy& p, task_window& w, atomic<bool>& said) noexcept {
  bool seen = false;
  guarded(said, "its tasks are placed one by one when they are ready, and so are others of which this is true", [&] {
    p.created(w);
    seen = true;
  });
  if (seen) return;
  for (std::size_t i = 0; i < w.size(); i++) w.place(i, policy::here);
  w.keep_from(w.size());
}

}  // namespace place
}  // namespace weir
