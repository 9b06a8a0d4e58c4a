// Where ready tasks wait and who takes them. Three nouns: a slot is a thread that creates or executes tasks (workers
// have the lowest indices, guests are the program's own threads); a queue belongs to a slot, to a node or to all; a
// round is one look at every other slot, nearest first.
//
// Rejected: one queue per node shared by its workers (contended at fine grain; it is a policy of its own, node_queue.hpp); stealing
// half of a victim's deque (the stolen half then belongs to one thief, which undoes the distribution that deferred
// allocation lives on; of short tasks of a thread of the program several are stolen); asking
// for work instead of stealing (a busy victim answers late).
#pragma once

#include "machine/machine.hpp"
#include "place/place.hpp"
#include "sched/beside_idle.hpp"
#include "sched/counter.hpp"
#include "sched/creator_claim.hpp"
#include "sched/deque.hpp"
#include "sched/inbox.hpp"
#include "sched/initial_tasks.hpp"
#include "sched/locked_queue.hpp"
#include "sched/move_costs.hpp"
#include "sched/neighbourhood.hpp"
#include "sched/node_queue.hpp"
#include "sched/offers.hpp"
#include "sched/ready_task.hpp"
#include "sched/sleep.hpp"
#include "sched/surroundings.hpp"
#include "sched/thief.hpp"

#include <array>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace weir::sched {

// Is told of each decision of a worker: what that remembered before, and what it decided. For tests.
class witness {
 public:
  virtual void begins(const thief&, moment) = 0;
  virtual void ends(const thief&, const decision&) = 0;

 protected:
  ~witness() = default;
};

// What has become of a task that was to be sent somewhere.
enum class routing : std::uint8_t {
  stays,    // it was not sent anywhere
  awaited,  // it was sent to a worker that has nothing to do, and will look there or was woken: nobody else need know
  sent,     // whoever could take it should know
};

// Short tasks that a worker takes at once of those that a thread of the program has created. More: what that thread
// creates then with high priority comes later. Fewer: worker and creator meet more often in its queue (record 18).
constexpr int most_stolen_from_guests = 32;

// One thread's queues and what scheduling counts about it.
struct alignas(cache_line_bytes) slot_queues {
  slot_queues(int slot_index, int slot_node, const hunting_ground& ground, const atomic<bool>& any_urgent_ever)
      : index(slot_index), node(slot_node), any_urgent(any_urgent_ever),
        random(static_cast<std::uint64_t>(slot_index) + 1),
        normal(1024, slot_index < ground.near.workers() ? 1 : most_stolen_from_guests),
        pushed(static_cast<std::size_t>(ground.tuned.inbox_capacity)), hunts(ground, slot_index) {}

  const int index;
  const std::uint32_t ran_by = frame::ran_by(index);
  int node;  // a guest's may change
  const atomic<bool>& any_urgent;  // whether there has been such a task: if not, two words less of each queue are read
  rng random;                // where it sends tasks to
  frame* running = nullptr;  // what the thread is executing
  std::uint32_t turns = 0;   // under queues::nodes: tasks without affinity that it has sent
  // Since published(): a task that is much the same on every node, or the first in a queue. Written about as often as
  // tasks are sent, so not beside what others read.
  bool has_news = false;
  deque<ready_task> normal;
  std::int64_t batch_end = 0;    // workers: what lies before it in `normal` was taken together from a guest
  deque<ready_task> urgent{64};  // priority::high
  inbox<ready_task> pushed;
  inbox<ready_task> pushed_urgent{64};
  counter pushes, pushes_refused, finished, spawned;
  std::array<counter, max_distance_classes> steals;
  thief hunts;                                // when it has nothing of its own
  std::unique_ptr<surroundings> sees;
  beside_idle beside;                         // what it sees of others while it runs tasks
  witness* seen_by = nullptr;
  atomic<bool> rests{false};                  // sleeps, or looks again only later
  atomic<bool> searching{true};               // has run out of tasks since; others may look
  bool took_required = false;                 // the last time that it asked: something else comes next
  bool runs_small_tasks = false;              // guests: did so in the place that it has, when it left that last
  creator_claim<> claim;                          // workers: of a thread that creates tasks on their CPU
  const atomic<std::uint32_t>* bell = nullptr;  // workers: it says something new when all are wanted that search
  std::uint32_t bell_heard = 0;                 // what it said when this one came the last time
  std::uint32_t bell_before_look = 0;           // what it said when the last look at others began
  atomic<int> place{-1};                      // guests: the worker whose place it has, or keeps; -1: none

