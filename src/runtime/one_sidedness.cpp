// Programs that ran on one worker: which, why, and what can be done about it.
#include "runtime/runtime.hpp"

#include <algorithm>
#include <numeric>

namespace weir {
namespace {

// Less is not worth a sentence.
constexpr double least_share = 0.9;
constexpr std::uint64_t least_ns = 1'000'000;

using who = one_sidedness::who;

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Several workers as one: those of a node, or all.
template <class Belongs>
worker_statistics sum_of(const std::vector<worker_statistics>& workers, Belongs&& belongs) {
  worker_statistics sum;
  for (const worker_statistics& w : workers) {
    if (!belongs(w)) continue;
    sum.tasks += w.tasks;
    sum.watched_ns += w.watched_ns;
    sum.alone_ns += w.alone_ns;
    for (std::size_t r = 0; r < idle_reasons; r++) sum.beside_idle_ns[r] += w.beside_idle_ns[r];
  }
  return sum;
}

idle_reason main_reason(const worker_statistics& w) {
  return static_cast<idle_reason>(std::ranges::max_element(w.beside_idle_ns) - w.beside_idle_ns.begin());
}

bool ran_beside_idle(const worker_statistics& w, std::uint64_t all_tasks) {
  const std::uint64_t idle = std::accumulate(w.beside_idle_ns.begin(), w.beside_idle_ns.end(), std::uint64_t{0});
  return share_of(w.tasks, all_tasks) >= least_share && idle >= least_ns && 2 * idle >= w.watched_ns;
}

bool less_tasks(const worker_statistics& a, const worker_statistics& b) { return a.tasks < b.tasks; }

}  // namespace

std::uint64_t statistics::tasks_of_busiest_worker() const {
  return by_worker.empty() ? 0 : std::ranges::max_element(by_worker, less_tasks)->tasks;
}

std::optional<weir::one_sidedness> statistics::one_sidedness() const {
  if (by_worker.size() < 2) return std::nullopt;
  const auto busiest = std::ranges::max_element(by_worker, less_tasks);
  const int worker = static_cast<int>(busiest - by_worker.begin()), node = busiest->node;
  const auto of = [&](who ran, const worker_statistics& w, double share) {
    return weir::one_sidedness{ran, node, worker, share, main_reason(w)};
  };
  if (ran_beside_idle(*busiest, tasks)) return of(who::worker, *busiest, share_of(busiest->tasks, tasks));
  const auto of_node = sum_of(by_worker, [&](const worker_statistics& w) { return w.node == node; });
  const auto all = sum_of(by_worker, [](const worker_statistics&) { return true; });
  if (all.alone_ns >= least_ns && share_of(all.alone_ns, all.watched_ns) >= least_share)
    return of(who::one_at_a_time, all, share_of(all.alone_ns, all.watched_ns));
  const bool has_others = std::ranges::any_of(by_worker, [&](const worker_statistics& w) { return w.node != node; });
  if (has_others && ran_beside_idle(of_node, tasks)) return of(who::node, of_node, share_of(of_node.tasks, tasks));
  return std::nullopt;
}

std::string_view name_of(idle_reason r) {
  constexpr std::string_view names[] = {"dependent", "uncreated", "required", "small", "distant", "brief"};
  static_assert(std::size(names) == idle_reasons);
  return names[static_cast<std::size_t>(r)];
}

explanation explain(idle_reason r, int node) {
  const std::string n = std::to_string(node);
  switch (r) {
    case idle_reason::dependent:
      return {"no second task was ready, each needs what one before it writes",
              "Tasks run in parallel if none needs what another one writes: divide the data among them."};
    case idle_reason::uncreated:
      return {"there was no second task, each was created when the one before it was nearly done",
              "Create several before you wait; if creating takes as long as running, make them larger."};
    case idle_reason::required:
      return {"the tasks require node " + n,
              "weir::prefer(" + n + ") instead of weir::require(" + n + ") lets others help."};
    case idle_reason::small:
      return {"the tasks are so short that moving one takes longer than running it",
              "Let each do more; weir::parallel_for and weir::aggregate make tasks of a size that pays."};
    case idle_reason::distant:
      return {"their data lie on node " + n + ", and moving a task would have cost more than its wait",
              "Spread the data: let tasks write them first, or use weir::distribute on memory that is there."};
    case idle_reason::brief: break;
  }
  return {"tasks were ready for so short a time that nobody had come for them",
          "Create more of them before you wait, or larger ones."};
}

}  // namespace weir
