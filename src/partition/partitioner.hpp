// One interface for all that divide graphs: METIS, Scotch, and weir's own.
#pragma once

#include "partition/graph.hpp"
#include "partition/measure.hpp"
#include "partition/target.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weir::partition {

struct problem;

// Of a vertex that is not fixed.
inline constexpr int anywhere = -1;

struct options {
  target onto;
  // How much more than its share of each band a part may have: 0.05 is 5 %. Where tasks are too large for that it is
  // exceeded.
  double imbalance = 0.05;
  std::uint64_t seed = 1;     // the same seed gives the same parts
  std::vector<int> fixed;     // of each vertex its part, or anywhere; empty: none is fixed
  // Of each vertex the part that it had so far, or anywhere; empty: none had. What is near to that is found quickly,
  // and vertices move only for a smaller cut or a better balance. Scotch and METIS do not look at it.
  std::vector<int> initial;
};

struct division {
  std::vector<int> part;  // of each vertex
  figures measured;
  std::string note;       // a sentence, where another partitioner had to be taken than the one that was asked for
};

class partitioner {
 public:
  virtual ~partitioner() = default;
  virtual std::string_view name() const = 0;

  // Fixed vertices are where they are fixed, all others in parts with capacity. Deterministic. Throws usage_error for
  // options that make no sense. If the library behind it fails, weir's own does it, and `note` says so. May be called
  // by any thread; calls of METIS, and of Scotch, wait for each other.
  division partition(const graph&, const options&) const;

 protected:
  // Of a problem with at least two parts and two vertices that are free. Throws weir::error: it has failed.
  virtual std::vector<int> divide(const problem&) const = 0;
};

// Those that this libweir was built with, the one to use first.
std::vector<std::string> partitioner_names();

// Scotch with its strategy for quality. It is not among partitioner_names(): while tasks wait there is no time for it.
inline constexpr std::string_view slowest_scotch = "scotch-slowest";

// By name: "metis", "scotch", "built-in" or slowest_scotch; "": the first of partitioner_names(). Throws
// configuration_error for one that does not exist, or without which this libweir was built: which, and which there are.
std::unique_ptr<partitioner> make_partitioner(std::string_view name = {});

}  // namespace weir::partition