  // How far its thread has got, with whatever it does.
  std::uint64_t progress() const { return finished.read() + spawned.read(); }
  std::uint32_t bell_says() const { return bell != nullptr ? bell->load(std::memory_order_acquire) : 0; }
  bool bell_rings() const { return bell_says() != bell_heard; }
  bool nothing_pushed() const { return pushed.empty() && (!may_have_urgent() || pushed_urgent.empty()); }
  bool has_tasks() const { return !normal.empty() || !nothing_urgent() || !pushed.empty(); }
  // Where the tasks of outer levels of a recursion end, if one runs now: those taken together are none.
  std::int64_t end_of_older() {
    const std::int64_t end = normal.end();
    if (end > batch_end) return end;
    batch_end = end;
    return 0;
  }
  bool nothing_urgent() const { return !may_have_urgent() || (urgent.empty() && pushed_urgent.empty()); }
  // Nor on its way: a look at the inbox's two ends is cheaper than one at what is in it.
  bool nothing_urgent_comes() const { return !may_have_urgent() || (urgent.empty() && pushed_urgent.size() == 0); }
  // For whom it belongs to: it lies in a line that that one writes for each task.
  bool may_have_urgent() const { return any_urgent.load(std::memory_order_relaxed); }
};

class scheduler {
 public:
  // `node_of_worker[i]`: node index of worker i. `spin_ns`: how long an idle worker stays awake. The machine must
  // outlive the scheduler.
  scheduler(const machine::description&, std::vector<int> node_of_worker, place::chosen, std::uint64_t spin_ns,
            const tuning& = {});
  ~scheduler();

  const neighbourhood& near() const { return near_; }
  int worker_count() const { return near_.workers(); }
  const std::vector<int>& workers_of_node(int node) const { return near_.workers_of(node); }
  // Without a look at its queues, whose lines are its own.
  int node_of_worker(int worker) const { return near_.node_of(worker); }
  const place::chosen& policy() const { return policy_; }
  const machine::description& machine() const { return machine_; }
  const move_costs& costs() const { return costs_; }
  const policy_machine& seen_by_policy() const { return seen_; }
  // What a line takes from another worker's node, on average; 0: there is none.
  std::uint32_t ns_of_far_line() const;
  void tell_policy(const policy::event& e) noexcept { place::tell(*policy_.object, e, said_); }
  bool node_has_worker(int node) const { return near_.has_worker(node); }
  int distance_class(int from, int to) const { return near_.distance_class(from, to); }
  const std::vector<double>& distance_classes() const { return near_.distances(); }

  slot_queues& slot(int index) { return *slots_[static_cast<std::size_t>(index)].load(std::memory_order_acquire); }
  int slot_count() const { return slot_count_.load(std::memory_order_acquire); }
  // Makes a worker's queues; to be called by the worker itself, so that they lie on its node. All workers' queues must
  // exist before anything else is called.
  void make_worker_slot(int worker);
  // Queues for one more guest; -1 when there are most_guest_slots already. Slots are never removed. Serialised by the
  // caller. Throws std::bad_alloc, and nothing has changed.
  int add_guest(int node);

  // Data that are updated on another node may move there: at what cost not to. Before there are workers; outlives them.
  void set_memory_of_data(flow::shared&);
  // Where memory of the program's own lies. Before there are workers; outlives them.
  void set_user_memory(memory::regions&);
  // By which workers see how long lines take from each other's caches. Before there are workers. Without: nobody knows.
  void set_clock(std::uint64_t (*clock_ns)()) { clock_ns_ = clock_ns; }
  // Of tasks that the policy wants to see together; null: it does not, or there is but one node.
  place::windows* windows() const { return windows_.get(); }

