// How few bytes a division of a whole program sends between nodes that is found offline, with all the time it wants,
// and how many a run has sent: the same weights on the same graph.
#pragma once

#include <bench/partition/whole_program.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weir::bench {

// Of a division, or of where tasks have run.
struct bytes_between {
  double cut_bytes = 0;      // between nodes
  double distant_bytes = 0;  // the same, each times its distance; that of the nearest two nodes is 1
  double imbalance = 0;      // how much more than its share the fullest node has
  // How fast it would run, of what would be possible if no node ever waited: each task takes what it takes to read
  // what it names at home, and what it reads from elsewhere so much longer.
  double speed = 0;
  double length_ns = 0;      // how long
};

struct offline_division : bytes_between {
  std::uint32_t bands = 1;  // of depth, each of which has the imbalance that is allowed at most
};

class offline_bound {
 public:
  struct how {
    double imbalance = 0.05;  // as partition-follow's parameter
    int seeds = 8;            // that are tried; the fewest bytes count
  };
  offline_bound(const whole_program&, const policy_machine&, how);
  ~offline_bound();
  offline_bound(const offline_bound&) = delete;
  offline_bound& operator=(const offline_bound&) = delete;

  // The partitioner's name: Scotch at its slowest, or without Scotch the first of those that there are.
  const std::string& partitioner() const;
  // By number of bands: those that partition-follow tries.
  const std::vector<offline_division>& divisions() const;
  // The one to compare with: fewest bytes of those that end within 3 % of the earliest, which is when partition-follow
  // looks for no other one.
  const offline_division& best() const;
  double all_bytes() const;  // of links
  // Of each task the node that it ran on.
  bytes_between of_run(std::span<const int> node) const;

 private:
  class search;
  const std::unique_ptr<search> search_;
};

}  // namespace weir::bench
