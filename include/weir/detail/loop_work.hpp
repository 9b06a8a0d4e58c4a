// What the runtime knows of a parallel loop. Internal.
#pragma once

#include <weir/detail/atomic.hpp>
#include <weir/detail/loop_habits.hpp>
#include <weir/detail/scope_state.hpp>

#include <algorithm>
#include <cstdint>

namespace weir::detail {

struct runtime_state;

struct loop_work;

// How far who has served a loop has come.
struct served {
  bool all = false;                   // no chunk is left to begin
  std::uint64_t comes_again_ns = 0;   // by now_ns(), if it is not
};

// What loops with the same body have in common, and what is learnt about them.
struct loop_ops {
  // By the caller, alone: as many chunks as fit into its time, but at least one; to learn, no more than a half of its
  // own part where nodes matter. To the end: all, unless the first few take long. Returns what they took, or the first
  // few did. May throw.
  std::uint64_t (*begin)(loop_work&, int worker, const loop_habits::way&);
  // By the caller, alone: all that nobody has begun, if nobody may serve it but the caller. May throw.
  void (*finish)(loop_work&, int worker);
  // By the caller, before anybody else may serve it.
  void (*share)(loop_work&) noexcept;
  // Returns when no chunk is left to begin, or, unless it `stays`, when the chunks that are left are better run by
  // others: then it is to come again if the loop goes on for so long. May throw.
  served (*serve)(loop_work&, int worker, bool stays);
  // Before that: as serve() has it, or neither if serve() would find something to do. It does not throw, and so needs
  // not be called as a task.
  served (*look)(loop_work&, int worker) noexcept;

  // By callers only, so in a line that helpers need not fetch.
  alignas(cache_line_bytes) mutable loop_habits habits{};
};

// What servers know of a run of chunks that belongs to one worker. The caller's post has one for each, loop after loop,
// and writes to none of them: that would be a line of another cache for each worker, before anybody begins. So a word
// says which loop it is of (loop_parts), and what is of an earlier one counts for nothing.
struct alignas(cache_line_bytes) loop_part {
  atomic<std::uint64_t> taken{0};  // chunks
  // The following only on several nodes, by its worker. 0: not begun; else 1 more than what was done of the part that
  // counts as clock.
  atomic<std::uint64_t> begun{0};
  // Nobody else reads these, from which it knows all when it comes again.
  struct own_notes {
    std::uint64_t done_ns = 0;         // when its own chunks were
    std::uint64_t looks_at_ns = 0;     // when it looks at others' parts; 0: its own is not done
    std::uint64_t lasted_ns = 0;       // the loop, when it was done
    std::uint64_t stuck_since_ns = 0;  // when `left_before` changed last
    std::uint32_t left_before = 0;     // chunks of others, modulo 2^32
    bool touches_first = false;
  };
  own_notes own;
};

// Lies on the stack of who waits for it. Who serves it runs chunks as the worker that it is. What servers read comes
// from the caller's cache, so it lies together: each line costs the caller a miss, and each of them.
struct alignas(cache_line_bytes) loop_work {
  loop_work(const loop_ops& with, const char* named, std::uint64_t length, std::uint64_t useful_workers,
            bool may_begin_alone) noexcept
      : ops(with),
        name(named),
        useful(static_cast<std::uint32_t>(useful_workers)),
        elements(length),
        begins_alone(may_begin_alone) {}

  const loop_ops& ops;
  const char* const name;
  // By the runtime, before it is shared: one for each worker, and words with a bit for each, whatever they hold.
  loop_part* parts = nullptr;
  atomic<std::uint64_t>* unfinished = nullptr;
  std::uint64_t elements_begun = 0;    // by its caller alone
  const std::uint32_t useful;          // workers that would find a chunk
  std::uint32_t line_ns = 0;           // how long a line takes from another node; by the runtime, before it is shared
  std::int32_t caller = -1;            // the worker as which its caller serves it; negative: it does not, or not yet
  atomic<std::uint32_t> called{0};     // who serves it without being asked, and workers that were asleep
  atomic<std::uint32_t> is_taken{0};   // of one chunk: somebody has come for it
  atomic<std::uint32_t> is_over{0};    // nobody begins a chunk any more
  scope_state scope{true};             // of the servers, which count as tasks but not in it

  // By its caller only.
  const std::uint64_t elements;
  std::uint64_t* number = nullptr;     // which loop the parts were lent to last, by their own count; by the runtime
  const bool begins_alone;             // its caller may, before it calls others
};

// The caller serves the loop, if it can, and others that have time. Returns when everybody has left it; then throws
// what scope::wait() throws.
void run_loop(runtime_state&, loop_work&);
// For a server, now and then. False: it is to stop.
bool loop_goes_on() noexcept;
// The worker has nothing else to do, so it will come if it is not there yet.
bool loop_awaits(const loop_work&, int worker) noexcept;

std::uint64_t now_ns() noexcept;
// Of pages that it has touched first, or for the first time. Some 300 ns.
std::uint64_t page_faults_of_this_thread() noexcept;

}  // namespace weir::detail
