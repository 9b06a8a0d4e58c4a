// What tasks have lost because a page lies where it does, and which node has lost most: when a page is to move, and
// where to. README.md, "Pages that move".
#pragma once

#include "base/base.hpp"
#include "memory/pools.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weir::memory {

// Of one page, as one word: nanoseconds that uses from other nodes took longer, less those that uses from home would
// have from elsewhere; and of the nodes that use it the one that has lost more than half of it, if there is one. That
// is found by one counter: another node's use takes away from it (Boyer and Moore, "MJRTY - a fast majority vote
// algorithm", in Automated Reasoning, 1991).
class debt {
 public:
  static constexpr std::uint64_t most_ns = (1 << 24) - 1;
  static constexpr unsigned most_moves = 6;  // that count

  debt() = default;
  explicit debt(std::uint64_t word) : word_(word) {}
  std::uint64_t word() const { return word_; }
  std::uint64_t ns() const { return word_ & most_ns; }
  std::uint64_t votes_ns() const { return (word_ >> 24) & most_ns; }
  int node() const { return static_cast<int>((word_ >> 48) & most_nodes); }
  unsigned moves() const { return static_cast<unsigned>(word_ >> 60); }
  // The system has refused to move it for good.
  bool is_stuck() const { return moves() == stuck_moves; }
  static debt stuck() { return debt(0, 0, 0, stuck_moves); }
  // Each move makes the next one twice as dear: so pages that are wanted everywhere come to rest, and all moves
  // together take less than what elsewhere costs.
  bool pays(std::uint64_t price_ns) const { return ns() != 0 && ns() >= std::min(price_ns << moves(), most_ns); }

  // A use from `by`, which is not where it lies.
  void add(int by, std::uint64_t ns) {
    const std::uint64_t votes = votes_ns();
    if (node() == by) *this = {this->ns() + ns, votes + ns, by, moves()};
    else if (ns < votes) *this = {this->ns() + ns, votes - ns, node(), moves()};
    else *this = {this->ns() + ns, ns - votes, by, moves()};
  }
  // A use from where it lies.
  void take_away(std::uint64_t ns) {
    *this = {this->ns() - std::min(this->ns(), ns), votes_ns() - std::min(votes_ns(), ns), node(), moves()};
  }
  void has_moved() { *this = {0, 0, 0, std::min(moves() + 1, most_moves)}; }
  // Somebody else has moved it, or it could not be moved.
  void forget() { *this = {0, 0, 0, is_stuck() ? 0 : moves()}; }

 private:
  static constexpr std::uint64_t most_nodes = 0xfff;
  static constexpr unsigned stuck_moves = 15;
  debt(std::uint64_t ns, std::uint64_t votes, int node, unsigned moves)
      : word_(std::min(ns, most_ns) | std::min(votes, most_ns) << 24 | static_cast<std::uint64_t>(node) << 48 |
              std::uint64_t{moves} << 60) {}

  std::uint64_t word_ = 0;
};

// How a task uses a range. A plan knows of several uses at once.
struct use {
  bool reads, writes;
  std::uint32_t times = 1;
};

// What uses and moves cost on a machine. By node: of who uses it, or of where it goes; and of where it lies.
class tariff {
 public:
  // `read_ns`, `write_ns`: of a line of 64 bytes, nodes x nodes, [node of the CPU][node of the memory].
  tariff(std::size_t nodes, const std::vector<double>& read_ns, const std::vector<double>& write_ns,
         std::size_t page_bytes);

  // By how much a use takes longer than at home, in ns.
  std::uint64_t rent(int by, int home, use how, std::uint64_t bytes) const {
    const place& p = at(by, home);
    return bytes * how.times * ((how.reads ? p.read : 0) + (how.writes ? p.write : 0)) / one;
  }
  // Of moving a page, in ns: reading it there and writing it here, and what the system does besides.
  std::uint64_t price(int to, int home) const {
    return at(to, home).price_ns * learned_.load(std::memory_order_relaxed) / one;
  }
  // What a call takes beside that.
  static constexpr std::uint64_t call_ns = 20'000;
  // Moves that should have cost so much took so long.
  void learn(std::uint64_t expected_ns, std::uint64_t took_ns);

 private:
  static constexpr std::uint32_t one = 1024;
  struct place {
    std::uint64_t read, write;  // ns a byte, in 1024ths
    std::uint64_t price_ns;
  };
  const place& at(int by, int home) const {
    return places_[static_cast<std::size_t>(by) * nodes_ + static_cast<std::size_t>(home)];
  }

  const std::size_t nodes_;
  std::vector<place> places_;
  atomic<std::uint32_t> learned_{one};  // 1024ths of what a move takes, for each that is expected
};

}  // namespace weir::memory
