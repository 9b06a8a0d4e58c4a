// What a scope knows about its tasks. Internal: lies in weir::scope, and the runtime has one for tasks without a scope.
#pragma once

#include <weir/detail/atomic.hpp>

#include <cstdint>
#include <exception>
#include <utility>

namespace weir::flow {
class address_domain;
}

namespace weir::detail {

struct frame;
struct scope_state;

// Of a thread that runs tasks on top of one another: the scope of a task that has created the next one, or waits. On that
// thread's stack.
struct scope_outside {
  const scope_state* scope;
  const scope_outside* below;  // null: no creator's, the task came from a queue
};

struct scope_state {
  // Low 30 bits: tasks not done, plus credits that workers hold (src/engine/README.md). Above: 10 bits for those of these
  // tasks that wait for the others, 12 for other threads to be told when no task is left, and 12 for the sum of the
  // numbers of all that wait: of a single one it is the number. In one word, for the scope may be gone as soon as it is
  // zero, and who leaves another one to wait alone must not be taken for that.
  static constexpr std::uint64_t one_member = std::uint64_t{1} << 30, one_waiter = std::uint64_t{1} << 40, one_number = std::uint64_t{1} << 52;
  static constexpr std::uint64_t most_members = one_waiter / one_member - 1, most_waiters = one_number / one_waiter - 1;
  atomic<std::uint64_t> outstanding{0};

  // Who waits: a worker by its index, or any thread that is none. `everybody`: several, or one that has no number.
  static constexpr std::int32_t everybody = 4095, no_worker = 4094, nobody = -1;
  static constexpr std::int32_t number_of_worker(std::int32_t index) noexcept { return index < no_worker ? index : everybody; }

  // The task that its maker runs at once, on top of itself, is not counted there, which would take two atomic operations, but
  // here. Written by the thread that runs the maker only, and not set while somebody is counted as waiting. Who waits and is
  // not the maker counts itself, passes a heavy fence, and may then rely on this: zero, and it stays so.
  atomic<std::uint32_t> at_once{0};

  // Why those of its tasks that have not started are skipped. Changed by engine::end_early() and begin_anew() only: tasks
  // look at it if the engine says that there is such a scope at all.
  static constexpr std::uint32_t was_cancelled = 1, has_failed = 2;
  atomic<std::uint32_t> reasons_to_skip{0};
  // Of the task that is waiting for this scope, in its body: it cannot be complete before this one is.
  atomic<const scope_outside*> outer{nullptr};
  flow::address_domain* ranges = nullptr;  // among whose tasks user memory orders; null: all of the runtime's
  const bool fails_as_a_whole;  // a failed task is a reason to skip the rest
  const frame* const maker;     // the task that made it, not to be followed: it may be gone

  explicit scope_state(bool fails_whole = false, const frame* made_by = nullptr) noexcept : fails_as_a_whole(fails_whole), maker(made_by) {}

  bool cancelled() const noexcept { return (reasons_to_skip.load(std::memory_order_relaxed) & was_cancelled) != 0; }
  // For its tasks: while they run all scopes outside are there. `out`: of those below on the stack, if a creator runs it.
  bool ends_early(const scope_outside* out) const noexcept {
    for (const scope_state* s = this;; out = out->below) {
      if (s->reasons_to_skip.load(std::memory_order_relaxed) != 0) return true;
      if (out == nullptr) out = s->outer.load(std::memory_order_acquire);
      if (out == nullptr) return false;
      s = out->scope;
    }
  }

