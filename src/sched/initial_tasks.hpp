// Tasks of a node that decide where data will be.
#pragma once

#include "sched/locked_queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace weir::sched {

// Those of a plan that write memory of the program's own for the first time, and then all others, which also hold what
// a plan sends there beside. The first ones come before what has become ready meanwhile: there are at most as many as a
// window has, their memory is the program's, and other nodes wait for it. The others come after that: each gets memory
// when it runs, and were all of them to run before those that use it, all of it would be needed at once.
class initial_tasks {
 public:
  static constexpr std::uint64_t signs = 2;

  // Before anybody uses it: `signs` bits of the word are its own, from this one on.
  void show_on(atomic<std::uint64_t>& word, std::uint64_t first_bit) {
    first_.show_on({&word, std::uint64_t{1} << first_bit});
    others_.show_on({&word, std::uint64_t{2} << first_bit});
  }
  void push_first(frame* f) { first_.push(f); }
  void push(frame* f) { others_.push(f); }
  frame* pop_first() { return first_.pop(); }
  frame* pop() {
    return pop([](task_hint, std::size_t) { return true; });
  }
  // As locked_queue has it.
  template <class Wants>
  frame* pop(Wants&& wants) {
    frame* const f = first_.pop(wants);
    return f != nullptr ? f : others_.pop(std::forward<Wants>(wants));
  }
  bool empty() const { return first_.empty() && others_.empty(); }
  std::size_t size() const { return first_.size() + others_.size(); }
  task_hint first() const { return first_.empty() ? others_.first() : first_.first(); }
  bool is_valid() { return first_.is_valid() && others_.is_valid(); }

 private:
  locked_queue first_, others_;
};

// Those of all nodes. Idle workers look at all of them, again and again: at a few words, not at each queue.
class initial_tasks_of_nodes {
 public:
  explicit initial_tasks_of_nodes(std::size_t nodes)
      : of_node_(nodes), lines_(std::make_unique<line[]>(nodes / nodes_a_line + 1)) {
    for (std::size_t n = 0; n < nodes; n++) of_node_[n].show_on(word_of(n), first_bit_of(n));
  }
  initial_tasks& operator[](std::size_t node) { return of_node_[node]; }
  const initial_tasks& operator[](std::size_t node) const { return of_node_[node]; }
  // As !operator[](node).empty().
  bool any_in(std::size_t node) const {
    constexpr std::uint64_t of_one = (std::uint64_t{1} << initial_tasks::signs) - 1;
    return (word_of(node).load(std::memory_order_relaxed) >> first_bit_of(node) & of_one) != 0;
  }

 private:
  struct alignas(cache_line_bytes) line {
    std::array<atomic<std::uint64_t>, cache_line_bytes / sizeof(std::uint64_t)> words;
  };
  static constexpr std::size_t nodes_a_word = 64 / initial_tasks::signs, words_a_line = sizeof(line) / 8,
                               nodes_a_line = nodes_a_word * words_a_line;

  atomic<std::uint64_t>& word_of(std::size_t node) const {
    return lines_[node / nodes_a_line].words[node / nodes_a_word % words_a_line];
  }
  static std::uint64_t first_bit_of(std::size_t node) { return node % nodes_a_word * initial_tasks::signs; }

  std::vector<initial_tasks> of_node_;
  const std::unique_ptr<line[]> lines_;
};

}  // namespace weir::sched
