// A worker that has nothing of its own to do: where it looks for a task, which it takes, and when it looks again. It
// decides, and never waits: whoever carries the decisions out (src/engine) brings the time and does the waiting.
//
// An idle worker takes a task from another node when the time for which it has been idle beside that node's tasks, and
// the task's wait there, have grown to what taking it costs: their geometric mean
// (docs/decisions/0022-balance-by-one-estimate.md). Idle time of one search that has bought nothing counts in the next.
// Where data move with their tasks it costs twice as much to take them to a node that has no fewer of them.
#pragma once

#include "base/base.hpp"
#include "sched/move_costs.hpp"
#include "sched/neighbourhood.hpp"
#include "sched/small_tasks.hpp"
#include "sched/surroundings.hpp"
#include "sched/tuning.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace weir::sched {

// When, and from which node: a thread's may change where workers are not bound.
struct moment {
  std::uint64_t now_ns;
  int node;
};

// What a worker is to do.
struct decision {
  enum class kind : std::uint8_t {
    run,         // this task
    look_again,  // soon, and stay awake meanwhile
    doze,        // and look again at a certain time, or when something comes that is worth more
    watch,       // the same, beside small tasks that are left to others
    sleep,       // until something is published
  };
  kind what;
  frame* task = nullptr;    // run
  std::uint64_t at_ns = 0;  // doze, watch
  int wakes = -1;           // a worker that rests, nearer to what this one leaves alone; -1: none

  static constexpr std::uint64_t never_ns = ~std::uint64_t{0};
  // Of one to rest: at this time at the latest it looks again.
  decision until(std::uint64_t ns) const {
    decision d = *this;
    if (ns == never_ns) return d;
    d.at_ns = what == kind::sleep ? ns : std::min(at_ns, ns);
    if (what == kind::sleep) d.what = kind::doze;
    return d;
  }
};

// What all thieves of a runtime have in common.
struct hunting_ground {
  const neighbourhood& near;
  const move_costs& costs;
  bool charges;     // tasks are placed, and thieves of other nodes weigh what it costs to take them
  bool containers;  // tasks wait in a queue of each node
  std::uint64_t spin_ns;
  tuning tuned;
};

// Used by one thread at a time. A copy decides as the original would.
class thief {
 public:
  // `self`: its slot.
  thief(const hunting_ground&, int self);

  // ---- Decisions.

  // How far a round of looking goes: not beyond the own node; to those who have something to offer; to all.
  enum class reach : std::uint8_t { near, far, all };

  // One of who gave the last task, if that was a neighbour or a thread of the program: who has one to spare mostly has
  // several. Small tasks only of who executes none. Not for ever, for others have tasks, too.
  frame* steal_again(surroundings&);
  // One look at others, nearest first: workers of the own node, threads of the program, then other nodes. Where tasks
  // are placed, what it is worth to take there; else whatever there is, unless the round is to stay near.
  frame* steal(surroundings&, reach, moment);

  // The own queues are empty: a search begins. Then one step after the other until one is to run a task.
  void starts_to_search();
  decision step(surroundings&, moment);
  // It has slept, dozed or watched.
  void has_rested();
  // It has done something else meanwhile, and what it waits for will come soon, if at all.
  void starts_anew();
  void stops_searching() { idle_since_ns_ = 0; }
  int round() const { return round_; }  // of this search

  // What counts: what a step would take now, or everything that waits anywhere. `with_left`: also what it leaves alone
  // because the tasks of those who have it are small.
  enum class counting : std::uint8_t { worth_it, all };
  bool any_work(const surroundings&, counting, bool with_left, moment);
  // The same, of what is worth it, in one place after the other: `place` from 0, and 0 again after the last one.
  bool any_work_in(const surroundings&, int& place, moment);
  // When to look again at what waits on other nodes and is not worth it yet. never: nothing waits there.
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::uint64_t next_theft_ns(const surroundings&, moment);

  // ---- What it remembers, and who else wants to know.

  small_tasks& sizes() { return sizes_; }  // of the tasks that it runs
  const small_tasks& sizes() const { return sizes_; }
  // Slot of the task that it stole last; whoever looks (traces) sets it back to -1.
  int& stolen_from() { return stolen_from_; }
  // The distance class of the last theft from a worker; -1: it is counted, or there was none.
  int take_theft() { return std::exchange(theft_, -1); }
  // Whom to wake, nearer to what it has left alone; -1: nobody. Taken by who does.
  int take_wakes() { return std::exchange(wakes_, -1); }
  // The worker that it took its last task from, and which gets on; -1: none.
  int robbed() const { return robbed_; }
  void creates_tasks() { robbed_ = -1; }

