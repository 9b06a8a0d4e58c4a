// Where the program's own memory lies that a task names with weir::ref: what of it is looked at, and what was found,
// for all who want to know.
#pragma once

#include "flow/access_group.hpp"
#include "flow/frames.hpp"
#include "memory/memory.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace weir::flow {

// All that is known here of how an access to such memory looks. Its address is offset(), its length `bytes`; the shape
// of a tile lies behind it.
inline bool names_user_memory(const frame* t) { return (t->unusual & frame::has_ranges) != 0; }
inline bool reads_user_memory(const access& a) {
  return a.kind() != waiter_kind::overwrite && a.kind() != waiter_kind::covered_overwrite;
}
inline bool writes_user_memory(const access& a) {
  return (a.kind() != waiter_kind::read && a.kind() != waiter_kind::covered_read) || is_of_group(a);
}
// Of an access whose task's accesses end there. Null: it is a plain range.
inline const access* shape_behind(const access& a, const access* end) {
  return &a + 1 != end && (&a)[1].kind() == waiter_kind::shape ? &a + 1 : nullptr;
}

// Calls f(access, its shape or null) for each.
template <class F>
void for_each_user_memory(frame* t, F&& f) {
  const access* const end = t->access_at(t->accesses);
  for (const access* a = t->access_at(0); a != end; a++)
    if (names_range(*t, *a)) f(*a, shape_behind(*a, end));
}

// How many rows of a tile are looked at, at most, evenly spread; what is found counts for the others, too. Fewer: a
// tile that lies half on one node and half on another is taken for one that does not. More: some ns each, every time a
// task names it.
inline constexpr std::uint64_t most_rows_looked_at = 16;

// Calls f(first, bytes) for the memory that says where an access lies. Rows that are closer than pages have no page
// between them, so all from the first to the last byte is looked at.
template <class F>
void for_each_look(const access& a, const access* shape, std::size_t page_bytes, F&& f) {
  if (shape == nullptr) return f(std::uintptr_t{a.offset()}, std::uint64_t{a.bytes});
  const std::uint64_t rows = a.bytes / shape->width(), stride = shape->stride();
  if (stride <= page_bytes || shape->width() == stride)
    return f(std::uintptr_t{a.offset()}, (rows - 1) * stride + shape->width());
  const std::uint64_t step = (rows + most_rows_looked_at - 1) / most_rows_looked_at;
  for (std::uint64_t r = 0; r < rows; r += step) f(std::uintptr_t{a.offset() + r * stride}, shape->width());
}

// The address that stands for where a task's new memory will lie: where its largest access that writes begins, or, of a
// tile, the row of the matrix, if rows are shorter than this. 0: it writes none.
inline std::uintptr_t place_of_written(frame* t, std::size_t rows_together_bytes) {
  std::uintptr_t place = 0;
  std::uint64_t most = 0;
  if (!names_user_memory(t)) return 0;
  for_each_user_memory(t, [&](const access& a, const access* shape) {
    if (!writes_user_memory(a) || a.bytes <= most) return;
    most = a.bytes;
    place = a.offset();
    if (shape != nullptr && shape->stride() < rows_together_bytes)
      place -= (place - shape->matrix()) % shape->stride();
  });
  return place;
}

// Bytes by node; of more nodes than these, the last ones' are nowhere in particular.
template <std::size_t Most>
class node_shares {
 public:
  void add(std::uint64_t bytes, int node) {
    sum_ += bytes;
    if (node == memory::place_unknown) unknown_ += bytes;
    std::size_t i = 0;
    while (i < used_ && shares_[i].node != node) i++;
    if (i == used_) {
      if (used_ == Most) return;
      shares_[used_++] = {0, node};
    }
    shares_[i].bytes += bytes;
  }
  bool has_unknown() const { return unknown_ != 0; }
  // Calls f(bytes, node).
  template <class F>
  void for_each(F&& f) const {
    for_each_of(sum_, f);
  }
  // Likewise: all bytes together, as they are spread over what was looked at.
  template <class F>
  void for_each_of(std::uint64_t bytes, F&& f) const {
    if (used_ == 1 && shares_[0].bytes == sum_) return f(bytes, shares_[0].node);
    std::uint64_t left = bytes, seen = 0;
    for (std::size_t i = 0; i < used_; i++) {
      seen += shares_[i].bytes;
      const std::uint64_t here = seen == sum_ ? left : scaled(shares_[i].bytes, bytes);
      left -= here;
      if (here != 0) f(here, shares_[i].node);
    }
    if (left != 0) f(left, static_cast<int>(memory::place_unknown));
  }

