// The tiles of matrices that tasks have named (weir/tile.hpp): records that do not overlap, found by their exact shape
// with one look-up, or as rectangles.
//
// A *space* sees memory as rows of one stride; in it a tile is a rectangle, two if it lies across the rows' ends, and
// a plain range up to three: the rest of a row, whole rows, the beginning of one. Its records are disjoint.
//
// An *area* is an interval of addresses that some spaces cover, mostly one. Whatever is named there has records in
// each of its spaces, and none in the range table, so two that meet have a record in common. In spaces of another
// stride a tile is all bytes from its first to its last. Each tile has its space cover these. What was named there
// before goes on in the space, if it was plain ranges; if it was in other spaces, the task that names the tile is
// ordered with all that is there.
//
// Used by who has the right to match (README.md), as range_table is, from which the records come.
#pragma once

#include "flow/evictions.hpp"
#include "flow/range_table.hpp"
#include "flow/tile_tree.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace weir::flow {

// Which bytes, whatever the matrix is: `rows` times `width`, beginning `stride` apart.
struct tile_shape {
  std::uintptr_t first;
  std::uint64_t stride, width, rows;

  bool operator==(const tile_shape&) const = default;
  std::uintptr_t end() const { return first + (rows - 1) * stride + width; }
};

struct tile_space {
  tile_space(std::uintptr_t of, std::uint64_t bytes, tile_tree::spares& nodes)
      : matrix(of), stride(bytes), shift((bytes - of % bytes) % bytes), tree(nodes) {}

  rectangle at(std::uintptr_t first, std::uint64_t rows, std::uint64_t width) const {
    const std::uint64_t row = (first + shift) / stride, column = (first + shift) % stride;
    return {row, row + rows, column, column + width};
  }
  tile_shape shape_of(const rectangle& r) const {
    return {r.first_row * stride + r.first_column - shift, stride, r.width(), r.rows()};
  }

  const std::uintptr_t matrix;
  const std::uint64_t stride;
  const std::uint64_t shift;  // this many bytes before address 0 a row begins
  std::uintptr_t lowest = ~std::uintptr_t{0}, highest = 0;  // areas that it covers lie between these
  tile_tree tree;
  std::uint32_t used_by = 0;  // number of the last task that named a tile in it
  tile_space* next_empty = nullptr;
  bool is_listed = false;  // among those that have become empty
};

struct tile_area {
  std::uintptr_t first, end;
  std::vector<tile_space*> spaces;
  // Something was named here that is not in all of its spaces: the next task that names anything here is ordered with
  // all.
  bool is_unordered = true;
};

class tile_map {
 public:
  // What an access names: a rectangle of a space, which may have more than its bytes; or plain bytes that no space
  // covers.
  struct place {
    tile_space* space;  // null: plain bytes, the columns of row 0
    rectangle where;
    bool exact;

    static place of_bytes(std::uintptr_t first, std::uintptr_t end) { return {nullptr, {0, 1, first, end}, true}; }
    std::uintptr_t first() const { return where.first_column; }  // of plain bytes
  };

  explicit tile_map(range_table& ranges) : ranges_(ranges) {}
  ~tile_map();  // everything was forgotten
  tile_map(const tile_map&) = delete;
  tile_map& operator=(const tile_map&) = delete;

  bool has_areas() const { return !areas_.empty(); }
  // The record that a tile has, where one space alone covers all between its bytes. Null: there are several, or it has
  // none. One look-up, and O(log areas) if several spaces know of the same memory anywhere.
  range_record* record_of(const tile_shape& t) const {
    if (slot_count_ == 0) return nullptr;
    const tile_space* only = nullptr;
    if (shared_areas_ != 0 || has_leftovers_) [[unlikely]] {
      only = only_space(t.first, t.end());
      if (only == nullptr) return nullptr;
    }
    for (const slot& s : window_of(t))
      if (s.shape == t && s.entry != 0 && (only == nullptr || s.space == only)) return s.content().record;
    return nullptr;
  }
  // And in the place's space.
  range_table::found find(const place& p) const {
    const slot* const s = slot_of(*p.space, p.space->shape_of(p.where));
    return s == nullptr ? range_table::found() : s->content();
  }
  // Whether any of these bytes are in an area. O(log areas).
  bool has_area(std::uintptr_t first, std::uintptr_t end) const {
    const auto a = areas_.lower_bound(first + 1);
    return a != areas_.end() && a->second.first < end;
  }