  reach reach_in_round(int round) const {
    const std::int64_t n = tuned().rounds_per_far_look;
    return round % n == n - 1 ? reach::far : reach::near;
  }
  const tuning& tuned() const { return ground_->tuned; }

 private:
  // What it has seen of a worker on another node.
  struct sight {
    std::uint64_t finished = 0, since_ns = 0;   // what that has finished, and when this was new
    std::uint64_t seen_ns = 0;                  // when this was
    std::uint64_t idle_from_ns = 0;             // it has been idle beside its tasks as long as if since then
    int node = 0;
    bool passed_on = false;  // somebody nearer has been told of that
    bool comes_back = false;  // what is taken from there leaves memory less even than it is
  };
  class worth;

  bool is_small() const { return sizes_.all_small(); }
  int rounds_at_least() const { return static_cast<int>(tuned().rounds_at_least); }
  bool spins(std::uint64_t now_ns);
  decision rest(const surroundings&, moment);
  std::uint64_t since_idle(moment);
  bool far_from(int node, int worker) const { return ground_->charges && ground_->near.node_of(worker) != node; }

  sight& look_at(const surroundings&, int worker, moment);
  void pass_on(const surroundings&, sight&, moment);
  // There and back, if that node has no more than its share.
  double cost_ns(task_hint hint, const sight& of, int node) const {
    return (of.comes_back ? 2 : 1) * ground_->costs.of(hint, of.node, node);
  }
  void has_paid(sight&, task_hint, moment);
  bool pays(const sight&, task_hint, std::size_t before, moment) const;
  std::uint64_t pays_at_ns(const sight&, task_hint, std::size_t before, moment) const;
  std::uint64_t look_again_at_ns(const sight&, moment) const;
  bool pays_any(const first_tasks&, const sight&, moment) const;
  bool pays_to_take(const surroundings&, const first_tasks&, int worker, moment);
  bool any_in_containers(const surroundings&, int node, bool weighs, moment);
  bool any_in_slot(const surroundings&, int slot, bool weighs, moment);
  std::uint64_t first_pays_at_ns(const first_tasks&, const sight&, moment) const;

  bool leaves_alone(const surroundings&, int victim, std::uint64_t watch_at_ns);
  bool gets_on(const surroundings&, int worker, std::uint64_t watch_at_ns);
  pace pace_near(const surroundings&, int worker) const;
  bool executes_elsewhere(int place) const { return place >= 0 && place != self_; }
  frame* has_robbed(frame*, int victim, int robbed, int distance_class);
  frame* steal_from_level(surroundings&, const std::vector<int>& level, std::uint64_t watch_at_ns, moment);
  frame* steal_from_guests(surroundings&, std::uint64_t watch_at_ns);
  frame* steal_from_containers(surroundings&, moment);
  frame* take_from_container(surroundings&, int node, moment);
  frame* steal_far(surroundings&, reach, const neighbourhood::levels&, std::uint64_t watch_at_ns, moment);
  frame* steal_from_far_level(surroundings&, const std::vector<int>& level, reach, std::uint64_t watch_at_ns, moment);
  frame* steal_initial(surroundings&, moment);
  bool any_small_tasks_left(const surroundings&, moment);

  const hunting_ground* ground_;
  int self_;
  rng random_;
  small_tasks sizes_;
  int last_victim_ = -1;           // slot of a neighbour or thread of the program that may have more; -1: none
  std::int64_t stolen_again_ = 0;  // from there, one after the other
  int stolen_from_ = -1;
  int robbed_ = -1;
  int theft_ = -1;
  int wakes_ = -1;
  std::uint64_t idle_since_ns_ = 0;  // 0: it is busy, or has not been told the time since
  std::vector<sight> seen_;  // by worker, of those on other nodes; seen before idle_since_ns_: nothing
  int round_ = 0;
  bool everywhere_ = false;  // the next round, whatever its number
  std::uint64_t spin_ns_ = 0, spins_until_ns_ = 0;  // how long, and until when; 0: it does not, or has not begun
};

}  // namespace weir::sched
