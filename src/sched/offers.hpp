// Who may have tasks that others could take: hints for thieves of other nodes, so that they need not look at queues.
//
// One bit a worker. It is set by the first task that the worker queues, or that is sent to it, since it was idle, and
// cleared when it is idle again. So workers whose queues grow and shrink leave the board in everybody's cache. Nothing
// is ordered by it, so everything is relaxed.
#pragma once

#include <cstdint>
#include <memory>

#include "base/base.hpp"

namespace weir::sched {

class offer_board {
 public:
  explicit offer_board(int workers)
      : words_(std::make_unique<word[]>(static_cast<std::size_t>(workers + bits_per_word - 1) / bits_per_word)) {}

  // Any thread. A load; the first offer since the worker was idle, an atomic operation on a line that all thieves
  // read. Returns whether it was the first.
  bool offer(int worker) {
    if (offers(worker)) return false;
    return (word_of(worker).fetch_or(bit_of(worker), std::memory_order_relaxed) & bit_of(worker)) == 0;
  }
  // The worker itself, before it looks at its queues for the last time.
  void idle(int worker) {
    if (offers(worker)) word_of(worker).fetch_and(~bit_of(worker), std::memory_order_relaxed);
  }

  // Any thread. One line for 64 workers.
  bool offers(int worker) const {
    return (word_of(worker).load(std::memory_order_relaxed) & bit_of(worker)) != 0;
  }

 private:
  static constexpr int bits_per_word = 64;
  struct alignas(cache_line_bytes) word {
    atomic<std::uint64_t> bits{0};
  };

  atomic<std::uint64_t>& word_of(int worker) const { return words_[static_cast<std::size_t>(worker / bits_per_word)].bits; }
  static std::uint64_t bit_of(int worker) { return std::uint64_t{1} << (worker % bits_per_word); }

  const std::unique_ptr<word[]> words_;
};

}  // namespace weir::sched
