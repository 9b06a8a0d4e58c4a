// From weir's aggregates to plain arrays.
#include "row_lists.hpp"

#include <weir/coarse_graph.hpp>
#include <weir/graph.hpp>

#include <algorithm>

namespace weir::bench {
namespace {

// `after` from `before`.
void turn_round(row_lists& l) {
  std::vector<std::size_t> next(l.tasks() + 2, 0);
  for (const std::uint32_t b : l.before) next[b + 2]++;
  for (std::size_t t = 2; t < next.size(); t++) next[t] += next[t - 1];
  l.after.resize(l.before.size());
  for (std::uint32_t t = 0; t < l.tasks(); t++)
    for (const std::uint32_t b : l.before_of(t)) l.after[next[b + 1]++] = t;
  next.pop_back();
  l.after_begin = std::move(next);
}

void sort_by_level(row_lists& l) {
  std::vector<std::uint32_t> missing(l.tasks()), level, next;
  for (std::uint32_t t = 0; t < l.tasks(); t++)
    if ((missing[t] = static_cast<std::uint32_t>(l.before_of(t).size())) == 0) level.push_back(t);
  l.level_begin.assign(1, 0);
  for (; !level.empty(); level.swap(next)) {
    next.clear();
    l.by_level.insert(l.by_level.end(), level.begin(), level.end());
    l.level_begin.push_back(l.by_level.size());
    for (const std::uint32_t t : level)
      for (const std::uint32_t a : l.after_of(t))
        if (--missing[a] == 0) next.push_back(a);
    std::ranges::sort(next);
  }
}

row_lists single_rows(const solver::ilu& f) {
  row_lists l;
  l.begin.resize(static_cast<std::size_t>(f.rows()) + 1);
  for (std::size_t t = 0; t < l.begin.size(); t++) l.begin[t] = t;
  for (index i = 0; i < f.rows(); i++) l.rows.push_back(i);
  l.before_begin.assign(f.lower_begin().begin(), f.lower_begin().end());
  l.before.assign(f.lower_columns().begin(), f.lower_columns().end());
  return l;
}

row_lists aggregated(const solver::ilu& f, const std::string& coarsen) {
  const row_lists fine = single_rows(f);
  const graph rows(fine.before_begin, fine.before);
  const coarse_graph coarse = aggregate(rows, coarsen);
  row_lists l{.begin = {0}, .before_begin = {0}};
  for (std::size_t t = 0; t < coarse.aggregates(); t++) {
    const auto members = coarse.members(t);
    const auto before = coarse.predecessors(t);
    l.rows.insert(l.rows.end(), members.begin(), members.end());
    l.before.insert(l.before.end(), before.begin(), before.end());
    l.begin.push_back(l.rows.size());
    l.before_begin.push_back(l.before.size());
  }
  return l;
}

}  // namespace

row_graph::row_graph(const solver::ilu& f, const std::string& coarsen) : forward(coarsen == "none" ? single_rows(f) : aggregated(f, coarsen)) {
  turn_round(forward);
  backward = forward;
  backward.before.swap(backward.after);
  backward.before_begin.swap(backward.after_begin);
  for (std::size_t t = 0; t < backward.tasks(); t++)
    std::reverse(backward.rows.begin() + static_cast<std::ptrdiff_t>(backward.begin[t]), backward.rows.begin() + static_cast<std::ptrdiff_t>(backward.begin[t + 1]));
  sort_by_level(forward);
  sort_by_level(backward);
}

}  // namespace weir::bench
