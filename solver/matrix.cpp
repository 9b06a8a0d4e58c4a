// What every matrix must be, and products with vectors.
#include <weir/solver/matrix.hpp>

#include "block.hpp"

#include <algorithm>
#include <cmath>

namespace weir::solver {
namespace {

[[noreturn]] void fail(const std::string& what) { throw matrix_error("matrix: " + what); }

std::string row_text(index i) { return "row " + std::to_string(i); }

void check_row(const matrix& a, index i) {
  index previous = -1;
  for (index p = a.row_begin[i]; p < a.row_begin[i + 1]; p++) {
    const index j = a.columns[p];
    if (j < 0 || j >= a.rows) fail(row_text(i) + " has column " + std::to_string(j) + ": expected 0 to " + std::to_string(a.rows - 1));
    if (j <= previous) fail(row_text(i) + " has column " + std::to_string(j) + " after " + std::to_string(previous) + ": expected ascending columns");
    previous = j;
  }
}

}  // namespace

void check(const matrix& a) {
  if (a.block < 1 || a.block > largest_block) fail("blocks of " + std::to_string(a.block) + " rows: expected 1 to " + std::to_string(largest_block));
  const std::size_t numbers = static_cast<std::size_t>(a.block) * static_cast<std::size_t>(a.block);
  if (a.rows < 0 || a.row_begin.size() != static_cast<std::size_t>(a.rows) + 1) fail("expected a beginning for each of " + std::to_string(a.rows) + " rows and an end");
  if (a.values.size() != a.columns.size() * numbers) fail("expected " + std::to_string(numbers) + " numbers for each of " + std::to_string(a.columns.size()) + " entries");
  if (a.row_begin.front() != 0 || static_cast<std::size_t>(a.row_begin.back()) != a.columns.size() || !std::ranges::is_sorted(a.row_begin)) fail("rows must begin one behind the other, from 0 to the number of entries");
  for (index i = 0; i < a.rows; i++) check_row(a, i);
  if (!std::ranges::all_of(a.values, [](double v) { return std::isfinite(v); })) fail("a value is not finite");
}

void multiply_rows(const matrix& a, std::span<const double> x, std::span<double> y, index first, index last) {
  detail::with_block(a.block, [&](auto block) {
    constexpr int b = block;
    for (index i = first; i < last; i++) {
      double sum[b] = {};
      for (index p = a.row_begin[i]; p < a.row_begin[i + 1]; p++) detail::add_product<b>(sum, &a.values[p * detail::block_numbers<b>], &x[static_cast<std::size_t>(a.columns[p]) * b]);
      detail::copy<b>(sum, &y[static_cast<std::size_t>(i) * b]);
    }
  });
}

void residual_rows(const matrix& a, std::span<const double> x, std::span<const double> rhs, std::span<double> y, index first, index last) {
  detail::with_block(a.block, [&](auto block) {
    constexpr int b = block;
    for (index i = first; i < last; i++) {
      double sum[b];
      detail::copy<b>(&rhs[static_cast<std::size_t>(i) * b], sum);
      for (index p = a.row_begin[i]; p < a.row_begin[i + 1]; p++) detail::subtract_product<b>(sum, &a.values[p * detail::block_numbers<b>], &x[static_cast<std::size_t>(a.columns[p]) * b]);
      detail::copy<b>(sum, &y[static_cast<std::size_t>(i) * b]);
    }
  });
}

}  // namespace weir::solver
