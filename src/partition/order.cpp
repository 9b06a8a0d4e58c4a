// Orders, depths and bands of depth.
#include "partition/order.hpp"

#include "partition/refuse.hpp"

#include <algorithm>
#include <string>

namespace weir::partition {

successors successors_of(std::size_t tasks, std::span<const edge> edges) {
  successors s;
  s.begin.assign(tasks + 1, 0);
  for (const edge& e : edges) {
    if (e.from >= tasks || e.to >= tasks || e.from == e.to)
      refuse("an edge from task " + std::to_string(e.from) + " to " + std::to_string(e.to) +
                        ", expected two different ones below " + std::to_string(tasks));
    s.begin[e.from + 1]++;
  }
  for (std::size_t t = 1; t <= tasks; t++) s.begin[t] += s.begin[t - 1];
  s.task.resize(edges.size());
  s.bytes.resize(edges.size());
  std::vector<std::uint32_t> next(s.begin.begin(), s.begin.end() - 1);
  for (const edge& e : edges) {
    s.task[next[e.from]] = e.to;
    s.bytes[next[e.from]++] = e.bytes;
  }
  return s;
}

std::vector<vertex> order_of(const successors& s) {
  std::vector<std::uint32_t> before(s.tasks(), 0);
  for (const vertex t : s.task) before[t]++;
  std::vector<vertex> order;
  order.reserve(s.tasks());
  for (vertex t = 0; t < s.tasks(); t++)
    if (before[t] == 0) order.push_back(t);
  for (std::size_t i = 0; i < order.size(); i++)
    for (std::uint32_t e = s.begin[order[i]]; e < s.begin[order[i] + 1]; e++)
      if (--before[s.task[e]] == 0) order.push_back(s.task[e]);
  if (order.size() != s.tasks())
    refuse(std::to_string(s.tasks() - order.size()) + " of " + std::to_string(s.tasks()) +
                      " tasks wait for each other in a cycle, or for one");
  return order;
}

std::vector<std::uint32_t> depth_of(const successors& s, std::span<const vertex> order) {
  std::vector<std::uint32_t> depth(s.tasks(), 0);
  for (const vertex t : order)
    for (std::uint32_t e = s.begin[t]; e < s.begin[t + 1]; e++)
      depth[s.task[e]] = std::max(depth[s.task[e]], depth[t] + 1);
  return depth;
}

std::uint32_t cut_into_bands(std::span<const std::uint32_t> depth, std::span<const std::uint64_t> weight,
                             std::uint32_t most, std::vector<std::uint32_t>& band) {
  band.assign(depth.size(), 0);
  if (depth.empty() || most <= 1) return 1;
  std::vector<double> at(*std::max_element(depth.begin(), depth.end()) + std::size_t{1}, 0.0);
  double all = 0;
  for (std::size_t t = 0; t < depth.size(); t++) {
    const double w = static_cast<double>(weight[t]);
    at[depth[t]] += w;
    all += w;
  }
  std::vector<std::uint32_t> band_at(at.size(), 0);
  double below = 0, begins = 0;
  std::uint32_t now = 0;
  for (std::size_t d = 0; d < at.size(); d++) {
    // A depth goes to the band in which most of it lies.
    const double rest = all - begins;
    if (below > begins && now + 1 < most && below + at[d] / 2 - begins > rest / (most - now)) begins = below, now++;
    band_at[d] = now;
    below += at[d];
  }
  for (std::size_t t = 0; t < depth.size(); t++) band[t] = band_at[depth[t]];
  return now + 1;
}

}  // namespace weir::partition
