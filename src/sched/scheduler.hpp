// Where ready tasks wait and who takes them. Three nouns: a slot is a thread that creates or executes tasks (workers
// have the lowest indices, guests are the program's own threads); a queue belongs to a slot, to a node or to all; a
// round is one look at every other slot, nearest first.
//
// Rejected: one queue per node shared by its workers (contended at fine grain; it is a policy of its own, node_queue.hpp); stealing
// half of a victim's deque (the stolen half then belongs to one thief, which undoes the distribution that deferred
// allocation lives on); asking for work instead of stealing (a busy victim answers late).
#pragma once

#include "machine/machine.hpp"
#include "place/place.hpp"
#include "sched/deque.hpp"
#include "sched/inbox.hpp"
#include "sched/locked_queue.hpp"
#include "sched/node_queue.hpp"
#include "sched/offers.hpp"
#include "sched/sleep.hpp"
#include "sched/small_tasks.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <vector>

namespace weir::sched {

// Counts only their owner writes and anybody reads. Whoever reads a count sees what the owner did before it.
class counter {
 public:
  void add(std::uint64_t n) { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_release); }
  std::uint64_t read() const { return value_.load(std::memory_order_acquire); }

 private:
  atomic<std::uint64_t> value_{0};
};

inline constexpr int max_distance_classes = 16;

// One thread's queues and what scheduling counts about it.
struct alignas(cache_line_bytes) slot_queues {
  slot_queues(int slot_index, int slot_node, std::size_t workers)
      : index(slot_index), node(slot_node), random(static_cast<std::uint64_t>(slot_index) + 1), sizes(workers), finished_before(workers) {}

  const int index;
  int node;  // a guest's may change
  rng random;
  frame* running = nullptr;  // what the thread is executing
  place::scratch placement;
  deque<frame*> normal;
  deque<frame*> urgent{64};  // priority::high
  inbox<frame*> pushed{inbox_capacity};
  inbox<frame*> pushed_urgent{64};
  counter pushes, pushes_refused, finished, spawned;
  std::array<counter, max_distance_classes> steals;
  small_tasks sizes;                          // of the tasks it runs
  int last_victim = -1;                       // slot of a neighbour or guest that may have more; -1: none
  std::uint32_t stolen_again = 0;             // from there, one after the other
  int stolen_from = -1;                       // slot of the task it stole last; whoever looks (traces) sets it back to -1
  int robbed = -1;                            // the worker it took its last task from; -1: none, or it creates tasks itself
  std::uint32_t typical_task_us = 0;          // running average of a sample; see doze_microseconds()
  std::vector<std::uint64_t> finished_before; // by worker: their counts when this one began to doze, or had_nothing
  bool took_notes = false;                    // in finished_before, while it spins
  enum class hunger : std::uint8_t { none, some, much } hungry = hunger::none;  // until, having just run a task, it finds another one that was sent to it
  atomic<bool> searching{true};               // has run out of tasks since; others may look
  bool runs_small_tasks = false;              // guests: did so in the place that it has, when it left that last
  atomic<int> place{-1};                      // guests: the worker whose place it has, or keeps; -1: none
  bool offering = false;                      // on the offer board

  static constexpr std::uint64_t had_nothing = ~std::uint64_t{0};

  // How far its thread has got, with whatever it does.
  std::uint64_t progress() const { return finished.read() + spawned.read(); }
  bool nothing_pushed() const { return pushed.empty() && pushed_urgent.empty(); }
  bool has_tasks() const { return !normal.empty() || !nothing_urgent() || !pushed.empty(); }
  // Its own thread only. What it has made itself, the most urgent first, and the newest of those.
  frame* take_own_tasks() {
    if (frame* f = urgent.pop()) return f;
    return normal.pop();
  }
  bool nothing_urgent() const { return urgent.empty() && pushed_urgent.empty(); }
  // Nor on its way: a look at the inbox's two ends is cheaper than one at what is in it.
  bool nothing_urgent_comes() const { return urgent.empty() && pushed_urgent.size() == 0; }

  // Larger: a burst of pushes to one node fits, but more tasks wait there while others are idle for the grace
  // period. Smaller: tasks stay far from their data.
  static constexpr std::size_t inbox_capacity = 256;
};

class scheduler {
 public:
  // `worker_nodes[i]`: node index of worker i. The machine must outlive the scheduler.
  scheduler(const machine::description&, std::vector<int> worker_nodes, place::policy);
  ~scheduler();

