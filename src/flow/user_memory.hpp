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
#include <new>
#include <utility>
#include <vector>

namespace weir::flow {

// All that is known here of how such an access looks (names_range() of frames.hpp). Its address is offset(), its
// length `bytes`; of a tile (shape_of()) that is where it begins, and all of its bytes.
inline bool names_user_memory(const frame* t) { return (t->unusual & frame::has_ranges) != 0; }
inline bool reads_user_memory(const access& a) {
  return a.kind() != waiter_kind::overwrite && a.kind() != waiter_kind::covered_overwrite;
}
inline bool writes_user_memory(const access& a) {
  return (a.kind() != waiter_kind::read && a.kind() != waiter_kind::covered_read) || is_of_group(a);
}

// Calls f(access) for each.
template <class F>
void for_each_user_memory(frame* t, F&& f) {
  for (unsigned i = 0; i < t->accesses; i++)
    if (const access& a = *t->access_at(i); names_range(*t, a)) f(a);
}

inline bool reads_any_user_memory(frame* t) {
  bool any = false;
  for_each_user_memory(t, [&](const access& a) { any |= reads_user_memory(a); });
  return any;
}

inline memory::rows rows_of(const access& a) {
  const access* const shape = shape_of(a);
  if (shape == nullptr || shape->width() == shape->stride()) [[likely]]
    return {a.offset(), a.bytes};
  return {a.offset(), shape->width(), shape->stride(), a.bytes / shape->width()};
}

// More rows of a tile are not looked at, as it would take longer than many a task; neighbours mostly lie together.
inline constexpr std::uint64_t most_rows_looked_at = 16;

// Rows that stand for all, each for so many, the last one for what is left.
struct looked_at {
  memory::rows of;
  std::uint64_t each, last;
};
inline looked_at looked_at_of(const access& a) {
  const memory::rows all = rows_of(a);
  if (all.count <= most_rows_looked_at) return {all, 1, 1};
  const std::uint64_t each = (all.count + most_rows_looked_at - 1) / most_rows_looked_at;
  const std::uint64_t rows = (all.count + each - 1) / each, last = all.count - (rows - 1) * each;
  return {{all.first + std::min(each / 2, last - 1) * all.stride, all.width, each * all.stride, rows}, each, last};
}

// Calls f(bytes, node) for what is known of where it lies. `known` is null where nobody keeps that.
template <class F>
void for_each_part(const memory::regions* known, const access& a, F&& f) {
  if (known == nullptr) return f(std::uint64_t{a.bytes}, static_cast<int>(detail::node_unknown));
  const looked_at l = looked_at_of(a);
  known->for_each_part(l.of, [&](std::uint64_t row, std::uint64_t bytes, int node) {
    f(row + 1 < l.of.count ? l.each * bytes : l.last * bytes, node);
  });
}

// The address that stands for where a task's new memory will lie: where its largest access that writes begins, or, of
// a tile, the row of the matrix, if rows are shorter than this. 0: it writes none.
inline std::uintptr_t place_of_written(frame* t, std::size_t rows_together_bytes) {
  std::uintptr_t place = 0;
  std::uint64_t most = 0;
  if (!names_user_memory(t)) return 0;
  for_each_user_memory(t, [&](const access& a) {
    if (!writes_user_memory(a) || a.bytes <= most) return;
    most = a.bytes;
    place = a.offset();
    if (const access* const shape = shape_of(a); shape != nullptr && shape->stride() < rows_together_bytes)
      place -= (place - shape->matrix()) % shape->stride();
  });
  return place;
}

// Where its largest access begins. 0: it has none.
inline std::uintptr_t place_of_most(frame* t) {
  std::uintptr_t place = 0;
  std::uint64_t most = 0;
  for_each_user_memory(t, [&](const access& a) {
    if (a.bytes <= most) return;
    most = a.bytes;
    place = a.offset();
  });
  return place;
}

// Bytes by node; of more nodes than these, the last ones' are nowhere in particular.
template <std::size_t Most>
class node_shares {
 public:
  void add(std::uint64_t bytes, int node) {
    std::size_t i = 0;
    while (i < used_ && shares_[i].node != node) i++;
    if (i == Most) {
      others_ += bytes;
      return;
    }
    if (i == used_) shares_[used_++] = {0, node};
    shares_[i].bytes += bytes;
  }
  bool has(int node) const {
    return std::any_of(shares_.data(), shares_.data() + used_, [&](const share& s) { return s.node == node; });
  }
  // The node that all of it lies on; place_unknown: there is none, or it is not known.
  int only_node() const { return used_ == 1 ? shares_[0].node : memory::place_unknown; }
  // Calls f(bytes, node).
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i < used_; i++) f(shares_[i].bytes, shares_[i].node);
    if (others_ != 0) f(others_, static_cast<int>(memory::place_unknown));
  }

 private:
  struct share {
    std::uint64_t bytes;
    int node;
  };
  std::array<share, Most> shares_;
  std::size_t used_ = 0;
  std::uint64_t others_ = 0;
};

