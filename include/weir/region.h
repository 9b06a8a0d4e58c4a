/* For programs that run under `weir emulate`: regions of interest and the emulated machine's time. Elsewhere
 * regions are nothing and the time is the system's. For C and C++; needs no library.
 *
 *   WEIR_REGION_BEGIN(0);
 *   ... what is to be measured ...
 *   WEIR_REGION_END(0);
 *
 * Marks are what `weir emulate --roi` counts between. A mark is one no-op instruction, harmless on hardware;
 * elsewhere than on x86-64 it is nothing at all. A region has a number from 0 to 254, a constant. Regions may
 * overlap and may run many times; each run is reported. While a region is open, further begins of it do nothing.
 * The compiler moves no memory access across a mark.
 *
 *   unsigned long long begin = weir_region_now_ns();
 *
 * is the time of the CPU that the thread runs on. See below. */
#pragma once

#include <time.h>

#if defined(__x86_64__) && defined(__GNUC__)
/* nopl 0x4e4dNNKK(%rax), KK the kind, NN the number */
#define WEIR_REGION_MARK_(kind, number) \
  __asm__ volatile(".byte 0x0f, 0x1f, 0x80, %c0, %c1, 0x4d, 0x4e" : : "i"(kind), "i"(number) : "memory")
#define WEIR_REGION_BEGIN(number) WEIR_REGION_MARK_(1, number)
#define WEIR_REGION_END(number) WEIR_REGION_MARK_(2, number)
/* To be said behind a sleep that its time limit has ended. The clocks of CPUs that sleep stand. While others run
 * they come along with them; while all slept, what is behind this mark finds that time has passed as on the machine
 * outside. */
#define WEIR_REGION_TIMED_OUT() WEIR_REGION_MARK_(7, 0)
#else
#define WEIR_REGION_BEGIN(number) ((void)(number))
#define WEIR_REGION_END(number) ((void)(number))
#define WEIR_REGION_TIMED_OUT() ((void)0)
#endif

/* In C the time is there where the system's headers show theirs: not with -std=c11 alone, but with -std=gnu11 or
 * -D_POSIX_C_SOURCE=199309L. */
#ifdef CLOCK_MONOTONIC

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
/* The emulated machine's clocks: picoseconds of CPU k in word 8 k. Null: not looked for yet.
 * WEIR_REGION_NO_CLOCKS_: there are none. Weak: one for all that include this, in C and in C++. */
__attribute__((weak)) const unsigned long long* weir_region_clocks_;
#define WEIR_REGION_NO_CLOCKS_ ((const unsigned long long*)1)
/* The latest time that the thread has seen. */
__attribute__((weak)) __thread unsigned long long weir_region_latest_ns_;

/* Linux itself: the headers that have these calls would give every program names such as read and access. */
__attribute__((unused)) static long weir_region_call_(long number, long a, long b, long c, long d, long e, long f) {
  __asm__ volatile("mov %4, %%r10\n\tmov %5, %%r8\n\tmov %6, %%r9\n\tsyscall"
                   : "+a"(number)
                   : "D"(a), "S"(b), "d"(c), "g"(d), "g"(e), "g"(f)
                   : "r8", "r9", "r10", "r11", "rcx", "memory");
  return number;
}

__attribute__((cold, noinline, unused)) static const unsigned long long* weir_region_find_clocks_(void) {
  enum { do_open = 2, do_close = 3, do_mmap = 9, do_munmap = 11 };
  enum { read_only = 0, close_on_exec = 02000000, readable = 1, shared = 1, bytes = 256 * 64 };
  const unsigned long long *found = WEIR_REGION_NO_CLOCKS_, *before = 0;
  const long file = weir_region_call_(do_open, (long)"/dev/weir-clock", read_only | close_on_exec, 0, 0, 0, 0);
  long at = -1;
  if (file >= 0) {
    at = weir_region_call_(do_mmap, 0, bytes, readable, shared, file, 0);
    weir_region_call_(do_close, file, 0, 0, 0, 0, 0);
  }
  if (at > 0) found = (const unsigned long long*)at;
  if (__atomic_compare_exchange_n(&weir_region_clocks_, &before, found, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return found;
  if (at > 0) weir_region_call_(do_munmap, at, bytes, 0, 0, 0, 0); /* another thread was first */
  return before;
}

/* Whether the time is an emulated machine's. */
static inline int weir_region_has_clocks(void) {
  const unsigned long long* clocks = __atomic_load_n(&weir_region_clocks_, __ATOMIC_ACQUIRE);
  if (clocks == 0) clocks = weir_region_find_clocks_();
  return clocks != WEIR_REGION_NO_CLOCKS_;
}

/* Linux keeps the CPU's number where rdtscp finds it. The mark says that the load behind it is no access to the
 * emulated memory. Who has moved to a CPU whose clock is behind sees time stand until that clock has caught up. */
__attribute__((unused)) static unsigned long long weir_region_emulated_ns_(const unsigned long long* clocks) {
  unsigned cpu;
  unsigned long long ps, ns;
  __asm__ volatile("rdtscp" : "=c"(cpu) : : "rax", "rdx");
  __asm__ volatile(".byte 0x0f, 0x1f, 0x80, 0x05, 0x00, 0x4d, 0x4e\n\tmovq (%1), %0"
                   : "=r"(ps)
                   : "r"(clocks + 8 * (cpu & 0xff))
                   : "memory");
  ns = ps / 1000;
  if (ns > weir_region_latest_ns_) weir_region_latest_ns_ = ns;
  return weir_region_latest_ns_;
}
#else
static inline int weir_region_has_clocks(void) { return 0; }
#endif

/* Nanoseconds of CLOCK_MONOTONIC; under `weir emulate` of the clock that the model keeps for the CPU, at the price
 * of some ten instructions and no memory access. A thread never sees time go backwards. Two threads on two CPUs may
 * see times that are up to 20 us apart, as far as the model lets clocks run apart. */
static inline unsigned long long weir_region_now_ns(void) {
  struct timespec t;
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
  const unsigned long long* clocks = __atomic_load_n(&weir_region_clocks_, __ATOMIC_ACQUIRE);
  if (__builtin_expect(clocks != WEIR_REGION_NO_CLOCKS_, 0)) { /* the only branch on a real machine */
    if (clocks == 0) clocks = weir_region_find_clocks_();
    if (clocks != WEIR_REGION_NO_CLOCKS_) return weir_region_emulated_ns_(clocks);
  }
#endif
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

#endif
