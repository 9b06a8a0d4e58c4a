// Forked children.
#include "os/process.hpp"

#include "base/base.hpp"

#include <pthread.h>

#include <new>

namespace weir::os {

constinit atomic<std::uint32_t> implementation::generation{0};

namespace {

// Shields are readers, forks are writers. Writers come first, or several threads that always have a shield would keep a
// fork from happening at all; so a thread takes the lock once, whatever the number of its shields.
constexpr pthread_rwlock_t nobody_there = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
constinit pthread_rwlock_t shields = nobody_there;
thread_local constinit int own_shields = 0;

void before_fork() {
  if (own_shields == 0) pthread_rwlock_wrlock(&shields);
}

void in_parent() {
  if (own_shields == 0) pthread_rwlock_unlock(&shields);
}

// A lock knows its writer by a number that the child's thread does not have any more. Nobody else is there.
void in_child() {
  new (&shields) pthread_rwlock_t(nobody_there);
  if (own_shields > 0) pthread_rwlock_rdlock(&shields);
  implementation::generation.fetch_add(1, std::memory_order_relaxed);
}

[[maybe_unused]] const int registered = pthread_atfork(before_fork, in_parent, in_child);

}  // namespace

fork_shield::fork_shield() noexcept {
  if (own_shields++ == 0) pthread_rwlock_rdlock(&shields);
}

fork_shield::~fork_shield() {
  if (--own_shields == 0) pthread_rwlock_unlock(&shields);
}

}  // namespace weir::os
