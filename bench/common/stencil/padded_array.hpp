// A whole array in one piece of memory with a layer of fixed values around it: what the sequential program, the
// shared-memory variant and the peers work on.
#pragma once

#include <bench/common/stencil/relax.hpp>

#include <cstddef>
#include <cstdint>

namespace weir::bench::stencil {

// Value of everything outside the array, in all iterations.
inline constexpr double boundary_value = 1.0;

// Value of an element before the first iteration, in [0, 1): a hash (splitmix64) of its index and the seed.
inline double initial_value(std::uint64_t seed, std::size_t index) {
  std::uint64_t z = (seed << 40) + index + 0x9e3779b97f4a7c15u * (index + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// Element (0, 0, 0) and the strides of an array that has room for the layer. Does not own the memory.
template <int Dimensions>
class padded_array {
 public:
  padded_array(double* memory, const extent& size) : size_(size), row_stride_(size.columns + 2), plane_stride_(row_stride_ * padded(size.rows, 2)) { first_ = memory + (Dimensions == 3 ? plane_stride_ : 0) + (Dimensions >= 2 ? row_stride_ : 0) + 1; }

  // Elements of memory an array of this size needs.
  static std::size_t memory_elements(const extent& size) { return (size.columns + 2) * padded(size.rows, 2) * padded(size.planes, 3); }

  double* at(std::size_t plane, std::size_t row, std::size_t column) const { return first_ + plane * plane_stride_ + row * row_stride_ + column; }
  double* at(const extent& o) const { return at(o.planes, o.rows, o.columns); }
  const extent& size() const { return size_; }
  std::size_t row_stride() const { return row_stride_; }
  std::size_t plane_stride() const { return plane_stride_; }

  // Writes initial values into the elements of [origin, origin + shape), and the layer where they touch it.
  void fill(std::uint64_t seed, const extent& origin, const extent& shape) const {
    const auto first = [](std::size_t o, int dimension) { return static_cast<std::ptrdiff_t>(o) - (o == 0 && Dimensions >= dimension ? 1 : 0); };
    const auto last = [](std::size_t o, std::size_t n, std::size_t whole, int dimension) { return static_cast<std::ptrdiff_t>(o + n + (o + n == whole && Dimensions >= dimension ? 1 : 0)); };
    for (auto p = first(origin.planes, 3); p < last(origin.planes, shape.planes, size_.planes, 3); p++)
      for (auto r = first(origin.rows, 2); r < last(origin.rows, shape.rows, size_.rows, 2); r++)
        for (auto c = first(origin.columns, 1); c < last(origin.columns, shape.columns, size_.columns, 1); c++) fill_one(seed, p, r, c);
  }

 private:
  static std::size_t padded(std::size_t n, int dimension) { return Dimensions >= dimension ? n + 2 : n; }
  void fill_one(std::uint64_t seed, std::ptrdiff_t p, std::ptrdiff_t r, std::ptrdiff_t c) const {
    const auto planes = static_cast<std::ptrdiff_t>(size_.planes), rows = static_cast<std::ptrdiff_t>(size_.rows), columns = static_cast<std::ptrdiff_t>(size_.columns);
    const bool inside = p >= 0 && p < planes && r >= 0 && r < rows && c >= 0 && c < columns;
    first_[p * static_cast<std::ptrdiff_t>(plane_stride_) + r * static_cast<std::ptrdiff_t>(row_stride_) + c] = inside ? initial_value(seed, static_cast<std::size_t>((p * rows + r) * columns + c)) : boundary_value;
  }

  extent size_;
  std::size_t row_stride_, plane_stride_;
  double* first_;
};

// The tile of one block: halos are simply what lies around it. For Gauss-Seidel, old and next are one array.
template <int Dimensions>
tile tile_of(const padded_array<Dimensions>& old, const padded_array<Dimensions>& next, const extent& origin, const extent& shape) {
  const std::size_t plane = old.plane_stride(), row = old.row_stride();
  const double* first = old.at(origin);
  tile t{.shape = shape, .old = first, .old_plane = plane, .old_row = row, .next = next.at(origin), .next_plane = plane, .next_row = row};
  t.at(side::west) = {first - 1, plane, row};
  t.at(side::east) = {first + shape.columns, plane, row};
  if constexpr (Dimensions >= 2) {
    t.at(side::north) = {first - row, plane, row};
    t.at(side::south) = {first + shape.rows * row, plane, row};
  }
  if constexpr (Dimensions == 3) {
    t.at(side::front) = {first - plane, plane, row};
    t.at(side::back) = {first + shape.planes * plane, plane, row};
  }
  return t;
}

}  // namespace weir::bench::stencil