  // Sends a task that became ready on `self` where its affinity or the policy wants it: to a node, or to the central
  // queue. If it stays with `self`, that runs it next or keeps it with push_own(). Wakes workers of a node it sent the
  // task to, nobody else: call published() after a batch, unless all were awaited.
  routing route(slot_queues& self, frame* f) {
    return routes_all_ || f->required ? route_elsewhere(self, f) : routing::stays;
  }
  // Sends a task without data to this worker, or to another one of the node if it is not of that. It is said to work on
  // a page there, for nobody knows what it works on: so it is not taken by who happens to be awake elsewhere, before
  // somebody there can have woken up. It stays if with this policy workers have no inboxes, or there is no room.
  routing push_near(slot_queues& self, frame* f, int node, int worker);
  // What placement has noted. Where tasks are the same everywhere nothing is looked up, nor noted.
  task_hint hint_of(const frame* f) const { return charges_ && !f->has_no_data() ? task_hint(f->hint) : task_hint(); }
  // If there is no memory for a longer queue, the task goes where everybody looks who has nothing to do.
  void push_own(slot_queues& self, frame* f) noexcept {
    if (f->priority > 0) note_urgent();
    push_onto(f->priority > 0 ? self.urgent : self.normal, self, ready_task(f, hint_of(f)));
  }
  // Whether a task that became ready has to wait until the policy has seen its window. Somebody who has nothing to do
  // is told, so that it looks when that is due.
  bool keep(frame* f) { return windows_ != nullptr && windows_->hold(f) && tell_of_window(); }
  void published(slot_queues& self);
  // Of a worker that keeps ready tasks to itself: whether others have nothing to do, and see none of its.
  bool is_waited_for(slot_queues& self) const {
    if (sleep.searching() + sleep.sleeping() <= 0) return false;
    self.normal.look_again();
    return self.normal.size_at_most() == 0;
  }
  // What became ready by a small task goes back to where that was taken from, or both workers would go on to share what
  // is better left with one. False: it does not.
  bool give_back(slot_queues& self, frame* f) {
    return self.hunts.robbed() >= 0 && f->priority <= 0 && self.hunts.sizes().all_small() &&
           !slot(self.hunts.robbed()).claim.is_made() &&
           push_to_worker(self, ready_task(f), self.hunts.robbed()) != routing::stays;
  }

  // Sends what became ready where it belongs; returns one task to run next if asked to keep one. The last of the list,
  // and the others in that order: of one version's readers the oldest runs first and the next one is on top of the
  // deque, so rows are finished before what depends on them is begun.
  frame* accept_ready(slot_queues& self, flow::ready_list&, bool keep_one);
  // Of short tasks caches lose nothing that would be worth a look.
  static bool may_have_cooled(const frame& f) { return !f.ops->is_short() && !f.has_no_data(); }
  // Of a task of which that is so, and which a worker would run next although what it reads has left that one's cache,
  // and the next one in its queues: the one with older data. The other waits behind all that it has (record 37).
  frame* oldest_data_first(slot_queues& self, frame* next);
  // A task has run, and what it wrote is about to be published: whoever reads that may ask how long ago that was.
  void has_run(const slot_queues& self, frame* f) const {
    f->pending.store(frame::ran_as(self.ran_by, self.finished.read()), std::memory_order_relaxed);
  }

