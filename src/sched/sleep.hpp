// Idle workers sleep, and no task is ready while all who could run it sleep: the protocol between those who publish
// work and those who go to sleep. README.md has the states, the races and why none of them loses a wake-up.
//
// A worker is busy, searching or asleep:
//
//   busy --start_searching--> searching --sleep--> asleep --(woken, or work seen)--> searching --stop_searching--> busy
//
// Whoever publishes work wakes a sleeper unless somebody is searching, for a searcher looks everywhere again before
// it sleeps, and the last one to stop searching because it found something wakes another.
//
// A worker that sleeps or spins with no task on its stack can lend its place to a thread of the program that waits: that
// is then busy or searching in its stead, and the worker's own thread stays away until the place is given back. The thread
// may keep it while it does other things, until the own thread finds that it has not come back for some time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/base.hpp"
#include "sched/shared_fence.hpp"

namespace weir::sched {

// For a fixed number of workers 0..n-1, at most 32767. Must outlive every call, also those of threads that are no
// workers. "Work" is whatever makes any_work_left() true: queued tasks, or a condition a nested wait is for.
template <class Atomics = real_atomics>
class sleep_control {
  using word = typename Atomics::template atomic<std::uint32_t>;

 public:
  // `node_of_worker`, ascending: words of two nodes are in different lines. Empty: all are neighbours.
  explicit sleep_control(int workers, const std::vector<int>& node_of_worker = {})
      : workers_(workers),
        places_(places(workers, node_of_worker)),
        lines_(std::make_unique<line[]>(places_.back() / words_per_line + 1)),
        keepers_(std::make_unique<keeper_of_place[]>(static_cast<std::size_t>(workers))) {
    WEIR_ASSERT(workers > 0 && workers <= 32767);
  }
  ~sleep_control() { WEIR_ASSERT(is_valid()); }
  sleep_control(const sleep_control&) = delete;
  sleep_control& operator=(const sleep_control&) = delete;

  // ---- Publishers: any thread, after it has made work visible in some queue.

  // Wakes a sleeper if there are any and nobody is searching; looks for one from worker `near` upwards, wrapping.
  // If nobody sleeps: one load. Else a fence and another one, some 5 ns. Who is falling asleep at this moment may be
  // missed, and then finds the work itself after unsure_microseconds, or some times that if many fall asleep with it.
  void work_published(int near = 0) {
    Atomics::light_fence();
    if (sleeping_in(state_.load(std::memory_order_relaxed)) <= 0) return;
    Atomics::fence(std::memory_order_seq_cst);
    const std::uint64_t state = state_.load(std::memory_order_relaxed);
    if (sleeping_in(state) > 0 && searching_in(state) <= 0) wake_from(near);
  }

  // Wakes this worker if it is asleep; returns whether it was, and then it sees all that the caller did before. If it
  // was not, it is sure to see what the caller published before: by the any_work_left() it calls before it blocks. To
  // be used after a push to its inbox, and when the scope it waits for is complete. Not asleep: a fence and one load.
  bool wake(int worker) {
    Atomics::fence(std::memory_order_seq_cst);
    return wake_fenced(worker);
  }
  // The same, if the caller has passed such a fence since it published. Not asleep: one load.
  bool wake_fenced(int worker) { return claim(worker); }
  // As wake_fenced(), but true, too, if the worker spins and so looks at its own queues by itself: nobody else need
  // know of what was sent to it. If somebody borrows its place meanwhile, that is who looks.
  bool wake_or_see_spinning(int worker) {
    return is(word_of(worker).load(std::memory_order_relaxed), spinning) || claim(worker);
  }

  // Wakes one sleeper of the workers begin <= w < end; returns whether there was one. Whether somebody is searching
  // does not matter.
  bool wake_any_of(int begin, int end) {
    Atomics::fence(std::memory_order_seq_cst);
    for (int w = begin; w < end; w++)
      if (claim(w)) return true;
    return false;
  }
  bool wake_any() { return wake_any_of(0, workers_); }

  // Wakes everybody who is asleep, for instance to end them; where a place is kept its own thread takes it, as soon as the
  // keeper is away.
  void wake_all() {
    Atomics::fence(std::memory_order_seq_cst);
    for (int w = 0; w < workers_; w++)
      if (!claim(w) && is(word_of(w).load(std::memory_order_relaxed), kept)) Atomics::wake_one(word_of(w));
  }