  int worker_count() const { return static_cast<int>(worker_nodes_.size()); }
  const std::vector<int>& workers_of_node(int node) const { return workers_of_node_[static_cast<std::size_t>(node)]; }
  // Without a look at its queues, whose lines are its own.
  int node_of_worker(int worker) const { return worker_nodes_[static_cast<std::size_t>(worker)]; }
  const place::policy& policy() const { return policy_; }
  const machine::description& machine() const { return machine_; }
  bool node_has_worker(int node) const { return node >= 0 && node < machine_.node_count() && node_has_worker_[static_cast<std::size_t>(node)]; }
  int distance_class(int from, int to) const { return class_[static_cast<std::size_t>(from) * nodes_ + static_cast<std::size_t>(to)]; }
  const std::vector<double>& distance_classes() const { return classes_; }

  slot_queues& slot(int index) { return *slots_[static_cast<std::size_t>(index)].load(std::memory_order_acquire); }
  int slot_count() const { return slot_count_.load(std::memory_order_acquire); }
  // Makes a worker's queues; to be called by the worker itself, so that they lie on its node. All workers' queues must
  // exist before anything else is called.
  void make_worker_slot(int worker);
  // Queues for one more guest; -1 when there are most_guest_slots already. Slots are never removed. Serialised by the
  // caller. Throws std::bad_alloc, and nothing has changed.
  int add_guest(int node);

  // Sends a task that became ready on `self` where its affinity or the policy wants it: to a node, or to the central
  // queue. False: it stays with `self`, which runs it next or keeps it with push_own(). Wakes workers of a node it
  // sent the task to, nobody else: call published() after a batch.
  bool route(slot_queues& self, frame* f) { return (routes_all_ || f->required) && route_elsewhere(self, f); }
  // If there is no memory for a longer queue, the task goes where everybody looks who has nothing to do.
  void push_own(slot_queues& self, frame* f) noexcept {
    try {
      (f->priority > 0 ? self.urgent : self.normal).push(f);
    } catch (const std::bad_alloc&) {
      central_.push(f);
    }
  }
  void published(slot_queues& self);
  // What became ready by a small task goes back to where that was taken from, or both workers would go on to share what
  // is better left with one. False: it does not.
  bool give_back(slot_queues& self, frame* f) { return self.robbed >= 0 && f->priority <= 0 && self.sizes.all_small() && push_to_worker(self, f, self.robbed); }

  // A worker's own queues, most urgent first. Null if they are empty.
  frame* take_own(slot_queues& self);
  // One round of stealing, from workers of the own node, guests, and, if it is to look far, those of other nodes. A
  // patient thief takes from workers of other nodes only what is more than far_reserve_tasks; a hungry one also what
  // they made ready themselves, but their last task, and in the end what was sent to them; a greedy one takes besides
  // anything from those that finished no task while it dozed, but initial tasks; a desperate one takes also those.
  enum class manners { patient, hungry, greedy, desperate };
// Which a worker has at any rate.
  manners manners_of(const slot_queues& self) const { return self.hungry == slot_queues::hunger::none ? manners::patient : manners::hungry; }
  frame* steal_round(slot_queues& self, manners, bool far);
  // From where the last task came from, if that was a neighbour or a thread of the program: who has one task to spare
  // mostly has several, and a worker that goes on stealing need not be counted as searching. Small tasks only of who
  // executes none. Not for ever, for others have tasks, too.
  frame* steal_again(slot_queues& self) {
    if (self.last_victim < 0) return nullptr;
    if (self.stolen_again++ == most_stolen_again) {
      self.last_victim = -1;
      return nullptr;
    }
    const bool executes = self.last_victim < worker_count() || !executes_nothing(slot(self.last_victim));
    if (executes && self.sizes.all_small()) return nullptr;
    frame* f = steal_from(self, slot(self.last_victim));
    if (f == nullptr) {
      self.last_victim = -1;
      return nullptr;
    }
    if (self.last_victim < worker_count()) self.steals[0].add(1);
    self.stolen_from = self.last_victim;
    return f;
  }
  // Of a thread of the program: what it creates is for others.
  static bool executes_nothing(const slot_queues& guest) { return guest.place.load(std::memory_order_relaxed) < 0; }
  // A worker's own queues are empty; it begins to look elsewhere.
  void starts_to_steal(slot_queues& self) {
    if (nodes_ > 1) offers_.idle(self.index);
    self.searching.store(true, std::memory_order_relaxed);
  }
  void stops_stealing(slot_queues& self) { self.searching.store(false, std::memory_order_relaxed); }
  // Whether such a round could find something. `with_left`: or would, if it did not leave small tasks to those who have
  // them.
  bool any_work_for(const slot_queues& self, manners, bool with_left = true) const;
  // All there is are tasks that this worker leaves to others for a while.
  bool leaves_small_tasks(const slot_queues& self) const { return self.sizes.all_small() && !any_work_for(self, manners::patient, false) && any_work_for(self, manners::patient); }
  // Then it watches from time to time; meanwhile workers whose tasks are small wake nobody.
  template <class AnyWorkLeft, class EverybodyAsleep>
  void doze_beside_small_tasks(slot_queues& self, AnyWorkLeft&& any_work_left, EverybodyAsleep&& everybody_asleep) {
    watching_.fetch_add(1, std::memory_order_relaxed);
    sleep.doze(self.index, any_work_left, everybody_asleep, small_tasks::doze_us);
    watching_.fetch_sub(1, std::memory_order_relaxed);
  }
  // A worker's own thread goes on: no thread of the program has its place any more.
  void has_own_place(const slot_queues& self);
  bool all_queues_empty() const;
  // Whether there are tasks that this worker alone was told of.
  bool anything_sent_to(const slot_queues& self) const;