 private:
  std::uint64_t scaled(std::uint64_t part, std::uint64_t all) const {
    if (all == sum_) return part;
    return static_cast<std::uint64_t>(static_cast<double>(part) / static_cast<double>(sum_) *
                                      static_cast<double>(all));
  }
  struct share {
    std::uint64_t bytes;
    int node;
  };
  std::array<share, Most> shares_;
  std::size_t used_ = 0;
  std::uint64_t sum_ = 0, unknown_ = 0;
};
using access_shares = node_shares<16>;

inline access_shares shares_of(const memory::regions& known, const access& a, const access* shape,
                               std::size_t page_bytes) {
  access_shares found;
  for_each_look(a, shape, page_bytes, [&](std::uintptr_t first, std::uint64_t bytes) {
    known.for_each_part(first, bytes, [&](std::uint64_t n, int node) { found.add(n, node); });
  });
  return found;
}

// Calls f(bytes, node) for what is known of where an access lies. `known` is null where nobody keeps that.
template <class F>
void for_each_part(const memory::regions* known, const access& a, const access* shape, F&& f) {
  if (known == nullptr) return f(std::uint64_t{a.bytes}, static_cast<int>(detail::node_unknown));
  if (shape == nullptr) return known->for_each_part(a.offset(), a.bytes, f);
  shares_of(*known, a, shape, known->page_bytes()).for_each_of(a.bytes, f);
}

// Calls f(bytes, node, whether it is read, whether it is written). Of what is not known the system is asked by
// ask(first, bytes, whether it is written), once.
template <class Ask, class F>
void find_each_part(const memory::regions& known, frame* t, Ask&& ask, F&& f) {
  const std::size_t page_bytes = known.page_bytes();
  for_each_user_memory(t, [&](const access& a, const access* shape) {
    const bool reads = reads_user_memory(a), writes = writes_user_memory(a);
    access_shares found = shares_of(known, a, shape, page_bytes);
    if (found.has_unknown()) {
      for_each_look(a, shape, page_bytes,
                    [&](std::uintptr_t first, std::uint64_t bytes) { ask(first, bytes, writes); });
      found = shares_of(known, a, shape, page_bytes);
    }
    found.for_each_of(a.bytes, [&](std::uint64_t bytes, int node) { f(bytes, node, reads, writes); });
  });
}

// What was found for a task that is about to be placed: looked up once, and read by the policy and the scheduler.
// Parts of one node that are used alike are one.
class user_places {
 public:
  // What is not known is asked for.
  void find(memory::regions& known, frame* t) {
    const auto ask = [&](std::uintptr_t first, std::uint64_t bytes, bool writes) {
      writes ? known.before_write(first, bytes) : known.read(first, bytes);
    };
    find_each_part(known, t, ask, [&](std::uint64_t bytes, int node, bool reads, bool writes) {
      shares_[(reads ? 1 : 0) + (writes ? 2 : 0) - 1].add(bytes, node);
    });
  }
  template <class F>
  void for_each(F&& f) const {
    for (unsigned use = 1; use <= shares_.size(); use++)
      shares_[use - 1].for_each([&](std::uint64_t bytes, int node) { f(bytes, node, (use & 1) != 0, (use & 2) != 0); });
  }

 private:
  std::array<node_shares<32>, 3> shares_;  // read, written, both
};

// Where the program's own memory lies, for who looks at a task: what was found, or else whom to ask, or nobody.
struct whereabouts {
  whereabouts(std::nullptr_t) {}
  whereabouts(const memory::regions* known, const user_places* looked_up = nullptr)
      : regions(known), found(looked_up) {}

  const memory::regions* regions = nullptr;
  const user_places* found = nullptr;
};

// Calls f(bytes, node, whether it is read, whether it is written).
template <class F>
void for_each_user_part(const whereabouts& known, frame* t, F&& f) {
  if (!names_user_memory(t)) [[likely]]
    return;
  if (known.found != nullptr) return known.found->for_each(f);
  for_each_user_memory(t, [&](const access& a, const access* shape) {
    for_each_part(known.regions, a, shape, [&](std::uint64_t bytes, int node) {
      f(bytes, node, reads_user_memory(a), writes_user_memory(a));
    });
  });
}

// The task has run, on this node. As for_each_user_part(), where it lies now: of pages that it wrote, and nobody
// before, the system is asked.
template <class F>
void note_user_memory(memory::regions& known, frame* t, int node, F&& f) {
  const auto ask = [&](std::uintptr_t first, std::uint64_t bytes, bool writes) {
    writes ? known.written(first, bytes, node) : known.read(first, bytes);
  };
  find_each_part(known, t, ask, f);
}

}  // namespace weir::flow
