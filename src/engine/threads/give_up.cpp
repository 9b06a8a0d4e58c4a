// Tasks that can never become ready: found when everybody sleeps and tasks are outstanding; listed, then cancelled.
#include "engine/threads/engine.hpp"

#include <string>

namespace weir::engine {
namespace {

using detail::frame_state;

// A glance at one byte, behind ThreadSanitizer's back: frames are made, by plain writes, while this looks at them. What
// it sees counts only if nothing has changed afterwards.
#if defined(__SANITIZE_THREAD__)
[[gnu::no_sanitize("thread")]]
#endif
frame_state state_at_a_glance(const frame& f) {
  static_assert(sizeof f.state == 1);
  return static_cast<frame_state>(*reinterpret_cast<const volatile unsigned char*>(&f.state));
}

#if defined(__SANITIZE_THREAD__)
[[gnu::no_sanitize("thread")]]
#endif
std::uint32_t pending_at_a_glance(const frame& f) {
  static_assert(sizeof f.pending == 4);
  return *reinterpret_cast<const volatile std::uint32_t*>(&f.pending);
}

// Frames lie in chunks of the frame pool; those in use say so.
template <class F>
void for_each_frame(const flow::shared& shared, F&& f) {
  shared.frames.for_each_chunk([&](char* chunk, std::size_t bytes, std::size_t block_bytes) {
    for (std::size_t at = 0; at + block_bytes <= bytes; at += block_bytes) {
      auto* candidate = reinterpret_cast<frame*>(chunk + at);
      const frame_state state = state_at_a_glance(*candidate);
      if (state != frame_state::free) f(*candidate, state);
    }
  });
}

constexpr int most_listed = 10;

}  // namespace

// Everybody sleeps, no task is on its way into a queue, and none is: what is still waiting will wait for ever, unless a
// thread of the program brings something (open_end says that one will).
bool engine::stuck() {
  if (open_ends.load(std::memory_order_relaxed) > 0 || stopping_.load(std::memory_order_relaxed) != 0) return false;
  atomic_fence(std::memory_order_seq_cst);
  const std::uint32_t epoch = scheduler_.sleep.wake_epoch();
  if (!scheduler_.sleep.everybody_sleeps() || quiescent() || !scheduler_.all_queues_empty()) return false;
  bool waiting = false, on_its_way = false;
  for_each_frame(shared_, [&](const frame& f, frame_state state) {
    // Its creator may still be at it, or somebody be about to call it ready, although it counts as waiting.
    const std::uint32_t inputs = pending_at_a_glance(f);
    const bool really = state == frame_state::waiting && inputs != 0 && inputs < frame::being_created;
    waiting |= really;
    on_its_way |= state == frame_state::creating || state == frame_state::ready || (state == frame_state::waiting && !really);
  });
  if (!waiting || on_its_way) return false;
  atomic_fence(std::memory_order_seq_cst);
  return scheduler_.sleep.everybody_sleeps() && scheduler_.sleep.wake_epoch() == epoch && scheduler_.all_queues_empty();
}

std::string engine::cancel_stuck(slot& s) {
  std::lock_guard guard(give_up_mutex_);
  std::string list = give_up_waiting(s);
  route_ready(s, false);
  return list;
}

// Threads of the program may go on creating tasks meanwhile, although no open_end says so. What they create can only
// reach a waiting task through a stream it pops from, so with all streams locked the tasks that are listed stay where
// they are: those that were fed before are on their way, and then the second look finds that nothing is stuck.
std::string engine::give_up_waiting(slot& s) {
  const flow::visit here(s.flow);
  flow::locked_streams streams(s.flow);
  const std::uint32_t epoch = scheduler_.sleep.wake_epoch();
  if (!stuck()) return {};
  std::vector<frame*> waiting;
  for_each_frame(shared_, [&](frame& f, frame_state state) {
    if (state == frame_state::waiting) waiting.push_back(&f);
  });
  if (!stuck() || scheduler_.sleep.wake_epoch() != epoch) return {};
  for (const frame* f : waiting) static_cast<void>(f->state.load(std::memory_order_acquire));  // and all that was written before
  std::string list = std::to_string(waiting.size()) + (waiting.size() == 1 ? " task can never run, its inputs will not come: " : " tasks can never run, their inputs will not come: ");
  for (std::size_t i = 0; i < waiting.size() && i < most_listed; i++) list += (i == 0 ? "" : ", ") + flow::described_inputs(*waiting[i]);
  if (waiting.size() > most_listed) list += ", ...";
  constexpr const char* cause = "(never fed)";
  for (frame* f : waiting) {
    f->skipped_because.store(cause, std::memory_order_relaxed);
    scope_state& scope = f->scope != nullptr ? *f->scope : root_;
    if (scope.claim_failure()) scope.note_failure(std::make_exception_ptr(deadlock_error(list)));
  }
  streams.abandon_windows(cause);
  // Tasks that wait for each other in a circle: each one's outputs are declared failed, which frees the others.
  for (frame* f : waiting)
    for (unsigned i = 0; i < f->versions; i++) flow::declare_failed(s.flow, *f->version_at(i), cause);
  return list;
}

}  // namespace weir::engine
