// Windows of tasks: who cuts them, and who has the policy place them. src/place/README.md, "Windows".
#include "engine/threads/engine.hpp"

namespace weir::engine {

void engine::cut_window_now() {
  if (windows_->cut()) scheduler_.sleep.wake_any();
}

bool engine::window_is_due(std::uint64_t& look_again_ns) const {
  const sched::sleep_control<>& s = scheduler_.sleep;
  const int idle = std::max(s.searching(), 0) + std::max(s.sleeping(), 0) + s.places_kept();
  return windows_->is_due(os::now_ns(), idle, look_again_ns);
}

bool engine::is_to_plan(slot& s, std::uint64_t& look_again_ns) {
  if (windows_ == nullptr || !window_is_due(look_again_ns)) return false;
  return scheduler_.is_near_window(s.queues) || !windows_->waits_for_nearer(os::now_ns(), look_again_ns);
}

// It goes on being counted as searching, for what it does is short.
bool engine::look_ahead(slot& s, std::uint64_t& look_again_ns) {
  return windows_ != nullptr && windows_->has_unseen() && scheduler_.is_near_window(s.queues) &&
         windows_->look_ahead(os::now_ns(), s.index(), look_again_ns);
}

// By a worker that has nothing else to do, and is not counted as searching meanwhile.
bool engine::plan_window(slot& s) {
  const std::uint64_t begin_ns = os::now_ns();
  flow::ready_list ready;
  if (!windows_->plan(ready)) return false;
  planning_ns_.fetch_add(os::now_ns() - begin_ns, std::memory_order_relaxed);
  scheduler_.accept_ready(s.queues, ready, false);
  return true;
}

engine::planned engine::planned_so_far() const {
  if (windows_ == nullptr) return {};
  const place::windows::counts n = windows_->so_far();
  std::uint64_t recognised = n.recognised;
  for_each_slot([&](const slot& s) { recognised += s.recognised.read(); });
  return {n.windows, n.tasks, planning_ns_.load(std::memory_order_relaxed), recognised};
}

}  // namespace weir::engine
