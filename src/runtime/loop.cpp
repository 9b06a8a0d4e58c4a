// When a server of a parallel loop helps workers of other nodes.
//
// What is touched first in one loop should be near in the next. So not because others began a little later, or are a
// little slower: parts are equally long, and as long as none has more left than it began late, when a helper has
// come to the end of its own, a static schedule is as good. If one has, it is helped; if it has much more left, or
// nobody gets on, the loop is uneven, and everybody helps everybody. How late others began is counted in chunks of one
// of the parts: clocks say how long others have been kept from running, too.
//
// To look at others' parts costs a line of each, and each of them another one when it takes its next chunks. So a
// helper waits as long as that takes before each look.
//
// In a loop that touches memory first help moves pages for good. There a helper waits until the loop has lasted some
// times as long as it did when the helper's own part was done: if others only were late, they are done by then. It
// does not wait for a worker that is busy with something else.
//
// Only the caller waits within the loop. Others leave it meanwhile, so that it is over as soon as its last chunk is.
#include <weir/detail/loop.hpp>

#include <utility>

namespace weir::detail {
namespace {

// A part of which more than this share is left, beside what it began late, is helped, and if twice that is, the loop is
// uneven. More: uneven loops take longer. Less: what happens to be late is worked on elsewhere. How late it began is
// known to a run of chunks, so with few workers the share is as large as the longest run (loop_parts::take).
constexpr std::uint64_t share_to_help = 32;
// So long a helper waits while nobody gets on. Longer: where others have lost their CPUs, the loop lasts longer.
// Shorter: they lose what is near to them.
constexpr std::uint64_t patience_ns = 600'000;
// The same for one that has not come: in that time who sleeps is mostly woken.
constexpr std::uint64_t patience_to_come_ns = 100'000;
// This share of the time that the loop has lasted a helper waits before it looks at others at all. More: uneven loops
// take longer. Less: even ones do.
constexpr std::uint64_t share_to_wait = 64;
// In a loop that touches first. Longer: if it is uneven as well, it lasts longer. Shorter: pages of those who are
// late, for instance because they have lost their CPUs, lie elsewhere for good.
constexpr std::uint64_t patience_when_touching_first = 4;
constexpr std::uint64_t faults_by_accident = 1;
constexpr int pauses_between_looks = 16;  // of the caller, whether the others are done

// Zero if `to` is earlier, as two threads' clocks may have it.
std::uint64_t duration(std::uint64_t from_ns, std::uint64_t to_ns) { return to_ns - std::min(from_ns, to_ns); }

}  // namespace

loop_helper::loop_helper(const loop_work& l, loop_parts& parts, std::uint64_t worker, bool stays) noexcept
    : loop_(l),
      parts_(parts),
      own_(parts.part(worker).own),
      worker_(worker),
      size_(parts.size(worker)),
      stays_(stays),
      near_(worker),
      near_end_(worker + 1) {}

void loop_helper::begin(const runtime& rt) noexcept {
  const auto node_of = [&](std::uint64_t w) { return rt.node_of_worker(static_cast<int>(w)); };
  const int node = node_of(worker_);
  while (near_ > 0 && node_of(near_ - 1) == node) near_--;
  while (near_end_ < parts_.shape.workers && node_of(near_end_) == node) near_end_++;
  begin_ns_ = now_ns();
  faults_ = page_faults_of_this_thread();
  if (parts_.begun(worker_) != 0) return;  // it comes back
  own_ = {};
  std::uint64_t clock = parts_.clock_.load(std::memory_order_relaxed);
  constexpr auto relaxed = std::memory_order_relaxed;
  if (clock == loop_parts::nobody && parts_.clock_.compare_exchange_strong(clock, worker_, relaxed, relaxed))
    clock = worker_;
  // Who has begun alone was there first.
  const bool is_first = loop_.elements_begun != 0 && parts_.done(worker_) != 0;
  parts_.set_begun(worker_, is_first ? 1 : parts_.done(clock) + 1);
}

void loop_helper::own_part_is_done() noexcept {
  if (own_.looks_at_ns != 0 || !parts_.unfinished().any()) return;
  own_.touches_first = page_faults_of_this_thread() - faults_ > faults_by_accident;
  const std::uint64_t now = now_ns();
  own_.done_ns = own_.stuck_since_ns = now;
  own_.lasted_ns = std::max(duration(parts_.began_ns_, now), duration(begin_ns_, now));
  own_.looks_at_ns = now + std::max(own_.lasted_ns / share_to_wait, look_ns());
}

// Once its own part is done, and those of its node.
served loop_helper::look() noexcept {
  if (parts_.begun(worker_) == 0 || own_.looks_at_ns == 0) return {};
  if (!parts_.unfinished().any()) return {.all = true};
  const std::uint64_t now = now_ns();
  if (now >= own_.looks_at_ns && look_far(now) != all_done) return {};
  return {.comes_again_ns = own_.looks_at_ns};
}

std::uint64_t loop_helper::next() noexcept {
  for (; near_ < near_end_; near_++)
    if (near_ != worker_ && parts_.left(near_) != 0) return near_++;
  for (;;) {
    if (!loop_goes_on()) return leaves_early;
    if (!parts_.unfinished().any()) return all_done;
    if (const std::uint64_t now = now_ns(); now >= own_.looks_at_ns)
      if (const std::uint64_t other = look_far(now); other != all_done) return other;
    if (!stays_) return comes_again;
    wait();
  }
}

// all_done: nobody is to be helped now.
std::uint64_t loop_helper::look_far(std::uint64_t now) {
  for (; far_ < parts_.shape.workers && !is_early(now); far_++) {
    const std::uint64_t other = (worker_ + far_) % parts_.shape.workers;
    if (!parts_.unfinished().contain(other)) continue;
    if (is_to_be_helped(other, now)) {
      helped_ = true;
      far_++;
      return other;
    }
    left_ += static_cast<std::uint32_t>(parts_.left(other));
  }
  const bool has_seen_all = std::exchange(far_, 1) == parts_.shape.workers;
  const std::uint64_t end = now_ns();
  if (std::exchange(helped_, false) || !has_seen_all || left_ != own_.left_before) own_.stuck_since_ns = end;
  else if (duration(own_.stuck_since_ns, end) > patience_ns) parts_.is_uneven_.store(1, std::memory_order_relaxed);
  own_.left_before = std::exchange(left_, 0);
  own_.looks_at_ns = end + look_ns();
  return all_done;
}

// Where most are not done it is most likely not they who are late.
bool loop_helper::is_early(std::uint64_t now) const {
  return duration(own_.done_ns, now) < 2 * look_ns() && 2 * parts_.unfinished().count() > parts_.shape.workers;
}

void loop_helper::wait() {
  while (parts_.unfinished().any() && loop_goes_on() && now_ns() < own_.looks_at_ns)
    for (int i = 0; i < pauses_between_looks; i++) cpu_pause();
}

bool loop_helper::is_to_be_helped(std::uint64_t worker, std::uint64_t now) {
  const std::uint64_t begun = parts_.begun(worker);
  const bool comes_no_more = begun == 0 && !loop_awaits(loop_, static_cast<int>(worker));
  if (own_.touches_first)
    return comes_no_more || duration(own_.done_ns, now) > (patience_when_touching_first - 1) * own_.lasted_ns;
  if (comes_no_more || parts_.is_uneven_.load(std::memory_order_relaxed) != 0) return true;
  if (begun == 0) return duration(own_.stuck_since_ns, now) > patience_to_come_ns;
  if (is_done_soon(parts_.left(worker), now)) return false;
  const std::uint64_t late = late_by(begun), left = parts_.left(worker);
  const std::uint64_t share = std::min(share_to_help, 2 * parts_.shape.workers);
  if (left > late + 2 * size_ / share) parts_.is_uneven_.store(1, std::memory_order_relaxed);
  return left > late + size_ / share;
}

// In less than it takes to look at all, if its chunks are like the own ones, as they are taken to be until the helper
// has waited for as long as those took.
bool loop_helper::is_done_soon(std::uint64_t chunks, std::uint64_t now) const {
  return duration(own_.done_ns, now) < own_.lasted_ns && chunks * own_.lasted_ns < size_ * look_ns();
}

// In chunks, at most half of a part. Of who came when the clock was at its end nobody knows.
std::uint64_t loop_helper::late_by(std::uint64_t begun) const {
  const std::uint64_t own_begun = parts_.begun(worker_), most = size_ / 2;
  const bool clock_had_ended = begun > parts_.size(parts_.clock_.load(std::memory_order_relaxed));
  return clock_had_ended ? most : std::min(begun - std::min(begun, own_begun), most);
}

}  // namespace weir::detail
