// Rows of ILU(k) as the tasks and the sequential loops work on them; `Rows` is a range of row numbers, in forward order.
#pragma once

#include <weir/solver/ilu.hpp>

#include "block.hpp"
#include "invert.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <type_traits>

namespace weir::solver {

struct ilu_kernels {
  // Row i of the upper triangle: its columns from right to left, and the numbers, those of the diagonal before the others.
  template <int B, class Factors>
  struct upper_row {
    using number = std::conditional_t<std::is_const_v<Factors>, const double, double>;

    upper_row(Factors& f, index i)
        : at(f.rows_ - 1 - i), begin(f.upper_.begin[at]), size(f.upper_.begin[at + 1] - begin), columns(f.upper_.columns.data() + begin), diagonal(f.upper_.values.data() + (std::ptrdiff_t{begin} + at) * detail::block_numbers<B>) {}
    number* entries() const { return diagonal + detail::block_numbers<B>; }

    index at, begin, size;
    const index* columns;
    number* diagonal;
  };

  [[noreturn]] static void fail_zero_pivot(std::int64_t row);

  static bool has_pairs(const ilu& f) { return f.many_alike_; }

  // ---------------------------------------------------------------- scalar

  // The row lies in `w` by column: what elimination writes beside the row's own columns is never read, because every row
  // sets its columns before it begins.
  // Not inline, and with everything in variables of its own: otherwise the compiler runs out of registers in the inner loop.
  template <class Rows>
  [[gnu::noinline]] static void factor_scalar(ilu& f, const matrix& a, const Rows& rows, ilu::workspace& work) {
    double* const __restrict w = work.row.data();
    const index *const lower_begin = f.lower_.begin.data(), *const lower_columns = f.lower_.columns.data();
    const index *const upper_begin = f.upper_.begin.data(), *const upper_columns = f.upper_.columns.data();
    double *const lower = f.lower_.values.data(), *const upper = f.upper_.values.data();
    const std::uint8_t* const alike = f.alike_above_.data();
    const std::ptrdiff_t last = f.rows_ - 1;
    for (const index i : rows) {
      const index first = lower_begin[i], middle = lower_begin[i + 1];
      const upper_row<1, ilu> mine(f, i);
      if (!f.pattern_of_matrix_) {
        for (index p = first; p < middle; p++) w[lower_columns[p]] = 0;
        w[i] = 0;
        for (index q = 0; q < mine.size; q++) w[mine.columns[q]] = 0;
      }
      const double largest = scatter(a, i, w);
      for (index p = first; p < middle; p++) {
        const std::ptrdiff_t j = lower_columns[p], at = last - j, begin = upper_begin[at], n = upper_begin[at + 1] - begin;
        const double* const __restrict values = upper + begin + at;  // the inverse pivot, then the entries
        const index* const __restrict columns = upper_columns + begin;
        const double entry = w[j];
        lower[p] = entry * values[0];
        if (!alike[j] || p + 1 == middle || lower_columns[p + 1] != j + 1) {
          for (std::ptrdiff_t q = 0; q < n; q++) w[columns[q]] -= entry * values[q + 1];
          continue;
        }
        // Row j + 1 has the same columns but for itself, which is row j's last: both at once.
        const double* const __restrict next_values = upper + upper_begin[at - 1] + at - 1;
        const double next_entry = w[j + 1] - entry * values[n];
        lower[++p] = next_entry * next_values[0];
        for (std::ptrdiff_t q = 0; q < n - 1; q++) w[columns[q]] -= entry * values[q + 1] + next_entry * next_values[q + 1];
      }
      double pivot = w[i];
      if (!(std::abs(pivot) > zero_pivot_tolerance * largest)) pivot = shifted_pivot(f, pivot, largest, i, work);
      const double inverse = mine.diagonal[0] = 1 / pivot;
      for (index q = 0; q < mine.size; q++) mine.entries()[q] = inverse * w[mine.columns[q]];
    }
  }
  // Puts a row of the matrix in place; returns its largest absolute value.
  static double scatter(const matrix& a, index i, double* w) {
    double largest = 0;
    for (index p = a.row_begin[i]; p < a.row_begin[i + 1]; p++) {
      const double v = a.values[p];
      w[a.columns[p]] = v;
      largest = std::max(largest, std::abs(v));
    }
    return largest;
  }
  static double shifted_pivot(const ilu& f, double pivot, double largest, index row, ilu::workspace& work) {
    if (f.shift_ == 0 || largest == 0 || !std::isfinite(pivot)) fail_zero_pivot(row);
    work.shifted++;
    return std::copysign(f.shift_ * largest, pivot);
  }

  // ---------------------------------------------------------------- blocks

