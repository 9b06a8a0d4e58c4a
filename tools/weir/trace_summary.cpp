// One pass over a trace.
#include "trace_summary.hpp"

#include <algorithm>
#include <bit>

namespace weir::tools {

// Below 32 ns exactly; from there on 32 classes for each power of two.
std::uint32_t duration_counts::class_of(std::uint64_t ns) {
  if (ns < 32) return static_cast<std::uint32_t>(ns);
  const int power = std::bit_width(ns) - 6;  // ns >> power is 32 to 63
  return static_cast<std::uint32_t>(power * 32) + static_cast<std::uint32_t>(ns >> power);
}

double duration_counts::middle_of(std::uint32_t index) {
  if (index < 64) return index;
  const std::uint32_t power = index / 32 - 1;
  return (static_cast<double>(index - power * 32) + 0.5) * static_cast<double>(std::uint64_t{1} << power);
}

double duration_counts::median() const {
  std::uint64_t all = 0, before = 0;
  for (const auto& [index, n] : counts_) all += n;
  for (const auto& [index, n] : counts_)
    if ((before += n) * 2 >= all) return middle_of(index);
  return 0;
}

void task_totals::add(const trace_task& t) {
  const std::uint64_t ns = t.end - t.begin;
  count++;
  total_ns += ns;
  longest_ns = std::max(longest_ns, ns);
  local += t.local();
  bytes += t.bytes();
  stolen += t.from == trace_task::origin::stolen;
  pushed += t.from == trace_task::origin::pushed;
  failed += t.failed;
  skipped += t.skipped;
  durations.add(ns);
}

trace_summary::trace_summary(const std::string& path) {
  trace_handlers h;
  h.about = [this](const trace_about& a) { begin(a); };
  h.task = [this](const trace_task& t) { add(t); };
  h.sleep = [this](const trace_sleep& s) { add(s); };
  read_trace(path, h);
  for (std::size_t w = 0; w < workers_.size(); w++) {
    worker_totals& its = workers_[w];
    its.asleep_ns = asleep_in_tasks_[w];
    if (span_ns() > 0)
      for (const auto& [begin, end] : sleeps_[w]) its.asleep_ns += std::clamp(last_, begin, end) - std::clamp(first_, begin, end);
    its.busy_ns -= std::min(its.busy_ns, asleep_in_tasks_[w]);
  }
}

void trace_summary::begin(const trace_about& a) {
  about_ = a;
  workers_.resize(static_cast<std::size_t>(a.workers));
  asleep_in_tasks_.resize(workers_.size());
  sleeps_.resize(workers_.size());
  steps_.resize(workers_.size());
  nested_.resize(workers_.size());
  work_.begin(a);
  const auto nodes = static_cast<std::size_t>(a.nodes);
  steals_.assign(nodes + 1, std::vector<std::uint64_t>(nodes, 0));
  pushes_ = steals_;
}

std::uint32_t trace_summary::index_of(std::string_view name) {
  const auto [at, fresh] = index_of_name_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (fresh) names_.emplace_back(name);
  return at->second;
}

void trace_summary::add(const trace_task& t) {
  first_ = std::min(first_, t.begin);
  last_ = std::max(last_, t.end);
  all_.add(t);
  by_name_[std::string(t.name)].add(t);
  worker_totals& w = workers_[static_cast<std::size_t>(t.worker)];
  w.tasks++;
  if (!t.nested) w.busy_ns += t.end - t.begin;
  if (t.from != trace_task::origin::own) {
    const bool stolen = t.from == trace_task::origin::stolen;
    (stolen ? w.stolen : w.pushed)++;
    const std::size_t from = static_cast<std::size_t>(t.from_worker < 0 ? about_.nodes : about_.worker_nodes[static_cast<std::size_t>(t.from_worker)]);
    (stolen ? steals_ : pushes_)[from][static_cast<std::size_t>(t.node)]++;
  }
  const std::uint64_t own_ns = without_nested(t.worker, t.begin, t.end, t.nested);
  work_.add(t, own_ns);
  extend_path(t, own_ns);
}

// What lies within a task has come before it.
std::uint64_t trace_summary::without_nested(int worker, std::uint64_t begin, std::uint64_t end, bool nested) {
  auto& inner = nested_[static_cast<std::size_t>(worker)];
  std::uint64_t others = 0;
  for (; !inner.empty() && inner.back().begin >= begin; inner.pop_back()) others += inner.back().ns;
  if (nested) inner.push_back({begin, end - begin});
  return end - begin - std::min(end - begin, others);
}

void trace_summary::add(const trace_sleep& s) {
  if (!s.nested) {
    sleeps_[static_cast<std::size_t>(s.worker)].emplace_back(s.begin, s.end);
    return;
  }
  without_nested(s.worker, s.begin, s.end, true);
  asleep_in_tasks_[static_cast<std::size_t>(s.worker)] += s.end - s.begin;
}

const trace_summary::step* trace_summary::find(int worker, std::uint64_t end) const {
  const auto& steps = steps_[static_cast<std::size_t>(worker)];
  const auto at = std::lower_bound(steps.begin(), steps.end(), end, [](const step& s, std::uint64_t e) { return s.end < e; });
  return at != steps.end() && at->end == end ? &*at : nullptr;
}

void trace_summary::extend_path(const trace_task& t, std::uint64_t own_ns) {
  step s{.end = t.id.end, .path_ns = 0, .name = index_of(t.name), .own_ns = own_ns};
  for (const trace_task_id& id : t.after)
    if (const step* before = find(id.worker, id.end); before != nullptr && before->path_ns >= s.path_ns) {
      s.path_ns = before->path_ns;
      s.before_worker = id.worker;
      s.before_end = id.end;
    }
  s.path_ns += s.own_ns;
  if (s.path_ns > longest_ns_) {
    longest_ns_ = s.path_ns;
    longest_worker_ = t.id.worker;
    longest_end_ = t.id.end;
  }
  steps_[static_cast<std::size_t>(t.id.worker)].push_back(s);
}

critical_path trace_summary::longest_path() const {
  critical_path path{.ns = longest_ns_};
  int worker = longest_worker_;
  std::uint64_t end = longest_end_;
  while (worker >= 0) {
    const step* const s = find(worker, end);
    if (s == nullptr) break;
    path.tasks++;
    auto& [tasks, ns] = path.by_name[names_[s->name]];
    tasks++;
    ns += s->own_ns;
    worker = s->before_worker;
    end = s->before_end;
  }
  return path;
}

}  // namespace weir::tools
