// F(n): fronts (seed 002, section III.A.2).
//
// No cycle: edges lead from a level to a higher one, so from an aggregate to one with a larger number.
#include "graph/aggregate.hpp"

#include <algorithm>

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

}  // namespace

partition aggregate_fronts(const coarse_input& in, std::size_t most_per_level) {
  const levels l = levels_of(in);
  partition p{std::vector<index>(in.tasks), 0};
  for (std::size_t level = 0; level + 1 < l.begin.size(); level++) {
    const std::span<const index> tasks(l.task.data() + l.begin[level], l.begin[level + 1] - l.begin[level]);
    const double groups = static_cast<double>(std::min(most_per_level, tasks.size()));
    double all = 0, before = 0;
    for (index t : tasks) all += in.weight_of(t);
    // A task belongs where its middle lies. Without any weight: by number.
    const double scale = all > 0 ? groups / all : 0;
    std::size_t group = 0;
    for (std::size_t i = 0; i < tasks.size(); i++) {
      const double weight = in.weight_of(tasks[i]);
      const double middle = scale > 0 ? (before + weight / 2) * scale : (static_cast<double>(i) + 0.5) * groups / static_cast<double>(tasks.size());
      const auto mine = static_cast<std::size_t>(std::min(middle, groups - 1));
      if (i == 0 || mine > group) p.count++;
      group = std::max(group, mine);
      p.of[tasks[i]] = static_cast<index>(p.count - 1);
      before += weight;
    }
  }
  return p;
}

}  // namespace weir::graphs
