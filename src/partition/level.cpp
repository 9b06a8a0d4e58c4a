// From a problem to the finest level, and from one level to the next.
#include "partition/level.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace weir::partition {
namespace {

// By how many bits numbers of this sum have to be shortened. What is not 0 stays at least 1, which adds less than
// `count` to the sum.
int shift_for(double sum) {
  int shift = 0;
  while (std::ldexp(sum, -shift) >= std::ldexp(1.0, amount_bits - 1)) shift++;
  return shift;
}
amount shortened(std::uint64_t x, int shift) {
  return x == 0 ? 0 : std::max<amount>(1, static_cast<amount>(x >> shift));
}

double sum_of(const std::vector<std::uint64_t>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0,
                         [](double s, std::uint64_t x) { return s + static_cast<double>(x); });
}

void take_distances(const target& t, frame& f) {
  f.uniform = true;
  for (int a = 0; a < t.parts(); a++)
    for (int b = 0; b < t.parts(); b++) {
      const double d = t.between(a, b) * static_cast<double>(distance_unit);
      f.distance.push_back(static_cast<amount>(std::min(std::ceil(d), static_cast<double>(most_distance))));
      if (a != b && f.distance.back() != f.distance[1]) f.uniform = false;
    }
}

void take_weights(const problem& p, level& l, int shift, bool all_alike) {
  const graph& g = *p.of;
  l.weight.resize(g.vertices());
  l.loads.reserve(g.vertices());
  l.loads_begin.assign(1, 0);
  l.loads_begin.reserve(g.vertices() + 1);
  for (vertex v = 0; v < g.vertices(); v++) {
    l.weight[v] = v >= p.free ? 0 : all_alike ? 1 : shortened(g.weight[v], shift);
    if (l.weight[v] > 0) l.loads.push_back({g.band_of(v), l.weight[v]});
    l.loads_begin.push_back(static_cast<std::uint32_t>(l.loads.size()));
  }
}

// Each part gets its share of each band, or more by the imbalance; or by most of a vertex, as vertices are not
// divided.
void take_limits(const problem& p, const level& l, frame& f) {
  std::vector<amount> all(f.bands, 0), free(f.bands, 0), count(f.bands, 0);
  for (const load& x : l.loads) free[x.band] += x.weight, count[x.band]++;
  all = free;
  for (std::size_t i = 0; i < f.placed.size(); i++) all[i % f.bands] += f.placed[i];
  for (std::size_t part = 0; part < f.parts; part++)
    for (std::size_t b = 0; b < f.bands; b++) {
      const double due = static_cast<double>(all[b]) * f.share[part];
      const double mean = count[b] == 0 ? 0 : static_cast<double>(free[b]) / static_cast<double>(count[b]);
      const double least_slack = mean * (1 - 1 / static_cast<double>(f.parts));
      const amount placed = f.placed[part * f.bands + b];
      const auto limit = [&](double imbalance) {
        if (f.share[part] <= 0) return placed;
        return std::max(static_cast<amount>(due + std::max(due * imbalance, least_slack)), placed);
      };
      f.due.push_back(static_cast<amount>(due));
      f.limit.push_back(limit(p.imbalance));
      f.even.push_back(limit(p.imbalance / 5));
    }
}