  // ---- Workers.

  // A worker that found its own queues empty starts to look elsewhere.
  void start_searching() { state_.fetch_add(one_searching, std::memory_order_relaxed); }

  // A searching worker found something to do (or what it waited for has happened). True: it was the last searcher
  // and others sleep. Publishers may have relied on it, so the caller must now call wake_any(), unless it has looked
  // at all queues after this call and found them empty.
  [[nodiscard]] bool stop_searching() {
    const std::uint64_t before = state_.fetch_sub(one_searching, std::memory_order_relaxed);
    Atomics::fence(std::memory_order_seq_cst);
    return searching_in(before) <= 1 && sleeping_in(before) > 0;
  }

  // A searching worker with no task on its stack that has found nothing for some time: until stop_spinning() its place may
  // be borrowed, and it may look at queues, but take nothing. Both cost an operation on a line that hardly changes.
  void start_spinning(int worker) {
    word& mine = word_of(worker);
    const std::uint32_t now = mine.load(std::memory_order_relaxed);
    WEIR_ASSERT(is(now, awake));
    mine.store(with(now, spinning), std::memory_order_release);
  }
  bool is_lent(int worker) const {
    const std::uint32_t now = word_of(worker).load(std::memory_order_relaxed);
    return is(now, lent) || is(now, kept);
  }
  // Blocks while the place is borrowed. On return the worker is searching.
  template <class AnyWorkLeft>
  void stop_spinning(int worker, AnyWorkLeft&& any_work_left) {
    if (!moves(word_of(worker), spinning, awake)) return wait_until_awake(worker, any_work_left);
    Atomics::fence(std::memory_order_seq_cst);  // wake_or_see_spinning() relies on its looks after this
  }

  // ---- Threads of the program that take the place of a worker which is not busy (README.md, "Lent places").

  // Of the workers begin <= w < end, `first` before others, and those that sleep before those that spin. The caller is then
  // searching, as that worker, and may call all that workers call. -1: all are busy. An atomic operation or two, and a
  // system call if the worker has been asleep for long.
  int borrow(int first, int begin, int end) {
    return borrow_as(first, begin, end, [this](int w, std::uint32_t from) { return borrow_from(w, from).succeeded; });
  }
  // The same, but the caller is then busy. `was_last` is what stop_searching() returns, and asks for the same. In place
  // of one who has looked for the last time, and sleeps until it is woken, the caller never was searching: nobody
  // relies on either of them.
  int borrow_busy(int first, int begin, int end, bool& was_last) {
    was_last = false;
    return borrow_as(first, begin, end, [&](int w, std::uint32_t from) {
      const loan made = borrow_from(w, from, true);
      if (made.succeeded && made.searches) was_last = stop_searching();
      return made.succeeded;
    });
  }

