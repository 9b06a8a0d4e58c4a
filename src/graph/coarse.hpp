// What weir::coarse_graph is: the aggregates' members and edges, and what a run of them needs.
#pragma once

#include "graph/aggregate.hpp"
#include "graph/bulk.hpp"
#include "graph/ranks.hpp"

#include <weir/detail/scope_state.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weir::graphs {

// A number that two graphs share only if they have the same tasks and edges (but for a chance of 2^-64). Costs in the
// order of a nanosecond an edge.
std::uint64_t fingerprint(const bulk&);

// The input of algorithms that a graph is. `order` holds what the input points to.
coarse_input input_of(const bulk&, std::vector<index>& order);

}  // namespace weir::graphs

namespace weir::detail {

struct graph_state;

struct coarse_state {
  coarse_state(graph_state& fine, std::string algorithms, graphs::aggregation&&);

  // Writes it, with the fingerprint of the graph, to a file that appears whole or not at all. Throws weir::error.
  void save(const std::string& path) const;
  // Reads it back. Throws weir::error naming the file, and what is wrong with it.
  static std::unique_ptr<coarse_state> load(const std::string& path, graph_state& fine);
  // The same from the contents of a file.
  static std::unique_ptr<coarse_state> parse(const std::string& contents, const std::string& path, graph_state& fine);

  std::string to_dot() const;
  std::string to_json() const;
  // Cost of every aggregate: the sum of its members'.
  std::vector<float> weights() const;
  // ranks_of() the aggregates, with the edges or against them. Made when first asked for, 1 byte an aggregate.
  std::span<const std::uint8_t> ranks(bool transposed);
  // The members of every aggregate from the last to the first, for runs against the edges. Made when first asked for.
  const graphs::own_lists& reversed_members();

  graph_state& fine;
  const std::size_t fine_tasks;
  std::string algorithms;
  graphs::own_lists members;
  graphs::bulk aggregates;
  std::vector<std::int16_t> node;  // of each aggregate; empty: none has one
  bool node_required = false;
  atomic<std::uint32_t> running{0};
  scope_state scope;

 private:
  graphs::own_lists reversed_;
  std::vector<std::uint8_t> ranks_[2];  // with the edges; against them
};

}  // namespace weir::detail
