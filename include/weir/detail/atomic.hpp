// The atomics seam: every atomic of weir goes through these types, so that the model checker (src/base/model) can
// drive the lock-free protocols. In production they compile to the same instructions as std::atomic.
//
// Rules of use:
//  - a protocol is a template on an atomics policy, `template <class Atomics = real_atomics>`, and takes its atomics,
//    fences, pauses and shared plain fields from it;
//  - memory orders are always written down: there are no defaults;
//  - data is handed from thread to thread by release and acquire *operations*. A fence is only used, seq_cst, to keep
//    an earlier store and a later load in order. ThreadSanitizer understands the code on this condition (see
//    atomic_fence).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#if defined(__SANITIZE_THREAD__)
#define WEIR_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEIR_THREAD_SANITIZER 1
#endif
#endif

namespace weir {

// In builds that test for races (the preset `delays`): the calling thread pauses now and then, some microseconds to
// some milliseconds, so that what others do falls between two of its steps. Else nothing.
namespace detail {
#ifdef WEIR_DELAYS
void delay() noexcept;
#else
[[gnu::always_inline]] inline void delay() noexcept {}
#endif
}  // namespace detail

// Distance that keeps two variables from sharing a cache line, in bytes. 128 rather than 64: x86 prefetches lines in
// pairs, and some ARM machines have lines of 128.
inline constexpr std::size_t cache_line_bytes = 128;

// The subset of std::atomic that weir uses, without default orders. Same size and cost.
template <class T>
class atomic {
 public:
  constexpr atomic() noexcept : value_(T{}) {}
  constexpr explicit atomic(T value) noexcept : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  [[gnu::always_inline]] T load(std::memory_order order) const noexcept { return at().load(order); }
  [[gnu::always_inline]] void store(T value, std::memory_order order) noexcept { at().store(value, order); }
  [[gnu::always_inline]] T exchange(T value, std::memory_order order) noexcept { return at().exchange(value, order); }

  [[gnu::always_inline]] bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                                                    std::memory_order failure) noexcept {
    return at().compare_exchange_weak(expected, desired, success, failure);
  }
  [[gnu::always_inline]] bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                                      std::memory_order failure) noexcept {
    return at().compare_exchange_strong(expected, desired, success, failure);
  }

  // Arithmetic and bit operations; each returns the value before. For integral T only.
  [[gnu::always_inline]] T fetch_add(T n, std::memory_order order) noexcept { return at().fetch_add(n, order); }
  [[gnu::always_inline]] T fetch_sub(T n, std::memory_order order) noexcept { return at().fetch_sub(n, order); }
  [[gnu::always_inline]] T fetch_or(T bits, std::memory_order order) noexcept { return at().fetch_or(bits, order); }
  [[gnu::always_inline]] T fetch_and(T bits, std::memory_order order) noexcept { return at().fetch_and(bits, order); }

 private:
  [[gnu::always_inline]] std::atomic<T>& at() noexcept {
    detail::delay();
    return value_;
  }
  [[gnu::always_inline]] const std::atomic<T>& at() const noexcept {
    detail::delay();
    return value_;
  }

  std::atomic<T> value_;
};

// As atomic, but making one writes nothing: for a word that others may look at while the object around it is made, in
// memory that was used before. Holds what was in memory until the first store.
template <class T>
class unset_atomic {
 public:
  unset_atomic() noexcept {}  // NOLINT: not `= default`, which would let `T{}` of the object around it write zeros
  unset_atomic(const unset_atomic&) = delete;
  unset_atomic& operator=(const unset_atomic&) = delete;

  [[gnu::always_inline]] T load(std::memory_order order) const noexcept { return at().load(order); }
  [[gnu::always_inline]] void store(T value, std::memory_order order) noexcept { at().store(value, order); }
  [[gnu::always_inline]] T fetch_add(T n, std::memory_order order) noexcept { return at().fetch_add(n, order); }
  [[gnu::always_inline]] T fetch_sub(T n, std::memory_order order) noexcept { return at().fetch_sub(n, order); }

