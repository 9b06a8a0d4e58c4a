// Running graphs in bulk. A frame carries a few tasks that are ready, or a range of those that are ready from the start.
// Who runs it goes on with what becomes ready by it, and makes frames only of what others should see.
#include "engine/threads/engine.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace weir::engine {
namespace {

using graphs::index;

constexpr std::uint32_t most_in_frame = 12;

// What a frame holds instead of a closure.
struct batch {
  bulk_run* run;
  std::uint32_t count;
  bool range;  // task[0] to task[1] - 1 of those without predecessors
  index task[most_in_frame];
};
static_assert(sizeof(detail::frame) + sizeof(batch) == 128);
static_assert(graphs::rank_classes == sched::node_queue::ranks);

batch& batch_of(frame* f) { return *std::launder(reinterpret_cast<batch*>(f + 1)); }

}  // namespace

// A worker at one frame.
class bulk_worker {
 public:
  bulk_worker(engine& e, slot& s, bulk_run& r) : engine_(e), slot_(s), run_(r), alone_(e.scheduler().worker_count() == 1), began_ns_(os::now_ns()) { look_at_limits(); }

  // Null: there is no memory, and the run has been told.
  static frame* make(slot& s, bulk_run& r, const index* tasks, std::uint32_t count, bool range, int node);

  void run(const batch b) {
    outer_ = std::exchange(slot_.bulk, this);
    if (b.range) run_range(b.task[0], b.task[1]);
    else take(b.task, b.count);
    WEIR_ASSERT(slot_.bulk == this && count_ == 0 && range_begin_ == range_end_);
    slot_.bulk = outer_;
    if (executed_ > looked_at_) note_time();
    slot_.bulk_tasks.add(executed_ - 1);
  }

  // Before a task below which it lies blocks: others may run what it holds, and those below it.
  void give_everything() {
    for (bulk_worker* w = this; w != nullptr; w = w->outer_) {
      w->queues_only_ = true;
      while (w->count_ > 0) w->give_oldest();
      w->give_range();
      w->queues_only_ = false;
    }
  }

 private:
  // Ready tasks that others do not see. More: a short task's share of a frame gets smaller, but more work is invisible.
  static constexpr std::uint32_t most_held = 2 * most_in_frame;
  static constexpr std::uint32_t most_hidden_ns = 1000;
  // How often the clock is looked at, and whether something urgent waits, or others wait for tasks; 25 ns.
  static constexpr std::uint32_t first_look = 8, most_tasks_between_looks = 64, ns_between_looks = 20'000;

