// weir::blocking(): a thread that is in a task leaves its worker's place to another one, and goes on there when it has
// come back and that one is between two tasks. README.md, "Places and threads".
#include "engine/threads/engine.hpp"

#include <memory>
#include <new>
#include <utility>

namespace weir::engine {

// What a thread has of a place, and takes along when another one gets that. It has returned its credits.
class engine::part_of_thread {
 public:
  explicit part_of_thread(const slot& s)
      : depth_(s.depth), running_(s.queues.running), scope_(s.scope), outside_(s.outside), bulk_(s.bulk), loop_(s.loop), older_tasks_end_(s.older_tasks_end),
        failing_wait_(s.failing_wait.load(std::memory_order_relaxed)), floors_(s.floors) {}
  static void clear(slot& s) { part_of_thread().put_back(s); }
  void put_back(slot& s) const {
    WEIR_ASSERT(s.credits == 0);
    const bool others_were_here = s.queues.running != running_;
    if (others_were_here && s.log != nullptr) s.had_since_ticks = s.log->now();
    s.depth = depth_;
    s.queues.running = running_;
    s.scope = scope_;
    s.outside = outside_;
    s.bulk = bulk_;
    s.loop = loop_;
    s.older_tasks_end = older_tasks_end_;
    s.failing_wait.store(failing_wait_, std::memory_order_relaxed);
    s.floors = floors_;
  }

 private:
  part_of_thread() = default;
  std::uint32_t depth_ = 0;
  frame* running_ = nullptr;
  scope_state* scope_ = nullptr;
  const scope_outside* outside_ = nullptr;
  bulk_worker* bulk_ = nullptr;
  served_loop* loop_ = nullptr;
  std::int64_t older_tasks_end_ = 0;
  std::uint64_t failing_wait_ = 0;
  stack_floors floors_;
};

// What belongs to the task and its thread must not go along with the place.
void engine::gives_place_away(slot& s) {
  return_credits(s, 0);
  WEIR_ASSERT(s.credits == 0);
  counts_as_busy_in_loops(s);
}

bool engine::let_others_go_on(slot& s, const std::function<bool()>* when) {
  gives_place_away(s);
  const part_of_thread part(s);
  turn mine(when);
  mine.has_no_task = when == nullptr;
  mine.failing_wait = s.failing_wait.load(std::memory_order_relaxed);
  mine.running = s.queues.running;
  s.elsewhere++;
  turn* const next = s.turns.take_ready_for(mine);
  if (next != nullptr) {
    next->come();
    mine.wait();
    part.put_back(s);
  }
  s.elsewhere--;
  return next != nullptr;
}

// Another thread has the place until then, for this one may not execute what there is. False: there is none.
bool engine::let_another_stand_in(slot& s, const std::function<bool()>& until) {
  gives_place_away(s);
  const part_of_thread part(s);
  turn mine(&until);
  mine.failing_wait = s.failing_wait.load(std::memory_order_relaxed);
  mine.running = s.queues.running;
  const std::uint64_t used_up = stack_is_low(s) ? s.floors.stack_bytes : 0;
  s.elsewhere++;
  turn* const next = s.turns.take_any_for(mine);
  if (next != nullptr) next->come();
  const bool leaves = next != nullptr || substitutes_.send(s, s.index()) != nullptr;
  if (leaves) {
    used_up_bytes_.fetch_add(used_up, std::memory_order_relaxed);
    mine.wait();
    used_up_bytes_.fetch_sub(used_up, std::memory_order_relaxed);
    part.put_back(s);
  } else {
    s.turns.remove(mine);
  }
  s.elsewhere--;
  return leaves;
}

// A thread on its way into weir::blocking() and back. It is in no task meanwhile, and may use this engine as a guest.
class engine::away {
 public:
  explicit away(slot& s) noexcept
      : place_(s), owner_(s.owner), used_before_(used_last), worker_before_(as_worker), blocked_before_(blocks_in_task_of), part_(ready_to_go(s)) {
    if (slot* const guest = owner_.own_guest_slot(); guest != nullptr && guest->kept_place >= 0) {
      borrowed_ = guest->kept_place;
      owner_.has_place(*guest, -1);
    }
    owner_.scheduler_.sleep.lend_on(s.index());
    owner_.blocking_.fetch_add(1, std::memory_order_relaxed);
    s.elsewhere++;
    leave();
    used_last = as_worker = {};
    blocks_in_task_of = owner_.id_;
  }
  ~away() {
    if (owner_.forked()) return;  // the place is in the parent
    used_last = used_before_;
    as_worker = worker_before_;
    blocks_in_task_of = blocked_before_;
    if (slot* const guest = owner_.own_guest_slot(); guest != nullptr) {
      owner_.give_up_kept_place(*guest);
      owner_.has_place(*guest, borrowed_);
    }
    if (has_left_) take_place_back();
    WEIR_ASSERT(place_.elsewhere > 0);
    place_.elsewhere--;
    owner_.blocking_.fetch_sub(1, std::memory_order_relaxed);
  }
  away(const away&) = delete;
  away& operator=(const away&) = delete;

