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
#include "sched/beside_idle.hpp"
#include "sched/counter.hpp"
#include "sched/deque.hpp"
#include "sched/inbox.hpp"
#include "sched/locked_queue.hpp"
#include "sched/move_costs.hpp"
#include "sched/node_queue.hpp"
#include "sched/offers.hpp"
#include "sched/ready_task.hpp"
#include "sched/sleep.hpp"
#include "sched/small_tasks.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace weir::sched {

inline constexpr int max_distance_classes = 16;

// One thread's queues and what scheduling counts about it.
struct alignas(cache_line_bytes) slot_queues {
  slot_queues(int slot_index, int slot_node, std::size_t workers)
      : index(slot_index), node(slot_node), random(static_cast<std::uint64_t>(slot_index) + 1), sizes(workers) {}

  const int index;
  int node;  // a guest's may change
  rng random;
  frame* running = nullptr;  // what the thread is executing
  std::uint32_t turns = 0;  // under queues::nodes: tasks without affinity that it has sent
  deque<ready_task> normal;
  deque<ready_task> urgent{64};  // priority::high
  inbox<ready_task> pushed{inbox_capacity};
  inbox<ready_task> pushed_urgent{64};
  counter pushes, pushes_refused, finished, spawned;
  std::array<counter, max_distance_classes> steals;
  small_tasks sizes;                          // of the tasks it runs
  beside_idle beside;                         // what it sees of others while it runs them
  int last_victim = -1;                       // slot of a neighbour or guest that may have more; -1: none
  std::uint32_t stolen_again = 0;             // from there, one after the other
  int stolen_from = -1;                       // slot of the task it stole last; whoever looks (traces) sets it back to -1
  int robbed = -1;                            // the worker it took its last task from; -1: none, or it creates tasks itself
  std::uint64_t idle_since_ns = 0;            // 0: it is busy, or has not looked at the clock since
  struct progress_seen {
    std::uint64_t finished, since_ns;   // what it has finished, and when that was new
    std::uint64_t seen_ns, surplus_ns;  // when this was, and since when there was something to take
  };
  mutable std::vector<progress_seen> seen;    // by worker, of those on other nodes; seen before idle_since_ns: nothing
  bool has_cheap_news = false;                // since published(): a task that is much the same on every node
  atomic<bool> searching{true};               // has run out of tasks since; others may look
  bool runs_small_tasks = false;              // guests: did so in the place that it has, when it left that last
  atomic<int> place{-1};                      // guests: the worker whose place it has, or keeps; -1: none