 private:
  [[gnu::always_inline]] std::atomic_ref<T> at() const noexcept {
    detail::delay();
    return std::atomic_ref<T>(value_);
  }

  mutable T value_;
};

static_assert(sizeof(atomic<void*>) == sizeof(void*) && sizeof(atomic<std::uint64_t>) == 8);

// std::atomic_thread_fence. ThreadSanitizer does not see fences, so in its builds a fence is a seq_cst read-modify-
// write of one global word instead. All such fences are then totally ordered and each synchronises with the next,
// which implies what a seq_cst fence promises about stores before and loads after it, and makes fence-to-fence
// hand-over visible. Not visible is a hand-over from a fence to an acquire load, or from a release store to a fence;
// weir has none.
[[gnu::always_inline]] inline void atomic_fence(std::memory_order order) noexcept {
#ifdef WEIR_THREAD_SANITIZER
  static constinit std::atomic<unsigned> fence_word{0};
  (void)order;
  fence_word.fetch_add(1, std::memory_order_seq_cst);
#else
  detail::delay();
  std::atomic_thread_fence(order);
#endif
}

// Two halves of a seq_cst fence, of which one costs nothing: a light fence in one thread and a heavy one in another are
// to each other what two seq_cst fences are; two light ones are not. The heavy one makes every running thread of the
// process pass a fence (the system call membarrier, some microseconds). Where the system refuses that, both are fences.
namespace detail {
extern bool asymmetric_fences;  // set once, by prepare_asymmetric_fences()
}
void prepare_asymmetric_fences() noexcept;  // before the first light fence; idempotent, any thread
[[gnu::always_inline]] inline void light_fence() noexcept {
  if (detail::asymmetric_fences) [[likely]] std::atomic_signal_fence(std::memory_order_seq_cst);
  else atomic_fence(std::memory_order_seq_cst);
}
void heavy_fence() noexcept;

// Tells the core that this is a spin loop: some 10-140 cycles on x86, a hint on ARM.
[[gnu::always_inline]] inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// A shared field that is not atomic: the protocol around it promises that accesses never overlap. Costs nothing here;
// the model checker reports accesses that are not ordered by happens-before.
template <class T>
class plain_cell {
 public:
  constexpr plain_cell() noexcept = default;
  constexpr explicit plain_cell(T value) noexcept : value_(std::move(value)) {}
  plain_cell(const plain_cell&) = delete;
  plain_cell& operator=(const plain_cell&) = delete;

  [[gnu::always_inline]] T read() const { return value_; }
  [[gnu::always_inline]] void write(T value) { value_ = std::move(value); }

 private:
  T value_{};
};

// The atomics policy of production code. Its counterpart in tests is weir::model::model_atomics.
struct real_atomics {
  template <class T>
  using atomic = weir::atomic<T>;
  template <class T>
  using plain = plain_cell<T>;

  [[gnu::always_inline]] static void fence(std::memory_order order) noexcept { atomic_fence(order); }
  [[gnu::always_inline]] static void light_fence() noexcept { weir::light_fence(); }
  static void heavy_fence() noexcept { weir::heavy_fence(); }
  [[gnu::always_inline]] static void pause() noexcept { cpu_pause(); }

  // Blocks while `word` holds `expected`: the comparison and going to sleep are one step towards wake_one and
  // wake_all. May return without reason, so callers loop. No time limit. One system call (about 1 us, plus the switch).
  static void wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
  // As wait, for at most this long.
  static void wait_for(const atomic<std::uint32_t>& word, std::uint32_t expected, std::uint32_t microseconds) noexcept;
  // Wakes one waiter, or all, of `word`, if there are any. One system call.
  static void wake_one(const atomic<std::uint32_t>& word) noexcept;
  static void wake_all(const atomic<std::uint32_t>& word) noexcept;
};

}  // namespace weir