  // Makes sure that a space of its stride covers a tile's bytes from the first to the last. It is returned, and is
  // there until the next task's. Throws std::bad_alloc.
  tile_space& space_of(context&, const tile_shape&, std::uintptr_t matrix, std::uint32_t task);
  // Spaces beside others whose tiles have not been named for long no longer cover these bytes.
  void forget_idle_spaces(context&, std::uintptr_t first, std::uintptr_t end, std::uint32_t task) noexcept;
  // Appends the places of a tile: in its space, and in others of the areas that it touches. And those of plain bytes:
  // in areas, and between them.
  void add_places(tile_space&, const tile_shape&, std::vector<place>&) const;
  void add_places(std::uintptr_t first, std::uintptr_t end, std::vector<place>&) const;
  // Calls f(area) for those that bytes touch.
  template <class F>
  void for_each_area(std::uintptr_t first, std::uintptr_t end, F&& f) {
    for (auto a = areas_.lower_bound(first + 1); a != areas_.end() && a->second.first < end; ++a) f(a->second);
  }
  template <class F>
  void for_each_area(std::uintptr_t first, std::uintptr_t end, F&& f) const {
    for (auto a = areas_.lower_bound(first + 1); a != areas_.end() && a->second.first < end; ++a) f(a->second);
  }
  // As range_table::cover(), for_each_part(), note_parts(). With `joins` all that is at rest in it becomes one record
  // with what is new.
  void cover(context&, const place&, std::uint32_t task, bool joins);
  template <class F>
  void for_each_part(const place& p, F&& f) const {
    p.space->tree.for_each_touching(p.where, [&](const rectangle&, range_record& r) { f(r); });
  }
  void note_parts(context&, const place&, std::uint32_t task) noexcept;

  // Spaces that have become empty go, but for those of this task; and areas, if there are many, in which nothing is
  // known.
  void forget_empty_spaces(std::uint32_t task) noexcept;
  void forget_empty_areas() noexcept;
  void forget(context&, bool everything) noexcept;
  // O(size).
  bool is_valid() const;

 private:
  // Null: not one area, or several spaces.
  const tile_space* only_space(std::uintptr_t first, std::uintptr_t end) const {
    const auto a = areas_.lower_bound(first + 1);
    const bool is_one = a != areas_.end() && a->second.first <= first && end <= a->second.end;
    return is_one && a->second.spaces.size() == 1 ? a->second.spaces[0] : nullptr;
  }
  // `entry`: a record, or parts with the lowest bit set, or zero.
  struct slot {
    tile_shape shape;
    tile_space* space;
    std::uintptr_t entry;
    bool has_parts() const { return (entry & 1) != 0; }
    range_record* record() const { return reinterpret_cast<range_record*>(entry); }
    range_parts* parts() const { return reinterpret_cast<range_parts*>(entry & ~std::uintptr_t{1}); }
    range_table::found content() const {
      return has_parts() ? range_table::found{nullptr, parts()} : range_table::found{record(), nullptr};
    }
  };
  struct known_record {
    rectangle where;
    range_record* record;
  };
  // A shape is in one of so many slots side by side.
  static constexpr std::size_t window = 8, first_slots = 64;
  static constexpr std::size_t least_many_areas = 8;

  std::span<slot, window> window_of(const tile_shape& t) const { return window_in(slots_.get(), shift_, t); }
  static std::span<slot, window> window_in(slot* slots, unsigned shift, const tile_shape& t) {
    return std::span<slot, window>(slots + (mixed(t) >> shift), window);
  }
  // As range_table's: shapes that differ go far apart.
  static std::uint64_t mixed(const tile_shape& t) {
    const std::uint64_t form = t.width ^ std::rotl(t.rows, 24) ^ std::rotl(t.stride, 44);
    return (t.first + form * 0xc2b2ae3d27d4eb4fu) * 0x9e3779b97f4a7c15u;
  }
  slot* slot_of(const tile_space& space, const tile_shape& t) const {
    if (slot_count_ == 0) return nullptr;
    for (slot& s : window_of(t))
      if (s.shape == t && s.space == &space && s.entry != 0) return &s;
    return nullptr;
  }
  std::span<slot> all_slots() const { return {slots_.get(), slot_count_ == 0 ? 0 : slot_count_ + window}; }
  bool may_go(const slot&, std::uint32_t task) const;
  // Nobody loses anything by it, and nobody names it again and again.
  bool is_idle(const range_record& r, std::uint32_t task) const {
    return ranges_.may_go(r, task) && ranges_.is_out_of_use(r, records_);
  }
  void clear(context&, slot&) noexcept;
  slot* slot_for(context&, const tile_shape&, std::uint32_t task) noexcept;
  bool grow() noexcept;
  bool move_to(slot* wider, unsigned shift) const noexcept;

