// CPU affinity and stack bounds of weir's own threads.
#include "os/threads.hpp"

#include <pthread.h>
#include <sched.h>

#include <vector>

namespace weir::os {

bool bind_this_thread(int os_cpu) {
  if (os_cpu < 0) return false;
  // CPU numbers beyond CPU_SETSIZE exist: the set is as large as this one needs.
  const std::size_t count = static_cast<std::size_t>(os_cpu) + 1;
  cpu_set_t* set = CPU_ALLOC(count);
  if (set == nullptr) return false;
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(static_cast<std::size_t>(os_cpu), bytes, set);
  const bool done = sched_setaffinity(0, bytes, set) == 0;
  CPU_FREE(set);
  return done;
}

int current_cpu() { return sched_getcpu(); }

void name_this_thread(const char* name) { pthread_setname_np(pthread_self(), name); }

stack_bounds this_thread_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  std::size_t bytes = 0;
  stack_bounds bounds;
  if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
    bounds.low = static_cast<const char*>(low);
    bounds.high = bounds.low + bytes;
  }
  pthread_attr_destroy(&attributes);
  return bounds;
}

}  // namespace weir::os