  // How far its thread has got, with whatever it does.
  std::uint64_t progress() const { return finished.read() + spawned.read(); }
  bool nothing_pushed() const { return pushed.empty() && pushed_urgent.empty(); }
  bool has_tasks() const { return !normal.empty() || !nothing_urgent() || !pushed.empty(); }
  // Its own thread only. What it has made itself, the most urgent first, and the newest of those.
  frame* take_own_tasks() {
    if (const ready_task t = urgent.pop()) return t.task();
    return normal.pop().task();
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
  scheduler(const machine::description&, std::vector<int> worker_nodes, place::chosen);
  ~scheduler();

  int worker_count() const { return static_cast<int>(worker_nodes_.size()); }
  const std::vector<int>& workers_of_node(int node) const { return workers_of_node_[static_cast<std::size_t>(node)]; }
  // Without a look at its queues, whose lines are its own.
  int node_of_worker(int worker) const { return worker_nodes_[static_cast<std::size_t>(worker)]; }
  const place::chosen& policy() const { return policy_; }
  const machine::description& machine() const { return machine_; }
  const move_costs& costs() const { return costs_; }
  void tell_policy(const policy::event& e) noexcept { place::tell(*policy_.object, e, said_); }
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
  // What placement has noted. Where tasks are the same everywhere nothing is looked up, nor noted.
  task_hint hint_of(const frame* f) const { return charges_ && !f->has_no_data() ? task_hint(f->hint) : task_hint(); }
  // If there is no memory for a longer queue, the task goes where everybody looks who has nothing to do.
  void push_own(slot_queues& self, frame* f) noexcept {
    try {
      const task_hint hint = hint_of(f);
      if (hint.bytes() == 0) self.has_cheap_news = true;
      (f->priority > 0 ? self.urgent : self.normal).push(ready_task(f, hint));
    } catch (const std::bad_alloc&) {
      central_.push(f);
    }
  }
  void published(slot_queues& self);
  // What became ready by a small task goes back to where that was taken from, or both workers would go on to share what
  // is better left with one. False: it does not.
  bool give_back(slot_queues& self, frame* f) {
    return self.robbed >= 0 && f->priority <= 0 && self.sizes.all_small() &&
           push_to_worker(self, ready_task(f), self.robbed);
  }

  // A worker's own queues, most urgent first. Null if they are empty.
  frame* take_own(slot_queues& self);
  // One round of stealing: from workers of the own node, from guests, then from other nodes. Under a policy that
  // places tasks there what it is worth to take (pays()), in each round, from those that have offered something
  // (offers.hpp), or, if told so, from all. Under other policies whatever there is, unless the round is to stay near.
  enum class reach { near, far, all };
  frame* steal_round(slot_queues& self, reach);
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
    if (charges_) offers_.idle(self.index);
    self.beside.ends();
    self.idle_since_ns = 0;
    self.searching.store(true, std::memory_order_relaxed);
  }
  void stops_stealing(slot_queues& self) {
    self.idle_since_ns = 0;
    self.searching.store(false, std::memory_order_relaxed);
  }
  // What counts: what such a round would take now, or everything that waits anywhere. `with_left`: also what it leaves
  // alone because the tasks of those who have it are small.
  enum class counting { worth_it, all };
  bool any_work_for(const slot_queues& self, counting, bool with_left = true) const;
  // All there is are tasks that this worker leaves to others for a while.
  bool leaves_small_tasks(const slot_queues& self) const {
    return self.sizes.all_small() && !any_work_for(self, counting::worth_it, false) &&
           any_work_for(self, counting::worth_it);
  }
  // Then it watches from time to time; meanwhile workers whose tasks are small wake nobody.
  template <class AnyWorkLeft, class EverybodyAsleep>
  void doze_beside_small_tasks(slot_queues& self, AnyWorkLeft&& any_work_left, EverybodyAsleep&& everybody_asleep) {
    watching_.fetch_add(1, std::memory_order_relaxed);
    sleep.doze(self.index, any_work_left, everybody_asleep, small_tasks::doze_us);
    watching_.fetch_sub(1, std::memory_order_relaxed);
  }
  // By a worker between `begin_ns` and `end_ns`, when it ran a task, one of `running` on its stack: whether others are
  // idle, and why. `more_to_come`: it knows of others that wait for that one. Rare looks, for statistics.
  void look_at_idle(slot_queues& self, std::uint32_t running, bool more_to_come, std::uint64_t begin_ns,
                    std::uint64_t end_ns) const;
  // A worker's own thread goes on: no thread of the program has its place any more.
  void has_own_place(const slot_queues& self);
  bool all_queues_empty() const;
  // Whether there are tasks that this worker alone was told of.
  bool anything_sent_to(const slot_queues& self) const;

  // When this worker should look again at what waits on other nodes and is not worth it yet, by the clock of
  // os::now_ns(). never: nothing waits there.
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::uint64_t next_theft_ns(slot_queues& self) const;
  // It sleeps until then, or until something is published that is worth more to it. Meanwhile publishers need not wake
  // it for what it would leave alone.
  template <class AnyWorkLeft, class EverybodyAsleep>
  void doze(slot_queues& self, std::uint64_t until_ns, AnyWorkLeft&& any_work_left,
            EverybodyAsleep&& everybody_asleep) {
    constexpr std::uint64_t longest_us = 1'000'000;
    const std::uint64_t now = os::now_ns(),
                        us = until_ns > now ? std::min((until_ns - now) / 1000 + 1, longest_us) : 0;
    dozing_.fetch_add(1, std::memory_order_relaxed);
    sleep.doze(self.index, any_work_left, everybody_asleep, static_cast<std::uint32_t>(us));
    dozing_.fetch_sub(1, std::memory_order_relaxed);
    atomic_fence(std::memory_order_seq_cst);  // a publisher that still saw us dozing published before we look again
  }

  sleep_control<> sleep;

  static constexpr int max_guests = 1024;
  static constexpr int most_guest_slots = max_guests + 1;  // one is not a thread's own: engine::slot_to_release

