// Who has which tile of a matrix, so that what is left of a factorization belongs to all at any time.
#pragma once

#include <cstddef>

namespace weir::bench {

// Two-dimensional block-cyclic, as in ScaLAPACK, on a grid as close to a square as their number allows.
class cyclic_owners {
 public:
  explicit cyclic_owners(std::size_t count) : rows_(1), columns_(count) {
    for (std::size_t r = 1; r * r <= count; r++)
      if (count % r == 0) rows_ = r, columns_ = count / r;
  }
  std::size_t count() const { return rows_ * columns_; }
  std::size_t of(std::size_t i, std::size_t j) const { return i % rows_ * columns_ + j % columns_; }

 private:
  std::size_t rows_, columns_;
};

}  // namespace weir::bench
