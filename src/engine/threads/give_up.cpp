// Tasks that can never become ready: found when everybody sleeps and tasks are outstanding; listed, then cancelled.
#include "engine/threads/engine.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weir::engine {
namespace {

using detail::frame_state;

// Frames lie in chunks of the frame pool; those in use say so. What is seen of them counts only if nothing has changed
// afterwards: others may make and free them meanwhile.
template <class F>
void for_each_frame(const flow::shared& shared, F&& f) {
  shared.frames.for_each_chunk([&](char* chunk, std::size_t bytes, std::size_t block_bytes) {
    for (std::size_t at = 0; at + block_bytes <= bytes; at += block_bytes) {
      auto* candidate = reinterpret_cast<frame*>(chunk + at);
      const frame_state state = candidate->state.load(std::memory_order_acquire);
      if (state != frame_state::free) f(*candidate, state);
    }
  });
}

constexpr std::size_t most_listed = 10;
constexpr char never_fed[] = "(never fed)";  // stands for the name of the task that is to blame

bool is_given_up(const frame* f) { return f->skipped_because.load(std::memory_order_relaxed) == never_fed; }

// What a waiting task waits for: a stream that nobody feeds, or a task that itself waits and keeps what this one needs.
std::string described(frame& f, const std::vector<frame*>& running) {
  std::string text = flow::described_inputs(f);
  for (frame* r : running)
    if (flow::waits_for_end_of(f, *r)) text += std::string(" (needs what task ") + r->display_name() + " keeps until it ends, which is waiting itself)";
  return text;
}

template <class Describe>
std::string listed(const std::vector<frame*>& tasks, Describe&& describe) {
  std::string list;
  for (std::size_t i = 0; i < tasks.size() && i < most_listed; i++) list += (i == 0 ? "" : ", ") + describe(*tasks[i]);
  return tasks.size() > most_listed ? list + ", ..." : list;
}

// Its creator may still be at it, or somebody be about to call it ready, although it counts as waiting.
bool waits_for_others(const frame& f, frame_state state) {
  const std::uint32_t inputs = f.pending.load(std::memory_order_relaxed);
  return state == frame_state::waiting && inputs != 0 && inputs < frame::being_created;
}

bool waited_for(const frame* f) { return f->scope != nullptr && f->scope->is_waited_for(); }

// Those to give up next. Where tasks wait inside of tasks it may be enough to end one of these waits; the others can perhaps
// go on then.
std::vector<frame*> next_to_give_up(std::vector<frame*> waiting, bool nested) {
  std::erase_if(waiting, is_given_up);
  const auto first = nested ? std::stable_partition(waiting.begin(), waiting.end(), waited_for) : waiting.end();
  if (first != waiting.begin()) waiting.erase(first, waiting.end());
  return waiting;
}

}  // namespace

// And nobody is in weir::blocking(), who comes back.
bool engine::everybody_sleeps_for_good() const {
  if (!scheduler_.sleep.everybody_sleeps()) return false;
  atomic_fence(std::memory_order_seq_cst);  // who left counted itself before its worker could sleep
  return blocking_.load(std::memory_order_relaxed) == 0;
}

// Everybody sleeps, no task is on its way into a queue, and none is: what is still waiting will wait for ever, unless a
// thread of the program brings something (open_end says that one will).
bool engine::stuck() {
  if (open_ends.load(std::memory_order_relaxed) > 0 || stopping_.load(std::memory_order_relaxed) != 0) return false;
  atomic_fence(std::memory_order_seq_cst);
  const std::uint32_t epoch = scheduler_.sleep.wake_epoch();
  if (!everybody_sleeps_for_good() || quiescent() || !scheduler_.all_queues_empty()) return false;
  bool waiting = nested_waiters_.load(std::memory_order_relaxed) > 0, on_its_way = false;
  for_each_frame(shared_, [&](const frame& f, frame_state state) {
    const bool waits = waits_for_others(f, state);
    waiting |= waits;
    on_its_way |= state == frame_state::creating || state == frame_state::ready ||
                  (state == frame_state::waiting && !waits);
  });
  if (!waiting || on_its_way) return false;
  atomic_fence(std::memory_order_seq_cst);
  return scheduler_.all_queues_empty() && everybody_sleeps_for_good() && scheduler_.sleep.wake_epoch() == epoch;
}

// A thread that matches a task, and may be about to call it ready.
bool engine::anybody_else_visits(const slot& self) const {
  bool any = false;
  for_each_slot([&](const slot& s) {
    any |= &s != &self && s.flow.as_visitor.inside.load(std::memory_order_acquire) != 0;
  });
  return any;
}

// By the last worker that falls asleep. Mostly a thread of the program waits outside, and looks whether all is stuck; if all
// that wait are asleep inside tasks, in the places of workers, somebody has to do it for them.
void engine::all_asleep() {
  notify_waiters();
  if (!scheduler_.sleep.a_borrower_sleeps()) return;
  while (!waiting_.anybody_sleeps() && !too_far_ahead_.anybody_sleeps() && stuck()) {
    const std::lock_guard alone(release_mutex_);  // not with this worker's slot: its place may be borrowed by now
    std::string list = cancel_stuck(slot_to_release_);
    const std::lock_guard guard(give_up_mutex_);
    if (unheard_.empty()) unheard_ = std::move(list);
    anything_unheard_.store(1, std::memory_order_release);
  }
}

