// What the runtime knows of a parallel loop. Internal.
#pragma once

#include <weir/detail/atomic.hpp>
#include <weir/detail/loop_habits.hpp>
#include <weir/detail/scope_state.hpp>

#include <cstddef>
#include <cstdint>

namespace weir::detail {

struct runtime_state;

struct loop_work;

// What loops with the same body have in common, and what is learnt about them.
struct loop_ops {
  // By the caller, alone: as many chunks as fit into its time, but at least one; to learn, no more than a half of its
  // own part where nodes matter. To the end: all, unless the first few take long. Returns what they took, or the first
  // few did. May throw.
  std::uint64_t (*begin)(loop_work&, int worker, const loop_habits::way&);
  // By the caller, alone: all that nobody has begun, if nobody may serve it but the caller. May throw.
  void (*finish)(loop_work&, int worker);
  // By the caller, before anybody else may serve it. False: there is no memory for that.
  bool (*share)(loop_work&) noexcept;
  // Returns true when no chunk is left to begin; false if some are left to others, and the caller has something else
  // to do. May throw.
  bool (*serve)(loop_work&, int worker);

  // By callers only, so in a line that helpers need not fetch.
  alignas(cache_line_bytes) mutable loop_habits habits{};
};

// Lies on the stack of who waits for it. Who serves it runs chunks as the worker that it is.
struct loop_work {
  loop_work(const loop_ops& with, const char* named, std::uint64_t length, std::uint64_t useful_workers,
            bool may_begin_alone) noexcept
      : ops(with), name(named), elements(length), useful(useful_workers), begins_alone(may_begin_alone) {}

  const loop_ops& ops;
  const char* const name;
  const std::uint64_t elements;
  const std::uint64_t useful;          // workers that would find a chunk
  const bool begins_alone;             // its caller may, before it calls others
  const void* parts = nullptr;         // where who serves it finds its own: an array by worker
  std::size_t part_bytes = 0;
  std::uint64_t elements_begun = 0;    // by its caller alone
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
