// Forward substitution with the lower triangle of a seven-point matrix: one tiny task a row (Rossignon et al., PDSEC
// 2013, section IV).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::bench {

// Unit lower triangle in rows; row t reads the rows of its entries.
struct triangle {
  std::vector<std::size_t> offsets{0};
  std::vector<std::uint32_t> columns;
  std::vector<double> values, right_side, x;

  std::size_t rows() const { return offsets.size() - 1; }
  void solve_row(std::uint32_t t) {
    double sum = right_side[t];
    for (std::size_t e = offsets[t]; e < offsets[t + 1]; e++) sum -= values[e] * x[columns[e]];
    x[t] = sum;
  }
};

// "cube:N": N x N x N cells in their natural order, x fastest. "nested:N": the same in nested dissection, the larger
// dimension cut first, down to blocks of 8 cells. Throws input_error for another text, and beyond 400 cells a side.
triangle make_triangle(const std::string& text);

}  // namespace weir::bench
