// A thread of the program in the place of a worker: how it comes and goes (borrow.cpp has what is rare).
#pragma once

#include "engine/threads/engine.hpp"

#include <utility>

namespace weir::engine {

// The calling thread is the worker that has this slot, as long as this exists.
class engine::in_place {
 public:
  in_place(const engine& e, slot& s, const stack_floors& floors)
      : slot_(s), floors_(std::exchange(s.floors, floors)), used_before_(used_last), worker_before_(as_worker) {
    used_last = as_worker = {e.id_, &s};
    WEIR_ASSERT(s.holds_no_task() && s.credits == 0);
  }
  ~in_place() {
    WEIR_ASSERT(slot_.depth == 0 && slot_.credits == 0);
    slot_.floors = floors_;
    used_last = used_before_;
    as_worker = worker_before_;
  }
  in_place(const in_place&) = delete;
  in_place& operator=(const in_place&) = delete;

 private:
  slot& slot_;
  const stack_floors floors_;
  const thread_binding used_before_, worker_before_;
};

// False: the stack that the calling thread is on is not its own, or unknown; then it executes nothing.
inline bool engine::knows_stack(slot& guest) {
  if (guest.floors.stack_bytes == 0) guest.floors = stack_floors(os::stack_of_this_thread(), true);
  const auto* const here = static_cast<const char*>(__builtin_frame_address(0));
  return static_cast<std::size_t>(here - guest.floors.low) < guest.floors.stack_bytes;
}

// The worker that is bound to the CPU that the calling thread is on, if the thread keeps another one's place; else -1.
// Where CPUs have no worker of their own the system finds one for each thread.
inline int engine::own_cpus_worker_elsewhere(const slot& guest) const {
  if (!each_cpu_has_worker_ || bind_refused()) return -1;
  const int own = worker_of_calling_cpu();
  return own == guest.kept_place ? -1 : own;
}

// Null: it keeps none, or that has been taken from it, or it is on another node by now.
inline slot* engine::enter_kept_place(slot& guest) {
  if (guest.kept_place < 0) return nullptr;
  const bool may_move = shared_.several_nodes || own_cpus_worker_elsewhere(guest) >= 0;
  if (may_move || !scheduler_.sleep.enter(guest.kept_place, guest.keeper)) [[unlikely]] return enter_with_care(guest);
  return slot_at(guest.kept_place);
}

// Its own thread looks after it.
inline void engine::leave_for_a_while(slot& guest, const slot& place) {
  const bool small = place.queues.hunts.sizes().all_small();
  if (guest.queues.runs_small_tasks != small) guest.queues.runs_small_tasks = small;  // others look at that line
  scheduler_.sleep.keep(guest.kept_place, guest.keeper);
}

}  // namespace weir::engine
