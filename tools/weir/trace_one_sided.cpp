// Who did nearly all, and why, from what each task took, read and waited for.
#include "trace_one_sided.hpp"

#include "trace_summary.hpp"

#include <weir/statistics.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace weir::tools {
namespace {

// As weir::statistics::one_sidedness() has it.
constexpr double least_share = 0.9;
constexpr std::uint64_t least_ns = 1'000'000;
// Tasks below it may be left to who has them (src/sched/small_tasks.hpp); a trace does not say what lines took.
constexpr std::uint64_t small_ns = 300;
// A worker that has another task at hand begins it within this time.
constexpr std::uint64_t pause_ns = 5'000;
// To wake a worker and have it take a task takes up to so long.
constexpr std::uint64_t wake_ns = 100'000;

bool nearly_all(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) >= least_share * static_cast<double>(whole);
}

std::string who_text(const one_sided_run& r) {
  const std::string share = fmt::format("{:.1f} %", 100 * r.share);
  if (r.worker >= 0) return fmt::format("worker {} did {} of the work", r.worker, share);
  if (r.node >= 0) return fmt::format("node {}'s workers did {} of the work", r.node, share);
  return fmt::format("one worker at a time ran tasks, {} of the time,", share);
}

}  // namespace

void work_totals::add(const work_totals& w) {
  tasks += w.tasks;
  ns += w.ns;
  required_ns += w.required_ns;
  read_local += w.read_local;
  read_remote += w.read_remote;
}

void work_by_worker::begin(const trace_about& a) {
  nodes_ = a.nodes;
  worker_nodes_ = a.worker_nodes;
  workers_.resize(static_cast<std::size_t>(a.workers));
}

void work_by_worker::add(const trace_task& t, std::uint64_t own_ns) {
  workers_[static_cast<std::size_t>(t.worker)].add({1, own_ns, t.required ? own_ns : 0, t.read_local, t.read_remote});
  if (own_ns > longest_ns_) {
    longest_ns_ = own_ns;
    longest_ = t.name;
  }
  if (t.nested) return;
  span now{t.begin, t.end};
  for (; !busy_.empty() && busy_.back().end >= now.begin; busy_.pop_back())  // none has ended later
    now.begin = std::min(now.begin, busy_.back().begin);
  busy_.push_back(now);
}

work_totals work_by_worker::all() const {
  work_totals sum;
  for (const work_totals& w : workers_) sum.add(w);
  return sum;
}

work_totals work_by_worker::of_node(int node) const {
  work_totals sum;
  for (std::size_t w = 0; w < workers_.size(); w++)
    if (worker_nodes_[w] == node) sum.add(workers_[w]);
  return sum;
}

bool work_by_worker::alone_on_node(int worker) const {
  return std::ranges::count(worker_nodes_, worker_nodes_[static_cast<std::size_t>(worker)]) == 1;
}

work_by_worker::stretches work_by_worker::stretches_apart(std::uint64_t gap_ns) const {
  stretches s;
  for (std::size_t i = 0; i < busy_.size(); i++) {
    s.ns += busy_[i].end - busy_[i].begin;
    s.count += i == 0 || busy_[i].begin - busy_[i - 1].end > gap_ns;
  }
  return s;
}

std::optional<one_sided_run> work_by_worker::who() const {
  const std::uint64_t work = ns();
  if (workers_.size() < 2 || work < least_ns) return std::nullopt;
  const auto busiest = std::ranges::max_element(workers_, {}, &work_totals::ns);
  const auto share = [work](std::uint64_t part) { return static_cast<double>(part) / static_cast<double>(work); };
  const int worker = static_cast<int>(busiest - workers_.begin());
  const int node = worker_nodes_[static_cast<std::size_t>(worker)];
  if (nearly_all(busiest->ns, work)) return one_sided_run{worker, node, share(busiest->ns), {}, {}};
  // Had one worker at a time run tasks, they would have taken as long together.
  const std::uint64_t any = stretches_apart(0).ns;
  if (nearly_all(any, work)) {
    const double by_two = std::max(0.0, static_cast<double>(work) / static_cast<double>(any) - 1);
    return one_sided_run{-1, -1, 1 - by_two, {}, {}};
  }
  const std::uint64_t of_its_node = of_node(node).ns;
  const bool has_others = std::ranges::any_of(worker_nodes_, [node](int n) { return n != node; });
  if (has_others && nearly_all(of_its_node, work)) return one_sided_run{-1, node, share(of_its_node), {}, {}};
  return std::nullopt;
}

// What excludes another reason comes first.
work_by_worker::why work_by_worker::reason(const one_sided_run& r, const work_totals& t,
                                           const critical_path& path) const {
  const auto known = [&](idle_reason because) {
    const explanation e = explain(because, r.node);
    return work_by_worker::why{std::string(name_of(because)), e.what, e.advice};
  };
  const std::uint64_t work = ns();
  if (nearly_all(longest_ns_, work))
    return {"one task", fmt::format("one task, {}, took nearly all of it", longest_), "Divide it into several."};
  if (nearly_all(path.ns, work)) return known(idle_reason::dependent);
  const stretches s = stretches_apart(pause_ns);
  if (2 * all().tasks < 3 * s.count) return known(idle_reason::uncreated);  // else there was a next one at hand
  const bool whole_node = r.worker >= 0 ? alone_on_node(r.worker) : r.node >= 0;
  if (whole_node && nearly_all(t.required_ns, t.ns)) return known(idle_reason::required);
  if (t.ns < small_ns * t.tasks) return known(idle_reason::small);
  if (whole_node && nodes_ > 1 && t.read_local > 0 && nearly_all(t.read_local, t.read_local + t.read_remote))
    return known(idle_reason::distant);
  if (s.ns < wake_ns * s.count) return known(idle_reason::brief);
  return {"", "the trace does not tell why, for it has no times of creation", "The program's WEIR_STATS=1 may."};
}

std::optional<one_sided_run> work_by_worker::one_sided(const critical_path& path) const {
  std::optional<one_sided_run> run = who();
  if (!run) return run;
  const work_totals of = run->worker >= 0 ? workers_[static_cast<std::size_t>(run->worker)]
                         : run->node >= 0 ? of_node(run->node)
                                          : all();
  why w = reason(*run, of, path);
  run->text = fmt::format("{} while others were idle:\n{}.\n{}", who_text(*run), w.what, w.advice);
  run->reason = std::move(w.reason);
  return run;
}

}  // namespace weir::tools
