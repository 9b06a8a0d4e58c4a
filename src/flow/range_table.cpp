// The ranges of user memory that tasks have named.
#include "flow/range_table.hpp"

#include "flow/access_group.hpp"
#include "flow/range_cut.hpp"
#include "flow/versions.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace weir::flow {

range_table::~range_table() {
  WEIR_ASSERT(index_.size() == 0);
  for (const slot& s : all_slots())
    if (s.entry != 0 && s.has_parts()) delete s.parts();
}

// --------------------------------------------------------------------------------------------- memory of records

void range_table::collect_returned() {
  range_record* r = returned_.exchange(nullptr, std::memory_order_acquire);
  while (r != nullptr) {
    auto* const next = reinterpret_cast<range_record*>(r->first);
    unused_.push_back(r);
    r = next;
  }
}

// For so many more, so that nothing fails in between.
void range_table::reserve(std::size_t records) {
  collect_returned();
  while (unused_.size() < records) {
    const std::size_t more = std::clamp(records_, first_records, most_in_chunk);
    unused_.reserve(records_ + more);
    chunks_.push_back(std::make_unique<range_record[]>(more));
    records_ += more;
    for (std::size_t i = 0; i < more; i++) unused_.push_back(&chunks_.back()[i]);
  }
  index_.reserve(static_cast<unsigned>(records));
}

range_record& range_table::take_record(std::uintptr_t first, std::uintptr_t end, std::uint32_t task) noexcept {
  WEIR_ASSERT(!unused_.empty() && first < end);
  range_record& r = *unused_.back();
  unused_.pop_back();
  r.begin(first, end - first, runtime_);
  r.named_by = task;
  r.note_named(now());
  return r;
}

void range_table::give_back(range_record& r) noexcept {
  range_record* head = returned_.load(std::memory_order_relaxed);
  do r.first = reinterpret_cast<std::uintptr_t>(head);
  while (!returned_.compare_exchange_weak(head, &r, std::memory_order_release, std::memory_order_relaxed));
}

// ------------------------------------------------------------------------------------------------- exact look-up

// Of parts one is looked at: if that is at rest the range is not in use now.
bool range_table::may_go(const slot& s, std::uint32_t task) const {
  if (!s.has_parts()) return may_go(*s.record(), task);
  if (s.parts()->all.empty()) return true;
  const range_parts::part& p = s.parts()->all.front();
  return !p.is_there() || may_go(*p.record, task);
}

void range_table::clear(context& c, slot& s) noexcept {
  if (!s.has_parts()) return take_out(c, *s.record());
  delete s.parts();
  s = {};
}

// An empty one for these bytes. Null: there is no memory.
range_table::slot* range_table::slot_for(context& c, std::uintptr_t first, std::uint64_t bytes,
                                         std::uint32_t task) noexcept {
  if (lines_ == 0 || gone_.note_addition(mixed(first, bytes))) grow();
  while (lines_ != 0) {
    const auto slots = window_in(slots_, shift_, first, bytes);
    for (slot& s : slots)
      if (s.entry == 0) return &s;
    for (slot& s : slots)
      if (gone_.are_allowed() && may_go(s, task)) {
        gone_.note_eviction(mixed(s.first, s.bytes()));
        clear(c, s);
        return &s;
      }
    if (!grow()) break;
  }
  return nullptr;
}

bool range_table::move_to(slot* wider, unsigned shift) const noexcept {
  for (const slot& s : all_slots()) {
    if (s.entry == 0) continue;
    const auto room = window_in(wider, shift, s.first, s.bytes());
    const auto to = std::ranges::find(room, std::uintptr_t{0}, &slot::entry);
    if (to == room.end()) return false;
    *to = s;
  }
  return true;
}

bool range_table::grow() noexcept {
  for (std::size_t lines = lines_ == 0 ? first_lines : 2 * lines_;; lines *= 2) {
    const std::size_t slots = (lines + 1) * line;
    std::unique_ptr<slot[]> wider(new (std::nothrow) slot[slots]());
    if (wider == nullptr) return false;
    const auto shift = static_cast<unsigned>(64 - std::countr_zero(lines));
    if (!move_to(wider.get(), shift)) continue;
    gone_.begin(lines * line);
    memory_ = std::move(wider);
    slots_ = memory_.get();
    shift_ = shift;
    lines_ = lines;
    return true;
  }
}

void range_table::note_parts(context& c, std::uintptr_t first, std::uint64_t bytes, std::uint32_t task) noexcept {
  try {
    range_parts* parts = find(first, bytes).parts;
    if (parts == nullptr) {
      slot* const s = slot_for(c, first, bytes, task);
      if (s == nullptr) return;
      parts = new range_parts(first, bytes);
      *s = {first, reinterpret_cast<std::uintptr_t>(parts) | 1};
    }
    parts->all.clear();
    parts->checked_at.store(removals_, std::memory_order_relaxed);
    for_each_part(first, bytes, [&](range_record& r) { parts->all.push_back({&r, r.generation}); });
  } catch (const std::bad_alloc&) {
    if (range_parts* const some = find(first, bytes).parts; some != nullptr) some->all.clear();
  }
}

