// CPU affinity of weir's own threads.
#include "os/threads.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace weir::os {
namespace {

// The longest mask that a kernel may have, in CPUs.
constexpr std::size_t most_cpus = 65536;
constexpr std::size_t bits_per_word = 8 * sizeof(unsigned long);

thread_local std::optional<std::vector<int>> before_binding;

// What a worker forks is no worker: it, and what it executes, gets back what the process may use.
void unbind_child() {
  if (!before_binding) return;
  set_affinity_of_this_thread(*before_binding);
  before_binding.reset();
}

[[maybe_unused]] const int unbinds_children = pthread_atfork(nullptr, nullptr, unbind_child);

}  // namespace

bool set_affinity_of_this_thread(const std::vector<int>& os_cpus) {
  if (os_cpus.empty() || *std::min_element(os_cpus.begin(), os_cpus.end()) < 0) return false;
  // CPU numbers beyond CPU_SETSIZE exist: the set is as large as these need.
  const std::size_t count = static_cast<std::size_t>(*std::max_element(os_cpus.begin(), os_cpus.end())) + 1;
  cpu_set_t* set = CPU_ALLOC(count);
  if (set == nullptr) return false;
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, set);
  for (const int cpu : os_cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set);
  const bool done = sched_setaffinity(0, bytes, set) == 0;
  CPU_FREE(set);
  return done;
}

bool bind_this_thread(const std::vector<int>& os_cpus) {
  std::optional<std::vector<int>> before = before_binding ? before_binding : affinity_of_this_thread();
  if (!before || !set_affinity_of_this_thread(os_cpus)) return false;
  before_binding = std::move(before);
  return true;
}

std::optional<std::vector<int>> allowed_before_binding() { return before_binding; }

std::optional<std::vector<int>> affinity_of_this_thread() {
  for (std::size_t cpus = 1024; cpus <= most_cpus; cpus *= 2) {
    std::vector<unsigned long> mask(cpus / bits_per_word);
    const long bytes = syscall(SYS_sched_getaffinity, 0, mask.size() * sizeof(unsigned long), mask.data());
    if (bytes < 0 && errno == EINVAL) continue;  // the kernel's mask is longer
    if (bytes < 0) return std::nullopt;
    std::vector<int> allowed;
    for (std::size_t i = 0; i < cpus; i++)
      if (mask[i / bits_per_word] >> (i % bits_per_word) & 1) allowed.push_back(static_cast<int>(i));
    return allowed;
  }
  return std::nullopt;
}

int current_cpu() { return sched_getcpu(); }

void name_this_thread(const char* name) { pthread_setname_np(pthread_self(), name); }

}  // namespace weir::os