  void take(const index* tasks, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; i++) held_[i] = tasks[i];
    count_ = count;
    drain();
  }

  // The far half goes to whoever wants it, again and again.
  void run_range(index begin, index end) {
    const std::vector<index>& first = run_.way.first();
    range_begin_ = begin;
    range_end_ = end;
    if (run_.places.rank != nullptr) return spread_range(first);
    while (range_begin_ < range_end_) {
      while (!alone_ && range_end_ - range_begin_ > (takes_long(first[range_begin_]) ? 1 : at_a_time_)) {
        const index middle = range_begin_ + (range_end_ - range_begin_) / 2;
        submit_range(middle, std::exchange(range_end_, middle));
      }
      if (range_begin_ == range_end_) return;  // a task that was run at once has given it away
      place(first[range_begin_++]);
      drain();
      if (leaving_) return give_range();
    }
  }

  // The first tasks differ in rank. Each goes where others look for those that come first.
  void spread_range(const std::vector<index>& first) {
    while (range_end_ - range_begin_ > most_in_frame) {
      const index middle = range_begin_ + (range_end_ - range_begin_) / 2;
      submit_range(middle, std::exchange(range_end_, middle));
    }
    while (range_begin_ < range_end_) {
      const index t = first[range_begin_++];
      submit(&t, 1, false, node_of(t));
    }
  }

  void drain() {
    while (count_ > 0) {
      const index t = held_[--count_];
      if (takes_long(t))
        while (count_ > 0) give_oldest();
      execute(t);
      if (++executed_ == next_look_) look();
      if (run_.places.rank != nullptr && count_ > 0) choose_by_rank();
      while (count_ > (leaving_ ? 0 : most_kept_ + 1)) give_oldest();
    }
  }

  // The nearest is run next, whose data are in the cache, unless something has more behind it by more than a class: one
  // that it has made ready as well, or one of those that this node's workers share.
  void choose_by_rank() {
    const auto rank_of = [&](index t) { return int{run_.places.rank[t]}; };
    std::uint32_t next = count_ - 1;
    for (std::uint32_t i = count_ - 1; i-- > 0;)
      if (rank_of(held_[i]) < rank_of(held_[next]) - 1) next = i;
    std::rotate(held_ + next, held_ + next + 1, held_ + count_);
    if (engine_.scheduler().anything_waits_before(slot_.queues, rank_of(held_[count_ - 1]) - 1))
      while (count_ > 0) give_oldest();
  }

  // Aggregates differ in size, some by a factor of a hundred thousand: what waits behind a large one is not hidden.
  bool takes_long(index t) const { return !alone_ && run_.members.item != nullptr && run_.members.size(t) > short_members_; }

  void execute(index t) {
    bool skipped = run_.failed.load(std::memory_order_relaxed) != 0 && run_.way.takes_skip(t);
    if (!skipped) [[likely]] {
      try {
        if (run_.members.item == nullptr) run_.body.call(run_.body.callable, &t, 1);
        else run_.body.call(run_.body.callable, run_.members.item + run_.members.begin[t], run_.members.size(t));
      } catch (...) {
        run_.failed.store(1, std::memory_order_relaxed);
        char name[64];
        if (run_.members.item == nullptr) std::snprintf(name, sizeof name, "%u", t);
        else std::snprintf(name, sizeof name, "%u (an aggregate of %zu task%s)", t, std::size_t{run_.members.size(t)}, run_.members.size(t) == 1 ? "" : "s");
        engine_.record_failure(slot_.queues.running, std::current_exception(), name);
        skipped = true;
      }
    }
    const auto ready = [this](index next) { place(next); };
    if (alone_) run_.way.complete<true>(t, skipped, ready);
    else run_.way.complete<false>(t, skipped, ready);
  }

  // A task that is ready: kept for later, or sent to its node.
  void place(index t) {
    const int node = node_of(t);
    if (node >= 0 && node != slot_.queues.node) {
      submit(&t, 1, false, node);
      return;
    }
    if (count_ == most_held) give_oldest();
    WEIR_ASSERT(count_ < most_held);
    held_[count_++] = t;
  }

  int node_of(index t) const { return run_.places.node == nullptr ? -1 : run_.places.node[t]; }

  // It holds them no more before it submits them: what is run at once may give everything away.
  void give_oldest(std::uint32_t most = most_held) {
    index given[most_in_frame];
    const std::uint32_t n = std::min({count_, at_a_time_, most});
    std::copy_n(held_, n, given);
    count_ -= n;
    std::memmove(held_, held_ + n, count_ * sizeof(index));
    submit(given, n, false, node_of(given[0]));
  }

  void give_range() {
    if (range_begin_ < range_end_) submit_range(range_begin_, std::exchange(range_end_, range_begin_));
  }

  void submit_range(index begin, index end) {
    const index bounds[2] = {begin, end};
    submit(bounds, 2, true);
  }

  void look() {
    note_time();
    const std::uint32_t task_ns = run_.task_ns.load(std::memory_order_relaxed);
    next_look_ = executed_ + std::clamp(ns_between_looks / task_ns, 1u, most_tasks_between_looks);
    leaving_ = engine_.scheduler().something_comes_first(slot_.queues);
    // Little is held, but it may be what most of the graph waits for: of a wavefront the next row. Half is kept.
    if (!alone_ && count_ > 1 && engine_.scheduler().is_waited_for(slot_.queues)) {
      queues_only_ = true;
      give_oldest(count_ / 2);
      queues_only_ = false;
    }
  }

  void note_time() {
    const std::uint64_t now = os::now_ns(), ns = (now - began_ns_) / (executed_ - looked_at_);
    const std::uint64_t before = run_.task_ns.load(std::memory_order_relaxed), mean = before == 0 ? ns : (3 * before + ns) / 4;
    run_.task_ns.store(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(mean, 1, 1'000'000'000)), std::memory_order_relaxed);
    if (!alone_) engine_.scheduler().look_at_idle(slot_.queues, slot_.depth, true, began_ns_, now);
    began_ns_ = now;
    looked_at_ = executed_;
    look_at_limits();
  }

  // Until it is known how long tasks take they are held to be long. Tasks with places do not share frames.
  void look_at_limits() {
    const std::uint32_t ns = run_.task_ns.load(std::memory_order_relaxed);
    const std::uint32_t hidden = ns == 0 || run_.places.node != nullptr ? 0 : most_hidden_ns / ns;
    at_a_time_ = std::clamp(hidden, 1u, most_in_frame);
    most_kept_ = alone_ ? most_held - 1 : std::min(hidden, most_held - 1);
    if (run_.members.item == nullptr) return;
    const std::size_t tasks = run_.way.tasks(), members = run_.members.end[tasks - 1];
    short_members_ = ns == 0 ? 0 : members * most_hidden_ns / (tasks * ns);
  }

  // Frames with ready tasks. One that blocks runs none of them at once: they may wait for it.
  void submit(const index* tasks, std::uint32_t count, bool range, int node = -1) {
    frame* const f = make(slot_, run_, tasks, count, range, node);
    if (f == nullptr) return;
    if (queues_only_) engine_.queue(f);
    else engine_.submit(f);
  }

  engine& engine_;
  slot& slot_;
  bulk_run& run_;
  bulk_worker* outer_ = nullptr;  // further down on this stack
  bool queues_only_ = false;
  index range_begin_ = 0, range_end_ = 0;  // what is left of a range
  const bool alone_;
  bool leaving_ = false;  // something urgent waits for this worker
  std::uint64_t began_ns_;
  std::uint64_t executed_ = 0, looked_at_ = 0, next_look_ = first_look;
  std::uint32_t at_a_time_ = 1, most_kept_ = 0;
  std::size_t short_members_ = 0;  // an aggregate of so many takes no longer than may be hidden
  std::uint32_t count_ = 0;
  index held_[most_held];  // the newest last: it runs next
};

void engine::run_batch(frame* f) {
  const batch b = batch_of(f);
  bulk_worker(b.run->owner, *this_worker(), *b.run).run(b);
}

frame* bulk_worker::make(slot& s, bulk_run& r, const index* tasks, std::uint32_t count, bool range, int node) {
  static constinit const detail::task_ops ops{&engine::run_batch, nullptr};
  const task_options options{.name = r.name, .affinity = node < 0 ? placement{} : placement{node, r.places.required}};
  frame* f = nullptr;
  try {
    f = flow::create_frame(s.flow, &r.scope, &ops, options, {sizeof(frame) + sizeof(batch), 0, 0});
  } catch (const std::bad_alloc&) {
    r.broken.store(1, std::memory_order_relaxed);
    if (r.scope.claim_failure()) r.scope.note_failure(std::current_exception());
    return nullptr;
  }
  if (r.places.rank != nullptr && !range) f->priority = static_cast<std::int8_t>(-r.places.rank[tasks[0]]);
  batch& b = *new (f + 1) batch{&r, count, range, {}};
  std::copy_n(tasks, count, b.task);
  return f;
}

void engine::give_held_tasks(slot& s) {
  if (s.bulk != nullptr) s.bulk->give_everything();
}

void engine::check(const bulk_places& places, std::size_t tasks) const {
  if (places.node == nullptr) return;
  for (std::size_t t = 0; t < tasks; t++)
    if (places.node[t] != -1) check_affinity({.affinity = {places.node[t], places.required}});
}

void engine::start(bulk_run& r) {
  const auto all = static_cast<index>(r.way.first().size());
  const index bounds[2] = {0, all};
  WEIR_ASSERT(r.way.counts_are_set());
  if (all == 0) return;
  if (frame* const f = bulk_worker::make(current(), r, bounds, 2, true, -1); f != nullptr) submit(f);
}

}  // namespace weir::engine