// ------------------------------------------------------------------------------------------------------- records

void range_table::add(context& c, range_record& r, std::uint32_t task) noexcept {
  index_.add(&r);
  for (slot& s : window_in(slots_, shift_, r.first, r.state.bytes))
    if (s.holds(r.first, r.state.bytes)) clear(c, s);  // it has had parts
  if (slot* const s = slot_for(c, r.first, r.state.bytes, task); s != nullptr)
    *s = {r.first, reinterpret_cast<std::uintptr_t>(&r)};
}

// Who remembers it finds that it is another one.
void range_table::remove(range_record& r) noexcept {
  for (slot& s : window_in(slots_, shift_, r.first, r.state.bytes))
    if (s.entry == reinterpret_cast<std::uintptr_t>(&r)) s = {};
  index_.remove(&r);
  r.generation++;
  removals_++;
}

void range_table::take_out(context& c, range_record& r) noexcept {
  remove(r);
  drop(c, r);
}

void range_table::end_group(context& c, range_record& r) noexcept {
  if (r.state.group() != nullptr) close_group(c, r.state);
}

void range_table::drop(context& c, range_record& r) noexcept {
  end_group(c, r);
  if (r.state.current != &r.ground) implementation::retire_without_heir(c, *r.state.current, r.state.readers);
  unused_.push_back(&r);
}

void range_table::replace(context& c, range_record& old, std::span<range_record* const> by,
                          std::uint32_t task) noexcept {
  remove(old);
  for (range_record* r : by) add(c, *r, task);
}

// Null: a record begins or ends at this address, or none has it.
range_record* range_table::reaching_across(std::uintptr_t address) {
  range_record* const r = index_.find(address).record();
  return r != nullptr && r->first < address ? r : nullptr;
}

void range_table::cut(context& c, range_record& whole, std::uintptr_t first, std::uintptr_t end, std::uint32_t task) {
  end_group(c, whole);
  const std::uintptr_t begins = std::max(whole.first, first), ends = std::min(whole.end(), end);
  const unsigned count = 1 + (begins > whole.first ? 1 : 0) + (ends < whole.end() ? 1 : 0);
  const bool in_use = must_go_on(whole);
  frame* const made = in_use ? make_cut(c, count) : nullptr;
  std::array<range_record*, 3> pieces{};
  unsigned n = 0;
  if (begins > whole.first) pieces[n++] = &take_record(whole.first, begins, task);
  pieces[n++] = &take_record(begins, ends, task);
  if (ends < whole.end()) pieces[n++] = &take_record(ends, whole.end(), task);
  remove(whole);
  for (unsigned i = 0; i < count; i++) add(c, *pieces[i], task);
  if (in_use) return begin_cut(c, made, *this, whole, std::span(pieces).first(count));
  drop(c, whole);
}

void range_table::clear_bound(context& c, std::uintptr_t bound, std::uintptr_t first, std::uintptr_t end,
                              std::uint32_t task) {
  range_record* const r = reaching_across(bound);
  if (r == nullptr) return;
  if (may_go(*r, task) && is_out_of_use(*r)) return take_out(c, *r);
  reserve(3);
  cut(c, *r, first, end, task);
}

// What is at rest and out of use inside gives way to records that are larger.
void range_table::fill(context& c, std::uintptr_t first, std::uintptr_t end, std::uint32_t task) {
  std::uintptr_t known = first;  // up to here there are records
  std::uintptr_t at = first;     // and up to here nothing is left that may go
  while (known < end) {
    range_record* r = index_.find(at).record();
    if (r != nullptr && r->first >= end) r = nullptr;
    if (r != nullptr && may_go(*r, task) && is_out_of_use(*r)) {
      at = r->end();
      take_out(c, *r);
      continue;
    }
    if (r != nullptr) r->named_by = task;
    const std::uintptr_t gap_end = r == nullptr ? end : r->first, behind = r == nullptr ? end : r->end();
    if (known < gap_end) {
      reserve(1);
      add(c, take_record(known, gap_end, task), task);
    }
    known = at = behind;
  }
}

void range_table::cover(context& c, std::uintptr_t first, std::uint64_t bytes, std::uint32_t task) {
  const std::uintptr_t end = first + bytes;
  clear_bound(c, first, first, end, task);
  clear_bound(c, end, first, end, task);
  fill(c, first, end, task);
}

void range_table::forget(context& c, bool everything) noexcept {
  std::uintptr_t behind = 0;
  while (range_record* const r = index_.find(behind).record()) {
    behind = r->end();
    if (everything || r->is_at_rest()) take_out(c, *r);
  }
}

}  // namespace weir::flow