  // Of a thread that keeps a place, one at a time.
  struct alignas(cache_line_bytes) keeper {
    word visits{0};  // odd: it is inside
  };
  // The borrower, which is busy, goes, and means to come back. Meanwhile the worker counts as busy; but its own thread looks
  // now and then, and takes the place if the keeper was away all the time since it looked last.
  void keep(int worker, keeper& me) {
    word& its = word_of(worker);
    const std::uint32_t now = its.load(std::memory_order_relaxed);
    WEIR_ASSERT(is(now, lent) || is(now, kept) || is(now, recalled));
    if (is(now, lent)) {
      keepers_[worker].store(&me, std::memory_order_relaxed);
      kept_.fetch_add(1, std::memory_order_relaxed);
      its.store(with(now, kept), std::memory_order_release);
    }
    goes(me);
  }
  // The keeper comes back, and is busy. False: the place has been taken from it. A store and two loads.
  bool enter(int worker, keeper& me) {
    me.visits.store(me.visits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    Atomics::light_fence();
    if (is(settled(word_of(worker)), kept) && keepers_[worker].load(std::memory_order_relaxed) == &me) return true;
    goes(me);
    return false;
  }
  // The keeper is inside, and another thread goes on in the place for it: borrowed until the next keep().
  void lend_on(int worker) { static_cast<void>(in_hand(worker)); }
  // Places whose keepers are perhaps away: a hint.
  int places_kept() const { return kept_.load(std::memory_order_relaxed); }

  // The borrower, which is searching, has found what it may not run: the worker's own thread goes on. A system call.
  void hand_over(int worker) {
    word& its = in_hand(worker);
    const std::uint32_t now = its.load(std::memory_order_relaxed);
    WEIR_ASSERT(is(now, lent));
    its.store(with(now, awake), std::memory_order_release);
    Atomics::wake_all(its);
  }
  // The borrower, which is searching or busy, has no use for the place any more: as if the worker fell asleep.
  // any_work_left(anywhere) as in sleep(), but if not `anywhere` it need only look at what was sent to this worker: what else
  // was published is seen by others who are idle.
  template <class AnyWorkLeft, class EverybodyAsleep>
  void give_back(int worker, bool searching, AnyWorkLeft&& any_work_left, EverybodyAsleep&& everybody_asleep) {
    word& its = in_hand(worker);
    const std::uint64_t before = state_.fetch_add(searching ? one_sleeping - one_searching : one_sleeping, std::memory_order_relaxed);
    const std::uint32_t now = its.load(std::memory_order_relaxed);
    WEIR_ASSERT(is(now, lent));
    its.store(with(now, asleep), std::memory_order_release);
    Atomics::fence(std::memory_order_seq_cst);
    const bool others_idle = sleeping_in(before) > 0 || searching_in(before) > (searching ? 1 : 0);
    if (any_work_left(!others_idle)) claim(worker);
    else if (everybody_is_counted_asleep()) everybody_asleep();
  }

  // A searching worker found nothing and goes to sleep. any_work_left() is called after the worker counts as asleep,
  // and again after unsure_microseconds; if true the call returns at once. It must look at every queue this worker
  // could take work from (relaxed loads do) and at the condition of a nested wait. If there is none and everybody now
  // sleeps, everybody_asleep() is called before this worker blocks; it may wake workers. The last one who falls asleep
  // calls it, and sees everybody_sleeps(). It may be called by others, too, and although somebody is just being woken by
  // a thread that is no worker, so it has to judge by counts of its own (tasks outstanding) whether the program is stuck.
  // On return the worker is searching, whoever woke it and why.
  // `in_task`: it waits inside a task, and its place cannot be borrowed.
  template <class AnyWorkLeft, class EverybodyAsleep>
  void sleep(int worker, bool in_task, AnyWorkLeft&& any_work_left, EverybodyAsleep&& everybody_asleep) {
    word& mine = in_hand(worker);
    const std::uint32_t found = mine.load(std::memory_order_relaxed), before = state_of(found), resting = rests_as(before, in_task);
    const bool last = falls_asleep(mine, resting);
    if (any_work_left()) {
      cancel(worker, resting, before, any_work_left);
      return;
    }
    if (last) everybody_asleep();
    std::uint32_t left = std::numeric_limits<std::uint32_t>::max();
    if (over_after_first_part(worker, resting, before, any_work_left, left)) return;
    if (resting != asleep) return wait_while(mine, resting);
    sleep_untended(mine, with(found, resting));  // not after a loan: the first part's heavy fence may have begun before its end
    wait_until_awake(worker, any_work_left);
  }
  // As sleep, but for at most this long: for a worker that leaves work to others and wants to see what became of it. Its
  // place cannot be borrowed, for publishers rely on its coming back. True: it slept until the time was up (or a signal came).
  template <class AnyWorkLeft, class EverybodyAsleep>
  bool doze(int worker, AnyWorkLeft&& any_work_left, EverybodyAsleep&& everybody_asleep, std::uint32_t microseconds) {
    word& mine = in_hand(worker);
    const std::uint32_t before = state_of(mine.load(std::memory_order_relaxed)), resting = rests_as(before, true);
    const bool last = falls_asleep(mine, resting);
    const bool waits = !any_work_left();
    if (waits && last) everybody_asleep();
    if (waits && microseconds > unsure_microseconds &&
        over_after_first_part(worker, resting, before, any_work_left, microseconds))
      return false;
    if (waits && microseconds > 0) wait_once(mine, resting, microseconds);
    // Woken: the waker has done the accounting. Time is up, or for no reason: as if it had not gone to sleep.
    return cancel(worker, resting, before, any_work_left) && waits;
  }
  template <class AnyWorkLeft>
  void sleep(int worker, AnyWorkLeft&& any_work_left) {
    sleep(worker, false, any_work_left, [] {});
  }

  // ---- Workers that have no thread, of an engine with a time of its own: the two halves of sleep() and doze().

  // True: everybody rests now. Who calls this looks at all queues afterwards.
  bool begin_rest(int worker, bool may_lend) { return falls_asleep(word_of(worker), may_lend ? asleep : waiting); }
  // Its own thread is busy or searching, or spins: it runs, or would.
  bool is_awake(int worker) const {
    const std::uint32_t now = word_of(worker).load(std::memory_order_relaxed);
    return is(now, awake) || is(now, spinning);
  }
  bool is_resting(int worker) const { return rests(word_of(worker).load(std::memory_order_relaxed)); }
  // It is searching, whoever ended its rest. Nothing is to borrow its place.
  void end_rest(int worker) {
    word& mine = word_of(worker);
    const std::uint32_t now = state_of(mine.load(std::memory_order_relaxed));
    if (rests(now) && moves(mine, now, awake))
      state_.fetch_add(one_searching - one_sleeping, std::memory_order_relaxed);
  }

  // ---- Observers: a moment's picture; after a seq_cst fence, one not older than the fence.

  int workers() const { return workers_; }
  int sleeping() const { return sleeping_in(state_.load(std::memory_order_relaxed)); }
  // Nobody is awake, and no waker is between claiming a worker and counting that.
  bool everybody_sleeps() const {
    const std::uint64_t state = state_.load(std::memory_order_relaxed);
    if (sleeping_in(state) != workers_ || searching_in(state) != 0) return false;
    for (int w = 0; w < workers_; w++)
      if (!rests(word_of(w).load(std::memory_order_relaxed))) return false;
    return true;
  }
  // A borrower sleeps inside a task.
  bool a_borrower_sleeps() const {
    for (int w = 0; w < workers_; w++)
      if (is(word_of(w).load(std::memory_order_relaxed), lent_waiting)) return true;
    return false;
  }
  // While nobody calls anything else: the counts are those of the words, and nobody keeps a place that is not kept.
  bool is_valid() const {
    int resting = 0, places_kept = 0;
    for (int w = 0; w < workers_; w++) {
      const std::uint32_t now = word_of(w).load(std::memory_order_relaxed);
      if (is(now, recalled)) return false;
      resting += rests(now) ? 1 : 0;
      places_kept += is(now, kept) ? 1 : 0;
    }
    const std::uint64_t state = state_.load(std::memory_order_relaxed);
    return sleeping_in(state) == resting && searching_in(state) >= 0 && searching_in(state) <= workers_ - resting &&
           kept_.load(std::memory_order_relaxed) == places_kept;
  }
  int searching() const { return searching_in(state_.load(std::memory_order_relaxed)); }
  // Counts wake-ups, modulo 2^32. The same number before and after everybody was seen asleep: nobody was woken between.
  std::uint32_t wake_epoch() const { return static_cast<std::uint32_t>(state_.load(std::memory_order_relaxed) >> 32); }

  // How long a worker may sleep beside work that was published while it fell asleep. Longer: such work waits longer.
  // Shorter: more of those who sleep for a short time make everybody pass a fence.
  static constexpr std::uint32_t unsure_microseconds = 1000;
  // The own thread of a place that is borrowed or kept looks after it, first after the shorter time, then twice as long each
  // time, up to the longer. Longer: a keeper that goes leaves a place empty for longer. Shorter: it is disturbed more often.
  static constexpr std::uint32_t shortest_tending_microseconds = 100, longest_tending_microseconds = 8'000;

 private:
  static constexpr std::uint32_t words_per_line = cache_line_bytes / sizeof(std::uint32_t);
  struct alignas(cache_line_bytes) line {
    word words[words_per_line];
  };
  static std::vector<std::uint32_t> places(int workers, const std::vector<int>& node_of_worker) {
    std::vector<std::uint32_t> of(static_cast<std::size_t>(workers));
    std::uint32_t next = 0;
    for (std::size_t w = 0; w < of.size(); w++) {
      const bool other_node = w > 0 && w < node_of_worker.size() && node_of_worker[w] != node_of_worker[w - 1];
      if (other_node) next = (next + words_per_line - 1) / words_per_line * words_per_line;
      of[w] = next++;
    }
    return of;
  }

  using keeper_of_place = typename Atomics::template atomic<const keeper*>;

  // A worker's futex word: [loans : 28][untended : 1][state : 3]. Who moves the state from asleep to another one (a waker,
  // a borrower, or the worker itself), and only that one, then moves the worker out of those that sleep in state_.
  static constexpr std::uint32_t awake = 0;        // its own thread is busy or searching
  static constexpr std::uint32_t asleep = 1;       // its own thread is away, and no task is on its stack
  static constexpr std::uint32_t waiting = 2;      // its own thread dozes, or sleeps inside a task
  static constexpr std::uint32_t spinning = 3;     // its own thread only looks
  static constexpr std::uint32_t lent = 4;         // a borrower is busy or searching
  static constexpr std::uint32_t lent_waiting = 5;  // a borrower sleeps or dozes inside a task
  static constexpr std::uint32_t kept = 6;         // a borrower is busy, or away; keepers_ says which one
  static constexpr std::uint32_t recalled = 7;     // kept, and its own thread finds out whether the keeper is inside
  static constexpr std::uint32_t state_bits = 7;
  // Of a place that is asleep: its own thread sleeps until it is woken. Else it looks after the place from time to time.
  static constexpr std::uint32_t untended = 8;
  static constexpr std::uint32_t one_loan = 16;  // so that who sleeps on the word does not miss a loan that is over

  static std::uint32_t state_of(std::uint32_t value) { return value & state_bits; }
  static bool is(std::uint32_t value, std::uint32_t state) { return state_of(value) == state; }
  static bool rests(std::uint32_t value) { return is(value, asleep) || is(value, waiting) || is(value, lent_waiting); }
  static std::uint32_t with(std::uint32_t value, std::uint32_t state) { return (value & ~(state_bits | untended)) | state; }
  // What whoever is woken is then.
  static std::uint32_t woken(std::uint32_t resting) { return is(resting, lent_waiting) ? lent : awake; }
  static std::uint32_t rests_as(std::uint32_t before, bool in_task) {
    if (before == lent) return lent_waiting;
    return in_task ? waiting : asleep;
  }
  // The caller sees what was done by who put it into the state it is in. False: that is not `from`.
  static bool moves(word& its, std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t now; is(now = its.load(std::memory_order_acquire), from);)
      if (its.compare_exchange_weak(now, with(now, to), std::memory_order_relaxed, std::memory_order_relaxed)) return true;
    return false;
  }