  // A worker's own queues, most urgent first. Null if they are empty.
  frame* take_own(slot_queues& self);
  // What the thread of the program that has the worker's place has made itself, the most urgent first, and the newest
  // of those. The last of them, of which others may take several at once, go into the place's queue.
  frame* take_own_of_guest(slot_queues& guest, slot_queues& place);
  // What it finds without a search; see thief::steal_again.
  frame* take_at_hand(slot_queues& self) {
    if (frame* f = take_own(self)) return f;
    return counted(self, self.hunts.steal_again(*self.sees));
  }
  // See thief.hpp; by the time that the engine tells.
  frame* steal(slot_queues& self, thief::reach how, std::uint64_t now_ns) {
    self.bell_before_look = self.bell_says();
    frame* const f = counted(self, self.hunts.steal(*self.sees, how, {now_ns, self.node}));
    if (const int w = self.hunts.take_wakes(); w >= 0) sleep.wake(w);
    return f;
  }
  decision step(slot_queues& self, std::uint64_t now_ns);
  bool any_work_for(slot_queues& self, thief::counting what, std::uint64_t now_ns, bool with_left = true) {
    return self.hunts.any_work(*self.sees, what, with_left, {now_ns, self.node});
  }
  bool any_work_in(slot_queues& self, int& place, std::uint64_t now_ns) {
    return self.hunts.any_work_in(*self.sees, place, {now_ns, self.node});
  }
  int places_to_look() const { return static_cast<int>(nodes_) + slot_count(); }
  // A worker's own queues are empty; it begins to look elsewhere.
  void starts_to_steal(slot_queues& self) {
    if (charges_) offers_.idle(self.index);
    self.beside.ends();
    self.hunts.starts_to_search();
    self.searching.store(true, std::memory_order_relaxed);
  }
  // It was sent more than it takes now, perhaps.
  void stops_stealing(slot_queues& self) {
    if (charges_ && self.has_tasks()) offers_.offer(self.index);
    self.hunts.stops_searching();
    self.searching.store(false, std::memory_order_relaxed);
  }
  // Of workers that rest: who dozes need not be woken for what it would leave alone, and beside who watches workers
  // whose tasks are small wake nobody.
  void begins_to_rest(slot_queues& self, decision::kind how) {
    self.rests.store(true, std::memory_order_relaxed);
    if (how != decision::kind::sleep) resting(how).fetch_add(1, std::memory_order_relaxed);
  }
  void has_rested(slot_queues& self, decision::kind how) {
    self.rests.store(false, std::memory_order_relaxed);
    if (how != decision::kind::sleep) resting(how).fetch_sub(1, std::memory_order_relaxed);
    // A publisher that still saw us dozing published before we look again.
    if (how == decision::kind::doze) atomic_fence(std::memory_order_seq_cst);
    self.hunts.has_rested();
  }
  // Whether a window that is due is to be planned by this worker, and not by one that is looking at this moment, too,
  // and nearer to the tasks (record 29 says what that is worth).
  bool is_near_window(const slot_queues& self);
  // By a worker between `begin_ns` and `end_ns`, when it ran a task, one of `running` on its stack: whether others are
  // idle, and why. `more_to_come`: it knows of others that wait for that one. Rare looks, for statistics.
  void look_at_idle(slot_queues& self, std::uint32_t running, bool more_to_come, std::uint64_t begin_ns,
                    std::uint64_t end_ns) const;
  // A worker's own thread goes on: no thread of the program has its place any more.
  void has_own_place(const slot_queues& self);
  // For others than whom they belong to.
  bool any_in(const slot_queues& its) const {
    return !its.normal.empty() || !its.pushed.empty() ||
           (urgent_any_.load(std::memory_order_relaxed) && !(its.urgent.empty() && its.pushed_urgent.empty()));
  }
  bool all_queues_empty() const;
  // Tasks that no worker of another node may run.
  bool anything_required_of(const slot_queues& self) const {
    return requires_any_.load(std::memory_order_relaxed) && self.node >= 0 &&
           !required_[static_cast<std::size_t>(self.node)].empty();
  }
  // Whether something waits that is run before what a worker has at hand: what is urgent, and what nobody else may run.
  // By turns with what that has made ready, or all that make data would run before those that use them.
  bool something_comes_first(slot_queues& self) const {
    return !self.nothing_urgent() || (requires_any_.load(std::memory_order_relaxed) && required_comes_first(self));
  }
  // Under queues::nodes: whether this worker's node has a task that comes before one of this rank.
  bool anything_waits_before(const slot_queues& self, int rank) const {
    return containers_ != nullptr && self.node >= 0 &&
           containers_[static_cast<std::size_t>(self.node)].anything_before(rank);
  }
  // Whether there are tasks that this worker alone was told of.
  bool anything_sent_to(const slot_queues& self) const;

  // What a worker sees from here on, and who hears of its decisions. While it is quiet.
  std::unique_ptr<surroundings> let_see(int worker, std::unique_ptr<surroundings> instead, witness* w) {
    slot(worker).seen_by = w;
    return std::exchange(slot(worker).sees, std::move(instead));
  }

  sleep_control<> sleep;

  static constexpr int max_guests = 1024;
  static constexpr int most_guest_slots = max_guests + 1;  // one is not a thread's own: engine::slot_to_release