// Adds up what the members of a cluster have in common with others, and their loads.
class contraction {
 public:
  contraction(const level& fine, std::span<const vertex> cluster, std::size_t clusters)
      : fine_(fine), cluster_(cluster), at_(clusters, none), band_at_(bands_of(fine), none) {
    sort_members(clusters);
    coarse_.weight.assign(clusters, 0);
    coarse_.fixed.assign(clusters, anywhere);
    coarse_.begin.reserve(clusters + 1);
    coarse_.loads_begin.reserve(clusters + 1);
    coarse_.neighbour.reserve(fine.neighbour.size() / 2);
    coarse_.bytes.reserve(fine.neighbour.size() / 2);
    for (vertex c = 0; c < clusters; c++) add(c);
  }
  level take() { return std::move(coarse_); }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  static std::size_t bands_of(const level& l) {
    std::size_t most = 0;
    for (const load& x : l.loads) most = std::max<std::size_t>(most, x.band + std::size_t{1});
    return most;
  }
  void sort_members(std::size_t clusters) {
    first_.assign(clusters + 1, 0);
    for (const vertex c : cluster_) first_[c + 1]++;
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    member_.resize(cluster_.size());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (vertex v = 0; v < cluster_.size(); v++) member_[next[cluster_[v]]++] = v;
  }
  void add(vertex c) {
    const auto edges = static_cast<std::uint32_t>(coarse_.neighbour.size());
    const auto loads = static_cast<std::uint32_t>(coarse_.loads.size());
    for (std::uint32_t m = first_[c]; m < first_[c + 1]; m++) {
      const vertex v = member_[m];
      coarse_.weight[c] += fine_.weight[v];
      if (fine_.fixed[v] != anywhere) coarse_.fixed[c] = fine_.fixed[v];
      add_loads(v, loads);
      add_edges(v, c, edges);
    }
    coarse_.begin.push_back(static_cast<std::uint32_t>(coarse_.neighbour.size()));
    coarse_.loads_begin.push_back(static_cast<std::uint32_t>(coarse_.loads.size()));
  }
  // Numbers below `from` are left from earlier clusters.
  void add_loads(vertex v, std::uint32_t from) {
    for (const load& x : fine_.loads_of(v))
      if (std::uint32_t& at = band_at_[x.band]; at != none && at >= from) {
        coarse_.loads[at].weight += x.weight;
      } else {
        at = static_cast<std::uint32_t>(coarse_.loads.size());
        coarse_.loads.push_back(x);
      }
  }
  void add_edges(vertex v, vertex c, std::uint32_t from) {
    for (std::uint32_t i = fine_.begin[v]; i < fine_.begin[v + 1]; i++) {
      const vertex other = cluster_[fine_.neighbour[i]];
      if (other == c) continue;
      if (std::uint32_t& at = at_[other]; at != none && at >= from) {
        coarse_.bytes[at] += fine_.bytes[i];
      } else {
        at = static_cast<std::uint32_t>(coarse_.neighbour.size());
        coarse_.neighbour.push_back(other);
        coarse_.bytes.push_back(fine_.bytes[i]);
      }
    }
  }

  const level& fine_;
  const std::span<const vertex> cluster_;
  std::vector<std::uint32_t> first_, at_, band_at_;
  std::vector<vertex> member_;
  level coarse_;
};

}  // namespace

level finest_level(const problem& p, frame& f) {
  const graph& g = *p.of;
  level l;
  const int bytes_shift = shift_for(sum_of(g.bytes));
  const double weight = sum_of(g.weight) + sum_of(p.placed);
  const int weight_shift = shift_for(weight);
  l.begin = g.begin;
  l.neighbour = g.neighbour;
  l.bytes.resize(g.bytes.size());
  std::transform(g.bytes.begin(), g.bytes.end(), l.bytes.begin(), [&](auto b) { return shortened(b, bytes_shift); });
  take_weights(p, l, weight_shift, weight == 0);
  l.fixed.resize(g.vertices());
  for (vertex v = 0; v < g.vertices(); v++) l.fixed[v] = p.fixed(v);
  f.parts = p.parts();
  f.bands = g.bands;
  for (const double c : p.onto.capacity) f.share.push_back(c / p.capacity());
  for (const std::uint64_t w : p.placed) f.placed.push_back(shortened(w, weight_shift));
  take_distances(p.onto, f);
  take_limits(p, l, f);
  return l;
}

std::vector<amount> limits_at(const level& l, const frame& f) {
  std::vector<amount> heaviest(f.bands, 0);
  for (const load& x : l.loads) heaviest[x.band] = std::max(heaviest[x.band], x.weight);
  std::vector<amount> limit = f.limit;
  for (std::size_t i = 0; i < limit.size(); i++)
    if (f.share[i / f.bands] > 0) limit[i] = std::max(limit[i], f.due[i] + heaviest[i % f.bands] / 2);
  return limit;
}

level contract(const level& fine, std::span<const vertex> cluster, std::size_t clusters) {
  return contraction(fine, cluster, clusters).take();
}

}  // namespace weir::partition