  word& word_of(int worker) const {
    const std::size_t place = places_[static_cast<std::size_t>(worker)];
    return lines_[place / words_per_line].words[place % words_per_line];
  }

  // Relaxed throughout: the fences make the order (README.md).
  // state_: [wake epoch : 32][searching + bias : 16][sleeping + bias : 16]. The bias keeps `searching`, which is below
  // zero for a moment now and then (README.md, "counts lag"), from borrowing from its neighbour.
  static constexpr std::uint64_t one_sleeping = 1;
  static constexpr std::uint64_t one_searching = std::uint64_t{1} << 16;
  static constexpr std::uint64_t one_wake = std::uint64_t{1} << 32;
  static constexpr int bias = 1 << 15;
  static int sleeping_in(std::uint64_t state) { return static_cast<int>(state & 0xffff) - bias; }
  static int searching_in(std::uint64_t state) { return static_cast<int>((state >> 16) & 0xffff) - bias; }

  void wake_from(int near) {
    for (int w = near; w < workers_; w++)
      if (claim(w)) return;
    for (int w = 0; w < near; w++)
      if (claim(w)) return;
  }

  // Of a place that the caller has: lent, if it was kept, so that nobody else changes the word.
  word& in_hand(int worker) {
    word& its = word_of(worker);
    std::uint32_t now = its.load(std::memory_order_relaxed);
    WEIR_ASSERT(is(now, awake) || is(now, lent) || is(now, kept) || is(now, recalled));
    if (!is(now, kept) && !is(now, recalled)) return its;
    do now = settled(its);
    while (!its.compare_exchange_weak(now, with(now, lent), std::memory_order_acquire, std::memory_order_relaxed));
    is_kept_no_more();
    return its;
  }
  // Not while its own thread finds out: that takes as long as a heavy fence.
  static std::uint32_t settled(const word& its) {
    std::uint32_t now = its.load(std::memory_order_acquire);
    for (; is(now, recalled); now = its.load(std::memory_order_acquire)) Atomics::wait(its, now);
    return now;
  }
  static bool is_inside(std::uint32_t visits) { return visits % 2 != 0; }
  static void goes(keeper& me) {
    const std::uint32_t visits = me.visits.load(std::memory_order_relaxed);
    if (is_inside(visits)) me.visits.store(visits + 1, std::memory_order_release);
  }

