// weir::tile<T>: a block of rows and columns of a row-major matrix, in memory of the program's own. Tasks name it as
// ref(tile), and their bodies get it.
//
//   void multiply(weir::tile<const double> a, weir::tile<const double> b, weir::tile<double> c);
//
//   const auto block = [&](double* matrix, std::size_t i, std::size_t j) {   // of n x n numbers, 64 x 64 a block
//     return ref(weir::tile(matrix, n, 64 * i, 64, 64 * j, 64));
//   };
//   rt.spawn(in(block(a, i, k)), in(block(b, k, j)), inout(block(c, i, j)), multiply);
//
// Tasks whose tiles have no byte in common do not wait for each other, although the bytes of one lie among those of
// the other: tiles of one matrix and stride are compared as rectangles. So are a tile and a plain range, of which
// whole rows and parts of rows are rectangles, too. (Regions with strides as in Perez, Badia and Labarta, "Handling
// task dependencies under strided and aliased references", ICS 2010.)
//
// Only tiles of different strides on the same memory are taken for all bytes from their first to their last; where
// they meet for the first time, that task is ordered with all others there. That is an order which the program does
// not ask for: a task that waits for tasks which it has created must not name a tile within whose bytes one of these
// names a tile of another stride.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace weir {
namespace detail {

// Of a datum or window, and where memory ends: more than any machine's address space.
inline constexpr std::size_t most_bytes = std::size_t{1} << 47;

// What a tile is made from; in elements.
struct tile_numbers {
  std::uintptr_t matrix;
  std::size_t element_bytes, stride, first_row, rows, first_column, columns;

  bool are_right() const noexcept {
    std::size_t end_row = 0, elements = 0;
    return rows != 0 && columns != 0 && columns <= stride && first_column <= stride - columns &&
           matrix <= most_bytes && !__builtin_add_overflow(first_row, rows, &end_row) &&
           !__builtin_mul_overflow(end_row, stride, &elements) &&
           elements <= (most_bytes - matrix) / element_bytes;
  }
};
[[noreturn]] void throw_tile_error(const tile_numbers&);

}  // namespace detail

template <class T>
class tile {
 public:
  using element_type = T;

  // Rows first_row to first_row + rows, without the last, and such columns, of a matrix that begins at `matrix` and
  // has `stride` elements from the beginning of one row to that of the next (the leading dimension of BLAS). Looks at
  // no element. Throws usage_error for a tile without elements, one that is wider than the stride lets it be, and one
  // that reaches beyond what can be addressed. Tasks find each other fastest if all tiles of a matrix name the same
  // `matrix`.
  tile(T* matrix, std::size_t stride, std::size_t first_row, std::size_t rows, std::size_t first_column,
       std::size_t columns)
      : matrix_(matrix), stride_(stride), rows_(rows), columns_(columns) {
    const detail::tile_numbers all{reinterpret_cast<std::uintptr_t>(matrix), sizeof(T), stride, first_row, rows,
                                   first_column, columns};
    if (!all.are_right()) [[unlikely]] detail::throw_tile_error(all);
    first_ = matrix + first_row * stride + first_column;
  }
  // That of what may be written is one of what is only read.
  template <class U>
    requires(std::is_same_v<const U, T>)
  tile(const tile<U>& other) noexcept
      : matrix_(other.matrix()), first_(other.data()), stride_(other.stride()), rows_(other.rows()),
        columns_(other.columns()) {}

  std::size_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return columns_; }
  // In elements.
  std::size_t stride() const noexcept { return stride_; }
  // i < rows(), j < columns().
  std::span<T> row(std::size_t i) const noexcept { return {first_ + i * stride_, columns_}; }
  T& operator()(std::size_t i, std::size_t j) const noexcept { return first_[i * stride_ + j]; }
  // The first element, and that of the matrix.
  T* data() const noexcept { return first_; }
  T* matrix() const noexcept { return matrix_; }

 private:
  template <class U> friend tile<U> tile_at(std::uintptr_t, std::uintptr_t, std::size_t, std::size_t, std::size_t);
  tile() = default;

  T *matrix_ = nullptr, *first_ = nullptr;
  std::size_t stride_ = 0, rows_ = 0, columns_ = 0;
};

// What a task has named, for its body. Internal; stride and width in bytes.
template <class T>
tile<T> tile_at(std::uintptr_t first, std::uintptr_t matrix, std::size_t stride, std::size_t rows, std::size_t width) {
  tile<T> t;
  t.matrix_ = reinterpret_cast<T*>(matrix);
  t.first_ = reinterpret_cast<T*>(first);
  t.stride_ = stride / sizeof(T);
  t.rows_ = rows;
  t.columns_ = width / sizeof(T);
  return t;
}

}  // namespace weir
