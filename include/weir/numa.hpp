// Memory of the program's own on the nodes it should be on: arrays spread over all nodes or moved to one (Rossignon,
// Henon, Aumage and Thibault, PDSEC 2013, section VI.A). Data of weir's (weir::data) need none of this.
//
//   std::vector<double> x(n);
//   weir::distribute(std::span(x));              // as a parallel loop that writes it first would
//   weir::move(std::span(x).first(n / 2), 1);    // to node 1
//
// Memory is moved in pages. A page at the end of a range belongs to the range in which its middle lies, so neighbouring
// ranges share out all their pages. Pages that nobody has touched yet are not made: the system is told where they are to
// come from, and that stays so until the memory is given back to the system.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace weir {

// What became of the pages of a range. moved + there + promised + refused = pages.
struct move_report {
  std::size_t pages = 0;
  std::size_t moved = 0;
  std::size_t there = 0;     // were there already
  std::size_t promised = 0;  // not touched yet; they will come from that node
  std::size_t refused = 0;   // stay where they are
  std::string why = {};      // of the refused ones: what the system said last; empty if there are none

  move_report& operator+=(const move_report&);
  // "12 pages: 8 moved, 2 there already, 1 not touched yet, 1 refused (Operation not permitted)"
  std::string to_string() const;
};

namespace detail {
move_report move_memory(const void* begin, std::size_t bytes, int node);
move_report distribute_memory(const void* begin, std::size_t bytes);
}  // namespace detail

// Moves a range to a node (an index of this machine, as weir topo lists them). Contents stay as they are, and other threads
// may use them meanwhile. Nothing is thrown where the system refuses: that is in the report. Throws usage_error if there is
// no such node. Costs some microseconds a page that is moved, some 100 ns for any other. Memory in huge pages moves by whole
// huge pages: where nodes change within one of them, the last part moved decides.
template <class T>
move_report move(std::span<T> memory, int node) {
  return detail::move_memory(memory.data(), memory.size_bytes(), node);
}

// Spreads a range over all nodes that have CPUs: one contiguous part a node, in proportion to its CPUs.
template <class T>
move_report distribute(std::span<T> memory) {
  return detail::distribute_memory(memory.data(), memory.size_bytes());
}

// What a task writes, as said to coarse_graph::distribute().
class written_memory {
 public:
  template <class T>
  void add(std::span<T> memory) {
    static_assert(!std::is_const_v<T>, "weir: a task cannot write constant memory");
    add(memory.data(), memory.size_bytes());
  }
  // One element.
  template <class T>
    requires(!std::is_const_v<T>)
  void add(T& element) {
    add(&element, sizeof(T));
  }

 private:
  friend class coarse_graph;
  struct share {
    std::uintptr_t page;  // its number: address by page size
    int node;
    std::uint64_t bytes;
  };
  void add(const void* begin, std::size_t bytes);
  void add_to_page(std::uintptr_t page, std::uint64_t bytes);
  move_report move_pages();

  // Tasks name several arrays in turn: the last share of each of so many pages is added to, not repeated.
  static constexpr std::size_t recent_pages = 64;
  int node_ = 0;  // of the task that is asked now
  std::vector<share> shares_;
  std::array<std::size_t, recent_pages> recent_{};  // positions in shares_, by page number
};

}  // namespace weir
