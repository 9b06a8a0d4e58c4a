// When a server of a parallel loop helps workers of other nodes.
//
// What is touched first in one loop should be near in the next. So not because others began a little later, or are a
// little slower: parts are equally long, and as long as none has much more left than it began late, when a helper has
// come to the end of its own, a static schedule is as good. If one has, it is helped; if it has very much left, or
// nobody gets on, the loop is uneven, and everybody helps everybody. Time is counted in chunks of one of the parts,
// and in pauses: clocks say how long others have been kept from running, too.
//
// In a loop that touches memory first help moves pages for good. There a helper waits until the loop has lasted some
// times as long as it did when the helper's own part was done: if others only were late, they are done by then. It
// does not wait for a worker that is busy with something else.
//
// Who waits looks for other work meanwhile.
#include <weir/detail/loop.hpp>

#include <utility>

namespace weir::detail {
namespace {

// A part of which more than this share is left, beside what it began late, is helped, and if more than that share is,
// the loop is uneven. More: uneven loops take longer. Less: what happens to be late is worked on elsewhere.
constexpr std::uint64_t share_to_help = 8, share_if_uneven = 4;
// So long a helper waits while nobody gets on: some 300 to 1300 us. Longer: where others have lost their CPUs, the
// loop lasts longer. Shorter: they lose what is near to them.
constexpr unsigned patience_pauses = 32768;
// The same for one that has not come: some 40 to 160 us, in which who sleeps is mostly woken.
constexpr unsigned patience_to_come_pauses = 4096;
constexpr unsigned most_pauses = 64;  // between two looks at the others' parts
// Then it looks into one other queue between any two pauses. Longer: ready tasks wait longer for who waits here.
// Shorter: who waits for a moment only has misses all the time.
constexpr unsigned pauses_before_look_for_work = 512;
// This share of the time that the loop has lasted a helper waits before it looks at others at all, which slows them
// down. More: uneven loops take longer. Less: even ones do.
constexpr std::uint64_t share_to_wait = 32;
// But at least what a look at all of them costs: a line each, from another node.
constexpr std::uint64_t ns_to_look_at_part = 100;
// In a loop that touches first. Longer: if it is uneven as well, it lasts longer. Shorter: pages of those who are
// late, for instance because they have lost their CPUs, lie elsewhere for good.
constexpr std::uint64_t patience_when_touching_first = 4;
constexpr std::uint64_t faults_by_accident = 1;

}  // namespace

loop_helper::loop_helper(const loop_work& l, loop_parts& parts, std::uint64_t worker) noexcept
    : loop_(l),
      parts_(parts),
      own_(parts.parts_[worker]),
      worker_(worker),
      near_(worker),
      near_end_(worker + 1),
      faults_(page_faults_of_this_thread()) {
  const auto node_of = [&](std::uint64_t w) { return parts.runtime_.node_of_worker(static_cast<int>(w)); };
  const int node = node_of(worker);
  while (near_ > 0 && node_of(near_ - 1) == node) near_--;
  while (near_end_ < parts.shape.workers && node_of(near_end_) == node) near_end_++;
  if (own_.begun.load(std::memory_order_relaxed) != 0) return;  // it comes back
  std::uint64_t clock = parts.clock_.load(std::memory_order_relaxed);
  constexpr auto relaxed = std::memory_order_relaxed;
  if (clock == loop_parts::nobody && parts.clock_.compare_exchange_strong(clock, worker, relaxed, relaxed))
    clock = worker;
  // Who has begun alone was there first.
  const bool is_first = loop_.elements_begun != 0 && own_.done() != 0;
  own_.begun.store(is_first ? 1 : parts.parts_[clock].done() + 1, std::memory_order_relaxed);
}

void loop_helper::own_part_is_done() noexcept {
  if (parts_.parts_left_.load(std::memory_order_relaxed) == 0) return;
  touches_first_ = page_faults_of_this_thread() - faults_ > faults_by_accident;
  // Not before another thread began: clocks of emulated CPUs differ a little.
  const std::uint64_t now = std::max(now_ns(), parts_.began_ns_), lasted = now - parts_.began_ns_;
  first_look_ns_ = now + std::max(lasted / share_to_wait, ns_to_look_at_part * parts_.shape.workers);
  if (touches_first_) patient_until_ns_ = parts_.began_ns_ + patience_when_touching_first * lasted;
}

std::uint64_t loop_helper::next() noexcept {
  for (; near_ < near_end_; near_++)
    if (near_ != worker_ && parts_.parts_[near_].left() != 0) return near_++;
  for (;;) {
    if (!loop_goes_on()) return leaves_early;
    if (parts_.parts_left_.load(std::memory_order_relaxed) == 0) return all_done;
    if (first_look_ns_ == 0 || now_ns() >= first_look_ns_) {
      first_look_ns_ = 0;
      if (const std::uint64_t other = look_far(); other != all_done) return other;
    }
    if (!waits()) return does_something_else;
  }
}

// all_done: nobody is to be helped now.
std::uint64_t loop_helper::look_far() {
  for (; far_ < parts_.shape.workers; far_++) {
    const std::uint64_t other = (worker_ + far_) % parts_.shape.workers;
    if (parts_.parts_[other].left() == 0) continue;
    if (is_to_be_helped(other)) {
      helped_ = true;
      far_++;
      return other;
    }
    left_ += parts_.parts_[other].left();
  }
  far_ = 1;
  const bool they_get_on = helped_ || left_ != left_before_;
  helped_ = false;
  left_before_ = std::exchange(left_, 0);
  if (they_get_on) pauses_ = 1, waited_ = 0;
  return all_done;
}

// False: there is something else to do.
bool loop_helper::waits() {
  if (waited_ >= pauses_before_look_for_work && !loop_may_wait(loop_)) return false;
  for (unsigned i = 0; i < pauses_; i++) cpu_pause();
  waited_ += pauses_;
  if (waited_ > patience_pauses && first_look_ns_ == 0) parts_.is_uneven_.store(1, std::memory_order_relaxed);
  pauses_ = std::min(2 * pauses_, most_pauses);
  return true;
}

bool loop_helper::is_to_be_helped(std::uint64_t worker) {
  const loop_parts::part& p = parts_.parts_[worker];
  const std::uint64_t begun = p.begun.load(std::memory_order_relaxed);
  const std::uint64_t own_begun = own_.begun.load(std::memory_order_relaxed);
  const bool comes_no_more = begun == 0 && !loop_awaits(loop_, static_cast<int>(worker));
  if (touches_first_) return comes_no_more || now_ns() > patient_until_ns_;
  if (comes_no_more || parts_.is_uneven_.load(std::memory_order_relaxed) != 0) return true;
  if (begun == 0) return waited_ > patience_to_come_pauses;
  const std::uint64_t late = std::min(begun - std::min(begun, own_begun), own_.size() / 2);
  const std::uint64_t left = p.left();
  if (left > late + own_.size() / share_if_uneven) parts_.is_uneven_.store(1, std::memory_order_relaxed);
  return left > late + own_.size() / share_to_help;
}

}  // namespace weir::detail