  // What far workers hold that a patient thief leaves alone. Remembers how far they have got. Nothing, if something was
  // sent to this worker meanwhile.
  enum class held_back { nothing, initial_tasks, tasks };
  held_back note_progress(slot_queues& self);
  // Whether workers of other nodes hold something back at all.
  bool anything_held_back() const { return nodes_ > 1 && policy_.rule != nullptr; }
  // Without looking: they may hold something, and nobody is known to be stuck.
  held_back note_nothing(slot_queues& self) const;
  // As after a doze, for a worker that spins as long: the first time it only takes notes.
  manners spun(slot_queues& self) {
    const manners result = self.took_notes ? manners::greedy : manners::patient;
    self.took_notes = !self.took_notes;
    if (self.took_notes) note_progress(self);
    return result;
  }
  // Some sixteen times what tasks take here: a worker that finishes none in that time is in a long one, and what waits
  // behind it should be taken. At least many time slices of the system: it may just be waking up, or have lost its CPU,
  // and what is taken from it then is far from its data for good. At most a second: the estimate may be wrong.
  static constexpr std::uint32_t shortest_doze_microseconds = 100'000, longest_doze_microseconds = 1'000'000;
  static std::uint32_t doze_microseconds(const slot_queues& self) { return std::clamp(16 * self.typical_task_us, shortest_doze_microseconds, longest_doze_microseconds); }
  // A worker that has been idle for some tasks' time becomes hungry: nothing is being sent to it, so where it runs its
  // tasks matters less than that it runs any. Shorter: in a wave front, whose workers wait for their neighbours, thefts
  // undo the placement. Longer: where data lie on few nodes, the others' workers do nothing.
  static constexpr std::uint64_t tasks_until_hungry = 4;
  // Shortest: a theft from another node costs that much of it. Unknown: of a worker that has run nothing yet.
  static constexpr std::uint64_t shortest_hunger_microseconds = 100, unknown_hunger_microseconds = 500;
  static std::uint64_t hunger_microseconds(const slot_queues& self) {
    return self.typical_task_us == 0 ? unknown_hunger_microseconds : std::max(shortest_hunger_microseconds, tasks_until_hungry * self.typical_task_us);
  }
  void grow_hungry(slot_queues& self, slot_queues::hunger now) const {
    if (anything_held_back()) self.hungry = std::max(self.hungry, now);
  }
  // A worker that sees only such things dozes for a time, and then has the manners that this returns. It dozes twice as
  // long each time nothing comes of it. While one does, publishers need not wake others for less than it would take.
  template <class AnyWorkLeft, class EverybodyAsleep>
  manners doze(slot_queues& self, held_back what, unsigned earlier, AnyWorkLeft&& any_work_left,
               EverybodyAsleep&& everybody_asleep) {
    const bool initial = what == held_back::initial_tasks;
    const std::uint64_t longest = longest_doze_microseconds, us = initial ? longest : std::min(longest, hunger_microseconds(self) << std::min(earlier, 16u));
    atomic<int>& dozing = self.hungry == slot_queues::hunger::none ? dozing_ : dozing_hungry_;
    dozing.fetch_add(1, std::memory_order_relaxed);
    const bool time_is_up = sleep.doze(self.index, any_work_left, everybody_asleep, static_cast<std::uint32_t>(us));
    dozing.fetch_sub(1, std::memory_order_relaxed);
    atomic_fence(std::memory_order_seq_cst);  // a publisher that still saw us dozing published before we look again
    if (!time_is_up) return manners::patient;
    if (initial) return manners::desperate;
    grow_hungry(self, earlier < dozes_until_very_hungry ? slot_queues::hunger::some : slot_queues::hunger::much);
    return us < doze_microseconds(self) ? manners::hungry : manners::greedy;
  }

  sleep_control<> sleep;

