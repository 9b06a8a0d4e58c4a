// The C++ memory model, operationally: which values a load may return, what synchronises with what, and what is a
// data race. README.md says what of the standard's model is covered.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/model/choices.hpp"
#include "base/model/clock.hpp"

namespace weir::model {

enum class update : std::uint8_t { exchange, add, subtract, bit_or, bit_and };

// The memory of one run. Values are the bytes of the typed value, extended with zeros; `mask` cuts a result to the
// width of the type. A thread's operation starts with begin_event.
class memory {
 public:
  struct outcome {
    std::uint64_t read = 0;
    std::uint64_t written = 0;
    int newer = 0;       // stores of the location newer than the one read
    bool stored = true;  // a compare-exchange: it succeeded
  };

  void reset();

  void begin_event(int thread);
  void fork(int parent, int child);
  void join(int waiter, int finished);

  int create(int thread, std::uint64_t value);
  void destroy(int thread, int location);

  outcome load(int thread, int location, std::memory_order order, choices& choose);
  outcome store(int thread, int location, std::uint64_t value, std::memory_order order);
  outcome modify(int thread, int location, update how, std::uint64_t operand, std::uint64_t mask, std::memory_order order);
  // may_fail: a weak compare-exchange that may still fail for no reason.
  outcome compare_exchange(int thread, int location, std::uint64_t expected, std::uint64_t desired, std::memory_order success,
                           std::memory_order failure, bool may_fail, choices& choose);
  void fence(int thread, std::memory_order order);
  void light_fence(int thread);
  void heavy_fence(int thread);

  void read_plain(int thread, int location);
  void write_plain(int thread, int location);

  // What the kernel sees when it compares a futex word: the newest value.
  std::uint64_t newest(int location) const { return locations_[static_cast<std::size_t>(location)].history.back().value; }

  // Empty, or what the program did wrong.
  const std::string& error() const { return error_; }

 private:
  struct stored_value {
    std::uint64_t value;
    knowledge message;  // what an acquire load of it learns
    vector_clock seen;  // per thread the event in which it first wrote, read or learned of it; 0: never
  };
  struct reread {
    int index = -1;
    int count = 0;
  };
  struct cell {
    std::vector<stored_value> history;     // in modification order
    int seq_cst_index = -1;                // newest store that a seq_cst operation wrote or read
    vector_clock accessed;                 // last access by each thread
    vector_clock written;                  // plain cells: last write by each thread
    std::array<reread, max_threads> stale; // how often a thread has come back to the same old store
    int creator = 0;
    bool alive = false;
  };
  struct thread_knowledge {
    knowledge now;
    knowledge released;  // at the last release fence
    knowledge pending;   // what relaxed loads have read, learned by the next acquire fence
    vector_clock at_light_fence;  // view at its last light fence
  };

  cell& enter(int thread, int location);
  int oldest_readable(const cell& l, const vector_clock& view) const;
  int pick_store(int thread, cell& l, std::memory_order order, choices& choose, const std::uint64_t* not_this_if_old);
  outcome read_store(int thread, cell& l, int index, std::memory_order order);
  void append(int thread, cell& l, std::uint64_t value, std::memory_order order, bool continues_release_sequence);
  void fence_seq_cst(int thread);
  void fail(int thread, int location, const char* what);

  std::vector<cell> locations_;
  std::size_t used_ = 0;
  std::array<thread_knowledge, max_threads> threads_;
  vector_clock fences_;  // view of all seq_cst fences so far
  vector_clock heavy_;   // as it was at the last heavy one
  std::string error_;
};

}  // namespace weir::model