  bool complete() const noexcept { return tasks_in(outstanding.load(std::memory_order_acquire)) == 0; }
  // Every task that is not done waits for the others.
  bool only_members_left() const noexcept {
    const std::uint64_t now = outstanding.load(std::memory_order_acquire);
    return tasks_in(now) == members_in(now);
  }
  // The same for who is not its maker, and is counted as waiting.
  bool complete_for_others() const noexcept { return none_at_once() && complete(); }
  bool only_members_left_for_others() const noexcept { return none_at_once() && only_members_left(); }
  // There is nothing to wait for, nor to tell, for its maker.
  bool is_over() const noexcept { return complete() && !failed() && reasons_to_skip.load(std::memory_order_relaxed) == 0; }
  std::uint64_t members() const noexcept { return members_in(outstanding.load(std::memory_order_relaxed)); }
  // Who is to be told that those were all, but for members that wait.
  std::int32_t finish(std::int64_t n) noexcept {
    const std::uint64_t before = outstanding.fetch_sub(static_cast<std::uint64_t>(n), std::memory_order_release);
    return before < one_member ? nobody : to_be_told(before - static_cast<std::uint64_t>(n));
  }
  // By its maker.
  void begin_at_once() noexcept {
    at_once.store(1, std::memory_order_relaxed);
    light_fence();
    if (is_waited_for()) [[unlikely]] count_at_once();
  }
  // As finish(). Then only the maker may still use the scope: who else destroys it has to know that spawn() has returned.
  std::int32_t end_at_once() noexcept {
    if (at_once.load(std::memory_order_relaxed) == 0) [[unlikely]] return finish(1);
    at_once.store(0, std::memory_order_release);
    light_fence();
    const std::uint64_t now = outstanding.load(std::memory_order_relaxed);
    return now < one_member ? nobody : to_be_told(now);
  }
  // By the thread of the maker: as if it had been counted from the start.
  void count_at_once() noexcept {
    outstanding.fetch_add(1, std::memory_order_relaxed);
    at_once.store(0, std::memory_order_release);
  }
  // Both return how many of the kind there were; -1: more than can be counted.
  std::int64_t add_member(std::int32_t who) noexcept { return add_one(one_member, most_members, who); }
  std::int64_t add_waiter(std::int32_t who) noexcept { return add_one(one_waiter, most_waiters, who); }
  void remove_member(std::int32_t who) noexcept { remove(one_member, who); }
  void remove_waiter(std::int32_t who) noexcept { remove(one_waiter, who); }
  bool is_waited_for() const noexcept { return outstanding.load(std::memory_order_relaxed) >= one_member; }

  // The first failure counts. True: the caller has to note one, once.
  bool claim_failure() noexcept {
    std::uint32_t expected = none;
    return failure_state_.compare_exchange_strong(expected, changing, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void note_failure(std::exception_ptr e) noexcept {
    failure_.write(std::move(e));
    failure_state_.store(noted, std::memory_order_release);
  }
  bool failed() const noexcept { return failure_state_.load(std::memory_order_relaxed) != none; }
  // Null if there is none, or somebody else has it.
  std::exception_ptr take_failure() noexcept {
    std::uint32_t expected = noted;
    if (!failure_state_.compare_exchange_strong(expected, changing, std::memory_order_acquire, std::memory_order_relaxed)) return nullptr;
    std::exception_ptr e = failure_.read();
    failure_.write(nullptr);
    failure_state_.store(none, std::memory_order_release);
    return e;
  }

 private:
  // Without tasks the one that ends may have seen some: then nobody was told, unless it passes this fence later.
  bool none_at_once() const noexcept {
    if (at_once.load(std::memory_order_acquire) == 0) return true;
    if (!only_members_left()) return false;
    heavy_fence();
    return at_once.load(std::memory_order_acquire) == 0;
  }
  static std::uint64_t tasks_in(std::uint64_t word) noexcept { return word & (one_member - 1); }
  static std::uint64_t members_in(std::uint64_t word) noexcept { return word / one_member & most_members; }
  static std::uint64_t waiters_in(std::uint64_t word) noexcept { return word / one_waiter & most_waiters; }
  // The sum of the numbers wraps round, as the word does.
  static std::uint64_t with_number(std::uint64_t one, std::int32_t who) noexcept { return one + static_cast<std::uint64_t>(who) * one_number; }
  static std::int32_t to_be_told(std::uint64_t now) noexcept {
    if (tasks_in(now) != members_in(now)) return nobody;
    return members_in(now) + waiters_in(now) == 1 ? static_cast<std::int32_t>(now / one_number) : everybody;
  }
  std::int64_t add_one(std::uint64_t one, std::uint64_t most, std::int32_t who) noexcept {
    std::uint64_t now = outstanding.load(std::memory_order_relaxed);
    do {
      if ((now / one & most) == most) return -1;
    } while (!outstanding.compare_exchange_weak(now, now + with_number(one, who), std::memory_order_relaxed, std::memory_order_relaxed));
    return static_cast<std::int64_t>(now / one & most);
  }
  void remove(std::uint64_t one, std::int32_t who) noexcept { outstanding.fetch_sub(with_number(one, who), std::memory_order_relaxed); }

  static constexpr std::uint32_t none = 0, changing = 1, noted = 2;
  atomic<std::uint32_t> failure_state_{none};
  plain_cell<std::exception_ptr> failure_;  // of who moved the state to `changing`
};

}  // namespace weir::detail
