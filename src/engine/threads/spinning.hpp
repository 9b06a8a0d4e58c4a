// How who has nothing to do looks for tasks before it sleeps.
#pragma once

#include "os/os.hpp"
#include "sched/sched.hpp"

#include <cstdint>
#include <thread>

namespace weir::engine {

// A worker looks everywhere in rounds, with pauses that double: 8 to 1024 times some 40 ns, 80 us in all. (Equal pauses:
// thieves keep reading lines that busy workers write.) Then it spins with pauses of some 10 us until its time is up
// (runtime_options::spin). What is pushed to it ends a pause. After each pause but the shortest others may have its CPU: most
// often the thread of the program that has waited for the tasks that are done now, for which no CPU is left where every one
// has a worker, and which would wait until all spinning is over. A system call of some 500 ns if nobody wants it.
inline constexpr int rounds_without_yielding = 3;
inline constexpr int spinning_round = 5;
inline constexpr int rounds_to_lend = 3;  // some 2.5 us: who wants a place comes for each task that it creates

// How long a thread has been spinning. Looks at the clock only while it does.
class spin_clock {
 public:
  explicit spin_clock(std::uint64_t most_ns) : most_ns_(most_ns) {}
  bool goes_on() {
    if (most_ns_ == 0) return false;
    now_ = os::now_ns();
    if (begin_ == 0) begin_ = now_;
    return now_ - begin_ < most_ns_;
  }
  void end() { most_ns_ = 0; }

 private:
  std::uint64_t most_ns_, begin_ = 0, now_ = 0;
};

// Over at once when something is pushed to `self`, or ends_early().
template <class EndsEarly>
void pause_between_rounds(int round, const sched::slot_queues& self, EndsEarly&& ends_early) {
  const int pauses = 8 << (round < self.hunts.tuned().rounds_at_least ? round : spinning_round);
  for (int i = 0; i < pauses && self.nothing_pushed() && !ends_early(); i++) cpu_pause();
  if (round >= rounds_without_yielding && self.nothing_pushed() && !ends_early()) std::this_thread::yield();
}

}  // namespace weir::engine
