// Tasks too small to be worth a theft: what one worker knows about the tasks it runs, and about how fast others get
// through theirs.
//
// A task that another worker takes costs both some ten cache misses: its frame, its data, what becomes ready by it, and
// its memory when it is used again. A body of some nanoseconds is never worth that, however long the queue: who waits
// for such tasks makes those slower who have them. So a worker whose last tasks were all small leaves a worker alone that
// gets through small ones, and watches it now and then. What is small is measured: a line takes 30 ns from one cache to
// another on some machines, and 150 on others.
#pragma once

#include "sched/surroundings.hpp"
#include "sched/tuning.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace weir::sched {

class small_tasks {
 public:
  // The numbers must outlive it.
  small_tasks(std::size_t workers, const tuning& t)
      : tuning_(&t), small_ns_x8_(8 * most_small_ns()), small_ns_(static_cast<std::uint32_t>(most_small_ns())),
        wait_counts_as_ns_(2 * small_ns_), to_time_(group()), looks_(workers) {}

  // How long one of this worker's tasks took. The largest of the last few dozen groups counts.
  void note(std::uint64_t ns) {
    const auto now = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(ns, 1, longest_remembered_ns()));
    second_ns_ = std::max(second_ns_, std::min(now, first_ns_));
    first_ns_ = std::max(first_ns_, now);
    if (to_time_ > 0) to_time_--;
    if (++noted_ < group()) return;
    largest_ns_ = std::max(second_ns_, largest_ns_ - largest_ns_ / 16);
    first_ns_ = second_ns_ = noted_ = 0;
  }
  // A task waits for others that it has created: the oldest of them, which thieves take, may be large.
  void note_wait() { largest_ns_ = std::max(largest_ns_, wait_counts_as_ns_); }
  // The next task is to be timed, whatever the interval. The first ones are.
  bool probing() const { return to_time_ > 0; }
  // As far as is known. If one of them keeps its creator from creating others, little is lost.
  bool none_long() const { return largest_ns_ < fast_ns(); }
  bool all_short() const { return largest_ns_ != 0 && none_long(); }
  bool all_small() const { return largest_ns_ != 0 && largest_ns_ < small_ns_; }

  // How far a worker has got, and how long that took to read, the look at the clock included, as it is in the times of
  // tasks. What is new in it has come from that one's cache. An eighth of each time counts: it may be an interrupt's.
  void note_line(std::size_t worker, const pace& its, std::uint64_t now_ns) {
    line_at_ns_ = now_ns;
    if (std::exchange(looks_[worker].read, its.progress) == its.progress || its.read_ns == pace::unknown) return;
    const std::uint64_t would_be_small_ns = its.read_ns * static_cast<std::uint64_t>(tuning_->small_line_percent) / 100;
    small_ns_x8_ = small_ns_x8_ - small_ns_x8_ / 8 + std::min(would_be_small_ns, most_small_ns());
    small_ns_ = static_cast<std::uint32_t>(small_ns_x8_ / 8);
    wait_counts_as_ns_ = 2 * small_ns_ + 1;
  }
  // Whether it is to be timed, by who takes short tasks from another.
  bool times_line(std::uint64_t now_ns) const { return all_short() && now_ns - line_at_ns_ > watch_ns(); }

  // Whether that worker, which has got so far by now (tasks created and finished), is left alone for the time being. For
  // callers whose own tasks are all small.
  bool leave(std::size_t worker, const pace& its, std::uint64_t now_ns) {
    if (probing()) return false;
    look& last = looks_[worker];
    const std::uint64_t passed = now_ns - last.at_ns;
    if (passed < watch_ns()) return last.fast;
    note_line(worker, its, now_ns);
    fast_ = passed > probe_ns() || passed < fast_ns() * (its.progress - last.progress);  // until proved otherwise
    last.progress = its.progress;
    last.at_ns = now_ns;
    last.fast = fast_;
    if (fast_ && now_ns - probed_at_ns_ <= probe_ns()) return true;
    probed_at_ns_ = now_ns;
    to_time_ = group();
    return false;
  }
  // Whether it is of interest to leave() how far that worker has got.
  bool looks_at(std::size_t worker, std::uint64_t now_ns) const {
    return !probing() && now_ns - looks_[worker].at_ns >= watch_ns();
  }
  // Whether it need not even be looked at yet.
  bool leave_unseen(std::size_t worker, std::uint64_t now_ns) const {
    return !probing() && looks_[worker].fast && now_ns - looks_[worker].at_ns < watch_ns();
  }
  // Whether the worker that was not left alone is a fast one.
  bool fast() const { return fast_; }

 private:
  std::uint32_t group() const { return static_cast<std::uint32_t>(tuning_->small_group); }
  std::uint64_t most_small_ns() const { return static_cast<std::uint64_t>(tuning_->most_small_ns); }
  std::uint64_t fast_ns() const { return static_cast<std::uint64_t>(tuning_->fast_ns); }
  std::uint64_t watch_ns() const { return static_cast<std::uint64_t>(tuning_->watch_ns); }
  std::uint64_t probe_ns() const { return static_cast<std::uint64_t>(tuning_->probe_ns); }
  // Forgotten after some 33 groups where 300 ns are small, after 60 where 50 are. More than what counts as short.
  std::uint64_t longest_remembered_ns() const {
    return std::max(std::uint64_t{8} * small_ns_, fast_ns() + fast_ns() / 8 + 1);
  }

  struct look {
    std::uint64_t progress = 0, at_ns = 0;
    std::uint64_t read = 0;  // the last progress that was read, by whomever
    bool fast = true;
  };
  const tuning* tuning_;
  std::uint64_t small_ns_x8_, line_at_ns_ = 0;
  std::uint32_t small_ns_, wait_counts_as_ns_;  // the second one for some 11 groups
  std::uint32_t largest_ns_ = 0;
  std::uint32_t first_ns_ = 0, second_ns_ = 0, noted_ = 0;  // of the group
  std::uint32_t to_time_;
  bool fast_ = false;
  std::uint64_t probed_at_ns_ = 0;
  std::vector<look> looks_;
};

}  // namespace weir::sched
