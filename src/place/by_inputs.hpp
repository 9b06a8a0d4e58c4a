// Where a task's inputs are cheapest to read: what push-inputs and local place by.
#pragma once

#include "place/place.hpp"

#include <weir/policy.hpp>

#include <cstdint>

namespace weir::place {

// push_threshold_bytes: pushing a task costs two or three cache misses between nodes and perhaps a wake-up. With
// a lower threshold tasks travel that read a few lines; with a higher one a task of some dozens of lines runs far from
// them, at 100-350 ns a line.
inline constexpr std::uint64_t usual_push_threshold_bytes = 1024;
inline constexpr const char* push_threshold_meaning = "a task that reads less stays where it became ready";

struct inputs_place {
  int node = policy::here;
  // It reads nothing; or less of the program's own memory has a place than the task is the first to write.
  bool nothing_to_follow = false;
  std::uint64_t bytes = 0;  // that lie there
};
// Of the program's own memory what is written counts as an input, for it stays where it is: O(chunks of it), some ns
// each. Of data: O(inputs) and, if none of them has more than half of all bytes, as far as they belong where they are
// (data_balance), O(nodes x nodes touched).
inputs_place cheapest_for_inputs(const policy_machine&, int own_node, const task_view& task,
                                 std::uint64_t push_threshold_bytes);

}  // namespace weir::place