  // Whoever has moved the word from asleep counts that: the worker counted itself before its word said so.
  void count_out(std::uint64_t change) {
    [[maybe_unused]] const std::uint64_t before = state_.fetch_add(change - one_sleeping, std::memory_order_relaxed);
    WEIR_ASSERT(sleeping_in(before) > 0);
  }
  // By whoever has moved the word from kept: the keeper counted it before the word said so.
  void is_kept_no_more() {
    [[maybe_unused]] const int before = kept_.fetch_sub(1, std::memory_order_relaxed);
    WEIR_ASSERT(before > 0);
  }

  // The caller has fenced.
  bool claim(int worker) {
    word& its = word_of(worker);
    std::uint32_t now = its.load(std::memory_order_relaxed);
    if (!rests(now)) return false;
    while (!its.compare_exchange_weak(now, with(now, woken(now)), std::memory_order_acq_rel, std::memory_order_relaxed))
      if (!rests(now)) return false;
    count_out(one_wake + one_searching);
    if (is(now, lent_waiting)) Atomics::wake_all(its);  // its own thread may sleep there, too
    else Atomics::wake_one(its);
    return true;
  }

  template <class BorrowFrom>
  static int borrow_as(int first, int begin, int end, BorrowFrom&& borrows) {
    for (const std::uint32_t from : {asleep, spinning}) {
      if (borrows(first, from)) return first;
      for (int w = begin; w < end; w++)
        if (borrows(w, from)) return w;
    }
    return -1;
  }
  struct loan {
    bool succeeded, searches;
  };
  loan borrow_from(int worker, std::uint32_t from, bool to_be_busy = false) {
    word& its = word_of(worker);
    std::uint32_t now = its.load(std::memory_order_relaxed);
    do {
      if (!is(now, from)) return {false, false};
    } while (!its.compare_exchange_weak(now, with(now, lent) + one_loan, std::memory_order_acquire, std::memory_order_relaxed));
    const bool sleeps_for_good = (now & untended) != 0, searches = !(to_be_busy && sleeps_for_good);
    if (from == asleep) count_out(searches ? one_wake + one_searching : one_wake);
    else Atomics::fence(std::memory_order_seq_cst);  // as in stop_spinning()
    if (sleeps_for_good) Atomics::wake_one(its);
    return {true, searches};
  }

