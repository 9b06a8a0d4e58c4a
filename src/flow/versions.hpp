// The life of a version: announced, published, read, unused, dead.
#pragma once

#include "flow/context.hpp"

namespace weir::flow {

// A thread outside the runtime that waits for a version.
struct external_wait : waiter {
  explicit external_wait(void (*wake)(void*), void* argument) : wake_(wake), argument_(argument) { target = static_cast<std::uintptr_t>(waiter_kind::external); }
  bool done() const { return done_.load(std::memory_order_acquire) != 0; }
  // After this the waiting thread may return and this object be gone: wake_ is read first.
  void signal() {
    void (*wake)(void*) = wake_;
    void* argument = argument_;
    done_.store(1, std::memory_order_release);
    wake(argument);
  }

 private:
  atomic<std::uint32_t> done_{0};
  void (*wake_)(void*);
  void* argument_;
};

// Puts a waiter on the version's list. False if the version is published already: nothing to wait for.
bool subscribe(version&, waiter&);

// The producer is done: whoever waits is told. `cause` is null, or the name of the task whose failure poisoned it.
void publish(context&, version&, const char* cause);
// One thing less that a waiter's task waits for.
void satisfy(context&, waiter&, const char* cause);
void drop_pending(context&, frame*, std::uint32_t n);

// Readers, the producer and the datum let go of a version; at the end its buffer returns to its pool.
void drop_users(context&, version&, std::uint64_t n = version::one_user);
void drop_view(context&, version&);

// A new version takes the place of a datum's current one. The datum is locked.
void replace_current(context&, datum&, version&);
// As replace_current, but the successor takes the old version's buffer over once nobody uses it: `heir` then has one
// thing less to wait for. The datum is locked and has a current version.
void succeed_current(context&, datum&, version&, access& heir);

// The datum is gone: its current version will have no more readers than those matched.
void let_current_go(context&, version&, std::uint64_t readers);

// Gives a version memory, in the way the runtime's policy says. Throws std::bad_alloc.
void allocate_buffer(context&, version&);
void release_buffer(context&, version&) noexcept;
// With first touch the system decided; ask it once per block.
void find_out_place(context&, version&);

void lock_resource(context&, resource&);
enum class lock_result { locked, mine_already, busy };
lock_result try_lock_resource(context&, resource&);
void unlock_resource(resource&);

}  // namespace weir::flow
