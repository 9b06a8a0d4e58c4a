// Checks of options, and the merging of what is fixed.
#include "partition/problem.hpp"

#include "partition/refuse.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace weir::partition {
namespace {

void check_parts_of(const char* name, const std::vector<int>& part, std::size_t vertices, int parts) {
  if (part.empty()) return;
  if (part.size() != vertices)
    refuse(std::to_string(part.size()) + " " + name + " parts for " + std::to_string(vertices) + " vertices");
  for (std::size_t v = 0; v < vertices; v++)
    if (part[v] < anywhere || part[v] >= parts)
      refuse(std::string("vertex ") + std::to_string(v) + " has " + name + " part " + std::to_string(part[v]) +
             ", expected one below " + std::to_string(parts) + ", or -1 for none");
}

}  // namespace

double problem::capacity() const { return std::accumulate(onto.capacity.begin(), onto.capacity.end(), 0.0); }

reduced::reduced(const graph& g, const options& o) : all_(g), options_(o) {
  check(o.onto);
  if (!std::isfinite(o.imbalance) || o.imbalance < 0)
    refuse("imbalance " + std::to_string(o.imbalance) + ", expected 0 or more");
  check_parts_of("fixed", o.fixed, g.vertices(), o.onto.parts());
  check_parts_of("initial", o.initial, g.vertices(), o.onto.parts());
  made_.onto = o.onto;
  made_.imbalance = o.imbalance;
  made_.seed = o.seed;
  made_.of = &g;
  made_.free = g.vertices();
  made_.initial = o.initial;
  made_.placed.assign(made_.parts() * g.bands, 0);
  if (std::any_of(o.fixed.begin(), o.fixed.end(), [](int p) { return p != anywhere; })) merge_fixed();
}

// Free vertices keep their order.
void reduced::merge_fixed() {
  number_.resize(all_.vertices());
  vertex next = 0;
  std::vector<char> has_anchor(made_.parts(), 0);
  for (vertex v = 0; v < all_.vertices(); v++) {
    const int p = options_.fixed[v];
    if (p == anywhere) {
      number_[v] = next++;
      continue;
    }
    has_anchor[static_cast<std::size_t>(p)] = 1;
    std::uint64_t& placed = made_.placed[static_cast<std::size_t>(p) * all_.bands + all_.band_of(v)];
    placed = add_saturated(placed, all_.weight[v]);
  }
  made_.free = next;
  std::vector<vertex> anchor_of_part(made_.parts(), 0);
  for (std::size_t p = 0; p < made_.parts(); p++)
    if (has_anchor[p]) {
      anchor_of_part[p] = next++;
      made_.anchors.push_back(static_cast<int>(p));
    }
  for (vertex v = 0; v < all_.vertices(); v++)
    if (const int p = options_.fixed[v]; p != anywhere) number_[v] = anchor_of_part[static_cast<std::size_t>(p)];
  if (!options_.initial.empty()) {
    made_.initial.assign(made_.free, anywhere);
    for (vertex v = 0; v < all_.vertices(); v++)
      if (options_.fixed[v] == anywhere) made_.initial[number_[v]] = options_.initial[v];
  }
  build_merged();
  made_.of = &merged_;
}

// Edges between anchors are cut, or not, whatever is done: they are left out.
void reduced::build_merged() {
  std::vector<edge> edges;
  edges.reserve(all_.edges());
  for (vertex v = 0; v < all_.vertices(); v++)
    for (std::uint32_t i = all_.begin[v]; i < all_.begin[v + 1]; i++) {
      const vertex a = number_[v], b = number_[all_.neighbour[i]];
      if (a < made_.free && a < b) edges.push_back({a, b, all_.bytes[i]});
    }
  std::vector<std::uint64_t> weight(made_.free + made_.anchors.size(), 0);
  for (vertex v = 0; v < all_.vertices(); v++)
    if (number_[v] < made_.free) weight[number_[v]] = all_.weight[v];
  merged_ = make_graph(std::move(weight), edges);
  merged_.bands = all_.bands;
  if (all_.band.empty()) return;
  merged_.band.assign(merged_.vertices(), 0);
  for (vertex v = 0; v < all_.vertices(); v++)
    if (number_[v] < made_.free) merged_.band[number_[v]] = all_.band[v];
}

std::vector<int> reduced::expand(std::span<const int> part_of_free) const {
  std::vector<int> part(all_.vertices());
  for (vertex v = 0; v < all_.vertices(); v++) {
    const bool is_fixed = !options_.fixed.empty() && options_.fixed[v] != anywhere;
    part[v] = is_fixed ? options_.fixed[v] : part_of_free[number_.empty() ? v : number_[v]];
  }
  return part;
}

}  // namespace weir::partition
