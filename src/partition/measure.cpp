// Measuring divisions.
#include "partition/measure.hpp"

#include <algorithm>
#include <numeric>

namespace weir::partition {
namespace {

void measure_cut(const graph& g, const target& t, std::span<const int> part, figures& f) {
  for (std::size_t v = 0; v < g.vertices(); v++)
    for (std::uint32_t i = g.begin[v]; i < g.begin[v + 1]; i++) {
      const vertex n = g.neighbour[i];
      if (n < v || part[n] == part[v]) continue;
      f.cut_bytes += static_cast<double>(g.bytes[i]);
      f.distant_bytes += static_cast<double>(g.bytes[i]) * t.between(part[v], part[n]);
    }
}

void measure_balance(const graph& g, const target& t, std::span<const int> part, figures& f) {
  const std::size_t parts = t.capacity.size();
  std::vector<double> load(parts * g.bands, 0.0), all(g.bands, 0.0);
  for (vertex v = 0; v < g.vertices(); v++) {
    load[static_cast<std::size_t>(part[v]) * g.bands + g.band_of(v)] += static_cast<double>(g.weight[v]);
    all[g.band_of(v)] += static_cast<double>(g.weight[v]);
  }
  const double capacity = std::accumulate(t.capacity.begin(), t.capacity.end(), 0.0);
  f.imbalance.assign(g.bands, 0.0);
  for (std::size_t b = 0; b < g.bands; b++)
    for (std::size_t p = 0; p < parts; p++)
      if (const double share = all[b] * t.capacity[p] / capacity; share > 0)
        f.imbalance[b] = std::max(f.imbalance[b], load[p * g.bands + b] / share - 1);
}

}  // namespace

double figures::worst_imbalance() const {
  return imbalance.empty() ? 0 : *std::max_element(imbalance.begin(), imbalance.end());
}

figures measure(const graph& g, const target& t, std::span<const int> part) {
  figures f;
  measure_cut(g, t, part, f);
  measure_balance(g, t, part, f);
  return f;
}

}  // namespace weir::partition
