// Scaling to 32 bits.
#include "partition/narrow.hpp"

#include <algorithm>
#include <limits>

namespace weir::partition {
namespace {

constexpr std::uint32_t left_out = ~std::uint32_t{0};

// By what numbers of this sum are multiplied; rounding down to no less than 1 adds `count` at most.
double scale_for(double sum, double count, std::int64_t most) {
  const double room = std::max(static_cast<double>(most) - count, 1.0);
  return sum > room ? room / sum : 1.0;
}
std::int32_t scaled(std::uint64_t x, double by) {
  if (x == 0) return 0;
  const double y = static_cast<double>(x) * by;
  return std::max(
      1, static_cast<std::int32_t>(std::min(y, static_cast<double>(std::numeric_limits<std::int32_t>::max()))));
}

// Free vertices keep their numbers, so do the anchors that are left.
std::vector<std::uint32_t> take_vertices(const problem& p, narrow_problem& n) {
  std::vector<std::int32_t> number_of_part(p.parts(), -1);
  for (std::size_t q = 0; q < p.parts(); q++)
    if (p.onto.capacity[q] > 0) {
      number_of_part[q] = static_cast<std::int32_t>(n.part.size());
      n.part.push_back(static_cast<int>(q));
    }
  std::vector<std::uint32_t> number(p.of->vertices(), left_out);
  for (vertex v = 0; v < p.of->vertices(); v++) {
    const int fixed = p.fixed(v);
    const std::int32_t anchor = fixed == anywhere ? -1 : number_of_part[static_cast<std::size_t>(fixed)];
    if (fixed != anywhere && anchor < 0) continue;
    number[v] = static_cast<std::uint32_t>(n.vertices());
    n.anchor.push_back(anchor);
  }
  return number;
}

void take_edges(const problem& p, const std::vector<std::uint32_t>& number, std::int64_t most, narrow_problem& n) {
  const graph& g = *p.of;
  double sum = 0;
  for (const std::uint64_t b : g.bytes) sum += static_cast<double>(b);
  const double by = scale_for(sum, static_cast<double>(g.bytes.size()), most);
  n.begin.assign(1, 0);
  n.neighbour.reserve(g.neighbour.size());
  n.bytes.reserve(g.neighbour.size());
  for (vertex v = 0; v < g.vertices(); v++) {
    if (number[v] == left_out) continue;
    for (std::uint32_t i = g.begin[v]; i < g.begin[v + 1]; i++)
      if (const std::uint32_t to = number[g.neighbour[i]]; to != left_out) {
        n.neighbour.push_back(static_cast<std::int32_t>(to));
        n.bytes.push_back(scaled(g.bytes[i], by));
      }
    n.begin.push_back(static_cast<std::int32_t>(n.neighbour.size()));
  }
}

void take_weights(const problem& p, const std::vector<std::uint32_t>& number, std::int64_t most, narrow_problem& n) {
  const graph& g = *p.of;
  double sum = 0;
  for (const std::uint64_t w : g.weight) sum += static_cast<double>(w);
  for (const std::uint64_t w : p.placed) sum += static_cast<double>(w);
  const double by = scale_for(sum, static_cast<double>(n.vertices() + p.placed.size()), most);
  n.weight.assign(n.vertices() * g.bands, 0);
  for (vertex v = 0; v < p.free; v++)
    n.weight[number[v] * std::size_t{g.bands} + g.band_of(v)] = scaled(g.weight[v], by);
  for (std::size_t v = p.free; v < g.vertices(); v++)
    for (std::size_t b = 0; b < g.bands && number[v] != left_out; b++)
      n.weight[number[v] * std::size_t{g.bands} + b] =
          scaled(p.placed[static_cast<std::size_t>(p.anchors[v - p.free]) * g.bands + b], by);
}

}  // namespace

narrow_problem narrowed(const problem& p, std::int64_t most_bytes, std::int64_t most_weight) {
  narrow_problem n;
  const std::vector<std::uint32_t> number = take_vertices(p, n);
  take_edges(p, number, most_bytes, n);
  take_weights(p, number, most_weight, n);
  return n;
}

}  // namespace weir::partition
