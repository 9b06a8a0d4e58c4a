// The graph's direction: which task waits for which. A division alone does not look at it; how the parts run does.
#pragma once

#include "partition/graph.hpp"

namespace weir::partition {

// For each task those that wait for it, and what they read of it, in the order in which the edges were given.
struct successors {
  std::vector<std::uint32_t> begin{0};
  std::vector<vertex> task;
  std::vector<std::uint64_t> bytes;

  std::size_t tasks() const { return begin.size() - 1; }
};

// All edges count, those without bytes, too. Throws usage_error for an edge that leads to no task, or from one to
// itself. O(tasks + edges).
successors successors_of(std::size_t tasks, std::span<const edge>);

// An order in which each task comes after all that it waits for (Kahn, 1962). Throws usage_error if there is a cycle.
std::vector<vertex> order_of(const successors&);

// The edges on the longest path that ends in each task: the step in which it runs if nobody ever waits for a worker.
// `order`: what order_of returned. O(tasks + edges).
std::vector<std::uint32_t> depth_of(const successors&, std::span<const vertex> order);

// Bands of depth: at most `most`, each a range of depths, and about the same weight in each. Returns how many there
// are; `band`: of each task. O(tasks).
std::uint32_t cut_into_bands(std::span<const std::uint32_t> depth, std::span<const std::uint64_t> weight,
                             std::uint32_t most, std::vector<std::uint32_t>& band);

}  // namespace weir::partition