  // What a worker does before it looks at all queues for the last time. True: everybody is asleep now.
  bool falls_asleep(word& mine, std::uint32_t resting) {
    const std::uint32_t now = mine.load(std::memory_order_relaxed);
    WEIR_ASSERT(is(now, awake) || is(now, lent));
    state_.fetch_add(one_sleeping - one_searching, std::memory_order_relaxed);
    mine.store(with(now, resting), std::memory_order_release);  // who claims it counts back what is counted by now
    Atomics::fence(std::memory_order_seq_cst);
    return everybody_is_counted_asleep();
  }
  // By who has just stored a word that says so. Of several at once the last one to store its word finds all counted,
  // and who was the last to count may look before the others' words are there.
  bool everybody_is_counted_asleep() const {
    return sleeping_in(state_.load(std::memory_order_relaxed)) >= workers_;
  }

  // Who calls this looks at the word again.
  void wait_once(word& mine, std::uint32_t resting, std::uint32_t microseconds) {
    const std::uint32_t now = mine.load(std::memory_order_relaxed);
    if (is(now, resting)) Atomics::wait_for(mine, now, microseconds);
  }
  void wait_while(word& mine, std::uint32_t resting) {
    std::uint32_t now = mine.load(std::memory_order_acquire);
    for (; is(now, resting); now = mine.load(std::memory_order_acquire)) Atomics::wait(mine, now);
  }

  // The first part of a sleep. The publisher's light fence needs a heavy one here, which is too dear for a short sleep, and
  // on a machine with many CPUs for each of many that fall asleep together. Takes what it sleeps from `left`; if that
  // was too little there was no heavy fence. True: the sleep is over.
  template <class AnyWorkLeft>
  bool over_after_first_part(int worker, std::uint32_t resting, std::uint32_t before, AnyWorkLeft&& any_work_left,
                             std::uint32_t& left) {
    word& mine = word_of(worker);
    const std::uint32_t asked = fence_.turn();
    for (std::uint32_t part = unsure_microseconds;; part *= 2) {
      part = std::min(part, left);
      wait_once(mine, resting, part);
      left -= part;
      if (!is(mine.load(std::memory_order_acquire), resting)) {
        if (resting == asleep) wait_until_awake(worker, any_work_left);
        return true;
      }
      if (fence_.passed_since(asked)) break;
      if (left == 0) return false;
    }
    if (!any_work_left()) return false;
    cancel(worker, resting, before, any_work_left);
    return true;
  }

