// Random programs over ranges, one after the other or several at once, each compared with its sequential run.
#pragma once

#include "tests/oracle/range_run.hpp"

namespace weir::test {

// Runs `count` programs and changes the configuration now and then. What goes wrong is made smaller and printed.
void try_random_programs(std::size_t count);
// Several threads or tasks create programs at once, in one piece of memory, each in bytes of its own.
void try_programs_beside_each_other(std::size_t rounds);
// Several threads or tasks create tasks on the same bytes: whose task comes first is unknown, but no two that conflict
// run at once, and those of one creator keep their order.
void try_creators_on_shared_memory(std::size_t rounds);

}  // namespace weir::test
