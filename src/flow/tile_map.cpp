// The tiles of matrices that tasks have named: look-up, and rectangles that are cut.
#include "flow/tile_map.hpp"

#include "flow/range_cut.hpp"
#include "flow/versions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <new>

namespace weir::flow {

tile_map::~tile_map() {
  WEIR_ASSERT(spaces_.empty() && areas_.empty());
  for (const slot& s : all_slots())
    if (s.entry != 0 && s.has_parts()) delete s.parts();
}

// ------------------------------------------------------------------------------------------------- exact look-up

// Of parts one is looked at: if that is at rest the tile is not in use now.
bool tile_map::may_go(const slot& s, std::uint32_t task) const {
  if (!s.has_parts()) return ranges_.may_go(*s.record(), task);
  if (s.parts()->all.empty()) return true;
  const range_parts::part& p = s.parts()->all.front();
  return !p.is_there() || ranges_.may_go(*p.record, task);
}

void tile_map::clear(context& c, slot& s) noexcept {
  if (!s.has_parts()) {
    tile_space& space = *s.space;
    return take_out(c, space, space.at(s.shape.first, s.shape.rows, s.shape.width), *s.record());
  }
  delete s.parts();
  s = {};
}

// An empty one. Null: there is no memory.
tile_map::slot* tile_map::slot_for(context& c, const tile_shape& t, std::uint32_t task) noexcept {
  if (slot_count_ == 0 || gone_.note_addition(mixed(t))) grow();
  while (slot_count_ != 0) {
    const auto slots = window_of(t);
    for (slot& s : slots)
      if (s.entry == 0) return &s;
    for (slot& s : slots)
      if (gone_.are_allowed() && may_go(s, task)) {
        gone_.note_eviction(mixed(s.shape));
        clear(c, s);
        return &s;
      }
    if (!grow()) break;
  }
  return nullptr;
}

bool tile_map::move_to(slot* wider, unsigned shift) const noexcept {
  for (const slot& s : all_slots()) {
    if (s.entry == 0) continue;
    const auto room = window_in(wider, shift, s.shape);
    const auto to = std::ranges::find(room, std::uintptr_t{0}, &slot::entry);
    if (to == room.end()) return false;
    *to = s;
  }
  return true;
}

bool tile_map::grow() noexcept {
  for (std::size_t count = slot_count_ == 0 ? first_slots : 2 * slot_count_;; count *= 2) {
    std::unique_ptr<slot[]> wider(new (std::nothrow) slot[count + window]());
    if (wider == nullptr) return false;
    const auto shift = static_cast<unsigned>(64 - std::countr_zero(count));
    if (!move_to(wider.get(), shift)) continue;
    gone_.begin(count);
    slots_ = std::move(wider);
    shift_ = shift;
    slot_count_ = count;
    return true;
  }
}

void tile_map::note_parts(context& c, const place& p, std::uint32_t task) noexcept {
  const tile_shape shape = p.space->shape_of(p.where);
  try {
    range_parts* parts = find(p).parts;
    if (parts == nullptr) {
      slot* const s = slot_for(c, shape, task);
      if (s == nullptr) return;
      parts = new range_parts(shape.first, 0);
      *s = {shape, p.space, reinterpret_cast<std::uintptr_t>(parts) | 1};
    }
    parts->all.clear();
    for_each_part(p, [&](range_record& r) { parts->all.push_back({&r, r.generation}); });
  } catch (const std::bad_alloc&) {
    if (range_parts* const some = find(p).parts; some != nullptr) some->all.clear();
  }
}

// ------------------------------------------------------------------------------------------------------- records

range_record& tile_map::take_record(const tile_space& s, const rectangle& r, std::uint32_t task) noexcept {
  const tile_shape shape = s.shape_of(r);
  return ranges_.take_record(shape.first, shape.first + shape.rows * shape.width, task);
}

void tile_map::add(context& c, tile_space& s, const rectangle& r, range_record& record, std::uint32_t task) noexcept {
  s.tree.add(r, &record);
  records_++;
  const tile_shape shape = s.shape_of(r);
  if (slot* const known = slot_of(s, shape); known != nullptr) clear(c, *known);  // it has had parts
  if (slot* const to = slot_for(c, shape, task); to != nullptr)
    *to = {shape, &s, reinterpret_cast<std::uintptr_t>(&record)};
}

// Who remembers it finds that it is another one.
void tile_map::remove(tile_space& s, const rectangle& r, range_record& record) noexcept {
  slot* const known = slot_of(s, s.shape_of(r));
  if (known != nullptr && known->entry == reinterpret_cast<std::uintptr_t>(&record)) *known = {};
  s.tree.remove(r, &record);
  records_--;
  record.generation++;
  if (s.tree.size() != 0 || s.is_listed) return;
  s.is_listed = true;
  s.next_empty = std::exchange(empty_, &s);
}

void tile_map::take_out(context& c, tile_space& s, const rectangle& r, range_record& record) noexcept {
  remove(s, r, record);
  ranges_.drop(c, record);
}

// As for_each_rest(), and the part itself; a record each.
void tile_map::cut(context& c, tile_space& s, const known_record& whole, const rectangle& inside, std::uint32_t task) {
  range_table::end_group(c, *whole.record);
  constexpr std::size_t most_pieces = 5;
  std::array<rectangle, most_pieces> where;
  std::array<range_record*, most_pieces> pieces;
  unsigned count = 0;
  where[count++] = common_part(whole.where, inside);
  for_each_rest(whole.where, where[0], [&](const rectangle& rest) { where[count++] = rest; });
  ranges_.reserve(count);
  nodes_.reserve(s.tree.nodes_for(count));
  const bool in_use = ranges_.must_go_on(*whole.record);
  frame* const made = in_use ? make_cut(c, count) : nullptr;
  remove(s, whole.where, *whole.record);
  for (unsigned i = 0; i < count; i++) {
    pieces[i] = &take_record(s, where[i], task);
    add(c, s, where[i], *pieces[i], task);
  }
  if (in_use) begin_cut(c, made, ranges_, *whole.record, std::span(pieces).first(count));
  else ranges_.drop(c, *whole.record);
}

// What is at rest and out of use gives way to a record that is larger. The others are named before any is added, which
// may take out what is at rest by then.
void tile_map::cover(context& c, const place& p, std::uint32_t task, bool joins) {
  tile_space& s = *p.space;
  known_.clear();
  kept_.clear();
  s.tree.for_each_touching(p.where, [&](const rectangle& r, range_record& record) { known_.push_back({r, &record}); });
  kept_.reserve(known_.size());
  std::erase_if(known_, [&](const known_record& k) {
    const bool goes =
        joins && p.where.contains(k.where) ? ranges_.may_go(*k.record, task) : is_idle(*k.record, task);
    if (goes) take_out(c, s, k.where, *k.record);
    else k.record->named_by = task;
    return goes;
  });
  for (const known_record& k : known_) {
    if (!p.where.contains(k.where)) cut(c, s, k, p.where, task);
    kept_.push_back(common_part(k.where, p.where));
  }
  fill(c, s, p.where, task);
}

// The gaps between what is kept, from row to row, so that only few of them are open at a time.
void tile_map::fill(context& c, tile_space& s, const rectangle& all, std::uint32_t task) {
  const auto fill_gap = [&](const rectangle& gap) {
    ranges_.reserve(1);
    nodes_.reserve(s.tree.nodes_for(1));
    add(c, s, gap, take_record(s, gap, task), task);
  };
  std::ranges::sort(kept_, {}, &rectangle::first_row);
  gaps_.assign(1, all);
  for (const rectangle& k : kept_)
    for (std::size_t i = gaps_.size(); i-- > 0;) {
      const rectangle gap = gaps_[i];
      if (gap.end_row > k.first_row && !gap.touches(k)) continue;
      gaps_[i] = gaps_.back();
      gaps_.pop_back();
      if (!gap.touches(k)) fill_gap(gap);
      else for_each_rest(gap, common_part(gap, k), [&](const rectangle& rest) { gaps_.push_back(rest); });
    }
  for (const rectangle& gap : gaps_) fill_gap(gap);
}

void tile_map::forget(context& c, bool everything) noexcept {
  for (slot& s : all_slots())
    if (s.entry != 0 && !s.has_parts() && (everything || s.record()->is_at_rest())) clear(c, s);
  for (const auto& [key, s] : spaces_)
    while (everything && s->tree.size() != 0) {  // those for which there was no slot
      known_record any{};
      s->tree.for_each([&](const rectangle& r, range_record& record) { any = {r, &record}; });
      take_out(c, *s, any.where, *any.record);
    }
  forget_empty_spaces(0);
}

bool tile_map::is_valid() const {
  bool valid = true;
  std::size_t all_records = 0;
  for (const auto& [key, s] : spaces_) {
    std::size_t records = 0;
    s->tree.for_each([&](const rectangle& r, const range_record& record) {
      std::size_t touching = 0;
      s->tree.for_each_touching(r, [&](const rectangle&, const range_record&) { touching++; });
      const tile_shape shape = s->shape_of(r);
      valid &= touching == 1 && r.rows() > 0 && r.width() > 0 && r.end_column <= s->stride;
      valid &= record.first == shape.first && record.state.bytes == shape.rows * shape.width;
      valid &= s->lowest <= shape.first && shape.end() <= s->highest;
      records++;
    });
    valid &= records == s->tree.size();
    all_records += records;
  }
  std::uintptr_t before = 0;
  std::size_t shared = 0;
  for (const auto& [end, area] : areas_) {
    valid &= before <= area.first && area.first < area.end && area.end == end && !area.spaces.empty();
    shared += area.spaces.size() > 1 ? 1 : 0;
    before = end;
  }
  for (const slot& s : all_slots())
    if (s.entry != 0 && !s.has_parts()) valid &= s.record()->first == s.shape.first;
  return valid && shared == shared_areas_ && all_records == records_;
}

}  // namespace weir::flow
