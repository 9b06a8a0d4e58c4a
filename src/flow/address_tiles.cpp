// Dependences by address: tasks that name tiles, and tasks that name ranges among those. Each access has places in all
// spaces that cover its bytes, and, if it is a plain range, in the range table where none does.
#include "flow/access_group.hpp"
#include "flow/address_domain.hpp"

#include <algorithm>
#include <array>

namespace weir::flow {
namespace {

// Of more accesses than this it is found by numbers in their records whether any are of the same. Fewer: tasks of more
// cost two to three times as much. More: each is compared with each.
constexpr std::size_t most_known = 32;

tile_shape tile_of(const access& a, const access& shape) {
  return {a.offset(), shape.stride(), shape.width(), a.bytes / shape.width()};
}

// Of a tile that others take for all bytes from its first to its last, nothing is overwritten for sure, and another
// one's bytes are not to be changed at the same time as those of its group.
part_use use_of(const access& a, bool exact) {
  const part_use how = part_use_of(a);
  return exact || how == part_use::read ? how : part_use::update;
}

// Calls f(number, access, shape, or null) for all that are user memory and not empty.
template <class F>
void for_each_named(frame* f, F&& what) {
  for (std::uint32_t i = 0; i < f->accesses; i++)
    if (access& a = *f->access_at(i); names_range(*f, a) && a.bytes != 0) what(i, a, shape_of(a));
}

}  // namespace

frame* address_domain::resolve_with_tiles(context& c, frame* f) {
  if (bind_known(f, true)) return nullptr;
  bool finds_tiles = (f->unusual & frame::has_tiles) != 0;
  for_each_named(f, [&](std::uint32_t, access& a, const access*) {
    finds_tiles = finds_tiles || tiles_.has_area(a.offset(), a.offset() + a.bytes);
  });
  return finds_tiles ? resolve_tiles(c, f) : resolve_parts(c, f);
}

// Tasks whose tiles and ranges have a record of their own each: one look-up for each of them.
bool address_domain::bind_known(frame* f, bool notes) {
  std::array<const datum*, most_known> named;
  std::size_t count = 0;
  access* a = f->access_at(0);
  for (const access* const end = a + f->accesses; a != end; a++) {
    if (a->wanted != nullptr) continue;  // a datum or stream
    range_record* r = nullptr;
    const access* const shape = shape_of(*a);
    if (shape != nullptr) {
      r = tiles_.record_of(tile_of(*a, *shape));
    } else if (!tiles_.has_area(a->offset(), a->offset() + a->bytes)) {
      r = table_.find(a->offset(), a->bytes).record;
    }
    if (r == nullptr || count == named.size()) return false;
    for (std::size_t i = 0; i < count; i++)
      if (named[i] == &r->state) return false;
    named[count++] = &r->state;
    if (notes) r->note_named(table_.now());
    bind(f, *a, *r);
    if (shape != nullptr) a++;
  }
  return true;
}

frame* address_domain::resolve_tiles(context& c, frame* f) {
  tiles_matter_ = frame::has_ranges | frame::has_tiles;
  find_places(c, f);
  make_places(c, f);
  list_places(f);
  note_places(c);
  if (named_twice_) join_uses();
  else count_parts_anew();
  frame* const parts = bind_uses(c, f);
  for (const auto& [area, access] : unordered_) area->is_unordered = false;
  return parts;
}

// Areas change first, so that places stay what they are.
void address_domain::find_places(context& c, frame* f) {
  const std::uint32_t task = next_number();
  tiles_.forget_empty_spaces(task);
  tiles_.forget_empty_areas();
  places_.clear();
  unordered_.clear();
  spaces_.clear();
  for_each_named(f, [&](std::uint32_t, access& a, const access* shape) {
    if (shape != nullptr) spaces_.push_back(&tiles_.space_of(c, tile_of(a, *shape), shape->matrix(), task));
  });
  auto space = spaces_.begin();
  for_each_named(f, [&](std::uint32_t i, access& a, const access* shape) {
    const std::uintptr_t first = a.offset(), end = shape != nullptr ? tile_of(a, *shape).end() : first + a.bytes;
    tiles_.forget_idle_spaces(c, first, end, task);
    found_.clear();
    if (shape != nullptr) tiles_.add_places(**space++, tile_of(a, *shape), found_);
    else tiles_.add_places(first, end, found_);
    for (const tile_map::place& p : found_) places_.push_back({p, i, false});
    order_areas(first, end, i);
  });
}

// The access that is the first to touch an area that is not in order has all of it as its places, too.
void address_domain::order_areas(std::uintptr_t first, std::uintptr_t end, std::uint32_t access) {
  tiles_.for_each_area(first, end, [&](tile_area& area) {
    if (!area.is_unordered || std::ranges::find(unordered_, &area, &area_in_order::area) != unordered_.end()) return;
    unordered_.push_back({&area, access});
    for (tile_space* s : area.spaces)
      for_each_rectangle(*s, area.first, area.end,
                         [&](const rectangle& r) { places_.push_back({{s, r, false}, access, true}); });
  });
}

range_table::found address_domain::find_place(const tile_map::place& p) const {
  return p.space != nullptr ? tiles_.find(p) : table_.find(p.first(), p.where.width());
}

void address_domain::cover_place(context& c, const tile_map::place& p, std::uint32_t task, bool joins) {
  if (p.space != nullptr) tiles_.cover(c, p, task, joins);
  else table_.cover(c, p.first(), p.where.width(), task);
}

// As make_records().
void address_domain::make_places(context& c, frame* f) {
  const std::uint32_t task = next_number();
  for (const named_place& p : places_) {
    const range_table::found known = find_place(p.at);
    if (known.record != nullptr) {
      known.record->named_by = task;
    } else if (!p.orders_all && fits(known.parts, *f->access_at(p.access), task)) {
      for (const range_parts::part& part : known.parts->all) part.record->named_by = task;
    } else {
      const bool joins = !p.orders_all && known.parts != nullptr && known.parts->is_up_to_date();
      if (joins && p.at.space == nullptr) join(c, *known.parts);
      cover_place(c, p.at, task, joins);
    }
  }
}

void address_domain::list_use(range_record& r, std::uint32_t access, part_use how, bool only_as_part) {
  named_twice_ |= std::exchange(r.named_by, number_) == number_;
  r.note_named(table_.now());
  uses_.push_back({&r, access, how, only_as_part});
}

// By access. Plain ranges are in an area that is not in order only if there was no memory to take them over.
void address_domain::list_places(frame* f) {
  next_number();
  uses_.clear();
  named_twice_ = false;
  auto ordered = unordered_.begin();
  for (const named_place& p : places_) {
    const access& a = *f->access_at(p.access);
    const part_use how = p.orders_all ? part_use::update : use_of(a, p.at.exact);
    const bool only_as_part = has_version(how) && !has_version(part_use_of(a));
    const auto list = [&](range_record& r) { list_use(r, p.access, how, only_as_part); };
    const range_table::found known = find_place(p.at);
    if (known.record != nullptr) {
      list(*known.record);
    } else if (known.parts != nullptr && known.parts->is_up_to_date()) {
      for (const range_parts::part& part : known.parts->all) list(*part.record);
    } else if (p.at.space != nullptr) {
      tiles_.for_each_part(p.at, list);
    } else {
      table_.for_each_part(p.at.first(), p.at.where.width(), list);
    }
    if (!p.orders_all || ordered == unordered_.end() || ordered->access != p.access) continue;
    for (; ordered != unordered_.end() && ordered->access == p.access; ++ordered)
      table_.for_each_part(ordered->area->first, ordered->area->end - ordered->area->first, list);
  }
}

// As note_parts(). All records of the task are listed, for what makes room may take others out.
void address_domain::note_places(context& c) noexcept {
  for (const auto& [p, access, orders_all] : places_) {
    const range_table::found known = find_place(p);
    if (orders_all || known.record != nullptr || (known.parts != nullptr && known.parts->is_up_to_date())) continue;
    if (p.space != nullptr) tiles_.note_parts(c, p, number_);
    else table_.note_parts(c, p.first(), p.where.width(), number_);
  }
}

}  // namespace weir::flow
