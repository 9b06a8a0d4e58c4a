// Who has more to do than it will get to soon: hints for thieves of other nodes, so that they need not look at queues.
//
// A worker's own flag follows its queues. The board, one bit a worker, is what thieves look at first: a bit is set by
// the first offer since its worker was idle and cleared when it is idle again, so workers whose queues grow and shrink
// leave the board in everybody's cache. Each word but the board's has one writer, and each bit of that; nothing else is
// ordered by them, so everything is relaxed.
#pragma once

#include <cstdint>
#include <memory>

#include "base/base.hpp"

namespace weir::sched {

class offer_board {
 public:
  explicit offer_board(int workers) : words_(std::make_unique<word[]>(static_cast<std::size_t>(workers + bits_per_word - 1) / bits_per_word)), flags_(std::make_unique<flag[]>(static_cast<std::size_t>(workers))) {}

  // The worker itself only. A store or two; the first offer since it was idle and the call when it is idle after an
  // offer, an atomic operation on a line that all thieves read.
  void offer(int worker) {
    flags_[static_cast<std::size_t>(worker)].value.store(1, std::memory_order_relaxed);
    if (!posted(worker)) word_of(worker).fetch_or(bit_of(worker), std::memory_order_relaxed);
  }
  void withdraw(int worker) { flags_[static_cast<std::size_t>(worker)].value.store(0, std::memory_order_relaxed); }
  void idle(int worker) {
    if (posted(worker)) word_of(worker).fetch_and(~bit_of(worker), std::memory_order_relaxed);
  }

  // Any thread. One line for 64 workers, if none of them has offered anything since it was idle.
  bool offers(int worker) const { return posted(worker) && flags_[static_cast<std::size_t>(worker)].value.load(std::memory_order_relaxed) != 0; }

 private:
  static constexpr int bits_per_word = 64;
  struct alignas(cache_line_bytes) word {
    atomic<std::uint64_t> bits{0};
  };
  struct alignas(cache_line_bytes) flag {
    atomic<std::uint32_t> value{0};
  };

  atomic<std::uint64_t>& word_of(int worker) const { return words_[static_cast<std::size_t>(worker / bits_per_word)].bits; }
  static std::uint64_t bit_of(int worker) { return std::uint64_t{1} << (worker % bits_per_word); }
  bool posted(int worker) const { return (word_of(worker).load(std::memory_order_relaxed) & bit_of(worker)) != 0; }

  const std::unique_ptr<word[]> words_;
  const std::unique_ptr<flag[]> flags_;
};

}  // namespace weir::sched
