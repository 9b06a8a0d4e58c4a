// The graph that is divided: tasks and the bytes that they have in common. Undirected, in compressed rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weir::partition {

using vertex = std::uint32_t;

// What task `to` reads of what task `from` has written. A pair may be named several times; the bytes add up.
struct edge {
  vertex from = 0, to = 0;
  std::uint64_t bytes = 0;
};

// Neighbours of vertex v: neighbour[begin[v]] to neighbour[begin[v + 1] - 1], each once and never v itself; every edge
// is there from both of its ends. All tasks of a band are a constraint of their own: each part gets its share of them.
struct graph {
  std::vector<std::uint32_t> begin{0};  // one more than vertices
  std::vector<vertex> neighbour;
  std::vector<std::uint64_t> bytes;    // of each edge, more than 0
  std::vector<std::uint64_t> weight;   // of each vertex: what it costs, in any unit; 0 is allowed
  std::vector<std::uint32_t> band;     // of each vertex; empty: all are in one
  std::uint32_t bands = 1;

  std::size_t vertices() const { return weight.size(); }
  std::size_t edges() const { return neighbour.size() / 2; }
  std::uint32_t band_of(vertex v) const { return band.empty() ? 0 : band[v]; }
};

// More would not fit the 32-bit numbers of METIS and Scotch, which count each edge twice.
inline constexpr std::size_t most_vertices = (std::size_t{1} << 31) - 2, most_edges = (std::size_t{1} << 30) - 1;

// Edges without bytes and edges from a task to itself are left out: no division makes them cheaper or dearer. Throws
// usage_error for an edge to a vertex that is not there, and for more than most_vertices or most_edges.
// O(vertices + edges), some 60 ns an edge.
graph make_graph(std::vector<std::uint64_t> weight, std::span<const edge>);

// Throws usage_error if what graph promises does not hold. O(vertices + edges).
void check(const graph&);

// The sum, or the largest number where that would not fit.
inline std::uint64_t add_saturated(std::uint64_t a, std::uint64_t b) { return a + b < a ? ~std::uint64_t{0} : a + b; }

}  // namespace weir::partition