 private:
  class view;
  pace pace_of(const slot_queues& other) const;
  routing route_elsewhere(slot_queues& self, frame*);
  bool is_left_to_others(slot_queues& self, const frame*) const;
  routing send(slot_queues& self, frame*, frame* creator);
  // What was taken of a thread of the program, if `by` is to run it; null: it is where it belongs.
  frame* placed(slot_queues& by, ready_task t) {
    if (!t.is_to_be_placed()) return t.task();
    const routing r = send(by, t.task(), nullptr);
    if (r == routing::sent) published(by);  // while it was in nobody's queue others may have fallen asleep
    return r == routing::stays ? t.task() : nullptr;
  }
  void note_hint(frame*, const policy::wish&, int here, const flow::whereabouts&) const;
  policy::wish place(const policy::asker&, frame*);
  policy::wish place_by_user_memory(const policy::asker&, frame*);
  policy::wish wished(const policy::asker&, frame*, const flow::user_places*);
  std::vector<std::vector<int>> victims_as_asked();
  routing push_to_node(slot_queues& self, frame*, int node);
  std::uint32_t age_of_data(const slot_queues& self, frame*) const;
  bool has_cooled(std::uint32_t age) const;
  void push_onto(deque<ready_task>& queue, slot_queues& self, ready_task t) noexcept {
    try {
      if (t.hint().bytes() == 0) self.has_news = true;
      queue.push(t);
    } catch (const std::bad_alloc&) {
      central_.push(t.task());
    }
  }
  void push_behind(slot_queues& self, frame*) noexcept;
  void push_released(slot_queues& self, frame*) noexcept;
  frame* take_last_of_guest(slot_queues& guest, slot_queues& place);
  frame* take_shared(slot_queues& self);
  frame* take_required(slot_queues& self);
  bool required_comes_first(slot_queues& self) const;
  // Before it is pushed: so whoever is to see the task sees this.
  void note_urgent() {
    if (!urgent_any_.load(std::memory_order_relaxed)) urgent_any_.store(true, std::memory_order_relaxed);
  }
  bool tell_of_window() {
    if (windows_->is_news()) sleep.wake_any();
    return true;
  }
  void keep_back(flow::ready_list&);
  void push_to_initial(slot_queues& self, frame*, int node, bool first);
  routing push_to_worker(slot_queues& self, ready_task, int worker);
  bool wakes_mate_of(int worker);
  bool wake_one_of_node(int node);
  void push_to_container(slot_queues& self, frame*);
  int container_for(slot_queues& self, int wished_node);
  // Of those who sleep all look again by themselves, and none would come for this.
  bool only_dozers_sleep() const { return sleep.sleeping() <= dozing_.load(std::memory_order_relaxed); }
  atomic<int>& resting(decision::kind how) { return how == decision::kind::doze ? dozing_ : watching_; }
  bool node_holds_tasks(int node) const;
  std::unique_ptr<slot_queues> make_slot(int index, int node);
  static frame* counted(slot_queues& self, frame* f) {
    if (f != nullptr)
      if (const int c = self.hunts.take_theft(); c >= 0) self.steals[static_cast<std::size_t>(c)].add(1);
    return f;
  }
  idle_reason why_others_are_idle(const slot_queues& self, std::uint32_t running, bool more_to_come) const;
  bool anything_cheap_beside(const slot_queues& self) const;
  bool anything_costly_beside(const slot_queues& self) const;
  std::int64_t outstanding() const;

  const machine::description& machine_;
  neighbourhood near_;
  const std::size_t nodes_;
  const policy_machine seen_;
  const place::chosen policy_;
  std::unique_ptr<place::windows> windows_;
  atomic<bool> said_{false};  // that an answer of the policy makes no sense
  atomic<bool> requires_any_{false};  // there has been a task that requires a node
  atomic<bool> urgent_any_{false};    // there has been one of high priority
  const bool routes_all_;  // not only tasks that require a node
  const bool charges_;     // tasks are placed, and thieves of other nodes weigh what it costs to take them
  const move_costs costs_;
  const hunting_ground ground_;
  std::optional<place::data_balance> balance_;  // none: data stay where they are
  std::uint64_t (*clock_ns_)() = nullptr;
  memory::regions* user_memory_ = nullptr;  // null: one node, or nobody keeps where it lies
  std::vector<atomic<slot_queues*>> slots_;
  atomic<int> slot_count_{0};
  atomic<int> dozing_{0};    // of those asleep: how many look again by themselves
  atomic<int> watching_{0};  // of those asleep: how many leave small tasks to others
  offer_board offers_;
  locked_queue central_;  // under queues::central, and of what other queues have no memory for
  std::unique_ptr<node_queue[]> containers_;  // by node, under queues::nodes
  std::vector<locked_queue> required_;  // by node
  initial_tasks_of_nodes initial_;
};

}  // namespace weir::sched
