// Weir's own threads, their CPU affinity, and where a thread is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace weir::os {

// Binds the thread on whose stack it lies. What the thread was allowed before is kept here and not in thread_local
// objects: those with destructors end the process where there is no memory for them, and may be gone before a runtime
// is.
class cpu_binding {
 public:
  cpu_binding() = default;
  // The thread ends: it stays bound, but others can no longer ask what it was allowed.
  ~cpu_binding();
  cpu_binding(const cpu_binding&) = delete;
  cpu_binding& operator=(const cpu_binding&) = delete;
  // To these CPUs (operating system's numbers); again: to others. False if refused, or if the system does not say what
  // the thread is allowed now, which could not be given back then; the thread runs anywhere. A child that the thread
  // forks is not bound any more.
  bool bind(const std::vector<int>& os_cpus);
  const std::vector<int>& allowed_before() const { return allowed_before_; }
  const std::vector<unsigned long>& mask_before() const { return mask_before_; }

 private:
  std::vector<int> allowed_before_;
  std::vector<unsigned long> mask_before_;
};

// The CPUs that the calling thread was allowed before it was bound; nothing: it is not bound, or that is unknown.
std::optional<std::vector<int>> allowed_before_binding();
bool set_affinity_of_this_thread(const std::vector<int>& os_cpus);
// CPUs that the system lets the calling thread run on, ascending; nothing if it does not say, and then errno says why.
std::optional<std::vector<int>> affinity_of_this_thread();
// CPU the calling thread runs on right now, or -1. Some 20 ns.
int current_cpu();
// How often the calling thread has waited for something, so that its CPU was free for others. Some 200 ns.
long times_this_thread_blocked();
void name_this_thread(const char* name);

struct stack_bounds {
  const char* low = nullptr;  // the stack grows down to here
  const char* high = nullptr;
};

// Null bounds if the system does not tell. Asked once a thread, some 10 us.
stack_bounds stack_of_this_thread();

struct stack_size {
  std::size_t wanted_bytes;
  std::size_t least_bytes;  // where the system refuses more
};

// Minor ones: for pages that it has touched first, or for the first time. A system call, some 300 ns.
std::uint64_t page_faults_of_this_thread();

// The smallest that can be asked for: what the system needs for itself, and room for a task.
std::size_t least_stack_bytes();
// For deep recursion: 256 MiB of addresses, of which only what is used becomes memory. Where addresses are scarce (32
// bits, ulimit -v) or count as memory (vm.overcommit_memory is 2), and where the system's default is larger: that.
stack_size usual_stack();

// A thread with a stack of its own size, which a std::thread cannot have, and that is not bound if its creator is.
class thread {
 public:
  // Throws std::system_error if the system has no room for the stack, or allows no more threads.
  thread(stack_size, std::function<void(stack_bounds)> run);
  thread(thread&&) noexcept;
  thread& operator=(thread&&) = delete;
  ~thread();
  void join();

 private:
  struct started;
  std::unique_ptr<started> started_;
};

}  // namespace weir::os
