// Rectangles that do not overlap, and the record of each: an R-tree (Guttman, SIGMOD 1984).
//
// Finding those that touch a rectangle, adding and removing one take O(log n) for each that is found, as long as the
// rectangles are not much longer than far apart. Nodes are not merged when they get emptier, only removed when they
// are empty, so there are never more of them than records.
#pragma once

#include "flow/range_record.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::flow {

// Rows and columns from the first to before the end; columns in bytes.
struct rectangle {
  std::uint64_t first_row, end_row, first_column, end_column;

  bool operator==(const rectangle&) const = default;
  std::uint64_t rows() const { return end_row - first_row; }
  std::uint64_t width() const { return end_column - first_column; }
  bool touches(const rectangle& o) const {
    return first_row < o.end_row && o.first_row < end_row && first_column < o.end_column &&
           o.first_column < end_column;
  }
  bool contains(const rectangle& o) const {
    return first_row <= o.first_row && o.end_row <= end_row && first_column <= o.first_column &&
           o.end_column <= end_column;
  }
};

// What both have, if they touch.
inline rectangle common_part(const rectangle& a, const rectangle& b) {
  return {std::max(a.first_row, b.first_row), std::min(a.end_row, b.end_row), std::max(a.first_column, b.first_column),
          std::min(a.end_column, b.end_column)};
}

// Calls f(rectangle) for each of those, four at most, that `all` is without `part`, which lies in it.
template <class F>
void for_each_rest(const rectangle& all, const rectangle& part, F&& f) {
  if (all.first_row < part.first_row) f({all.first_row, part.first_row, all.first_column, all.end_column});
  if (part.end_row < all.end_row) f({part.end_row, all.end_row, all.first_column, all.end_column});
  if (all.first_column < part.first_column) f({part.first_row, part.end_row, all.first_column, part.first_column});
  if (part.end_column < all.end_column) f({part.first_row, part.end_row, part.end_column, all.end_column});
}

class tile_tree {
 public:
  static constexpr unsigned fanout = 16;
  // On the lowest level `below` are records, else nodes, whose rectangles lie in the box.
  struct node {
    unsigned count;
    std::array<rectangle, fanout> boxes;
    std::array<void*, fanout> below;
  };
  // Nodes that no tree uses, for several trees.
  class spares {
   public:
    spares() = default;
    ~spares();
    spares(const spares&) = delete;
    spares& operator=(const spares&) = delete;
    // So many at least. Throws std::bad_alloc.
    void reserve(std::size_t nodes);
    node* take() noexcept;
    void give(node*) noexcept;

   private:
    static constexpr std::size_t most_kept = 256;  // 160 KiB
    node* first_ = nullptr;
    std::size_t count_ = 0;
  };

  explicit tile_tree(spares& unused) : unused_(unused) {}
  ~tile_tree();
  tile_tree(const tile_tree&) = delete;
  tile_tree& operator=(const tile_tree&) = delete;

  std::size_t size() const { return size_; }
  // How many nodes to reserve before so many are added, one after the other.
  std::size_t nodes_for(std::size_t more) const;
  // It overlaps none that is there. Nodes were reserved.
  void add(const rectangle&, range_record*) noexcept;
  // It is there.
  void remove(const rectangle&, const range_record*) noexcept;
  // Calls f(rectangle, record) for each that touches this one; f changes nothing here.
  template <class F>
  void for_each_touching(const rectangle& r, F&& f) const {
    if (root_ != nullptr) visit(*root_, levels_, r, f);
  }
  // Whether f(record) is true of any that touches this one.
  template <class F>
  bool any_touching(const rectangle& r, F&& f) const {
    return root_ != nullptr && visit_until(*root_, levels_, r, f);
  }
  // Calls f(rectangle, record) for all.
  template <class F>
  void for_each(F&& f) const {
    constexpr std::uint64_t most = ~std::uint64_t{0};
    for_each_touching({0, most, 0, most}, f);
  }

 private:
  template <class F>
  static void visit(const node& n, unsigned level, const rectangle& r, F& f) {
    for (unsigned i = 0; i < n.count; i++) {
      if (!n.boxes[i].touches(r)) continue;
      if (level == 0) f(n.boxes[i], *static_cast<range_record*>(n.below[i]));
      else visit(*static_cast<const node*>(n.below[i]), level - 1, r, f);
    }
  }
  template <class F>
  static bool visit_until(const node& n, unsigned level, const rectangle& r, F& f) {
    for (unsigned i = 0; i < n.count; i++) {
      if (!n.boxes[i].touches(r)) continue;
      if (level == 0 ? f(*static_cast<range_record*>(n.below[i]))
                     : visit_until(*static_cast<const node*>(n.below[i]), level - 1, r, f))
        return true;
    }
    return false;
  }
  node* add_below(node&, unsigned level, const rectangle&, void* what) noexcept;
  node* put(node&, const rectangle&, void* what) noexcept;
  node* split(node&) noexcept;
  bool remove_below(node&, unsigned level, const rectangle&, const range_record*) noexcept;
  void destroy(node*, unsigned level) noexcept;

  spares& unused_;
  node* root_ = nullptr;
  unsigned levels_ = 0;  // above the lowest
  std::size_t size_ = 0;
};

}  // namespace weir::flow