  void add(context&, tile_space&, const rectangle&, range_record&, std::uint32_t task) noexcept;
  void remove(tile_space&, const rectangle&, range_record&) noexcept;
  void take_out(context&, tile_space&, const rectangle&, range_record&) noexcept;
  range_record& take_record(const tile_space&, const rectangle&, std::uint32_t task) noexcept;
  void cut(context&, tile_space&, const known_record&, const rectangle& inside, std::uint32_t task);
  void fill(context&, tile_space&, const rectangle&, std::uint32_t task);

  bool is_used_near(const tile_space&, const tile_shape&, std::uint32_t task) const;
  tile_space* space_near(const tile_shape&, std::uintptr_t matrix, std::uint32_t task) const;
  tile_space& add_space(std::uintptr_t matrix, std::uint64_t stride);
  void have_covered(context&, tile_space&, std::uintptr_t first, std::uintptr_t end, std::uint32_t task);
  void cover_area(context&, tile_space&, tile_area&, std::uint32_t task);
  tile_area& add_area(std::uintptr_t first, std::uintptr_t end);
  void divide(std::uintptr_t address);
  void unite(std::uintptr_t first, std::uintptr_t end) noexcept;
  bool knows_nothing_of(context&, tile_space&, const tile_area&, std::uint32_t task);
  void take_out_within(context&, tile_space&, const tile_area&) noexcept;
  void take_over(context&, tile_space&, const tile_area&, std::uint32_t task);
  void take_over(context&, tile_space&, range_record&, const tile_area&, std::uint32_t task);
  void add_to(tile_area&, tile_space&);
  void remove_from(tile_area&, const tile_space&) noexcept;

  range_table& ranges_;
  std::unique_ptr<slot[]> slots_;
  std::size_t slot_count_ = 0;
  unsigned shift_ = 63;
  evictions gone_;
  std::size_t records_ = 0;  // in all spaces
  tile_tree::spares nodes_;
  std::map<std::uintptr_t, tile_area> areas_;  // disjoint; by their ends
  std::map<std::pair<std::uintptr_t, std::uint64_t>, std::unique_ptr<tile_space>> spaces_;  // by matrix and stride
  std::size_t shared_areas_ = 0;
  // A space has records where it is of no area any more. They say nothing of tasks that came later.
  bool has_leftovers_ = false;
  std::size_t many_areas_ = least_many_areas;  // when there are so many, those go that are empty
  tile_space* empty_ = nullptr;
  // Of what is being covered.
  std::vector<known_record> known_;
  std::vector<rectangle> kept_, gaps_;
};

// Calls f(rectangle) for those, up to three, that bytes are in a space.
template <class F>
void for_each_rectangle(const tile_space& s, std::uintptr_t first, std::uintptr_t end, F&& f) {
  const std::uint64_t last_row = (end - 1 + s.shift) / s.stride, end_column = (end - 1 + s.shift) % s.stride + 1;
  std::uint64_t row = (first + s.shift) / s.stride;
  const std::uint64_t column = (first + s.shift) % s.stride;
  if (row == last_row) return f(rectangle{row, row + 1, column, end_column});
  if (column != 0) {
    f(rectangle{row, row + 1, column, s.stride});
    row++;
  }
  const std::uint64_t end_row = end_column == s.stride ? last_row + 1 : last_row;
  if (row < end_row) f(rectangle{row, end_row, 0, s.stride});
  if (end_row == last_row) f(rectangle{last_row, last_row + 1, 0, end_column});
}

}  // namespace weir::flow
