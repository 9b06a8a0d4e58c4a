// What a partitioner sees: a graph in which all vertices that are fixed on a part have become one, its anchor.
#pragma once

#include "partition/partitioner.hpp"

#include <span>

namespace weir::partition {

struct problem {
  const graph* of = nullptr;  // free vertices first, then the anchors, which have no weight
  std::size_t free = 0;       // how many of its vertices
  std::vector<int> anchors;   // the part of each anchor
  // What is fixed already, parts x bands.
  std::vector<std::uint64_t> placed;
  std::vector<int> initial;   // of each free vertex; empty: none has one
  target onto;
  double imbalance = 0;
  std::uint64_t seed = 1;

  std::size_t parts() const { return onto.capacity.size(); }
  double capacity() const;  // of all parts
  int fixed(vertex v) const { return v < free ? anywhere : anchors[v - free]; }
};

// A problem and what leads back from it.
class reduced {
 public:
  // Both must outlive it. Checks the options against the graph: throws usage_error.
  reduced(const graph&, const options&);

  const problem& get() const { return made_; }
  // The part of each vertex, from that of each free one.
  std::vector<int> expand(std::span<const int> part_of_free) const;

 private:
  void merge_fixed();
  void build_merged();

  const graph& all_;
  const options& options_;
  std::vector<vertex> number_;  // of each vertex in the problem; empty: its own
  graph merged_;
  problem made_;
};

}  // namespace weir::partition
