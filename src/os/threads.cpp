// CPU affinity of weir's own threads.
#include "os/threads.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace weir::os {
namespace {

// The longest mask that a kernel may have, in CPUs.
constexpr std::size_t most_cpus = 65536;
constexpr std::size_t bits_per_word = 8 * sizeof(unsigned long);

// CPU numbers beyond CPU_SETSIZE exist: the mask is as long as these need.
std::vector<unsigned long> mask_of(const std::vector<int>& os_cpus) {
  std::vector<unsigned long> mask(
      static_cast<std::size_t>(*std::max_element(os_cpus.begin(), os_cpus.end())) / bits_per_word + 1);
  for (const int cpu : os_cpus)
    mask[static_cast<std::size_t>(cpu) / bits_per_word] |= 1UL << (static_cast<std::size_t>(cpu) % bits_per_word);
  return mask;
}

bool set_affinity(const std::vector<unsigned long>& mask) {
  return syscall(SYS_sched_setaffinity, 0, mask.size() * sizeof(unsigned long), mask.data()) == 0;
}

thread_local constinit const cpu_binding* bound = nullptr;  // of the calling thread, if it is bound

// What a worker forks is no worker: it, and what it executes, gets back what the process may use. Allocates nothing.
void unbind_child() {
  if (bound != nullptr) set_affinity(bound->mask_before());
  bound = nullptr;
}

[[maybe_unused]] const int unbinds_children = pthread_atfork(nullptr, nullptr, unbind_child);

}  // namespace

bool set_affinity_of_this_thread(const std::vector<int>& os_cpus) {
  if (os_cpus.empty() || *std::min_element(os_cpus.begin(), os_cpus.end()) < 0) return false;
  return set_affinity(mask_of(os_cpus));
}

cpu_binding::~cpu_binding() {
  if (bound == this) bound = nullptr;
}

bool cpu_binding::bind(const std::vector<int>& os_cpus) {
  if (bound == nullptr) {
    auto before = affinity_of_this_thread();
    if (!before || before->empty()) return false;
    mask_before_ = mask_of(*before);
    allowed_before_ = std::move(*before);
  }
  if (!set_affinity_of_this_thread(os_cpus)) return false;
  if (bound == nullptr) bound = this;
  return true;
}

std::optional<std::vector<int>> allowed_before_binding() {
  if (bound == nullptr) return std::nullopt;
  return bound->allowed_before();
}

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

std::uint64_t page_faults_of_this_thread() {
  rusage used{};
  return getrusage(RUSAGE_THREAD, &used) == 0 ? static_cast<std::uint64_t>(used.ru_minflt) : 0;
}

int current_cpu() { return sched_getcpu(); }

long times_this_thread_blocked() {
  rusage used{};
  return getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_nvcsw : 0;
}

void name_this_thread(const char* name) { pthread_setname_np(pthread_self(), name); }

}  // namespace weir::os
