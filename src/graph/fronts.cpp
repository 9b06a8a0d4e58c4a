// F(n): fronts (Rossignon et al., PDSEC 2013, section III.A.2).
//
// No cycle: edges lead from a level to a higher one, so from an aggregate to one with a larger number.
#include "graph/aggregate.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace weir::graphs {
namespace {

struct levels {
  std::vector<index> of;             // by task
  std::vector<std::size_t> begin;    // by level, into `task`
  std::vector<index> task;           // by level, in order of their numbers
};

levels levels_of(const coarse_input& in) {
  levels l;
  l.of.resize(in.tasks);
  index deepest = 0;
  for (std::size_t i = 0; i < in.tasks; i++) {
    const index t = in.at(i);
    index level = 0;
    for (index b : in.before.of(t)) level = std::max(level, l.of[b] + 1);
    l.of[t] = level;
    deepest = std::max(deepest, level);
  }
  l.begin.assign(in.tasks == 0 ? 1 : deepest + 2, 0);
  for (index level : l.of) l.begin[level + 1]++;
  for (std::size_t i = 1; i < l.begin.size(); i++) l.begin[i] += l.begin[i - 1];
  l.task.resize(in.tasks);
  std::vector<std::size_t> at = l.begin;
  for (index t = 0; t < in.tasks; t++) l.task[at[l.of[t]]++] = t;
  return l;
}

// Cuts a level into `groups` parts of equal weight: place(task, part) for each task, in order. A task belongs where its
// middle lies; without any weight, by number. Parts may stay empty.
template <class F>
void share_out(const coarse_input& in, std::span<const index> tasks, std::size_t groups, F&& place) {
  const auto parts = static_cast<double>(groups);
  double all = 0, before = 0;
  for (index t : tasks) all += in.weight_of(t);
  const double scale = all > 0 ? parts / all : 0;
  for (std::size_t i = 0; i < tasks.size(); i++) {
    const double weight = in.weight_of(tasks[i]);
    const double middle = scale > 0 ? (before + weight / 2) * scale : (static_cast<double>(i) + 0.5) * parts / static_cast<double>(tasks.size());
    place(tasks[i], static_cast<std::size_t>(std::min(middle, parts - 1)));
    before += weight;
  }
}

// In proportion to `shares`. A task belongs where its middle lies.
void share_out(const coarse_input& in, std::span<const index> tasks, std::span<const index> shares,
               std::vector<index>& part_of) {
  double all = 0, before = 0;
  for (index t : tasks) all += in.weight_of(t);
  const double scale = all / static_cast<double>(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}));
  std::size_t part = 0;
  double end = scale * shares[0];
  for (index t : tasks) {
    const double weight = in.weight_of(t);
    while (before + weight / 2 >= end && part + 1 < shares.size()) end += scale * shares[++part];
    part_of[t] = static_cast<index>(part);
    before += weight;
  }
}

// Of `tasks` that weigh the same: behind which one each part ends.
std::vector<std::size_t> by_largest_remainders(std::size_t tasks, std::span<const index> shares) {
  const auto all = std::accumulate(shares.begin(), shares.end(), std::size_t{0});
  std::vector<std::size_t> counts, parts(shares.size());
  for (index share : shares) counts.push_back(tasks * share / all);
  std::iota(parts.begin(), parts.end(), std::size_t{0});
  std::ranges::stable_sort(parts, std::greater(), [&](std::size_t part) { return tasks * shares[part] % all; });
  const std::size_t left = tasks - std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  for (std::size_t i = 0; i < left; i++) counts[parts[i]]++;
  std::inclusive_scan(counts.begin(), counts.end(), counts.begin());
  return counts;
}

template <class F>
void for_each_level(const levels& l, F&& f) {
  for (std::size_t level = 0; level + 1 < l.begin.size(); level++) f(std::span<const index>(l.task.data() + l.begin[level], l.begin[level + 1] - l.begin[level]));
}

}  // namespace

partition aggregate_fronts(const coarse_input& in, std::size_t most_per_level) {
  partition p{std::vector<index>(in.tasks), 0};
  for_each_level(levels_of(in), [&](std::span<const index> tasks) {
    std::size_t last = most_per_level;  // no part yet
    share_out(in, tasks, std::min(most_per_level, tasks.size()), [&](index t, std::size_t part) {
      if (part != last) p.count++;
      last = part;
      p.of[t] = static_cast<index>(p.count - 1);
    });
  });
  return p;
}

std::vector<index> parts_of_levels(const coarse_input& in, std::span<const index> shares) {
  std::vector<index> part_of(in.tasks);
  std::map<std::size_t, std::vector<std::size_t>> known;  // ends, by how many tasks a level has
  for_each_level(levels_of(in), [&](std::span<const index> tasks) {
    const bool alike = std::ranges::all_of(tasks, [&](index t) { return in.weight_of(t) == in.weight_of(tasks[0]); });
    if (!alike) return share_out(in, tasks, shares, part_of);
    auto& ends = known[tasks.size()];
    if (ends.empty()) ends = by_largest_remainders(tasks.size(), shares);
    std::size_t part = 0;
    for (std::size_t i = 0; i < tasks.size(); i++) {
      while (i >= ends[part]) part++;
      part_of[tasks[i]] = static_cast<index>(part);
    }
  });
  return part_of;
}

}  // namespace weir::graphs
