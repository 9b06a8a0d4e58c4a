// The implementations, for those who make them.
#pragma once

#include "partition/problem.hpp"

#include <memory>

namespace weir::partition {

std::unique_ptr<partitioner> make_built_in();
std::unique_ptr<partitioner> make_metis();   // where it is
std::unique_ptr<partitioner> make_scotch();  // where it is
std::unique_ptr<partitioner> make_slowest_scotch();

// Weir's own division, for those that have failed.
std::vector<int> divide_multilevel(const problem&);

// Parts of the free vertices that some library has made, without regard to distances, to bands or to what is fixed:
// moves vertices, and exchanges parts, until these hold, too.
std::vector<int> finished(const problem&, std::vector<int> part_of_free);

}  // namespace weir::partition
