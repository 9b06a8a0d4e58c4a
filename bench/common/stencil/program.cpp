// The stencil kernels: first values, tiles, result.
#include <bench/common/stencil/program.hpp>

#include <bench/common/check.hpp>
#include <bench/common/verify.hpp>

#include <algorithm>

namespace weir::bench::stencil {

template <int Dimensions, method Method>
void program<Dimensions, Method>::fill_block(std::size_t b, std::span<double> block) const {
  const extent o = grid_.origin(b), shape = grid_.shape(b);
  double* next = block.data();
  for (std::size_t p = 0; p < shape.planes; p++)
    for (std::size_t r = 0; r < shape.rows; r++) {
      const std::size_t index = grid_.index(o, p, r);
      for (std::size_t c = 0; c < shape.columns; c++) *next++ = initial_value(options_.seed, index + c);
    }
  const auto pack = [&](side s, std::size_t plane_stride, std::size_t row_stride, std::size_t first, std::size_t rows, std::size_t columns) {
    const auto part = layout(b).of(s);
    double* to = block.data() + part.offset;
    for (std::size_t p = 0; p < shape.planes; p++)
      for (std::size_t r = 0; r < rows; r++)
        for (std::size_t c = 0; c < columns; c++) *to++ = block[p * plane_stride + r * row_stride + first + c];
  };
  const std::size_t row = shape.columns, plane = shape.rows * row;
  if constexpr (Dimensions > 1) {
    pack(side::west, plane, row, 0, shape.rows, 1);
    pack(side::east, plane, row, row - 1, shape.rows, 1);
  }
  if constexpr (Dimensions == 3) {
    pack(side::north, plane, row, 0, 1, row);
    pack(side::south, plane, row, plane - row, 1, row);
  }
  written(options_.pages, block);
}

template <int Dimensions, method Method>
tile program<Dimensions, Method>::private_tile(std::size_t b, std::span<const double> old, std::span<double> next, const std::array<std::span<const double>, 2 * Dimensions>& halos) const {
  const block_layout<Dimensions> l = layout(b);
  const extent& s = l.shape;
  const std::size_t row = s.columns, plane = s.rows * row;
  tile t{.shape = s, .old = old.data(), .old_plane = plane, .old_row = row, .next = next.data(), .next_plane = plane, .next_row = row};
  // Sides as they lie in a neighbour's datum: west and east have an element a row, north and south a line a plane.
  const auto set = [&](side which, std::size_t given, std::size_t plane_stride, std::size_t row_stride) {
    t.at(which) = {halos[given].empty() ? boundary_.data() : halos[given].data(), plane_stride, row_stride};
  };
  if constexpr (Dimensions == 1) {
    set(side::west, 0, 0, 0), set(side::east, 1, 0, 0);
  } else {
    constexpr std::size_t first = Dimensions == 3 ? 1 : 0;
    set(side::north, first, row, 0), set(side::south, first + 3, row, 0);
    set(side::west, first + 1, s.rows, 1), set(side::east, first + 2, s.rows, 1);
    t.packed[0] = next.data() + l.of(side::west).offset;
    t.packed[1] = next.data() + l.of(side::east).offset;
  }
  if constexpr (Dimensions == 3) {
    set(side::front, 0, 0, row), set(side::back, 5, 0, row);
    t.packed[2] = next.data() + l.of(side::north).offset;
    t.packed[3] = next.data() + l.of(side::south).offset;
  }
  return t;
}

template <int Dimensions, method Method>
void program<Dimensions, Method>::copy_out(std::size_t b, const double* from, std::size_t plane_stride, std::size_t row_stride) {
  const extent o = grid_.origin(b), shape = grid_.shape(b);
  for (std::size_t p = 0; p < shape.planes; p++)
    for (std::size_t r = 0; r < shape.rows; r++) std::copy_n(from + p * plane_stride + r * row_stride, shape.columns, result_.data() + grid_.index(o, p, r));
}

template <int Dimensions, method Method>
verification program<Dimensions, Method>::verify(const std::any& expected) const {
  return compare_bits(result_, std::any_cast<const std::vector<double>&>(expected));
}

namespace {

// Two arrays and the version being written, and for the sequential program's one or two arrays and the two results.
template <int Dimensions, method Method>
std::uint64_t memory_bytes(const configuration& c) {
  constexpr std::uint64_t arrays = Method == method::jacobi ? 7 : 5;
  return saturating_product(c.size, arrays * sizeof(double));
}

}  // namespace

template <int Dimensions, method Method>
kernel describe() {
  static constexpr std::string_view meaning[] = {"ELEMENTS", "ROWSxCOLUMNS", "PLANESxROWSxCOLUMNS"};
  kernel k;
  k.size_meaning = k.block_meaning = meaning[Dimensions - 1];
  k.uses = {.iterations = true, .parallel_control = true, .shared = true, .own = true};
  k.memory_bytes = memory_bytes<Dimensions, Method>;
  return k;
}

template class program<1, method::jacobi>;
template kernel describe<1, method::jacobi>();
template class program<2, method::jacobi>;
template kernel describe<2, method::jacobi>();
template class program<3, method::jacobi>;
template kernel describe<3, method::jacobi>();
template class program<1, method::seidel>;
template kernel describe<1, method::seidel>();
template class program<2, method::seidel>;
template kernel describe<2, method::seidel>();
template class program<3, method::seidel>;
template kernel describe<3, method::seidel>();

}  // namespace weir::bench::stencil
