// Making and checking graphs.
#include "partition/graph.hpp"

#include "partition/refuse.hpp"

#include <string>
#include <utility>

namespace weir::partition {
namespace {

constexpr std::uint32_t never = ~std::uint32_t{0};

bool counts(const edge& e) { return e.from != e.to && e.bytes != 0; }

void check_sizes(std::size_t vertices, std::size_t edges) {
  if (vertices > most_vertices)
    refuse(std::to_string(vertices) + " vertices; at most " + std::to_string(most_vertices) + " are possible");
  if (edges > most_edges)
    refuse(std::to_string(edges) + " edges; at most " + std::to_string(most_edges) + " are possible");
}

void check_ends(std::size_t vertices, std::span<const edge> edges) {
  for (std::size_t i = 0; i < edges.size(); i++)
    if (const vertex v = std::max(edges[i].from, edges[i].to); v >= vertices)
      refuse("edge " + std::to_string(i) + " has vertex " + std::to_string(v) + ", expected one below " +
             std::to_string(vertices));
}

void put_at_both_ends(graph& g, std::span<const edge> edges) {
  g.begin.assign(g.vertices() + 1, 0);
  std::size_t ends = 0;
  for (const edge& e : edges) {
    if (!counts(e)) continue;
    g.begin[e.from]++;
    g.begin[e.to]++;
    ends += 2;
  }
  // begin[v]: where the row of v ends, and, once it is filled from its end, where it begins.
  for (std::size_t v = 1; v <= g.vertices(); v++) g.begin[v] += g.begin[v - 1];
  g.neighbour.resize(ends);
  g.bytes.resize(ends);
  for (const edge& e : edges) {
    if (!counts(e)) continue;
    const std::uint32_t a = --g.begin[e.from], b = --g.begin[e.to];
    g.neighbour[a] = e.to, g.bytes[a] = e.bytes;
    g.neighbour[b] = e.from, g.bytes[b] = e.bytes;
  }
}

// Rows move to the left as they get shorter.
void add_up_repeated(graph& g) {
  std::vector<std::uint32_t> at(g.vertices(), never);  // where in this row the neighbour is
  std::uint32_t end = 0, row = 0;
  for (std::size_t v = 0; v < g.vertices(); v++) {
    const std::uint32_t from = row, to = g.begin[v + 1], begins = end;
    for (std::uint32_t i = from; i < to; i++) {
      const vertex n = g.neighbour[i];
      if (at[n] != never && at[n] >= begins) {
        g.bytes[at[n]] = add_saturated(g.bytes[at[n]], g.bytes[i]);
      } else {
        at[n] = end;
        g.neighbour[end] = n, g.bytes[end] = g.bytes[i];
        end++;
      }
    }
    row = to;
    g.begin[v] = begins;
  }
  g.begin.back() = end;
  g.neighbour.resize(end);
  g.bytes.resize(end);
}

}  // namespace

graph make_graph(std::vector<std::uint64_t> weight, std::span<const edge> edges) {
  check_sizes(weight.size(), edges.size());
  check_ends(weight.size(), edges);
  graph g;
  g.weight = std::move(weight);
  put_at_both_ends(g, edges);
  add_up_repeated(g);
  return g;
}

void check(const graph& g) {
  const std::size_t n = g.vertices();
  check_sizes(n, g.edges());
  if (g.begin.size() != n + 1 || g.begin[0] != 0 || g.begin[n] != g.neighbour.size() ||
      g.bytes.size() != g.neighbour.size())
    refuse("the rows of the graph do not fit its " + std::to_string(n) + " vertices");
  for (std::size_t v = 0; v < n; v++)
    if (g.begin[v] > g.begin[v + 1]) refuse("row " + std::to_string(v) + " ends before it begins");
  for (std::size_t v = 0; v < n; v++)
    for (std::uint32_t i = g.begin[v]; i < g.begin[v + 1]; i++) {
      if (g.neighbour[i] >= n || g.neighbour[i] == v)
        refuse("vertex " + std::to_string(v) + " has neighbour " + std::to_string(g.neighbour[i]) +
               ", expected another one below " + std::to_string(n));
      if (g.bytes[i] == 0) refuse("an edge of vertex " + std::to_string(v) + " has no bytes");
    }
  if (g.bands == 0) refuse("a graph without bands; 1 is the least");
  if (!g.band.empty() && g.band.size() != n)
    refuse(std::to_string(g.band.size()) + " bands for " + std::to_string(n) + " vertices");
  for (const std::uint32_t b : g.band)
    if (b >= g.bands) refuse("band " + std::to_string(b) + ", expected one below " + std::to_string(g.bands));
}

}  // namespace weir::partition
