// The graph at one level of coarsening, as weir's own partitioner works on it: numbers that can be added and
// multiplied with distances without overflow, and vertices that have weight in several bands.
#pragma once

#include "partition/problem.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weir::partition {

using amount = std::int64_t;

struct load {
  std::uint32_t band;
  amount weight;
};

struct level {
  std::vector<std::uint32_t> begin{0};
  std::vector<vertex> neighbour;
  std::vector<amount> bytes;
  std::vector<std::uint32_t> loads_begin{0};
  std::vector<load> loads;    // of each vertex, each band once
  std::vector<amount> weight;  // of each vertex, all bands together
  std::vector<int> fixed;     // of each vertex its part, or anywhere

  std::size_t vertices() const { return weight.size(); }
  std::uint32_t degree(vertex v) const { return begin[v + 1] - begin[v]; }
  std::span<const load> loads_of(vertex v) const {
    return {loads.data() + loads_begin[v], loads_begin[v + 1] - loads_begin[v]};
  }
};

// Sums of bytes, and of weights, stay below this; distances below most_distance.
inline constexpr int amount_bits = 44;
inline constexpr amount distance_unit = 16, most_distance = amount{1} << 14;

// What every level has in common: parts, how far they are from each other, and what each may hold.
struct frame {
  std::size_t parts = 0, bands = 1;
  std::vector<amount> distance;  // parts x parts
  bool uniform = false;          // all distances but the 0 of each part to itself are the same
  std::vector<double> share;     // of each part
  std::vector<amount> placed;    // parts x bands
  std::vector<amount> due;       // parts x bands: the part's share of the band
  std::vector<amount> limit;     // parts x bands
  std::vector<amount> even;      // parts x bands: limits for a fifth of the imbalance, which are held if that is cheap

  amount between(std::size_t a, std::size_t b) const { return distance[a * parts + b]; }
};

// The problem as a level, and what goes with it.
level finest_level(const problem&, frame&);

// `heaviest`: of each band, the most that one vertex of this level has in it. Returns limits that let it move.
std::vector<amount> limits_at(const level&, const frame&);

// Which cluster each vertex joins: its nearest, as long as that gets no heavier than `heaviest`. Clusters are numbered
// from 0. `apart`: of each vertex a number; only those with the same one join; empty: all may.
std::vector<vertex> cluster(const level&, amount heaviest, std::uint64_t seed, std::span<const int> apart,
                            std::size_t& clusters);

// A vertex for each cluster.
level contract(const level&, std::span<const vertex> cluster, std::size_t clusters);

}  // namespace weir::partition
