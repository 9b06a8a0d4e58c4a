// CPU affinity of weir's own threads, and where a thread is.
#pragma once

#include <cstddef>

namespace weir::os {

// Binds the calling thread to one CPU (operating system's number). False if refused; the thread then runs anywhere.
bool bind_this_thread(int os_cpu);
// CPU the calling thread runs on right now, or -1. Some 20 ns.
int current_cpu();
void name_this_thread(const char* name);

struct stack_bounds {
  const char* low = nullptr;  // the stack grows down to here
  const char* high = nullptr;
};
stack_bounds this_thread_stack();

}  // namespace weir::os