  // The row lies in consecutive slots: left of the diagonal, diagonal, right of it. Slots are numbered from 1: 0 says that
  // the row has no such column, and fill that it would get there is dropped.
  template <int B, class Rows>
  static void factor_blocks(ilu& f, const matrix& a, const Rows& rows, ilu::workspace& work) {
    constexpr std::ptrdiff_t numbers = detail::block_numbers<B>;
    index* const __restrict slot_of = work.slot_of.data();
    double* const slots = work.row.data();
    for (const index i : rows) {
      const index first = f.lower_.begin[i], left = f.lower_.begin[i + 1] - first;
      const index* const lower_columns = f.lower_.columns.data() + first;
      const upper_row<B, ilu> upper(f, i);
      for (index p = 0; p < left; p++) slot_of[lower_columns[p]] = p + 1;
      slot_of[i] = left + 1;
      for (index q = 0; q < upper.size; q++) slot_of[upper.columns[q]] = left + 2 + q;
      if (!f.pattern_of_matrix_) std::fill_n(slots + numbers, (left + 1 + upper.size) * numbers, 0.0);
      const double largest = scatter_blocks<B>(a, i, slots, slot_of);
      for (index p = 0; p < left; p++) eliminate_block<B>(f, lower_columns[p], slots, slots + (p + 1) * numbers, slot_of);
      std::copy_n(slots + numbers, left * numbers, f.lower_.values.data() + first * numbers);
      std::copy_n(slots + (left + 2) * numbers, upper.size * numbers, upper.entries());
      for (index p = 0; p < left; p++) slot_of[lower_columns[p]] = 0;
      slot_of[i] = 0;
      for (index q = 0; q < upper.size; q++) slot_of[upper.columns[q]] = 0;
      invert_pivot<B>(f, slots + (left + 1) * numbers, upper.diagonal, largest, i, work);
    }
  }
  template <int B>
  static double scatter_blocks(const matrix& a, index i, double* slots, const index* slot_of) {
    constexpr std::ptrdiff_t numbers = detail::block_numbers<B>;
    double largest = 0;
    for (index p = a.row_begin[i]; p < a.row_begin[i + 1]; p++) {
      const double* const source = a.values.data() + p * numbers;
      double* const target = slots + slot_of[a.columns[p]] * numbers;
      for (std::ptrdiff_t k = 0; k < numbers; k++) {
        target[k] = source[k];
        largest = std::max(largest, std::abs(source[k]));
      }
    }
    return largest;
  }
  // entry := entry * D_j^-1, and the row less entry times row j of the upper factor.
  template <int B>
  static void eliminate_block(const ilu& f, index j, double* slots, double* entry, const index* slot_of) {
    constexpr std::ptrdiff_t numbers = detail::block_numbers<B>;
    const upper_row<B, const ilu> row(f, j);
    double factor[numbers];
    for (int c = 0; c < B; c++) detail::product<B>(factor + c * B, entry, row.diagonal + c * B);
    std::copy_n(factor, numbers, entry);
    const double* values = row.entries();
    for (index q = 0; q < row.size; q++, values += numbers)
      if (const index slot = slot_of[row.columns[q]]; slot != 0) detail::subtract_product_of_blocks<B>(slots + slot * numbers, factor, values);
  }
  template <int B>
  static void invert_pivot(const ilu& f, const double* pivot, double* inverse, double largest, index i, ilu::workspace& work) {
    const double tolerance = zero_pivot_tolerance * largest;
    int bad = detail::invert<B>(pivot, inverse, tolerance);
    if (bad < 0) return;
    if (f.shift_ != 0 && largest > 0) {
      double shifted[detail::block_numbers<B>];
      std::copy_n(pivot, detail::block_numbers<B>, shifted);
      for (int r = 0; r < B; r++) shifted[r * B + r] += f.shift_ * largest;
      work.shifted++;
      bad = detail::invert<B>(shifted, inverse, tolerance);
      if (bad < 0) return;
    }
    fail_zero_pivot(std::int64_t{i} * B + bad);
  }

  // ---------------------------------------------------------------- substitution

  // How far ahead of the entries that are used those to come are asked for. Less comes too late, more is evicted again
  // before its turn where rows are long; the processor itself stops at the end of each page.
  static constexpr std::ptrdiff_t prefetch_distance = 512;  // numbers
  // For scalars once a row: entries are small, and a row's share of a cache line is what it uses.
  static void prefetch(const double* values, const index* columns) {
    __builtin_prefetch(values + prefetch_distance);
    __builtin_prefetch(columns + prefetch_distance);
  }