// For whose wait is over: what that thread would have been told, had it not been in a place.
std::string engine::take_unheard() {
  if (anything_unheard_.load(std::memory_order_acquire) == 0) [[likely]] return {};
  const std::lock_guard guard(give_up_mutex_);
  anything_unheard_.store(0, std::memory_order_relaxed);
  return std::exchange(unheard_, {});
}

std::string engine::cancel_stuck(slot& s) {
  std::lock_guard guard(give_up_mutex_);
  std::string list = give_up(s);
  scheduler_.accept_ready(s.queues, s.flow.ready, false);
  if (list.empty()) std::this_thread::yield();  // to who was seen on its way
  return list;
}

// Threads of the program may go on creating tasks meanwhile, although no open_end says so. What they create can only
// reach a waiting task through a stream it pops from, so with all streams locked the tasks that are listed stay where
// they are: those that were fed before are on their way, and then the second look finds that nothing is stuck.
//
// What a listed task waits for was created before it was listed. If that does not wait itself, nor runs, the second look
// sees it on its way: unless its creator is still deciding who gets which tokens, when it looks like one that waits for
// them. Then that thread has been inside since before the list was made, and is found there between the list and the
// second look. (A worker may wake by itself between two looks and not be counted; but what it has run is.)
//
// One step at a time: tasks are given up and will be skipped as soon as they are ready; if they can't become ready
// because the task that waits for them keeps what they need, their scope is released from them; if a wait has not ended by
// that either, it fails. After each step the waiting thread looks again. Returns what it must be told itself: what no
// waiting task is told.
std::string engine::give_up(slot& s) {
  const flow::visit here(s.flow);
  flow::locked_streams streams(s.flow);
  const std::uint32_t epoch = scheduler_.sleep.wake_epoch();
  const std::uint64_t finished = finished_now();
  if (!stuck()) return {};
  std::vector<frame*> waiting, running;
  for_each_frame(shared_, [&](frame& f, frame_state state) {
    if (waits_for_others(f, state)) waiting.push_back(&f);
    if (state == frame_state::running) running.push_back(&f);
  });
  if (anybody_else_visits(s)) return {};
  if (!stuck() || scheduler_.sleep.wake_epoch() != epoch || finished_now() != finished) return {};
  const bool nested = nested_waiters_.load(std::memory_order_relaxed) > 0;
  // The innermost waits first: those around them, which are not counted before they sleep, can perhaps go on then.
  if (nested && release_scopes(waiting)) return {};
  const std::vector<frame*> lost = next_to_give_up(waiting, nested);
  if (lost.empty()) {
    if (!release_scopes(waiting)) give_up_a_wait(running);
    return {};
  }
  std::string list = std::to_string(lost.size()) + (lost.size() == 1 ? " task can never run, its inputs will not come: " : " tasks can never run, their inputs will not come: ") +
                     listed(lost, [&](frame& f) { return described(f, running); });
  for (frame* f : lost) {
    f->skipped_because.store(never_fed, std::memory_order_relaxed);
    scope_state& scope = scope_of(*f);
    if (scope.claim_failure()) scope.note_failure(std::make_exception_ptr(deadlock_error(list)));
  }
  streams.abandon_windows(never_fed);
  // Tasks that wait for each other in a circle: each one's outputs are declared failed, which frees the others.
  for (frame* f : lost) flow::declare_outputs_failed(s.flow, *f, never_fed);
  return nested && std::all_of(lost.begin(), lost.end(), waited_for) ? std::string() : list;
}

// Tasks given up that still wait: whoever waits for their scopes waits no longer for them. They are skipped whenever what
// they need is let go; until then they belong to no scope that could be gone. False: there are none.
bool engine::release_scopes(const std::vector<frame*>& waiting) {
  std::vector<scope_state*> of;
  for (frame* f : waiting) {
    if (!is_given_up(f) || !waited_for(f)) continue;
    of.push_back(f->scope);
    given_up_.outstanding.fetch_add(1, std::memory_order_relaxed);
    f->scope = &given_up_;
  }
  for (scope_state* scope : of) finish_in(*scope, 1);
  return !of.empty();
}

// Tasks wait for each other, and no task waits that could be given up for it. One of these waits fails: of a thread
// that has a worker's place, or waits to have it again.
void engine::give_up_a_wait(const std::vector<frame*>& running) {
  for (int w = 0; w < scheduler_.worker_count(); w++) {
    slot& its = *slot_at(w);
    std::uint64_t wait = its.failing_wait.load(std::memory_order_relaxed);
    const frame* task = its.queues.running;
    if (wait == 0)
      its.turns.for_each([&](const turn& t) {
        if (wait == 0 && t.failing_wait != 0) wait = t.failing_wait, task = t.running;
      });
    if (wait == 0) continue;
    its.given_up_because = std::string("task ") + task->display_name() + " waits for what can only happen when it has ended; tasks that run: " +
                           listed(running, [](const frame& f) { return std::string(f.display_name()); });
    its.given_up_wait.store(wait, std::memory_order_release);
    scheduler_.sleep.wake(w);
    return;
  }
}

}  // namespace weir::engine
