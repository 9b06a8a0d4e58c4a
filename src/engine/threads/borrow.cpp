// A thread of the program that waits takes the place of a worker that is not busy: its index, queues and caches. There it
// executes what it may until what it waits for has happened, or nothing is left for it.
#include "engine/threads/engine.hpp"
#include "engine/threads/spinning.hpp"

#include <optional>
#include <utility>

namespace weir::engine {

// The calling thread is the worker that has this slot, as long as this exists.
class engine::in_place {
 public:
  in_place(engine& e, slot& s, const os::stack_bounds& stack)
      : engine_(e), slot_(s), floors_(std::exchange(s.floors, stack_floors(stack, true))), used_before_(used_last), worker_before_(as_worker) {
    used_last = as_worker = {e.id_, &s};
    e.guests_in_places_.fetch_add(1, std::memory_order_relaxed);
  }
  ~in_place() {
    engine_.guests_in_places_.fetch_sub(1, std::memory_order_relaxed);
    slot_.floors = floors_;
    used_last = used_before_;
    as_worker = worker_before_;
  }
  in_place(const in_place&) = delete;
  in_place& operator=(const in_place&) = delete;

 private:
  engine& engine_;
  slot& slot_;
  const stack_floors floors_;
  const thread_binding used_before_, worker_before_;
};

bool permission::allows(const frame& f) const {
  if (all_) return true;
  if (producer_ != nullptr) return producer_ == &f;
  if (f.scope == nullptr || inside_ == nullptr) return false;
  // All scopes outside are there as long as this task is not done.
  for (const scope_state* s = f.scope; s != inside_;) {
    const scope_outside* const out = s->outer.load(std::memory_order_acquire);
    if (out == nullptr) return false;
    s = out->scope;
  }
  return true;
}

bool engine::execute_while_waiting(slot& guest, const std::function<bool()>& done, const permission& may_run) {
  if (done()) return true;
  if (!waiting_threads_execute_) return false;
  const os::stack_bounds stack = os::stack_of_this_thread();
  const char* const here = static_cast<const char*>(__builtin_frame_address(0));
  if (here < stack.low || here >= stack.high) return false;  // unknown, or the program has given the thread another stack
  const int worker = borrow_place(done);
  if (worker < 0) return done();
  slot& place = *slot_at(worker);
  const leaving how = [&] {
    const in_place here(*this, place, stack);
    return execute_in_place(place, guest, done, may_run);
  }();
  if (how == leaving::to_own_thread) {
    scheduler_.sleep.hand_over(worker);
    return done();
  }
  const auto any_work_left = [&](bool anywhere) {
    return scheduler_.anything_sent_to(place.queues) ||
           (anywhere && scheduler_.any_work_for(guest.queues, sched::scheduler::manners::greedy));
  };
  scheduler_.sleep.give_back(worker, how == leaving::searching, any_work_left, [&] { all_asleep(); });
  return done();
}

// Of the node that the thread is on, for what its tasks allocate lies there. As long as others search there may soon be
// one: who has looked at all queues goes on to spin.
int engine::borrow_place(const std::function<bool()>& done) {
  const std::vector<int>& mates = scheduler_.workers_of_node(node_of_calling_cpu());
  if (mates.empty()) return -1;
  const int begin = mates.front(), end = mates.back() + 1, own = worker_of_calling_cpu();
  const int first = own >= begin && own < end ? own : begin;
  int worker = scheduler_.sleep.borrow(first, begin, end);
  spin_clock spin(spin_ns_);
  while (worker < 0 && scheduler_.sleep.searching() > 0 && spin.goes_on() && !done()) {
    for (int i = 0; i < 8; i++) cpu_pause();
    worker = scheduler_.sleep.borrow(first, begin, end);
  }
  return worker;
}

int engine::worker_of_calling_cpu() const {
  const int cpu = os::current_cpu();
  if (cpu < 0 || static_cast<std::size_t>(cpu) >= worker_of_os_cpu_.size()) return -1;
  return worker_of_os_cpu_[static_cast<std::size_t>(cpu)];
}

// Who has borrowed a place is searching.
engine::leaving engine::execute_in_place(slot& place, slot& guest, const std::function<bool()>& done,
                                         const permission& may_run) {
  std::optional<spin_clock> searching(spin_ns_);
  const auto searches = [&] {
    if (searching) return;
    scheduler_.sleep.start_searching();
    scheduler_.starts_to_steal(place.queues);
    searching.emplace(spin_ns_);
  };
  for (int round = 0;; round++) {
    return_credits(place, 0);
    if (done()) return searching ? leaving::searching : leaving::busy;
    frame* f = scheduler_.take_from(place.queues, guest.queues);
    if (f == nullptr) f = scheduler_.take_own(place.queues);
    if (f == nullptr) {
      searches();
      f = scheduler_.steal_round(place.queues, scheduler_.manners_of(place.queues), round % rounds_per_far_look == rounds_per_far_look - 1);
    }
    if (f == nullptr) {
      if (round >= rounds_at_least && !searching->goes_on()) return leaving::searching;
      pause_between_rounds(round, place.queues, done);
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

// Somebody may have relied on this search: if it was the last one, and something is left, another worker is woken.
void engine::stop_searching_in_place(slot& place) {
  scheduler_.stops_stealing(place.queues);
  if (scheduler_.sleep.stop_searching() && scheduler_.any_work_for(place.queues, sched::scheduler::manners::greedy)) scheduler_.sleep.wake_any();
}

}  // namespace weir::engine
