// The numbers in scheduling that are neither measured nor follow from the machine. What each is worth: a sweep over
// shapes of programs and sizes of machines (docs/decisions/0025-what-the-constants-are-worth.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weir::sched {

struct tuning {
  // ---- How an idle worker looks around (thief.hpp).
  // With pauses that double; then it spins for the time that workers spin, and rests. More: it is awake for longer.
  std::int64_t rounds_at_least = 8;
  // Of those near by; every so many it looks at other nodes, too. Fewer: short waits end with tasks from far away.
  std::int64_t rounds_per_far_look = 4;
  // Before it rests again. Fewer: it sleeps again before what it was woken for is there.
  std::int64_t rounds_after_waking = 4;
  // Thefts from one victim in a row. More: who waits for others' tasks waits longer. Fewer: more looks for nothing.
  std::int64_t most_stolen_again = 64;

  // ---- Tasks that are too small to move (small_tasks.hpp).
  // A body is small that takes less, in hundredths, than a line from another worker's cache, as the clock sees both.
  // Lower: small tasks are moved. Higher: workers are idle that could have helped.
  std::int64_t small_line_percent = 150;
  // Nor is any that takes longer, and so much is taken to be small before a line has been timed.
  std::int64_t most_small_ns = 300;
  // Times are looked at in groups of so many, of which the largest does not count: it may be an interrupt's. Larger: a
  // worker needs more tasks to learn that they have changed. With 1 every interrupt makes two workers share small
  // tasks.
  std::int64_t small_group = 4;
  // Who needs less than this for each of its tasks, creation and interference by others included, is taken to have
  // small ones, too. Lower: thefts slow the owner down until it seems to have large ones.
  std::int64_t fast_ns = 2'000;
  // Which takes so long to see. Longer: a queue of small tasks behind a large one waits longer. Shorter: the owner's
  // counts are read more often, and a pause of its own looks like a large task.
  std::int64_t watch_ns = 20'000;
  // A group is taken all the same, so often, and timed: those of the other worker may be larger than they were.
  std::int64_t probe_ns = 5'000'000;
  // Who leaves all there is alone looks again after this.
  std::int64_t watch_again_ns = 500'000;

  // ---- Queues (scheduler.hpp).
  // Tasks that others have sent, of one worker. Larger: a burst of pushes to one node fits, but more tasks wait there
  // while others are idle. Smaller: tasks stay far from their data. A power of two.
  std::int64_t inbox_capacity = 256;
  // Whose data a worker's cache is taken to hold. A task that reads most of something older gives way to one whose data
  // are older still. More: the newest comes first although its data are gone. 0: always.
  std::int64_t tasks_in_cache = 4;

  // ---- Who tells (engine/threads/telling.cpp).
  // Tasks that wait for one, told at a time; of more the others are left to whoever has nothing to do. Fewer: they are
  // taken from each other more often. More: idle workers wait longer.
  std::int64_t told_alone = 8;

  struct field {
    std::string_view name;
    std::int64_t tuning::* value;
    std::int64_t least, most;
  };
  static constexpr std::array<field, 14> fields() {
    constexpr std::int64_t second = 1'000'000'000;
    return {{{"rounds_at_least", &tuning::rounds_at_least, 1, 16},
             {"rounds_per_far_look", &tuning::rounds_per_far_look, 1, 1024},
             {"rounds_after_waking", &tuning::rounds_after_waking, 1, 16},
             {"most_stolen_again", &tuning::most_stolen_again, 0, 1 << 30},
             {"small_line_percent", &tuning::small_line_percent, 0, 10'000},
             {"most_small_ns", &tuning::most_small_ns, 0, second},
             {"small_group", &tuning::small_group, 2, 1024},
             {"fast_ns", &tuning::fast_ns, 0, second},
             {"watch_ns", &tuning::watch_ns, 1, second},
             {"probe_ns", &tuning::probe_ns, 1, 1000 * second},
             {"watch_again_ns", &tuning::watch_again_ns, 1, second},
             {"inbox_capacity", &tuning::inbox_capacity, 2, 1 << 20},
             {"tasks_in_cache", &tuning::tasks_in_cache, 0, 1 << 16},
             {"told_alone", &tuning::told_alone, 1, 1 << 30}}};
  }
};

}  // namespace weir::sched
