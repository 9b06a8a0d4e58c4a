// Tasks too small to be worth a theft: what one worker knows about the tasks it runs, and about how fast others get
// through theirs.
//
// A task that another worker takes costs both some ten cache misses: its frame, its data, what becomes ready by it, and
// its memory when it is used again. A body of some nanoseconds is never worth that, however long the queue: who waits
// for such tasks makes those slower who have them. So a worker whose last tasks were all small leaves a worker alone that
// gets through small ones, and watches it now and then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weir::sched {

class small_tasks {
 public:
  // A body up to here is small, as a thief sees it: with the cache misses that the theft causes. Lower: small tasks are
  // moved. Higher: workers are idle that could have helped; below it a theft's cost is certain to be more than the body.
  static constexpr std::uint32_t small_ns = 300;
  // Times are looked at in groups of so many, of which the largest does not count: it may be an interrupt's. Larger: a
  // worker needs more tasks to learn that they have changed. With 1 every interrupt makes two workers share small tasks.
  static constexpr std::uint32_t group = 4;
  // Who needs less than this for each of its tasks, creation and interference by others included, is taken to have small
  // ones, too. Lower: thefts slow the owner down until it seems to have large ones.
  static constexpr std::uint64_t fast_ns = 2'000;
  // Which takes so long to see. Longer: a queue of small tasks behind a large one waits longer. Shorter: the owner's
  // counts are read more often, and a pause of its own looks like a large task.
  static constexpr std::uint64_t watch_ns = 20'000;
  // A group is taken all the same, so often, and timed: those of the other worker may be larger than they were.
  static constexpr std::uint64_t probe_ns = 5'000'000;
  // Who leaves all there is alone looks again after this.
  static constexpr std::uint64_t watch_again_ns = 500'000;

  explicit small_tasks(std::size_t workers) : looks_(workers) {}

  // How long one of this worker's tasks took. The largest of the last few dozen groups counts.
  void note(std::uint64_t ns) {
    const auto now = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(ns, 1, longest_remembered_ns));
    second_ns_ = std::max(second_ns_, std::min(now, first_ns_));
    first_ns_ = std::max(first_ns_, now);
    if (to_time_ > 0) to_time_--;
    if (++noted_ < group) return;
    largest_ns_ = std::max(second_ns_, largest_ns_ - largest_ns_ / 16);
    first_ns_ = second_ns_ = noted_ = 0;
  }
  // A task waits for others that it has created: the oldest of them, which thieves take, may be large.
  void note_wait() { largest_ns_ = std::max(largest_ns_, wait_counts_as_ns); }
  // The next task is to be timed, whatever the interval. The first ones are.
  bool probing() const { return to_time_ > 0; }
  // As far as is known. If one of them keeps its creator from creating others, little is lost.
  bool none_long() const { return largest_ns_ < fast_ns; }
  bool all_small() const { return largest_ns_ != 0 && largest_ns_ < small_ns; }

  // Whether that worker, which has got so far by now (tasks created and finished), is left alone for the time being. For
  // callers whose own tasks are all small.
  bool leave(std::size_t worker, std::uint64_t progress, std::uint64_t now_ns) {
    if (probing()) return false;
    look& last = looks_[worker];
    const std::uint64_t passed = now_ns - last.at_ns;
    if (passed < watch_ns) return last.fast;
    fast_ = passed > probe_ns || passed < fast_ns * (progress - last.progress);  // until proved otherwise
    last = {progress, now_ns, fast_};
    if (fast_ && now_ns - probed_at_ns_ <= probe_ns) return true;
    probed_at_ns_ = now_ns;
    to_time_ = group;
    return false;
  }
  // Whether the worker that was not left alone is a fast one.
  bool fast() const { return fast_; }
  // Whether it need not even be looked at yet.
  bool leave_unseen(std::size_t worker, std::uint64_t now_ns) const {
    return !probing() && looks_[worker].fast && now_ns - looks_[worker].at_ns < watch_ns;
  }

 private:
  static constexpr std::uint32_t wait_counts_as_ns = 2 * small_ns;  // for some 11 groups
  static constexpr std::uint64_t longest_remembered_ns = 8 * small_ns;  // forgotten after 33 groups
  static_assert(longest_remembered_ns > fast_ns, "or all tasks would count as short");

  struct look {
    std::uint64_t progress = 0, at_ns = 0;
    bool fast = true;
  };
  std::uint32_t largest_ns_ = 0;
  std::uint32_t first_ns_ = 0, second_ns_ = 0, noted_ = 0;  // of the group
  std::uint32_t to_time_ = group;
  bool fast_ = false;
  std::uint64_t probed_at_ns_ = 0;
  std::vector<look> looks_;
};

}  // namespace weir::sched