 private:
  static const slot& ready_to_go(slot& s) {
    s.owner.gives_place_away(s);
    return s;
  }
  // The slot is the other one's from then on.
  void leave() {
    if (turn* const next = place_.turns.take_any(); next != nullptr) return next->come();
    sent_ = owner_.substitutes_.send(place_, place_.index());
    has_left_ = sent_ != nullptr;
  }
  void take_place_back() {
    if (sent_ == nullptr || !owner_.substitutes_.call_off(*sent_, place_)) wait_for_turn();
    part_.put_back(place_);  // also if that one was called off: it may have been sent again by another thread
  }
  void wait_for_turn() {
    turn mine;
    place_.turns.add(mine);
    owner_.scheduler_.sleep.wake(place_.index());
    mine.wait();
  }

  slot& place_;
  engine& owner_;
  const thread_binding used_before_, worker_before_;
  const std::uint64_t blocked_before_;
  const part_of_thread part_;
  int borrowed_ = -1;            // the place, if it is a guest's
  substitute* sent_ = nullptr;
  bool has_left_ = true;         // false: there was no thread to take the place
};

engine::away* engine::leave_to_block() noexcept {
  slot* const s = as_worker.current;
  if (s != nullptr && s->depth > 0) {
    give_held_tasks(*s);
    return new (std::nothrow) away(*s);
  }
  if (blocks_in_task_of == 0) give_up_kept_places();
  return nullptr;
}

void engine::come_back(away* a) noexcept { delete a; }

// Until a thread can go on that has a task on its stack, or the worker's own wants to have its place again.
void engine::stand_in(slot& s) {
  const std::function<bool()> over = [&s] { return s.turns.anybody_comes(); };
  for (;;) {
    if (s.turns.anybody_comes()) {
      return_credits(s, 0);
      if (turn* const next = s.turns.take_any(); next != nullptr) return next->come();
    }
    frame* f = scheduler_.take_at_hand(s.queues);
    if (f == nullptr) f = idle(s, &over);
    if (f != nullptr) execute(s, f);
  }
}

void engine::substitute_main(substitute& self, os::stack_bounds stack) {
  os::name_this_thread("weir +");
  os::cpu_binding binding;
  const std::vector<int>* bound_to = nullptr;
  while (slot* const s = substitutes_.await_place(self)) {
    const std::vector<int>& cpus = worker_cpus_[static_cast<std::size_t>(s->index())];
    try {
      if (bound_ && (bound_to == nullptr || *bound_to != cpus) && binding.bind(cpus)) bound_to = &cpus;
    } catch (const std::bad_alloc&) {  // then it runs where it is
    }
    part_of_thread::clear(*s);
    become_worker(*s, stack);
    stand_in(*s);
    used_last = as_worker = {};
    if (!substitutes_.park(self)) return;
  }
}

}  // namespace weir::engine