  // sum -= a row times x, by default in the order in which the unknowns were found: the youngest comes last, so that only
  // one subtraction waits for it. In a long row the older ones are added up in four sums side by side.
  template <int B>
  [[gnu::always_inline]] static void subtract_row(double* sum, const double* values, const index* columns, std::ptrdiff_t size, const double* x) {
    if constexpr (B == 1) {
      *sum = less_row(*sum, values, columns, size, x);
      return;
    }
    for (std::ptrdiff_t p = 0; p < size; p++) {
      __builtin_prefetch(values + p * detail::block_numbers<B> + prefetch_distance);
      detail::subtract_product<B>(sum, values + p * detail::block_numbers<B>, x + std::ptrdiff_t{columns[p]} * B);
    }
  }
  // A plain loop: a jump to code for each length saves counting, up to a fifth of the time in the cache on one processor, but an
  // AMD EPYC takes two to three times as long with it for systems of some hundred rows. Always inlined: a call would cost as
  // much as a row. From 16 entries on several sums are worth setting up.
  [[gnu::always_inline]] static double less_row(double sum, const double* values, const index* columns, std::ptrdiff_t size, const double* x) {
    if (size >= 16) return less_long_row(sum, values, columns, size, x);
    for (std::ptrdiff_t p = 0; p < size; p++) sum -= values[p] * x[columns[p]];
    return sum;
  }
  [[gnu::noinline]] static double less_long_row(double sum, const double* values, const index* columns, std::ptrdiff_t size, const double* x) {
    double part[4] = {};
    std::ptrdiff_t p = 0;
    for (; p + 8 <= size; p += 4)
      for (int k = 0; k < 4; k++) part[k] += values[p + k] * x[columns[p + k]];
    sum -= (part[0] + part[1]) + (part[2] + part[3]);
    for (; p < size; p++) sum -= values[p] * x[columns[p]];
    return sum;
  }

  // Two scalar rows with the same columns: each index and each unknown is read once for both. The caller has what is left of
  // the second row, its entry for the first one.
  struct two_sums {
    double first, second;
  };
  static two_sums subtract_two_rows(two_sums sums, const double* first, const double* second, const index* columns, std::ptrdiff_t size, const double* x) {
    double f[2] = {sums.first, 0}, s[2] = {sums.second, 0};
    std::ptrdiff_t p = 0;
    for (; p + 2 <= size; p += 2)
      for (int k = 0; k < 2; k++) {
        const double unknown = x[columns[p + k]];
        f[k] -= first[p + k] * unknown;
        s[k] -= second[p + k] * unknown;
      }
    if (p < size) f[0] -= first[p] * x[columns[p]], s[0] -= second[p] * x[columns[p]];
    return {f[0] + f[1], s[0] + s[1]};
  }

  // Pairs: whether neighbours are looked for that have the same columns.
  template <int B, bool Pairs, class Rows>
  static void forward(const ilu& f, const double* b, double* x, const Rows& rows) {
    const index *const begin = f.lower_.begin.data(), *const columns = f.lower_.columns.data();
    const double* const values = f.lower_.values.data();
    [[maybe_unused]] const std::uint8_t* const alike = f.alike_below_.data();
    const auto end = std::ranges::end(rows);
    for (auto at = std::ranges::begin(rows); at != end; ++at) {
      const index i = *at, size = begin[i + 1] - begin[i];
      if constexpr (B == 1) prefetch(values + begin[i], columns + begin[i]);
      if constexpr (Pairs) {
        if (alike[i]) {
          if (auto next = at; ++next != end && *next == i + 1) {
            const two_sums s = subtract_two_rows({b[i], b[i + 1]}, values + begin[i], values + begin[i + 1], columns + begin[i], size, x);
            x[i] = s.first;
            x[i + 1] = s.second - values[begin[i + 1] + size] * s.first;
            at = next;
            continue;
          }
        }
      }
      double sum[B];
      detail::copy<B>(b + std::ptrdiff_t{i} * B, sum);
      subtract_row<B>(sum, values + begin[i] * detail::block_numbers<B>, columns + begin[i], size, x);
      detail::copy<B>(sum, x + std::ptrdiff_t{i} * B);
    }
  }
  // `rows` in backward order.
  template <int B, bool Pairs, class Rows>
  static void backward(const ilu& f, double* x, const Rows& rows) {
    [[maybe_unused]] const std::uint8_t* const alike = f.alike_above_.data();
    const auto end = std::ranges::end(rows);
    for (auto at = std::ranges::begin(rows); at != end; ++at) {
      const index i = *at;
      const upper_row<B, const ilu> row(f, i);
      double* const target = x + std::ptrdiff_t{i} * B;
      double sum[B];
      if constexpr (B == 1) {
        prefetch(row.entries(), row.columns);
        sum[0] = row.diagonal[0] * target[0];
      } else {
        detail::copy<B>(target, sum);
      }
      if constexpr (Pairs) {
        if (i > 0 && alike[i - 1]) {
          if (auto next = at; ++next != end && *next == i - 1) {
            const upper_row<1, const ilu> above(f, i - 1);
            const two_sums s = subtract_two_rows({sum[0], above.diagonal[0] * x[i - 1]}, row.entries(), above.entries(), row.columns, row.size, x);
            x[i] = s.first;
            x[i - 1] = s.second - above.entries()[row.size] * s.first;
            at = next;
            continue;
          }
        }
      }
      subtract_row<B>(sum, row.entries(), row.columns, row.size, x);
      if constexpr (B == 1) target[0] = sum[0];
      else detail::product<B>(target, row.diagonal, sum);
    }
  }
};

}  // namespace weir::solver
