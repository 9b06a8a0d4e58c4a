// Adding up what the workers counted.
#include "runtime/runtime.hpp"

#include <cstdio>
#include <numeric>

namespace weir {
namespace {

std::uint64_t sum(const std::vector<std::uint64_t>& v, std::size_t first) {
  return first >= v.size() ? 0 : std::accumulate(v.begin() + static_cast<std::ptrdiff_t>(first), v.end(), std::uint64_t{0});
}

void subtract(std::vector<std::uint64_t>& from, const std::vector<std::uint64_t>& what) {
  for (std::size_t i = 0; i < from.size() && i < what.size(); i++) from[i] -= what[i];
}

void subtract(std::vector<worker_statistics>& from, const std::vector<worker_statistics>& what) {
  for (std::size_t w = 0; w < from.size() && w < what.size(); w++) {
    from[w].tasks -= what[w].tasks;
    from[w].watched_ns -= what[w].watched_ns;
    from[w].alone_ns -= what[w].alone_ns;
    for (std::size_t r = 0; r < idle_reasons; r++) from[w].beside_idle_ns[r] -= what[w].beside_idle_ns[r];
  }
}

std::uint64_t tasks_of(const engine::slot& s) {
  return s.queues.finished.read() + s.bulk_tasks.read() - s.refused.read();
}

worker_statistics of_worker(const engine::slot& s) {
  const sched::beside_idle& seen = s.queues.beside;
  worker_statistics w{
      .node = s.queues.node, .tasks = tasks_of(s), .watched_ns = seen.watched_ns(), .alone_ns = seen.alone_ns()};
  for (std::size_t r = 0; r < idle_reasons; r++) w.beside_idle_ns[r] = seen.ns(r);
  return w;
}

std::string bytes_text(std::uint64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    unit++;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

std::string who_ran(const one_sidedness& one) {
  char share[64];
  std::snprintf(share, sizeof share, "%.1f %%", 100 * one.share);
  if (one.ran == one_sidedness::who::one_at_a_time)
    return std::string("one worker at a time ran tasks, ") + share + " of the time,";
  const std::string ran = one.ran == one_sidedness::who::worker ? "worker " + std::to_string(one.worker)
                                                                  : "node " + std::to_string(one.node) + "'s workers";
  return ran + " ran " + share + " of the tasks";
}

}  // namespace

std::uint64_t statistics::steals() const { return sum(steals_by_distance, 0); }
std::uint64_t statistics::read_local() const { return read_bytes_by_distance.empty() ? 0 : read_bytes_by_distance[0]; }
std::uint64_t statistics::read_remote() const { return sum(read_bytes_by_distance, 1); }
std::uint64_t statistics::write_local() const { return write_bytes_by_distance.empty() ? 0 : write_bytes_by_distance[0]; }
std::uint64_t statistics::write_remote() const { return sum(write_bytes_by_distance, 1); }

std::optional<double> statistics::locality() const {
  const std::uint64_t local = read_local() + write_local(), all = local + read_remote() + write_remote();
  if (all == 0) return std::nullopt;
  return static_cast<double>(local) / static_cast<double>(all);
}

std::string statistics::to_string() const {
  std::string text;
  const auto line = [&](const char* what, const std::string& value) {
    char begin[64];
    std::snprintf(begin, sizeof begin, "weir: %-16s ", what);
    text += begin + value + "\n";
  };
  char number[64];
  line("policy", policy + ", " + std::to_string(workers) + (workers == 1 ? " worker on " : " workers on ") + std::to_string(nodes) + (nodes == 1 ? " node" : " nodes"));
  std::snprintf(number, sizeof number, "%.3f s", seconds);
  line("time", number);
  line("tasks", std::to_string(tasks));
  line("steals", std::to_string(steals()));
  line("pushes", std::to_string(pushes) + ", refused " + std::to_string(pushes_refused));
  if (const auto share = locality()) {
    std::snprintf(number, sizeof number, "%.1f %%", 100 * *share);
    line("locality", std::string(number) + " of dependence bytes");
  } else {
    line("locality", "-, no dependence bytes");
  }
  for (std::size_t i = 0; i < distance_classes.size(); i++) {
    std::snprintf(number, sizeof number, "at distance %.0f", distance_classes[i]);
    line(number, "read " + bytes_text(read_bytes_by_distance[i]) + ", written " + bytes_text(write_bytes_by_distance[i]) + ", steals " + std::to_string(steals_by_distance[i]));
  }
  line("peak in buffers", bytes_text(peak_buffer_bytes));
  for (std::size_t begin = 0; begin < policy_explanation.size();) {
    const std::size_t end = std::min(policy_explanation.find('\n', begin), policy_explanation.size());
    line(begin == 0 ? "chosen" : "", policy_explanation.substr(begin, end - begin));
    begin = end + 1;
  }
  if (windows != 0 || recognised_tasks != 0) {
    std::snprintf(number, sizeof number, "%.2f ms", static_cast<double>(planning_ns) / 1e6);
    line("windows", std::to_string(windows) + " with " + std::to_string(window_tasks) + " tasks, placed in " + number +
                        (recognised_tasks != 0 ? ", and " + std::to_string(recognised_tasks) + " recognised" : ""));
  }
  if (pages_moved + pages_refused != 0) {
    std::snprintf(number, sizeof number, "%.2f ms, for %.2f ms lost before", static_cast<double>(moving_ns) / 1e6,
                  static_cast<double>(lost_before_moving_ns) / 1e6);
    line("pages moved", std::to_string(pages_moved) + " in " + number + "; " + std::to_string(pages_refused) +
                            " stay where they are");
  }
  if (const auto one = one_sidedness()) {
    const explanation why = explain(one->why, one->node);
    line("one-sided", who_ran(*one) + " while others were idle:");
    line("", why.what + ".");
    line("", why.advice);
  }
  return text;
}

statistics detail::collect_statistics(const runtime_state& rt) {
  const engine::engine& e = rt.engine;
  statistics s;
  s.policy = rt.policy_name;
  s.policy_explanation = e.scheduler().policy().object->explanation();
  s.workers = e.scheduler().worker_count();
  s.nodes = rt.machine.node_count();
  s.distance_classes = e.scheduler().distance_classes();
  const std::size_t classes = s.distance_classes.size();
  s.steals_by_distance.assign(classes, 0);
  s.read_bytes_by_distance.assign(classes, 0);
  s.write_bytes_by_distance.assign(classes, 0);
  e.for_each_slot([&](const engine::slot& slot) {
    s.tasks += tasks_of(slot);
    if (slot.index() < s.workers) s.by_worker.push_back(of_worker(slot));
    s.pushes += slot.queues.pushes.read();
    s.pushes_refused += slot.queues.pushes_refused.read();
    for (std::size_t k = 0; k < classes; k++) {
      s.steals_by_distance[k] += slot.queues.steals[k].read();
      s.read_bytes_by_distance[k] += slot.read_bytes[k].read();
      s.write_bytes_by_distance[k] += slot.written_bytes[k].read();
    }
  });
  const engine::engine::planned planned = e.planned_so_far();
  s.windows = planned.windows;
  s.window_tasks = planned.tasks;
  s.planning_ns = planned.ns;
  s.recognised_tasks = planned.recognised;
  const memory::migration::counts moved = e.moved_so_far();
  s.pages_moved = moved.pages;
  s.pages_refused = moved.refused;
  s.moving_ns = moved.took_ns;
  s.lost_before_moving_ns = moved.debts_ns;
  const memory::pools& buffers = e.shared().buffers;
  for (int n = 0; n < buffers.node_count(); n++) s.peak_buffer_bytes_by_node.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(0, buffers.peak_bytes(n))));
  s.peak_buffer_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, buffers.peak_bytes()));
  s.live_buffer_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, buffers.live_bytes()));
  // Clocks of emulated CPUs differ a little.
  const std::uint64_t start_ns = rt.start_ns.load(std::memory_order_relaxed);
  s.seconds = static_cast<double>(std::max(os::now_ns(), start_ns) - start_ns) / 1e9;
  s.tasks -= rt.baseline.tasks;
  s.windows -= rt.baseline.windows;
  s.window_tasks -= rt.baseline.window_tasks;
  s.planning_ns -= rt.baseline.planning_ns;
  s.recognised_tasks -= rt.baseline.recognised_tasks;
  s.pages_moved -= rt.baseline.pages_moved;
  s.pages_refused -= rt.baseline.pages_refused;
  s.moving_ns -= rt.baseline.moving_ns;
  s.lost_before_moving_ns -= rt.baseline.lost_before_moving_ns;
  s.pushes -= rt.baseline.pushes;
  s.pushes_refused -= rt.baseline.pushes_refused;
  subtract(s.steals_by_distance, rt.baseline.steals_by_distance);
  subtract(s.read_bytes_by_distance, rt.baseline.read_bytes_by_distance);
  subtract(s.write_bytes_by_distance, rt.baseline.write_bytes_by_distance);
  subtract(s.by_worker, rt.baseline.by_worker);
  return s;
}

weir::statistics runtime::stats() const { return detail::collect_statistics(*state_); }

void runtime::reset_statistics() {
  state_->baseline = {};
  state_->baseline = detail::collect_statistics(*state_);
  state_->engine.shared().buffers.reset_peaks();
  state_->start_ns.store(os::now_ns(), std::memory_order_relaxed);
}

}  // namespace weir
