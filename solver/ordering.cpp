// Orderings by name, and what follows from an order.
#include <weir/solver/ordering.hpp>

#include "adjacency.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace weir::solver {
namespace {

array<index> inverse_of(std::span<const index> order) {
  array<index> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); i++) inverse[order[i]] = static_cast<index>(i);
  return inverse;
}

}  // namespace

ordering parse_ordering(const std::string& name) {
  if (name == "natural") return ordering::natural;
  if (name == "rcm") return ordering::rcm;
  if (name == "nd") return ordering::nested_dissection;
  throw usage_error("ordering \"" + name + "\": expected natural, rcm or nd");
}

array<index> order_rows(const matrix& a, ordering how) {
  if (how == ordering::rcm) return detail::rcm(detail::adjacency_of(a));
  if (how == ordering::nested_dissection) return detail::nested_dissection(detail::adjacency_of(a));
  array<index> order(static_cast<std::size_t>(a.rows));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

matrix permute(const matrix& a, std::span<const index> order) {
  const array<index> inverse = inverse_of(order);
  const auto numbers = static_cast<std::size_t>(a.block * a.block);
  matrix b{a.rows, a.block, array<index>(order.size() + 1), array<index>(a.entries()), array<double>(a.values.size())};
  std::vector<std::pair<index, index>> row;  // column, position in a
  index at = b.row_begin[0] = 0;
  for (std::size_t i = 0; i < order.size(); i++) {
    row.clear();
    for (index p = a.row_begin[order[i]]; p < a.row_begin[order[i] + 1]; p++) row.emplace_back(inverse[a.columns[p]], p);
    std::ranges::sort(row);
    for (const auto& [column, p] : row) {
      b.columns[at] = column;
      std::copy_n(&a.values[p * numbers], numbers, &b.values[at * numbers]);
      at++;
    }
    b.row_begin[i + 1] = at;
  }
  return b;
}

void permute(std::span<const double> from, std::span<double> to, std::span<const index> order, int block) {
  const auto b = static_cast<std::size_t>(block);
  for (std::size_t i = 0; i < order.size(); i++) std::copy_n(&from[order[i] * b], b, &to[i * b]);
}

void permute_back(std::span<const double> from, std::span<double> to, std::span<const index> order, int block) {
  const auto b = static_cast<std::size_t>(block);
  for (std::size_t i = 0; i < order.size(); i++) std::copy_n(&from[i * b], b, &to[order[i] * b]);
}

}  // namespace weir::solver