  static constexpr int max_guests = 1024;
  static constexpr int most_guest_slots = max_guests + 1;  // one is not a thread's own: engine::slot_to_release
  // What a worker of another node is left with: it will get to these soon, near their data. Fewer: tasks that were just
  // placed are stolen back, and locality with them. More: imbalance between nodes lasts longer.
  static constexpr std::size_t far_reserve_tasks = 3;
  // By a hungry thief. What it is running is not counted; 0: it is robbed of what it would run next.
  static constexpr std::size_t reserve_from_hungry_tasks = 1;

 private:
  // Three of them are 28 tasks' time. Fewer: what was sent to a worker that is a little behind goes elsewhere.
  static constexpr unsigned dozes_until_very_hungry = 2;

  bool route_elsewhere(slot_queues& self, frame*);
  void order_victims();
  // Thieves leave a far worker its last tasks where a rule placed them there. Without a rule stealing is what distributes
  // work.
  bool far_from(const slot_queues& self, int worker) const { return anything_held_back() && node_of_worker(worker) != self.node; }
  place::wish place(slot_queues& self, frame*);
  bool push_to_node(slot_queues& self, frame*, int node);
  bool push_to_worker(slot_queues& self, frame*, int worker);
  bool wake_one_of_node(int node);
  frame* take_initial(slot_queues& self);
  void push_to_container(slot_queues& self, frame*);
  frame* take_from_far_containers(slot_queues& self);
  static std::size_t held_tasks(const slot_queues& q) { return q.normal.size() + q.urgent.size() + q.pushed.size() + q.pushed_urgent.size(); }
  static bool leaves_something(const slot_queues& victim) { return held_tasks(victim) > far_reserve_tasks; }
  // Those who doze would not come for what this worker has. If it has more than one task, hungry ones do.
  bool only_others_doze(const slot_queues& self) const {
    if (leaves_something(self)) return false;
    const bool hungry = dozing_hungry_.load(std::memory_order_relaxed) > 0;
    return hungry ? self.normal.size() + self.urgent.size() <= reserve_from_hungry_tasks : dozing_.load(std::memory_order_relaxed) > 0;
  }
  static bool leaves_something_to_hungry(const slot_queues& self, const slot_queues& victim) {
    const bool very = self.hungry == slot_queues::hunger::much;
    return victim.normal.size() + victim.urgent.size() + (very ? victim.pushed.size() + victim.pushed_urgent.size() : 0) > reserve_from_hungry_tasks;
  }
  // Not at once when there is one task too many: the hint should not follow every push and pop.
  void update_offer(slot_queues& self, std::size_t about_to_take = 0) {
    const std::size_t all = held_tasks(self), held = all - std::min(all, about_to_take);
    const bool now = held > (self.offering ? far_reserve_tasks : 2 * far_reserve_tasks);
    if (now == self.offering) return;
    self.offering = now;
    if (now) offers_.offer(self.index);
    else offers_.withdraw(self.index);
  }
  frame* steal_from(slot_queues& self, slot_queues& victim);
  static bool no_progress(const slot_queues& self, const slot_queues& victim);
  static bool may_take(const slot_queues& self, const slot_queues& victim, manners);
  frame* steal_level(slot_queues& self, const std::vector<int>& level, bool far, manners, std::uint64_t now_ns);
  frame* steal_from_guests(slot_queues& self, std::uint64_t now_ns);
  // More: who waits for others' tasks waits longer. Fewer: more of those that look around for nothing.
  static constexpr std::uint32_t most_stolen_again = 64;
  static bool executes_elsewhere(const slot_queues& self, int place) { return place >= 0 && place != self.index; }

  const machine::description& machine_;
  const std::size_t nodes_;
  const place::policy policy_;
  const bool routes_all_;  // not only tasks that require a node
  const std::vector<int> worker_nodes_;
  std::vector<char> node_has_worker_;
  std::vector<std::vector<int>> workers_of_node_;
  std::vector<double> classes_;        // distances, ascending
  std::vector<std::uint8_t> class_;    // nodes x nodes
  std::vector<std::vector<std::vector<int>>> victims_;  // by node, by distance class: workers
  std::vector<atomic<slot_queues*>> slots_;
  atomic<int> slot_count_{0};
  atomic<int> dozing_{0}, dozing_hungry_{0};  // of those asleep: how many doze, and were not hungry before or were
  atomic<int> watching_{0};  // of those asleep: how many leave small tasks to others
  offer_board offers_;
  locked_queue central_;  // under queues::central, and of what other queues have no memory for
  std::unique_ptr<node_queue[]> containers_;         // by node, under queues::nodes
  std::vector<std::vector<int>> nodes_by_distance_;  // by node: other nodes with workers, nearest first
  std::vector<locked_queue> required_;  // by node
  std::vector<locked_queue> initial_;   // by node: tasks that decide where data will be
};

}  // namespace weir::sched
