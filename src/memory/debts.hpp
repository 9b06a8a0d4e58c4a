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

  debt() = default;
  explicit debt(std::uint64_t word) : word_(word) {}
  std::uint64_t word() const { return word_; }
  std::uint64_t ns() const { return word_ & most_ns; }
  std::uint64_t votes_ns() const { return (word_ >> 24) & most_ns; }
  int node() const { return static_cast<int>((word_ >> 48) & 0x7fff); }
  // The system has refused to move it for good.
  bool is_stuck() const { return word_ == stuck_word; }
  static debt stuck() { return debt(stuck_word); }

  // A use from `by`, which is not where it lies.
  void add(int by, std::uint64_t ns) {
    const std::uint64_t votes = votes_ns();
    if (node() == by) *this = {this->ns() + ns, votes + ns, by};
    else if (ns < votes) *this = {this->ns() + ns, votes - ns, node()};
    else *this = {this->ns() + ns, ns - votes, by};
  }
  // A use from where it lies.
  void take_away(std::uint64_t ns) {
    *this = {this->ns() - std::min(this->ns(), ns), votes_ns() - std::min(votes_ns(), ns), node()};
  }

 private:
  static constexpr std::uint64_t stuck_word = ~std::uint64_t{0};
  debt(std::uint64_t ns, std::uint64_t votes, int node)
      : word_(ns == 0 ? 0 : std::min(ns, most_ns) | std::min(votes, most_ns) << 24 | static_cast<std::uint64_t>(node) << 48) {}

  std::uint64_t word_ = 0;
};

// What uses and moves cost on a machine. By node: of who uses it, or of where it goes; and of where it lies.
class tariff {
 public:
  // `read_ns`, `write_ns`: of a line of 64 bytes, nodes x nodes, [node of the CPU][node of the memory].
  tariff(std::size_t nodes, const std::vector<double>& read_ns, const std::vector<double>& write_ns,
         std::size_t page_bytes);

  // By how much a use takes longer than at home, in ns a byte.
  double rent(int by, int home, bool reads, bool writes) const {
    const place& p = at(by, home);
    return (reads ? p.read : 0) + (writes ? p.write : 0);
  }
  // Of moving a page, in ns: reading it there and writing it here, and what the system does besides.
  std::uint64_t price(int to, int home) const {
    return static_cast<std::uint64_t>(at(to, home).price) * learned_.load(std::memory_order_relaxed) / one;
  }
  // What a call takes beside that.
  static constexpr std::uint64_t call_ns = 20'000;
  // Moves that should have cost so much took so long.
  void learn(std::uint64_t expected_ns, std::uint64_t took_ns);

 private:
  struct place {
    double read, write, price;
  };
  static constexpr std::uint32_t one = 1024;
  const place& at(int by, int home) const {
    return places_[static_cast<std::size_t>(by) * nodes_ + static_cast<std::size_t>(home)];
  }

  const std::size_t nodes_;
  std::vector<place> places_;
  atomic<std::uint32_t> learned_{one};  // 1024ths of what a move takes, for each that is expected
};

}  // namespace weir::memory
