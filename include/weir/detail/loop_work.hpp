// What the runtime knows of a parallel loop. Internal.
#pragma once

#include <weir/detail/atomic.hpp>
#include <weir/detail/scope_state.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weir::detail {

struct runtime_state;

struct loop_work;

// What loops with the same body have in common, and what is learnt about them.
struct loop_ops {
  // Returns true when no chunk is left to begin; false if some are left to others, and the caller has something else
  // to do. May throw.
  bool (*serve)(loop_work&, int worker);

  // By callers only, so in a line that helpers need not fetch. Hints: no protocol, so none of the model checker's.
  struct alignas(cache_line_bytes) hints {
    std::atomic<std::uint32_t> begun{0};  // loops; of two threads at once perhaps one
    std::atomic<bool> are_long{false};    // the last one whose time was taken was worth others' help from the start
  };
  mutable hints known{};

  std::uint32_t count_one() const {
    const std::uint32_t before = known.begun.load(std::memory_order_relaxed);
    known.begun.store(before + 1, std::memory_order_relaxed);
    return before;
  }
  bool are_long() const { return known.are_long.load(std::memory_order_relaxed); }
  void note_whether_long(bool now) const {
    if (are_long() != now) known.are_long.store(now, std::memory_order_relaxed);
  }
};

// Lies on the stack of who waits for it. Who serves it runs chunks as the worker that it is.
struct loop_work {
  loop_work(const loop_ops& with, const char* named, std::uint64_t useful_workers, bool waits) noexcept
      : ops(with), name(named), useful(useful_workers), waits_for_others(waits) {}

  const loop_ops& ops;
  const char* const name;
  const std::uint64_t useful;          // workers that would find a chunk
  const void* parts = nullptr;         // where who serves it finds its own: an array by worker
  std::size_t part_bytes = 0;
  const bool waits_for_others;         // its caller leaves chunks to other workers at first
  scope_state scope{true};             // of the servers, which count as tasks but not in it
  atomic<std::uint32_t> called{0};     // who serves it without being asked, and workers that were asleep
  atomic<std::uint32_t> is_taken{0};   // of one chunk: somebody has come for it
  atomic<std::uint32_t> is_over{0};    // nobody begins a chunk any more
};

// The caller serves the loop, if it can, and others that have time. Returns when everybody has left it; then throws
// what scope::wait() throws.
void run_loop(runtime_state&, loop_work&);
// For a server, now and then. False: it is to stop.
bool loop_goes_on() noexcept;
// Instead of waiting for others. False: it has something else to do.
bool loop_may_wait(const loop_work&) noexcept;
// The worker has nothing else to do, so it will come if it is not there yet.
bool loop_awaits(const loop_work&, int worker) noexcept;

std::uint64_t now_ns() noexcept;
// Of pages that it has touched first, or for the first time. Some 300 ns.
std::uint64_t page_faults_of_this_thread() noexcept;

}  // namespace weir::detail
