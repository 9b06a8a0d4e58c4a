// A thread of the program takes the place of a worker that is not busy: its index, queues and caches. There it executes what
// it may until what it waits for has happened, or nothing is left for it; and it keeps the place, as long as it comes again
// soon, for its next wait or for what it creates.
#include "engine/threads/in_place.hpp"
#include "engine/threads/spinning.hpp"

#include <optional>
#include <thread>

namespace weir::engine {
namespace {

constexpr std::uint64_t ns_between_looks_at_cpu = 100'000;       // each takes a system call
constexpr std::uint64_t ns_between_looks_at_others = 1'000'000;  // each takes a line of every worker's

}  // namespace

bool permission::allows_in(const scope_state* scope) const {
  if (scope == nullptr || inside_ == nullptr) return false;
  // All scopes outside are there as long as a task of this one is not done.
  for (const scope_state* s = scope; s != inside_;) {
    const scope_outside* const out = s->outer.load(std::memory_order_acquire);
    if (out == nullptr) return false;
    s = out->scope;
  }
  return true;
}

bool engine::execute_while_waiting(slot& guest, const std::function<bool()>& done, const permission& may_run) {
  if (done()) return true;
  end_claim(guest);
  if (!waiting_threads_execute_ || !knows_stack(guest)) return false;
  slot* place = enter_kept_place(guest);
  const bool searches_at_first = place == nullptr;
  if (place == nullptr) {
    const int worker = borrow_place(done);
    if (worker < 0) return done();
    has_place(guest, worker);
    place = slot_at(worker);
  }
  const leaving how = [&] {
    stack_floors floors = guest.floors;
    floors.only = &may_run;
    const in_place here(*this, *place, floors);
    return execute_in_place(*place, guest, done, may_run, searches_at_first);
  }();
  leave_place(guest, how);
  return done();
}

// -1: none.
void engine::has_place(slot& guest, int worker) {
  guest.kept_place = worker;
  guest.queues.place.store(worker, std::memory_order_relaxed);
}

slot* engine::enter_with_care(slot& guest) {
  const int worker = guest.kept_place;
  if (!scheduler_.sleep.enter(worker, guest.keeper)) {
    has_place(guest, -1);
    return nullptr;
  }
  if (scheduler_.node_of_worker(worker) == node_of_calling_cpu()) return move_to_own_cpu(guest);
  leave_place(guest, leaving::for_good);
  return nullptr;
}

// Into the place of the worker that is bound to this CPU, if that is not busy: when others are called it would be,
// too, and wait for a time slice beside this thread, while the CPU of the worker whose place this thread keeps has
// nothing to do.
slot* engine::move_to_own_cpu(slot& guest) {
  const int own = own_cpus_worker_elsewhere(guest);
  if (own < 0) return slot_at(guest.kept_place);
  bool was_last = false;
  const int better = scheduler_.sleep.borrow_busy(own, own, own + 1, was_last);
  if (better < 0) return slot_at(guest.kept_place);
  leave_place(guest, leaving::for_good);
  return has_place_busy(guest, better, was_last);
}

void engine::leave_place(slot& guest, leaving how) {
  const int worker = guest.kept_place;
  slot& place = *slot_at(worker);
  if (how == leaving::for_a_while) return leave_for_a_while(guest, place);
  has_place(guest, -1);
  sched::sleep_control<>& sleep = scheduler_.sleep;
  if (how == leaving::to_own_thread) return sleep.hand_over(worker);
  const auto any_work_left = [&](bool anywhere) {
    return stopping_.load(std::memory_order_acquire) != 0 || scheduler_.anything_sent_to(place.queues) ||
           (anywhere &&
            (scheduler_.any_work_for(guest.queues, sched::thief::counting::all, os::now_ns()) || any_loop_is_up() ||
             window_is_due()));
  };
  sleep.give_back(worker, how == leaving::searching, any_work_left, [&] { all_asleep(); });
}

// As in a wait, where others still have tasks on their stacks here.
void engine::leave_after_creating(slot& guest, slot& place) {
  if (place.holds_no_task()) [[likely]] return leave_for_a_while(guest, place);
  scheduler_.sleep.start_searching();
  scheduler_.starts_to_steal(place.queues);
  leave_place(guest, leaving::to_own_thread);
}

// Before it sleeps, or ends: then nobody needs to find out that it does not come again.
void engine::give_up_kept_place(slot& guest) {
  end_claim(guest);
  if (guest.kept_place >= 0 && enter_kept_place(guest) != nullptr) leave_place(guest, leaving::for_good);
}

// Of the node that the thread is on, for what its tasks allocate lies there. As long as others search there may soon be
// one: who has looked at all queues goes on to spin, and one that would only take what this thread has lends its place.
int engine::borrow_place(const std::function<bool()>& done) {
  int worker = borrow_place_now();
  spin_clock spin(spin_ns_);
  while (worker < 0 && scheduler_.sleep.searching() > 0 && spin.goes_on() && !done()) {
    for (int i = 0; i < 8; i++) cpu_pause();
    std::this_thread::yield();  // the worker may be on this very CPU
    worker = borrow_place_now();
  }
  return worker;
}

int engine::borrow_place_now() {
  return borrow_near([this](int first, int begin, int end) { return scheduler_.sleep.borrow(first, begin, end); });
}

slot* engine::take_place_now(slot& guest) {
  bool was_last = false;
  const int worker = borrow_near([&](int first, int begin, int end) {
    return scheduler_.sleep.borrow_busy(first, begin, end, was_last);
  });
  return worker >= 0 ? has_place_busy(guest, worker, was_last) : nullptr;
}

slot* engine::has_place_busy(slot& guest, int worker, bool was_last) {
  has_place(guest, worker);
  slot& place = *slot_at(worker);
  scheduler_.stops_stealing(place.queues);
  if (was_last) look_in_searchers_place(place);
  return &place;
}

// borrows(first, begin, end): as sleep_control has it. -1: all are busy; who runs out of tasks of its own will lend its
// place.
template <class Borrow>
int engine::borrow_near(Borrow&& borrows) {
  const int node = node_of_calling_cpu();
  const std::vector<int>& mates = scheduler_.workers_of_node(node);
  if (mates.empty()) return -1;
  const int begin = mates.front(), end = mates.back() + 1, own = worker_of_calling_cpu();
  const bool is_here = own >= begin && own < end;
  int worker = is_here && each_cpu_has_worker_ ? borrows(own, own, own + 1) : -1;
  if (worker < 0) worker = borrows(is_here ? own : begin, begin, end);
  if (worker < 0 && place_wanted_on_.load(std::memory_order_relaxed) != node) place_wanted_on_.store(node, std::memory_order_relaxed);
  return worker;
}

int engine::worker_of_calling_cpu() const {
  const int cpu = os::current_cpu();
  if (cpu < 0 || static_cast<std::size_t>(cpu) >= worker_of_os_cpu_.size()) return -1;
  return worker_of_os_cpu_[static_cast<std::size_t>(cpu)];
}

// Who has borrowed a place is searching, who comes back to the one it keeps is busy.
engine::leaving engine::execute_in_place(slot& place, slot& guest, const std::function<bool()>& done,
                                         const permission& may_run, bool searches_at_first) {
  std::optional<spin_clock> searching;
  if (searches_at_first) searching.emplace(spin_ns_);
  const auto searches = [&] {
    if (searching) return;
    scheduler_.sleep.start_searching();
    scheduler_.starts_to_steal(place.queues);
    searching.emplace(spin_ns_);
  };
  for (int round = 0;; round++) {
    return_credits(place, 0);
    // Others that have tasks on their stacks here go on beside its own thread.
    if (!place.holds_no_task()) {
      searches();
      return leaving::to_own_thread;
    }
    if (done()) {
      // What is left is for others, and for the place's own thread.
      if (scheduler_.anything_sent_to(place.queues) || guest.queues.has_tasks()) {
        searches();
        return leaving::to_own_thread;
      }
      if (searching) stop_searching_in_place(place);
      return leaving::for_a_while;
    }
    frame* f = scheduler_.take_own_of_guest(guest.queues, place.queues);
    if (f == nullptr) f = scheduler_.take_own(place.queues);
    if (f == nullptr) {
      searches();
      f = scheduler_.steal(place.queues, place.queues.hunts.reach_in_round(round), os::now_ns());
    }
    flow::waiter* const untold = f == nullptr ? take_untold() : nullptr;
    if (untold != nullptr || (f == nullptr && window_is_due())) {
      stop_searching_in_place(place);
      searching.reset();
      untold != nullptr ? help_to_tell(place, untold) : static_cast<void>(plan_window(place));
      round = -1;
      continue;
    }
    if (f == nullptr) {
      const loop_search loop = looks_for_loops(place, round) ? help_with_loops(place, &may_run) : loop_search::nothing;
      if (loop == loop_search::forbidden) return leaving::to_own_thread;
      if (loop == loop_search::ran_one) {
        searching.emplace(spin_ns_);
        round = -1;
        continue;
      }
      if (round >= place.queues.hunts.tuned().rounds_at_least && !searching->goes_on()) return leaving::searching;
      pause_between_rounds(round, place.queues, [&] { return done() || place.queues.bell_rings(); });
      continue;
    }
    if (!may_run.allows(*f)) {
      searches();
      scheduler_.push_own(place.queues, f);
      return leaving::to_own_thread;
    }
    if (searching) stop_searching_in_place(place);
    searching.reset();
    execute(place, f);
    round = -1;
  }
}

void engine::stop_searching_in_place(slot& place) {
  scheduler_.stops_stealing(place.queues);
  if (scheduler_.sleep.stop_searching()) look_in_searchers_place(place);
}

// Somebody may have relied on a search that was the last one: if anything is left, another worker is woken.
void engine::look_in_searchers_place(slot& place) {
  if (scheduler_.any_work_for(place.queues, sched::thief::counting::all, os::now_ns())) scheduler_.sleep.wake_any();
}

// A thread that creates many tasks, and does not block, needs its CPU. There is a worker for each, and one is bound to
// that one, too: then this thread would be at work for half of the time, and all others would wait for what it creates.
// That worker sleeps meanwhile, as it does if this thread has its place. One goes on executing in any case.
void engine::claim_cpu(slot& guest) {
  if (!each_cpu_has_worker_) return;
  const std::uint64_t now = os::now_ns();
  if (now - guest.looked_at_cpu_ns < ns_between_looks_at_cpu) return;
  guest.looked_at_cpu_ns = now;
  const long blocked = os::times_this_thread_blocked();
  const bool has_kept_cpu = std::exchange(guest.times_blocked, blocked) == blocked;
  const bool needs_it = has_kept_cpu && bind_refused_.load(std::memory_order_relaxed) == 0;
  const int worker = needs_it && others_get_on(guest, now) ? worker_of_calling_cpu() : -1;
  if (worker >= 0 && renews_kept_place(guest)) return end_claim(guest);
  const bool shares = worker >= 0 && scheduler_.sleep.is_awake(worker);
  if (guest.claimed >= 0 && (guest.claimed != worker || !shares)) end_claim(guest);
  if (!shares) return;
  guest.claimed = worker;
  if (!slot_at(worker)->queues.claim.renew(now)) return;
  claimed_cpus_.fetch_add(1, std::memory_order_relaxed);
  if (workers_away() >= scheduler_.worker_count()) end_claim(guest);
}

// What is created is of use to somebody by now: a worker is looking for it, or tasks are finished. Else the worker here
// may be the only one that is not in a long task.
bool engine::others_get_on(slot& guest, std::uint64_t now_ns) {
  if (scheduler_.sleep.searching() > 0 || scheduler_.sleep.sleeping() > 0) return true;
  if (now_ns - guest.looked_at_others_ns < ns_between_looks_at_others) return guest.others_get_on;
  guest.looked_at_others_ns = now_ns;
  const std::uint64_t finished = finished_now();
  guest.others_get_on = std::exchange(guest.finished_by_then, finished) != finished;
  return guest.others_get_on;
}

int engine::workers_away() const {
  return claimed_cpus_.load(std::memory_order_relaxed) + scheduler_.sleep.places_kept();
}

// So that the worker's own thread does not think that it does not come again.
bool engine::renews_kept_place(slot& guest) {
  if (guest.kept_place < 0 || workers_away() >= scheduler_.worker_count()) return false;
  slot* const place = enter_kept_place(guest);
  if (place == nullptr) return false;
  if (scheduler_.anything_sent_to(place->queues)) {
    leave_place(guest, leaving::for_good);
    return false;
  }
  leave_for_a_while(guest, *place);
  return true;
}

void engine::end_claim(slot& guest) {
  if (guest.claimed < 0) return;
  sched::creator_claim<>& claim = slot_at(std::exchange(guest.claimed, -1))->queues.claim;
  if (claim.end()) claimed_cpus_.fetch_sub(1, std::memory_order_relaxed);
}

// A worker that rests disturbs nobody, and who sends it something is to wake it.
void engine::drop_claim(slot& s) {
  if (s.queues.claim.is_made() && s.queues.claim.end()) claimed_cpus_.fetch_sub(1, std::memory_order_relaxed);
}

void engine::sleep_while_claimed(slot& s) {
  return_credits(s, 0);
  s.flow.buffers.flush_counts();
  const trace::sleep_slice asleep(s.log, false);
  if (scheduler_.anything_sent_to(s.queues)) scheduler_.sleep.wake_any();  // who left it alone weighs again
  const auto anything_to_do = [&] { return scheduler_.anything_required_of(s.queues); };
  if (s.queues.claim.wait_out(os::now_ns, anything_to_do)) claimed_cpus_.fetch_sub(1, std::memory_order_relaxed);
}

// For what a thread of the program creates and may run at once. Null: all are busy.
slot* engine::take_place_to_create(slot& guest) {
  slot* const place = take_place_now(guest);
  if (place != nullptr) end_claim(guest);
  return place;
}

}  // namespace weir::engine
