// ILU(k): the phases, one row after the other or in lists.
#include <weir/solver/ilu.hpp>

#include "kernels.hpp"
#include "symbolic.hpp"

#include <ranges>

namespace weir::solver {
namespace {

void check_options(const ilu_options& o) {
  if (o.level < 0 || o.level > largest_level) throw usage_error("ILU: level " + std::to_string(o.level) + ": expected 0 to " + std::to_string(largest_level));
  if (!(o.shift >= 0) || !std::isfinite(o.shift)) throw usage_error("ILU: a shift of " + std::to_string(o.shift) + ": expected a number that is not negative");
}

// The rows of a triangle from last to first, and each from right to left.
void mirror(array<index>& begin, array<index>& columns) {
  std::ranges::reverse(columns);
  std::ranges::reverse(begin);
  const index end = begin.front();
  for (index& b : begin) b = end - b;
}

template <class Rows>
void factor_any(ilu& f, const matrix& a, const Rows& rows, ilu::workspace& work) {
  detail::with_block(f.block(), [&](auto block) {
    if constexpr (block == 1) ilu_kernels::factor_scalar(f, a, rows, work);
    else ilu_kernels::factor_blocks<block>(f, a, rows, work);
  });
}

template <class Rows>
void forward_any(const ilu& f, std::span<const double> b, std::span<double> x, const Rows& rows) {
  if (ilu_kernels::has_pairs(f)) return ilu_kernels::forward<1, true>(f, b.data(), x.data(), rows);
  detail::with_block(f.block(), [&](auto block) { ilu_kernels::forward<block, false>(f, b.data(), x.data(), rows); });
}

template <class Rows>
void backward_any(const ilu& f, std::span<double> x, const Rows& rows) {
  if (ilu_kernels::has_pairs(f)) return ilu_kernels::backward<1, true>(f, x.data(), rows);
  detail::with_block(f.block(), [&](auto block) { ilu_kernels::backward<block, false>(f, x.data(), rows); });
}

}  // namespace

void ilu_kernels::fail_zero_pivot(std::int64_t row) {
  throw zero_pivot_error("ILU: the pivot of row " + std::to_string(row + 1) + " is zero to rounding: expected a matrix that can be factored without exchanging rows, or a shift", row);
}

ilu::ilu(const matrix& a, const ilu_options& options) : rows_(a.rows), block_(a.block), shift_(options.shift) {
  check_options(options);
  detail::ilu_pattern p = detail::symbolic_ilu(a, options.level);
  pattern_of_matrix_ = p.lower_columns.size() + p.upper_columns.size() + static_cast<std::size_t>(rows_) == a.entries();
  for (index i = 0; i < rows_; i++) longest_row_ = std::max(longest_row_, p.lower_begin[i + 1] - p.lower_begin[i] + 1 + p.upper_begin[i + 1] - p.upper_begin[i]);
  mirror(p.upper_begin, p.upper_columns);
  const std::size_t numbers = static_cast<std::size_t>(block_) * static_cast<std::size_t>(block_);
  lower_ = {std::move(p.lower_begin), std::move(p.lower_columns), {}};
  upper_ = {std::move(p.upper_begin), std::move(p.upper_columns), {}};
  if (block_ == 1) find_alike();
  lower_.values = array<double>(lower_.columns.size() * numbers);
  upper_.values = array<double>((upper_.columns.size() + static_cast<std::size_t>(rows_)) * numbers);
}

void ilu::find_alike() {
  alike_above_ = alike_below_ = array<std::uint8_t>(static_cast<std::size_t>(rows_), 0);
  index pairs = 0;
  for (index i = 0; i + 1 < rows_; i++) {
    const auto above = upper_columns(i), next_above = upper_columns(i + 1), below = lower_columns(i), next_below = lower_columns(i + 1);
    alike_above_[i] = above.size() == next_above.size() + 1 && above.back() == i + 1 && std::ranges::equal(above.first(next_above.size()), next_above);
    alike_below_[i] = below.size() + 1 == next_below.size() && next_below.back() == i && std::ranges::equal(below, next_below.first(below.size()));
    pairs += alike_below_[i];
  }
  many_alike_ = pairs >= rows_ / 2;
}

std::size_t ilu::bytes() const noexcept {
  return (lower_.values.size() + upper_.values.size()) * sizeof(double) + (lower_.columns.size() + upper_.columns.size() + lower_.begin.size() + upper_.begin.size()) * sizeof(index);
}

void ilu::factor(const matrix& a) {
  workspace work(*this);
  begin_factor({&work, 1});
  factor_any(*this, a, std::views::iota(index{0}, rows_), work);
  end_factor({&work, 1});
}

void ilu::solve(std::span<const double> b, std::span<double> x) const {
  forward_any(*this, b, x, std::views::iota(index{0}, rows_));
  backward_any(*this, x, std::views::iota(index{0}, rows_) | std::views::reverse);
}

ilu::workspace::workspace(const ilu& f) {
  const auto rows = static_cast<std::size_t>(f.rows_), numbers = static_cast<std::size_t>(f.block_) * static_cast<std::size_t>(f.block_);
  if (f.block_ == 1) row = array<double>(rows);
  else row = array<double>((static_cast<std::size_t>(f.longest_row_) + 1) * numbers), slot_of = array<index>(rows, 0);
}

void ilu::begin_factor(std::span<workspace> works) const {
  for (workspace& w : works) w.shifted = 0;
}

void ilu::end_factor(std::span<const workspace> works) {
  shifted_ = 0;
  for (const workspace& w : works) shifted_ += w.shifted;
}

void ilu::factor_rows(const matrix& a, std::span<const index> rows, workspace& work) { factor_any(*this, a, rows, work); }

void ilu::forward_rows(std::span<const double> b, std::span<double> x, std::span<const index> rows) const { forward_any(*this, b, x, rows); }

void ilu::add_memory(index row, written_memory& memory) {
  const std::size_t numbers = static_cast<std::size_t>(block_) * static_cast<std::size_t>(block_);
  const auto add = [&](triangle& t, index at, std::size_t diagonals_before, std::size_t diagonals) {
    const auto begin = static_cast<std::size_t>(t.begin[at]), size = static_cast<std::size_t>(t.begin[at + 1]) - begin;
    memory.add(std::span(t.values).subspan((begin + diagonals_before) * numbers, (size + diagonals) * numbers));
    memory.add(std::span(t.columns).subspan(begin, size));
    memory.add(t.begin[at]);
  };
  add(lower_, row, 0, 0);
  const index from_end = rows_ - 1 - row;
  add(upper_, from_end, static_cast<std::size_t>(from_end), 1);
}

void ilu::backward_rows(std::span<double> x, std::span<const index> rows) const { backward_any(*this, x, rows); }

}  // namespace weir::solver