  // For a place that may be lent, until somebody wakes its own thread. A borrower gives it back without a heavy fence, so as
  // long as it is borrowed now and then its own thread comes after it and does what who falls asleep does.
  template <class AnyWorkLeft>
  void wait_until_awake(int worker, AnyWorkLeft&& any_work_left) {
    word& mine = word_of(worker);
    std::uint32_t seen = mine.load(std::memory_order_acquire), visits = 0;
    for (std::uint32_t pause = unsure_microseconds; !is(seen, awake); pause = std::min(2 * pause, longest_tending_microseconds)) {
      Atomics::wait_for(mine, seen, pause);
      const std::uint32_t now = mine.load(std::memory_order_acquire);
      const bool quiet = now == seen;
      seen = now;
      if (is(now, kept)) {
        if (takes_back(worker, now, quiet, visits)) return;
        if (!quiet) pause = shortest_tending_microseconds / 2;
      }
      if (!is(now, asleep)) continue;
      Atomics::fence(std::memory_order_seq_cst);
      if (!fence_.passed_since(fence_.turn())) continue;
      if (any_work_left()) {
        if (moves_back(mine)) return;
      } else if (quiet) {
        sleep_untended(mine, now);
        pause = unsure_microseconds / 2;
      }
      seen = mine.load(std::memory_order_acquire);
    }
  }
  // `seen`: before the last look at the queues. Whoever borrows the place wakes its own thread. Who calls this looks
  // at the word again.
  void sleep_untended(word& mine, std::uint32_t seen) {
    if (!mine.compare_exchange_strong(seen, seen | untended, std::memory_order_relaxed, std::memory_order_relaxed)) return;
    seen |= untended;
    while (mine.load(std::memory_order_relaxed) == seen) Atomics::wait(mine, seen);
  }
  // True: the keeper has not been inside since `visits` were read, and the place is its own thread's, which is searching.
  bool takes_back(int worker, std::uint32_t seen, bool quiet, std::uint32_t& visits) {
    word& mine = word_of(worker);
    const word& its = keepers_[worker].load(std::memory_order_relaxed)->visits;
    const std::uint32_t before = std::exchange(visits, its.load(std::memory_order_relaxed));
    if (!quiet || visits != before || is_inside(visits)) return false;
    if (!mine.compare_exchange_strong(seen, with(seen, recalled), std::memory_order_acquire, std::memory_order_relaxed)) return false;
    Atomics::heavy_fence();
    const bool away = !is_inside(its.load(std::memory_order_acquire));
    if (away) {
      is_kept_no_more();
      start_searching();
    }
    mine.store(away ? with(seen, awake) : seen, std::memory_order_release);
    Atomics::wake_all(mine);  // the keeper may wait for this
    return away;
  }
  bool moves_back(word& mine) {
    if (!moves(mine, asleep, awake)) return false;
    count_out(one_searching);
    return true;
  }

  // The worker that was going to sleep does not. If a waker was faster, it does the accounting; a borrower gives the place
  // back first. True: nobody was.
  template <class AnyWorkLeft>
  bool cancel(int worker, std::uint32_t resting, std::uint32_t before, AnyWorkLeft&& any_work_left) {
    if (moves(word_of(worker), resting, before)) {
      count_out(one_searching);
      return true;
    }
    if (resting == asleep) wait_until_awake(worker, any_work_left);
    return false;
  }

  const int workers_;
  // Of a node close together: wakers scan them. Who spins changes and reads its own all the time, which would slow down
  // those who spin on other nodes.
  const std::vector<std::uint32_t> places_;  // by worker, of its word
  const std::unique_ptr<line[]> lines_;
  const std::unique_ptr<keeper_of_place[]> keepers_;  // the last one
  typename Atomics::template atomic<int> kept_{0};
  shared_fence<Atomics> fence_;
  alignas(cache_line_bytes) typename Atomics::template atomic<std::uint64_t> state_{(std::uint64_t{bias} << 16) | bias};
};

}  // namespace weir::sched