 private:
  bool route_elsewhere(slot_queues& self, frame*);
  void order_victims();
  // Of nodes, where a rule places tasks. Without one stealing is what distributes work.
  bool far_from(const slot_queues& self, int worker) const { return charges_ && node_of_worker(worker) != self.node; }
  void note_hint(frame*, const policy::wish&, int here) const;
  policy::wish place(slot_queues& self, frame*);
  void order_victims_as_asked();
  const std::vector<std::vector<int>>& victims_of(const slot_queues&) const;
  bool push_to_node(slot_queues& self, frame*, int node);
  bool push_to_worker(slot_queues& self, ready_task, int worker);
  bool wake_one_of_node(int node);
  void push_to_container(slot_queues& self, frame*);
  int container_for(slot_queues& self, int wished_node);
  frame* take_from_far_containers(slot_queues& self);
  // Of those who sleep all look again by themselves, and none would come for this.
  bool only_dozers_sleep() const { return sleep.sleeping() <= dozing_.load(std::memory_order_relaxed); }
  // What an idle worker has seen of one on another node.
  struct sight : slot_queues::progress_seen {
    int node;
  };
  sight look_at(const slot_queues& self, const slot_queues& victim, std::uint64_t now_ns) const;
  // Whether it is worth it to take a task that has so many before it, and from when on if nothing changes.
  bool pays(const slot_queues& self, const sight&, task_hint, std::size_t before, std::uint64_t now_ns) const;
  std::uint64_t pays_at_ns(const slot_queues& self, const sight&, task_hint, std::size_t before,
                           std::uint64_t now_ns) const;
  std::uint64_t next_theft_from_ns(const slot_queues& self, const slot_queues& victim, std::uint64_t now_ns) const;
  // Of a node's own queues: whether it is worth it to take a task that has so many before it.
  auto worth_from(const slot_queues& self, int node, std::uint64_t now_ns) const {
    return [this, &self, of = look_at(self, first_of_node(node), now_ns), now_ns](task_hint hint, std::size_t before) {
      return pays(self, of, hint, before, now_ns);
    };
  }
  bool node_holds_tasks(int node) const;
  template <class F>
  void for_each_first_of_node(int node, F&& f) const;
  bool pays_to_empty(const slot_queues& self, int node, std::uint64_t now_ns) const;
  // Who stands for a node where its own queues are looked at.
  const slot_queues& first_of_node(int node) const {
    return *slots_[static_cast<std::size_t>(workers_of_node(node).front())].load(std::memory_order_acquire);
  }
  idle_reason why_others_are_idle(const slot_queues& self, std::uint32_t running, bool more_to_come) const;
  bool anything_cheap_beside(const slot_queues& self) const;
  bool anything_costly_beside(const slot_queues& self) const;
  std::int64_t outstanding() const;
  frame* take_initial(slot_queues& self, std::uint64_t now_ns);
  frame* steal_from_far(slot_queues& self, slot_queues& victim, std::uint64_t now_ns) const;
  frame* steal_from(slot_queues& self, slot_queues& victim);
  frame* steal_level(slot_queues& self, const std::vector<int>& level, std::uint64_t watch_at_ns);
  frame* steal_far(slot_queues& self, reach, const std::vector<std::vector<int>>& levels, std::uint64_t watch_at_ns);
  frame* steal_far_level(slot_queues& self, const std::vector<int>& level, reach, std::uint64_t now_ns,
                         std::uint64_t watch_at_ns);
  void count_theft(slot_queues& self) const;
  bool leaves_small_tasks_of(slot_queues& self, int victim, std::uint64_t watch_at_ns);
  bool pays_to_rob(const slot_queues& self, const slot_queues& victim, std::uint64_t now_ns) const;
  // Calls f(hint, tasks before it) for each that a thief could take.
  template <class F>
  static void for_each_first(const slot_queues& victim, F&& f);
  static std::uint64_t idle_time_ns(slot_queues& self);
  void note_theft(slot_queues& self, int victim) const;
  frame* steal_from_guests(slot_queues& self, std::uint64_t now_ns);
  // More: who waits for others' tasks waits longer. Fewer: more of those that look around for nothing.
  static constexpr std::uint32_t most_stolen_again = 64;
  static bool executes_elsewhere(const slot_queues& self, int place) { return place >= 0 && place != self.index; }

  const machine::description& machine_;
  const std::size_t nodes_;
  const policy_machine seen_;
  const place::chosen policy_;
  atomic<bool> said_{false};  // that an answer of the policy makes no sense
  const bool routes_all_;  // not only tasks that require a node
  const bool charges_;     // tasks are placed, and thieves of other nodes weigh what it costs to take them
  const move_costs costs_;
  const std::vector<int> worker_nodes_;
  std::vector<char> node_has_worker_;
  std::vector<std::vector<int>> workers_of_node_;
  std::vector<double> classes_;        // distances, ascending
  std::vector<std::uint8_t> class_;    // nodes x nodes
  std::vector<std::vector<std::vector<int>>> victims_;  // by node, by distance class: workers
  std::vector<std::vector<std::vector<int>>> asked_victims_;  // by worker, if the policy has an order of its own
  std::vector<atomic<slot_queues*>> slots_;
  atomic<int> slot_count_{0};
  atomic<int> dozing_{0};    // of those asleep: how many look again by themselves
  atomic<int> watching_{0};  // of those asleep: how many leave small tasks to others
  offer_board offers_;
  locked_queue central_;  // under queues::central, and of what other queues have no memory for
  std::unique_ptr<node_queue[]> containers_;         // by node, under queues::nodes
  std::vector<std::vector<int>> nodes_by_distance_;  // by node: other nodes with workers, nearest first
  std::vector<locked_queue> required_;  // by node
  std::vector<locked_queue> initial_;   // by node: tasks that decide where data will be
};

}  // namespace weir::sched
