// Two functions, one of which reads memory of its own node and one of another's; for weir emulate --profile. Usage:
// profile_probe [exit|thread|signal [LIBRARY]]: what ends it, and whose function reads the other node's memory, too.
// Status 2 if it could not do what it should.
#include <weir/region.h>

#include <dlfcn.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t bytes = 256 << 10, line_words = 8, lines = bytes / 64;

const volatile std::uint64_t* memory_of(int node) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned long mask = 1UL << node;
  if (at == MAP_FAILED || ::syscall(SYS_mbind, at, bytes, MPOL_BIND, &mask, 64, 0) != 0) std::exit(2);
  std::memset(at, 1, bytes);
  return static_cast<const volatile std::uint64_t*>(at);
}

void run_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) std::exit(2);
}

// More lines than the caches of the test hold: each is read from memory, by the second function twice.
[[gnu::noinline]] std::uint64_t read_own(const volatile std::uint64_t* words) {
  std::uint64_t sum = 0;
  for (std::size_t l = 0; l < lines; l++) sum += words[l * line_words];
  return sum;
}
[[gnu::noinline]] std::uint64_t read_other(const volatile std::uint64_t* words) {
  std::uint64_t sum = 1;
  for (std::size_t l = 0; l < 2 * lines; l++) sum += words[l % lines * line_words];
  return sum;
}

#ifndef LOADS_NOTHING
void read_in(const char* library, const volatile std::uint64_t* words) {
  void* const loaded = ::dlopen(library, RTLD_NOW);
  void* const found = loaded == nullptr ? nullptr : ::dlsym(loaded, "read_in_library");
  if (found == nullptr) std::exit(2);
  reinterpret_cast<std::uint64_t (*)(const volatile std::uint64_t*, std::size_t)>(found)(words, lines);
}
#endif

volatile std::sig_atomic_t caught = 0;
void on_signal(int) { caught = 1; }

// The first thread waits for ever.
void end_by_thread() {
  pthread_t other;
  ::pthread_create(&other, nullptr, [](void*) -> void* { std::_Exit(0); }, nullptr);
  for (;;) ::pause();
}

}  // namespace

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "exit";
  std::signal(SIGUSR1, on_signal);
  run_on(0);
  const volatile std::uint64_t *own = memory_of(0), *other = memory_of(1);
  WEIR_REGION_BEGIN(0);
  const std::uint64_t sum = read_own(own) + read_other(other);
#ifndef LOADS_NOTHING
  if (argc > 2) read_in(argv[2], other);
#endif
  WEIR_REGION_END(0);
  std::raise(SIGUSR1);
  if (sum == 0 || caught != 1) return 2;
  if (std::strcmp(how, "thread") == 0) end_by_thread();
  if (std::strcmp(how, "signal") == 0) std::raise(SIGSEGV);
  return 0;
}
