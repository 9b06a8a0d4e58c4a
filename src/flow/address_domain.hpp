// Dependences by address: user memory named with weir::ref. Ranges may overlap in any way; tasks are ordered as if
// they ran one after the other in creation order, as far as their ranges touch and one of them writes.
//
// A range is a datum without a buffer, and a write is an update of it: once the records of a task's ranges are found,
// matching and completing are those of data (README.md, "User memory").
#pragma once

#include "flow/domain_lock.hpp"
#include "flow/frames.hpp"
#include "flow/range_parts.hpp"
#include "flow/range_table.hpp"
#include "flow/tile_map.hpp"

#include <weir/detail/scope_state.hpp>

#include <vector>

namespace weir::flow {

// The tasks among which ranges order: all of a runtime, or those of one scope. Used by who has the right to create,
// or, once there are several creators, holds the lock.
class address_domain {
 public:
  explicit address_domain(const shared& s) : table_(s.runtime, s.traced), tiles_(table_) {}

  // Finds the records of the ranges that a task names, and gives accesses and versions their data. Returns what the
  // task uses beside a record for each access, or null. An exact repeat of a range costs one look-up, one that has
  // parts a look at each of them, and any other O(log n) for each record it touches. Throws std::bad_alloc.
  frame* resolve(context& c, frame* f) {
    const std::uint32_t now = table_.tick();
    if ((f->unusual & tiles_matter_) != 0) [[unlikely]] return resolve_with_tiles(c, f);
    if (bind_ranges(f, [&](range_record& r) { r.note_named(now); })) [[likely]] return nullptr;
    return resolve_parts(c, f);
  }
  // The same by who shares the lock. False: not all is known, and nothing has happened. If it is true the caller locks
  // the records, and then calls note_named(). Throws std::bad_alloc.
  bool resolve_known(context&, frame*, frame*& parts);
  void note_named(frame*, frame* parts) const;

  // What no task uses, or everything. O(ranges).
  void forget(context& c, bool everything) noexcept {
    table_.forget(c, everything);
    tiles_.forget(c, everything);
    if (!tiles_.has_areas()) tiles_matter_ = frame::has_tiles;
  }
  // No task that named its ranges is left.
  bool is_over() { return table_.is_unused(); }
  bool is_valid() { return table_.is_valid() && tiles_.is_valid(); }
  std::uint32_t& open_groups() { return table_.open_groups(); }
  // After a wait for all its tasks there is something to be forgotten.
  bool forgets_at_waits() const { return has_lost.load(std::memory_order_relaxed) || table_.keeps_all(); }

  domain_lock lock;
  atomic<bool> has_lost{false};  // a task that should have written some of its memory has failed

 private:
  // One record that an access needs.
  struct use {
    range_record* record;  // null: another access of the task has it
    std::uint32_t access;
    part_use how;
    bool only_as_part = false;  // the access has no version of its own, and this needs one
  };
  static void bind(frame* f, access& a, range_record& r) {
    a.wanted = &r.state;
    if (a.kind() != waiter_kind::read) f->version_at(a.extra())->owner = &r.state;
  }
  // True: each range has a record of its own, which noted(record) was called with.
  template <class Noted>
  bool bind_ranges(frame* f, const Noted& noted) {
    access* a = f->access_at(0);
    for (const access* end = a + f->accesses; a != end; a++) {
      if (a->wanted != nullptr) continue;  // a datum or stream
      range_record* const r = table_.find(a->offset(), a->bytes).record;
      if (r == nullptr) [[unlikely]] return false;
      noted(*r);
      bind(f, *a, *r);
    }
    return f->accesses == 1 || !any_twice(f);
  }
  static bool any_twice(frame*);
  static bool any_overlap(frame*);
  template <class Noted>
  bool use_known(context&, frame*, frame*& parts, const Noted& noted);
  frame* resolve_parts(context&, frame*);
  void make_records(context&, frame*);
  void join(context&, const range_parts&);
  bool fits(const range_parts*, const access&, std::uint32_t task) const;
  bool list_uses(frame*, bool by_address);
  void note_parts(context&, frame*) noexcept;
  void join_uses();
  void keep_one(std::size_t first, std::size_t end);
  bool needs_no_parts(std::size_t first, std::size_t end) const;
  std::size_t end_of_uses(std::size_t first, std::uint32_t access) const;
  void count_parts_anew();
  frame* bind_uses(context&, frame*);

  // Tasks that name tiles, and tasks that name ranges among those: address_tiles.cpp.
  struct named_place {
    tile_map::place at;
    std::uint32_t access;
    bool orders_all;  // with whatever is there
  };
  struct area_in_order {
    tile_area* area;
    std::uint32_t access;
  };
  frame* resolve_with_tiles(context&, frame*);
  bool bind_known(frame*, bool notes);
  frame* resolve_tiles(context&, frame*);
  void find_places(context&, frame*);
  void order_areas(std::uintptr_t first, std::uintptr_t end, std::uint32_t access);
  void make_places(context&, frame*);
  void list_places(frame*);
  void list_use(range_record&, std::uint32_t access, part_use, bool only_as_part);
  void note_places(context&) noexcept;
  range_table::found find_place(const tile_map::place&) const;
  void cover_place(context&, const tile_map::place&, std::uint32_t task, bool joins);

  std::uint32_t next_number() { return ++number_ == 0 ? ++number_ : number_; }

  range_table table_;
  tile_map tiles_;
  // Which of a task's unusual accesses have it resolved with a look at tiles: has_tiles; all ranges once there are
  // any.
  std::uint8_t tiles_matter_ = frame::has_tiles;
  // Of the task that is being resolved.
  std::vector<use> uses_;
  std::vector<named_place> places_;
  std::vector<tile_space*> spaces_;       // of each tile
  std::vector<area_in_order> unordered_;  // ordered with all by this task
  std::vector<tile_map::place> found_;
  bool named_twice_ = false;
  std::size_t parts_ = 0, written_parts_ = 0;  // how many uses are of accesses that several records make up
  std::uint32_t number_ = 0;  // of the last one that noted in records that it names them
};

// After a wait for all tasks of a domain: what is lost has been told, so it is forgotten. Where tasks are traced all
// is: ranges keep there whatever was known of them.
void end_of_wait(context&, address_domain&);
// Of a runtime that has no tasks any more.
void forget_all_domains(context&);
// Of a scope whose tasks are done, or given up. Throws std::bad_alloc.
std::unique_ptr<address_domain> make_domain(const shared&);
void end_domain(context&, std::unique_ptr<address_domain>) noexcept;

// That of a task.
inline address_domain& domain_of(context& c, const frame& f) {
  return f.scope != nullptr && f.scope->ranges != nullptr ? *f.scope->ranges : *c.common.addresses;
}

}  // namespace weir::flow
