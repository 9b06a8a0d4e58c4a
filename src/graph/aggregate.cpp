// From one graph to the next coarser one, step by step.
#include "graph/aggregate.hpp"

#include <algorithm>
#include <limits>

namespace weir::graphs {

own_lists members_of(const coarse_input& in, const partition& p) {
  own_lists members;
  members.offset.assign(p.count + 1, 0);
  for (index a : p.of) members.offset[a + 1]++;
  for (std::size_t a = 0; a < p.count; a++) members.offset[a + 1] += members.offset[a];
  members.item.resize(in.tasks);
  // Filled from the front, the offsets going along; put back afterwards.
  for (std::size_t i = 0; i < in.tasks; i++) {
    const index t = in.at(i);
    members.item[members.offset[p.of[t]]++] = t;
  }
  for (std::size_t a = p.count; a > 0; a--) members.offset[a] = members.offset[a - 1];
  members.offset[0] = 0;
  return members;
}

own_lists quotient(const coarse_input& in, const partition& p, const own_lists& members) {
  own_lists before;
  before.offset.reserve(p.count + 1);
  std::vector<index> named_by(p.count, std::numeric_limits<index>::max());
  const lists list = members.view();
  for (index a = 0; a < p.count; a++) {
    named_by[a] = a;
    for (index t : list.of(a))
      for (index b : in.before.of(t))
        if (const index other = p.of[b]; named_by[other] != a) {
          named_by[other] = a;
          before.item.push_back(other);
        }
    before.offset.push_back(before.item.size());
  }
  return before;
}

namespace {

partition apply(const coarse_input& in, const lists* after, const coarsening& step) {
  constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  const std::size_t n = step.parameter.value_or(0);
  switch (step.algorithm) {
    case 'C': return aggregate_continuations(in, step.parameter ? n : unlimited);
    case 'D': {
      if (after != nullptr) return aggregate_depth_fronts(in, *after, n);
      const own_lists made = transposed(in.before, in.tasks);
      return aggregate_depth_fronts(in, made.view(), n);
    }
    case 'F': return aggregate_fronts(in, n);
    case 'T': return aggregate_subtrees(in, n);
    default: return aggregate_sequences(in);
  }
}

std::vector<float> weights_of(const coarse_input& in, const own_lists& members) {
  std::vector<float> weights;
  weights.reserve(members.offset.size() - 1);
  for (std::size_t a = 0; a + 1 < members.offset.size(); a++) {
    double sum = 0;
    for (std::size_t m = members.offset[a]; m < members.offset[a + 1]; m++) sum += in.weight_of(members.item[m]);
    weights.push_back(static_cast<float>(sum));
  }
  return weights;
}

// What one step has made, as the next one's input.
struct coarse_level {
  const own_lists& before;
  const std::vector<float>& weight;
  std::vector<index> order;

  coarse_level(const own_lists& b, const std::vector<float>& w) : before(b), weight(w) {
    if (!is_ascending(before.view(), weight.size())) order = topological_order(before.view(), transposed(before.view(), weight.size()).view(), weight.size());
  }
  coarse_input input() const { return {before.view(), weight.size(), weight, order}; }
};

}  // namespace

stage first_step(const coarse_input& in, const lists& after, const coarsening& step) {
  stage s{apply(in, &after, step), {}, {}};
  const own_lists members = members_of(in, s.whole);
  s.before = quotient(in, s.whole, members);
  s.weight = weights_of(in, members);
  return s;
}

stage next_step(stage s, const coarsening& step) {
  const coarse_level level(s.before, s.weight);
  const coarse_input now = level.input();
  const partition p = apply(now, nullptr, step);
  const own_lists members = members_of(now, p);
  own_lists before = quotient(now, p, members);
  std::vector<float> weight = weights_of(now, members);
  for (index& a : s.whole.of) a = p.of[a];
  s.whole.count = p.count;
  s.before = std::move(before);
  s.weight = std::move(weight);
  return s;
}

aggregation last_step(const coarse_input& in, stage s) { return {members_of(in, s.whole), std::move(s.before)}; }

aggregation aggregate(const coarse_input& in, const lists& after, const std::vector<coarsening>& steps) {
  if (steps.size() == 1) {
    const partition p = apply(in, &after, steps.front());
    own_lists members = members_of(in, p), before = quotient(in, p, members);
    return {std::move(members), std::move(before)};
  }
  stage s = first_step(in, after, steps.front());
  for (std::size_t i = 1; i < steps.size(); i++) s = next_step(std::move(s), steps[i]);
  return last_step(in, std::move(s));
}

}  // namespace weir::graphs
