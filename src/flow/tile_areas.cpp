// The tiles of matrices that tasks have named: the spaces they are in, and which memory these cover.
#include "flow/tile_map.hpp"

#include "flow/range_cut.hpp"
#include "flow/versions.hpp"

#include <algorithm>
#include <array>

namespace weir::flow {
namespace {

// So many numbers, of which a task takes three, after the last of its tiles a space beside others goes. Fewer: tiles
// of two strides that are named by turns are ordered with all others again and again. More: memory that has become
// another matrix's costs what two matrices do, for longer.
constexpr std::uint32_t most_idle = 3 * 64;

}  // namespace

// Whether it has anything from a row before the tile to a row behind it that is in use.
bool tile_map::is_used_near(const tile_space& s, const tile_shape& t, std::uint32_t task) const {
  const std::uintptr_t first = t.first - std::min<std::uintptr_t>(t.first, t.stride);
  bool is_used = false;
  for_each_rectangle(s, first, t.end() + t.stride, [&](const rectangle& where) {
    is_used = is_used || s.tree.any_touching(where, [&](const range_record& r) { return !is_idle(r, task); });
  });
  return is_used;
}

// One of the same stride that is no farther than a row and in use, if there is none of this matrix: programs also name
// blocks by their first elements.
tile_space* tile_map::space_near(const tile_shape& t, std::uintptr_t matrix, std::uint32_t task) const {
  if (const auto known = spaces_.find({matrix, t.stride}); known != spaces_.end()) return known->second.get();
  tile_space* found = nullptr;
  for_each_area(t.first - std::min<std::uintptr_t>(t.first, t.stride), t.end() + t.stride, [&](const tile_area& a) {
    for (tile_space* s : a.spaces)
      if (s->stride == t.stride) found = s;
  });
  if (found == nullptr || found->used_by == task || is_used_near(*found, t, task)) return found;
  return nullptr;
}

// Nothing is in it yet, so that it goes if nothing will be.
tile_space& tile_map::add_space(std::uintptr_t matrix, std::uint64_t stride) {
  auto fresh = std::make_unique<tile_space>(matrix, stride, nodes_);
  tile_space& s = *spaces_.emplace(std::pair(matrix, stride), std::move(fresh)).first->second;
  s.is_listed = true;
  s.next_empty = std::exchange(empty_, &s);
  return s;
}

tile_space& tile_map::space_of(context& c, const tile_shape& t, std::uintptr_t matrix, std::uint32_t task) {
  tile_space* const known = space_near(t, matrix, task);
  tile_space& s = known != nullptr ? *known : add_space(matrix, t.stride);
  s.used_by = task;
  const auto area = areas_.lower_bound(t.first + 1);
  const bool is_covered = area != areas_.end() && area->second.first <= t.first && t.end() <= area->second.end &&
                          std::ranges::find(area->second.spaces, &s) != area->second.spaces.end();
  if (!is_covered) have_covered(c, s, t.first, t.end(), task);
  return s;
}

// ------------------------------------------------------------------------------------------------- areas of a space

void tile_map::add_to(tile_area& a, tile_space& s) {
  a.spaces.push_back(&s);
  if (a.spaces.size() == 2) shared_areas_++;
  s.lowest = std::min(s.lowest, a.first);
  s.highest = std::max(s.highest, a.end);
}

void tile_map::remove_from(tile_area& a, const tile_space& s) noexcept {
  if (std::erase(a.spaces, &s) != 0 && a.spaces.size() == 1) shared_areas_--;
}

tile_area& tile_map::add_area(std::uintptr_t first, std::uintptr_t end) {
  tile_area area{first, end, {}};
  area.spaces.reserve(1);
  return areas_.emplace(end, std::move(area)).first->second;
}

// No area has bytes on both sides of the address then.
void tile_map::divide(std::uintptr_t address) {
  const auto there = areas_.lower_bound(address + 1);
  if (there == areas_.end() || there->second.first >= address) return;
  tile_area left{there->second.first, address, there->second.spaces, there->second.is_unordered};
  areas_.emplace(address, std::move(left));
  there->second.first = address;
  if (there->second.spaces.size() > 1) shared_areas_++;
}

// Neighbours that are alike become one area.
void tile_map::unite(std::uintptr_t first, std::uintptr_t end) noexcept {
  auto a = areas_.lower_bound(first);
  while (a != areas_.end() && a->second.first <= end) {
    const auto next = std::next(a);
    if (next == areas_.end()) return;
    tile_area &left = a->second, &right = next->second;
    if (left.end == right.first && left.spaces == right.spaces && left.is_unordered == right.is_unordered) {
      right.first = left.first;
      if (left.spaces.size() > 1) shared_areas_--;
      areas_.erase(a);
    }
    a = next;
  }
}

void tile_map::have_covered(context& c, tile_space& s, std::uintptr_t first, std::uintptr_t end, std::uint32_t task) {
  divide(first);
  divide(end);
  for (std::uintptr_t at = first; at < end;) {
    const auto next = areas_.lower_bound(at + 1);
    const bool is_gap = next == areas_.end() || next->second.first > at;
    const std::uintptr_t gap_end = next == areas_.end() ? end : std::min(end, next->second.first);
    tile_area& area = is_gap ? add_area(at, gap_end) : next->second;
    at = area.end;
    if (std::ranges::find(area.spaces, &s) == area.spaces.end()) cover_area(c, s, area, task);
  }
  unite(first, end);
}

// Memory may have become another matrix's: what is at rest in other spaces is not waited for.
void tile_map::cover_area(context& c, tile_space& s, tile_area& area, std::uint32_t task) {
  area.spaces.reserve(area.spaces.size() + 1);
  for (std::size_t i = area.spaces.size(); i-- > 0;)
    if (tile_space& other = *area.spaces[i]; knows_nothing_of(c, other, area, task)) remove_from(area, other);
  const bool alone = area.spaces.empty();
  add_to(area, s);
  area.is_unordered = true;
  if (!alone) return;
  take_over(c, s, area, task);
  area.is_unordered = false;
}

bool tile_map::knows_nothing_of(context& c, tile_space& s, const tile_area& area, std::uint32_t task) {
  if (s.used_by == task) return false;  // it will know something
  known_.clear();
  bool some_stay = false;
  for_each_rectangle(s, area.first, area.end, [&](const rectangle& where) {
    s.tree.for_each_touching(where, [&](const rectangle& r, range_record& record) {
      if (ranges_.may_go(record, task)) known_.push_back({r, &record});
      else some_stay = true;
    });
    for (const known_record& k : known_) take_out(c, s, k.where, *k.record);
    known_.clear();
  });
  return !some_stay;
}

// Each space of an area that is in order knows enough to order all tasks there.
void tile_map::forget_idle_spaces(context& c, std::uintptr_t first, std::uintptr_t end, std::uint32_t task) noexcept {
  if (shared_areas_ == 0) return;
  for_each_area(first, end, [&](tile_area& area) {
    for (std::size_t i = area.spaces.size(); i-- > 0 && area.spaces.size() > 1 && !area.is_unordered;) {
      tile_space& s = *area.spaces[i];
      if (task - s.used_by < most_idle) continue;
      take_out_within(c, s, area);
      remove_from(area, s);
    }
  });
}

// What is at rest; who uses the others looks at them still. They matter to nobody here, also if the space comes back:
// then all is put in order. Some at a time, for there may be no memory.
void tile_map::take_out_within(context& c, tile_space& s, const tile_area& area) noexcept {
  std::array<known_record, 64> some;
  for_each_rectangle(s, area.first, area.end, [&](const rectangle& where) {
    for (std::size_t count = some.size(); count == some.size();) {
      count = 0;
      s.tree.for_each_touching(where, [&](const rectangle& r, range_record& record) {
        if (count < some.size() && where.contains(r) && record.is_at_rest()) some[count++] = {r, &record};
      });
      for (std::size_t i = 0; i < count; i++) take_out(c, s, some[i].where, *some[i].record);
    }
    has_leftovers_ = has_leftovers_ || s.tree.any_touching(where, [](const range_record&) { return true; });
  });
}

void tile_map::forget_empty_spaces(std::uint32_t task) noexcept {
  tile_space* s = std::exchange(empty_, nullptr);
  while (s != nullptr) {
    tile_space& old = *std::exchange(s, s->next_empty);
    old.is_listed = false;
    if (old.tree.size() != 0) continue;
    if (task != 0 && old.used_by == task) {
      old.is_listed = true;
      old.next_empty = std::exchange(empty_, &old);
      continue;
    }
    for (auto a = areas_.lower_bound(old.lowest); a != areas_.end() && a->second.first < old.highest;) {
      remove_from(a->second, old);
      a = a->second.spaces.empty() ? areas_.erase(a) : std::next(a);
    }
    spaces_.erase({old.matrix, old.stride});
  }
  if (spaces_.empty()) has_leftovers_ = false;
}

// An area goes with the last space of it; memory that programs name a part of after another leaves many in one space.
// Before a task's tiles have any.
void tile_map::forget_empty_areas() noexcept {
  if (areas_.size() < many_areas_) return;
  for (auto a = areas_.begin(); a != areas_.end();) {
    tile_area& area = a->second;
    for (std::size_t i = area.spaces.size(); i-- > 0;) {
      const tile_space& s = *area.spaces[i];
      bool knows_any = false;
      for_each_rectangle(s, area.first, area.end, [&](const rectangle& where) {
        knows_any = knows_any || s.tree.any_touching(where, [](const range_record&) { return true; });
      });
      if (!knows_any) remove_from(area, s);
    }
    a = area.spaces.empty() ? areas_.erase(a) : std::next(a);
  }
  many_areas_ = std::max(least_many_areas, 2 * areas_.size());
}

// ------------------------------------------------------------------------------------------------------ plain ranges

// What tasks have named of an area goes on in its only space.
void tile_map::take_over(context& c, tile_space& s, const tile_area& area, std::uint32_t task) {
  std::vector<range_record*> there;
  ranges_.for_each_part(area.first, area.end - area.first, [&](range_record& r) { there.push_back(&r); });
  std::erase_if(there, [&](range_record* r) {
    const bool goes = ranges_.may_go(*r, task);
    if (goes) ranges_.take_out(c, *r);
    else r->named_by = task;  // so that it does not go when others are added
    return goes;
  });
  for (range_record* r : there) take_over(c, s, *r, area, task);
}

// It moves there, or is cut into what the area has of it and the rest on either side.
void tile_map::take_over(context& c, tile_space& s, range_record& whole, const tile_area& area, std::uint32_t task) {
  constexpr std::size_t most_rectangles = 3;
  std::array<rectangle, most_rectangles> where;
  std::array<range_record*, most_rectangles + 2> pieces;
  const std::uintptr_t first = std::max(area.first, whole.first), end = std::min(area.end, whole.end());
  unsigned count = 0;
  for_each_rectangle(s, first, end, [&](const rectangle& r) { where[count++] = r; });
  ranges_.reserve(pieces.size());
  nodes_.reserve(s.tree.nodes_for(count));
  const unsigned all = count + (whole.first < first ? 1 : 0) + (end < whole.end() ? 1 : 0);
  if (all == 1) {
    ranges_.replace(c, whole, {}, task);
    return add(c, s, where[0], whole, task);
  }
  range_table::end_group(c, whole);
  frame* const made = make_cut(c, all);
  unsigned n = count;
  if (whole.first < first) pieces[n++] = &ranges_.take_record(whole.first, first, task);
  if (end < whole.end()) pieces[n++] = &ranges_.take_record(end, whole.end(), task);
  ranges_.replace(c, whole, std::span(pieces).subspan(count, n - count), task);
  for (unsigned i = 0; i < count; i++) {
    pieces[i] = &take_record(s, where[i], task);
    add(c, s, where[i], *pieces[i], task);
  }
  begin_cut(c, made, ranges_, whole, std::span(pieces).first(all));
}

// ------------------------------------------------------------------------------------------------- what is named

// Areas between its rows, without a byte of it, are none of its.
void tile_map::add_places(tile_space& own, const tile_shape& t, std::vector<place>& to) const {
  const std::size_t mine = to.size();
  rectangle all = own.at(t.first, t.rows, t.width);
  if (all.end_column > t.stride) {  // across the ends of rows: that is where another matrix begins
    to.push_back({&own, {all.first_row + 1, all.end_row + 1, 0, all.end_column - t.stride}, true});
    all.end_column = t.stride;
  }
  to.push_back({&own, all, true});
  const std::size_t mine_end = to.size();
  for_each_area(t.first, t.end(), [&](const tile_area& a) {
    const std::uintptr_t first = std::max(t.first, a.first), end = std::min(t.end(), a.end);
    bool has_bytes = false;
    for_each_rectangle(own, first, end, [&](const rectangle& r) {
      for (std::size_t i = mine; i < mine_end; i++) has_bytes |= to[i].where.touches(r);
    });
    if (!has_bytes) return;
    for (tile_space* s : a.spaces)
      if (s != &own)
        for_each_rectangle(*s, first, end, [&](const rectangle& r) { to.push_back({s, r, false}); });
  });
}

void tile_map::add_places(std::uintptr_t first, std::uintptr_t end, std::vector<place>& to) const {
  for_each_area(first, end, [&](const tile_area& a) {
    if (first < a.first) to.push_back(place::of_bytes(first, a.first));
    first = std::max(first, a.first);
    for (tile_space* s : a.spaces)
      for_each_rectangle(*s, first, std::min(end, a.end), [&](const rectangle& r) { to.push_back({s, r, true}); });
    first = a.end;
  });
  if (first < end) to.push_back(place::of_bytes(first, end));
}

}  // namespace weir::flow