// The name under which regions remember where all of it lies; 0: it is looked up.
inline std::uint64_t name_of(const memory::regions& known, const access& a) {
  constexpr std::size_t few_pages = 4;  // more: long walks where chunks are mixed; fewer: what is as cheap to look up
  if (const access* const shape = shape_of(a); shape != nullptr && shape->width() != shape->stride())
    return memory::remembered::name(a.offset(), a.bytes, shape->stride(), shape->width());
  return a.bytes <= few_pages * known.page_bytes() ? 0 : memory::remembered::name(a.offset(), a.bytes);
}

// Of an access that has this name, or none, and is not remembered. Where something is not known, ask(access) finds it
// out, once, and returns whether more may be known then.
template <class Ask>
[[gnu::noinline]] node_shares<16> look_up(memory::regions& known, const access& a, std::uint64_t name, Ask&& ask) {
  std::uint64_t since = 0;
  const auto look = [&] {
    since = known.changes();
    node_shares<16> found;
    for_each_part(&known, a, [&](std::uint64_t bytes, int node) { found.add(bytes, node); });
    return found;
  };
  node_shares<16> found = look();
  if (found.has(memory::place_unknown) && ask(a)) found = look();
  if (const int node = found.only_node(); name != 0 && node >= 0) known.remember(name, node, since);
  return found;
}

// Calls f(bytes, node, whether it is read, whether it is written). What is not remembered is looked up.
template <class Ask, class F>
void find_each_part(memory::regions& known, frame* t, Ask&& ask, F&& f) {
  for_each_user_memory(t, [&](const access& a) {
    const bool reads = reads_user_memory(a), writes = writes_user_memory(a);
    const std::uint64_t name = name_of(known, a);
    if (const int node = name == 0 ? memory::place_unknown : known.remembered_node(name); node >= 0)
      return f(std::uint64_t{a.bytes}, node, reads, writes);
    look_up(known, a, name, ask).for_each([&](std::uint64_t bytes, int node) { f(bytes, node, reads, writes); });
  });
}

// Where a task's memory lies that is about to be placed: looked up when it is first asked for, by the policy or the
// scheduler, and remembered. Parts of one node that are used alike are one. One thread's.
class user_places {
 public:
  // `known` may be null: nobody knows.
  user_places(memory::regions* known, frame* t) : known_(known), task_(t) {}
  template <class F>
  void for_each(F&& f) const {
    if (known_ != nullptr) find(*std::exchange(known_, nullptr));
    for (unsigned use = 1; use <= shares_.size(); use++)
      shares_[use - 1].for_each(
          [&](std::uint64_t bytes, int node) { f(bytes, node, (use & 1) != 0, (use & 2) != 0); });
  }

 private:
  // What is not known is asked for.
  [[gnu::noinline]] void find(memory::regions& known) const {
    const auto ask = [&](const access& a) {
      const memory::rows some = looked_at_of(a).of;
      return writes_user_memory(a) ? known.before_write(some, reads_user_memory(a)) : known.read(some);
    };
    find_each_part(known, task_, ask, [&](std::uint64_t bytes, int node, bool reads, bool writes) {
      shares_[(reads ? 1 : 0) + (writes ? 2 : 0) - 1].add(bytes, node);
    });
  }

  mutable memory::regions* known_;                  // null: it has been looked up
  mutable std::array<node_shares<32>, 3> shares_;  // read, written, both
  frame* const task_;
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
  for_each_user_memory(t, [&](const access& a) {
    for_each_part(known.regions, a, [&](std::uint64_t bytes, int node) {
      f(bytes, node, reads_user_memory(a), writes_user_memory(a));
    });
  });
}

// A task on this node has written it.
inline bool note_written(memory::regions& known, const access& a, int node) {
  return known.written(rows_of(a), node);
}

// The task has run, on this node. As for_each_user_part(), where it lies now: where it has written something that has
// no place, the system is asked.
template <class F>
void note_user_memory(memory::regions& known, frame* t, int node, F&& f) {
  const auto ask = [&](const access& a) {
    return writes_user_memory(a) ? note_written(known, a, node) : known.read(looked_at_of(a).of);
  };
  find_each_part(known, t, ask, f);
}

// The task is about to run, on this node, as one of so many like it: what of its memory lies elsewhere may move before.
// Whether any of it was due.
inline bool bring_memory(memory::migration& moves, frame* t, int node, std::uint32_t times) noexcept {
  std::vector<memory::misplaced_page> due;
  try {
    for_each_user_memory(t, [&](const access& a) {
      moves.used(rows_of(a), node, {reads_user_memory(a), writes_user_memory(a), times}, due);
    });
    moves.task_begins(due);
  } catch (const std::bad_alloc&) {  // then it stays
  }
  return !due.empty();
}

// The task, and others like it, will run on this node. Throws std::bad_alloc.
inline void charge_memory(memory::migration& moves, frame* t, int node, std::uint32_t times) {
  for_each_user_memory(t, [&](const access& a) {
    moves.will_use(rows_of(a), node, {reads_user_memory(a), writes_user_memory(a), times});
  });
}

}  // namespace weir::flow
