// Rounds of looking at others, what it is worth to take from another node, and when to look again.
#include "sched/thief.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir::sched {

// Of a queue on another node.
class thief::worth final : public judgement {
 public:
  worth(const thief& of, const sight& seen, moment at) : of_(of), seen_(seen), at_(at) {}
  bool takes(task_hint hint, std::size_t before) const override {
    const bool does = of_.pays(seen_, hint, before, at_);
    refused_ |= !does;
    last_ = hint;
    return does;
  }
  bool refused() const { return refused_; }
  task_hint last() const { return last_; }  // what was asked about: if anything was taken, that

 private:
  mutable bool refused_ = false;
  mutable task_hint last_;
  const thief& of_;
  const sight seen_;
  const moment at_;
};

thief::thief(const hunting_ground& ground, int self)
    : ground_(&ground),
      self_(self),
      random_(static_cast<std::uint64_t>(self) + 1),
      sizes_(self < ground.near.workers() ? static_cast<std::size_t>(ground.near.workers()) : 0, ground.tuned),
      seen_(self < ground.near.workers() && ground.charges ? static_cast<std::size_t>(ground.near.workers()) : 0) {}

// ---------------------------------------------------------------- steps

// Who leaves small tasks to others disturbs them by looking, and has no use for being fast: it looks rarely, and then
// everywhere.
void thief::starts_to_search() {
  idle_since_ns_ = 0;
  everywhere_ = false;
  round_ = is_small() ? rounds_at_least() - 1 : 0;
  spin_ns_ = is_small() ? 0 : ground_->spin_ns;
  spins_until_ns_ = 0;
}

void thief::starts_anew() {
  round_ = 0;
  spin_ns_ = ground_->spin_ns;
  spins_until_ns_ = 0;
}

void thief::has_rested() {
  everywhere_ = true;
  round_ = std::max(1, rounds_at_least() + 1 - (is_small() ? 1 : static_cast<int>(tuned().rounds_after_waking)));
  spin_ns_ = 0;
}

decision thief::step(surroundings& around, moment at) {
  if (frame* f = around.take_own()) return {decision::kind::run, f};
  const reach how = everywhere_ ? reach::all : is_small() ? reach::far : reach_in_round(round_);
  everywhere_ = false;
  if (frame* f = steal(around, how, at)) return {decision::kind::run, f, 0, take_wakes()};
  decision d{decision::kind::look_again};
  if (round_++ >= rounds_at_least() && !spins(at.now_ns)) d = rest(around, at);
  d.wakes = take_wakes();
  return d;
}

bool thief::spins(std::uint64_t now_ns) {
  if (spin_ns_ == 0) return false;
  if (spins_until_ns_ == 0) spins_until_ns_ = now_ns + spin_ns_;
  return now_ns < spins_until_ns_;
}

decision thief::rest(const surroundings& around, moment at) {
  if (any_small_tasks_left(around, at))
    return {decision::kind::watch, nullptr, at.now_ns + static_cast<std::uint64_t>(tuned().watch_again_ns)};
  if (const std::uint64_t then = next_theft_ns(around, at); then != never)
    return {decision::kind::doze, nullptr, then};
  return {decision::kind::sleep};
}

// All there is are tasks that this worker leaves to others for a while.
bool thief::any_small_tasks_left(const surroundings& around, moment at) {
  return is_small() && !any_work(around, counting::worth_it, false, at) &&
         any_work(around, counting::worth_it, true, at);
}

// ---------------------------------------------------------------- what it is worth

// Where a place changes hands two threads' clocks may differ a little.
std::uint64_t thief::since_idle(moment at) {
  if (idle_since_ns_ == 0) idle_since_ns_ = at.now_ns;
  return std::max(at.now_ns, idle_since_ns_);
}

thief::sight& thief::look_at(const surroundings& around, int worker, moment at) {
  const int node = ground_->near.node_of(worker);
  sight& s = seen_[static_cast<std::size_t>(worker)];
  const std::uint64_t finished = around.finished(worker);
  const bool first = s.seen_ns < idle_since_ns_ || s.seen_ns > at.now_ns;
  if (first || s.finished != finished) {
    s.finished = finished;
    s.since_ns = at.now_ns;
  }
  // What it was idle for beside that in vain, before it found something to do, still counts.
  if (first) {
    s.idle_from_ns += at.now_ns - s.seen_ns;
    s.passed_on = false;
  }
  if (!(around.has_tasks(worker) || around.node_holds_tasks(node))) {
    s.idle_from_ns = at.now_ns;
    s.passed_on = false;
  }
  s.seen_ns = at.now_ns;
  s.node = node;
  s.comes_back = around.holds_as_much(at.node, node);
  return s;
}

// Publishers rely on who searches. One that leaves alone what it sees tells who is nearer to that, and sleeps: for
// that one it may be worth it. And so on, until the nearest knows. Workers of that node are told as long as there are
// any, for they take what they find.
void thief::pass_on(const surroundings& around, sight& seen, moment at) {
  if (wakes_ >= 0) return;
  const neighbourhood& near = ground_->near;
  const auto ns_per_byte = [&](int node) { return ground_->costs.ns_per_byte(seen.node, node); };
  const auto is_told = [&](int node) {
    for (const int w : near.workers_of(node))
      if (around.rests(w)) {
        wakes_ = w;
        return true;
      }
    return false;
  };
  if (is_told(seen.node) || std::exchange(seen.passed_on, true)) return;
  for (const int node : near.others(seen.node)) {
    if (ns_per_byte(node) >= ns_per_byte(at.node)) continue;
    if (is_told(node)) return;
  }
}

bool thief::pays(const sight& of, task_hint hint, std::size_t before, moment at) const {
  if (hint.bytes() == 0) return true;
  const double cost = cost_ns(hint, of, at.node), idle = static_cast<double>(at.now_ns - of.idle_from_ns);
  const double wait = static_cast<double>(std::max(before * hint.ns(), at.now_ns - of.since_ns));
  return idle * wait >= cost * cost;
}

// It has been idle for this one, and no longer for those that will come.
void thief::has_paid(sight& of, task_hint hint, moment at) {
  const auto cost = static_cast<std::uint64_t>(std::min(cost_ns(hint, of, at.node), 1e18));
  of.idle_from_ns += std::min(cost, at.now_ns - of.idle_from_ns);
}

// If that node's worker gets on as it does, or not at all.
std::uint64_t thief::pays_at_ns(const sight& of, task_hint hint, std::size_t before, moment at) const {
  if (hint.bytes() == 0) return at.now_ns;
  const double cost = cost_ns(hint, of, at.node), wait = static_cast<double>(before * hint.ns());
  const auto [first, last] = std::minmax(of.since_ns, of.idle_from_ns);  // both go on: their product is to be cost^2
  const auto apart = static_cast<double>(last - first);
  const double stuck_ns = (std::sqrt(apart * apart + 4 * cost * cost) - apart) / 2;
  const std::uint64_t if_stuck = last + static_cast<std::uint64_t>(stuck_ns);
  if (wait <= 0) return if_stuck;
  return std::min(if_stuck, of.idle_from_ns + static_cast<std::uint64_t>(std::min(cost * cost / wait, 1e18)));
}

bool thief::pays_any(const first_tasks& all, const sight& of, moment at) const {
  return std::any_of(all.begin(), all.end(), [&](const auto& t) { return pays(of, t.hint, t.before, at); });
}

// When it has been idle beside that for twice as long. Meanwhile queues grow, and what is first in them changes, of
// which nobody tells. To look more often is worth nothing (decision 25).
std::uint64_t thief::look_again_at_ns(const sight& of, moment at) const {
  return at.now_ns + (at.now_ns - std::max(of.idle_from_ns, idle_since_ns_));
}

std::uint64_t thief::first_pays_at_ns(const first_tasks& all, const sight& of, moment at) const {
  std::uint64_t first = never;
  for (const auto& t : all) first = std::min(first, pays_at_ns(of, t.hint, t.before, at));
  return first;
}

bool thief::any_work(const surroundings& around, counting what, bool with_left, moment at) {
  if (around.anything_shared() || around.anything_required_here()) return true;
  // Who counts all may have lent its place meanwhile, and this is another thread's.
  const bool weighs = ground_->charges && what == counting::worth_it;
  const neighbourhood& near = ground_->near;
  for (int node = 0; node < near.nodes(); node++)
    if (any_in_containers(around, node, weighs, at)) return true;
  const int end = around.slots();
  for (int i = with_left ? 0 : near.workers(); i < end; i++)
    if ((with_left || !executes_elsewhere(around.place_of(i))) && any_in_slot(around, i, weighs, at)) return true;
  return false;
}

bool thief::any_work_in(const surroundings& around, int& place, moment at) {
  if (around.anything_shared() || around.anything_required_here()) return true;
  const int nodes = ground_->near.nodes(), here = place++;
  if (here < nodes) return any_in_containers(around, here, ground_->charges, at);
  const bool any = here - nodes < around.slots() && any_in_slot(around, here - nodes, ground_->charges, at);
  if (place - nodes >= around.slots()) place = 0;
  return any;
}

bool thief::any_in_containers(const surroundings& around, int node, bool weighs, moment at) {
  if (!around.node_holds_tasks(node)) return false;
  if (!weighs || node == at.node) return true;
  return pays_to_take(around, around.first_of_node(node), ground_->near.workers_of(node).front(), at);
}

bool thief::any_in_slot(const surroundings& around, int slot, bool weighs, moment at) {
  if (!around.has_tasks(slot)) return false;
  if (!weighs || slot >= ground_->near.workers() || !far_from(at.node, slot)) return true;
  return pays_to_take(around, around.first_of(slot), slot, at);
}

// A worker that is not idle takes nothing that costs anything: no time has passed for it.
bool thief::pays_to_take(const surroundings& around, const first_tasks& all, int worker, moment at) {
  if (idle_since_ns_ == 0) return pays_any(all, {}, {0, at.node});
  return pays_any(all, look_at(around, worker, at), at);
}

std::uint64_t thief::next_theft_ns(const surroundings& around, moment at) {
  if (!ground_->charges) return never;
  std::uint64_t next = never;
  at.now_ns = since_idle(at);
  const neighbourhood& near = ground_->near;
  const auto look = [&](const first_tasks& all, const sight& of) {
    const std::uint64_t then = std::min(first_pays_at_ns(all, of, at), look_again_at_ns(of, at));
    if (all.begin() != all.end()) next = std::min(next, then);
  };
  for (const int node : near.others(at.node)) {
    if (around.node_holds_tasks(node))
      look(around.first_of_node(node), look_at(around, near.workers_of(node).front(), at));
    for (const int w : near.workers_of(node)) look(around.first_of(w), look_at(around, w, at));
  }
  return next;
}

// ---------------------------------------------------------------- rounds

frame* thief::steal_again(surroundings& around) {
  if (last_victim_ < 0) return nullptr;
  if (stolen_again_++ == tuned().most_stolen_again) {
    last_victim_ = -1;
    return nullptr;
  }
  const bool executes = last_victim_ < ground_->near.workers() || around.place_of(last_victim_) >= 0;
  if (executes && is_small()) return nullptr;
  frame* const f = around.take_from(last_victim_);
  if (f == nullptr) {
    last_victim_ = -1;
    return nullptr;
  }
  if (last_victim_ < ground_->near.workers()) theft_ = 0;
  stolen_from_ = last_victim_;
  return f;
}

frame* thief::steal(surroundings& around, reach how, moment at) {
  if (frame* f = around.take_shared()) return f;
  if (ground_->containers && how != reach::near)
    if (frame* f = steal_from_containers(around, at)) return f;
  const neighbourhood::levels& levels = ground_->near.victims(self_, at.node);
  const std::size_t end = how != reach::near && !ground_->charges ? levels.size() : 1;
  const std::uint64_t watch_at_ns = is_small() ? at.now_ns : 0;
  for (std::size_t level = 0; level < end; level++) {
    if (frame* f = steal_from_level(around, levels[level], watch_at_ns, at)) return f;
    // The program's own threads belong to no node: after the neighbours, before the rest.
    if (level == 0)
      if (frame* f = steal_from_guests(around, watch_at_ns)) return f;
  }
  return ground_->charges ? steal_far(around, how, levels, watch_at_ns, at) : nullptr;
}

frame* thief::has_robbed(frame* f, int victim, int robbed, int distance_class) {
  const neighbourhood& near = ground_->near;
  last_victim_ = distance_class <= 0 ? victim : -1;
  stolen_again_ = 0;
  stolen_from_ = victim;
  robbed_ = robbed;
  if (victim < near.workers()) theft_ = distance_class;
  return f;
}

// `watch_at_ns`: 0, or all recent tasks of this worker were small.
bool thief::leaves_alone(const surroundings& around, int victim, std::uint64_t watch_at_ns) {
  if (watch_at_ns == 0) return false;
  const auto v = static_cast<std::size_t>(victim);
  if (sizes_.leave_unseen(v, watch_at_ns)) return true;
  return !around.has_tasks(victim) || gets_on(around, victim, watch_at_ns);
}

// Through small tasks. The line that says so is another worker's, and read no more often than it has to be.
bool thief::gets_on(const surroundings& around, int worker, std::uint64_t watch_at_ns) {
  const auto w = static_cast<std::size_t>(worker);
  return sizes_.leave(w, sizes_.looks_at(w, watch_at_ns) ? pace_near(around, worker) : pace{}, watch_at_ns);
}

// How long that took is only of interest of neighbours.
pace thief::pace_near(const surroundings& around, int worker) const {
  const pace its = around.pace_of(worker);
  const neighbourhood& near = ground_->near;
  return near.node_of(worker) == near.node_of(self_) ? its : pace{its.progress};
}

frame* thief::steal_from_level(surroundings& around, const std::vector<int>& level, std::uint64_t watch_at_ns,
                               moment at) {
  const std::size_t n = level.size();
  if (n == 0) return nullptr;
  std::size_t i = n == 1 ? 0 : random_.below(static_cast<std::uint32_t>(n));
  for (std::size_t tried = 0; tried < n; tried++, i = i + 1 == n ? 0 : i + 1) {
    const int victim = level[i];
    if (around.anything_sent()) return nullptr;  // on a large machine a round takes longer than a task
    if (victim == self_ || leaves_alone(around, victim, watch_at_ns)) continue;
    if (frame* f = around.take_from(victim)) {
      if (sizes_.times_line(at.now_ns))
        sizes_.note_line(static_cast<std::size_t>(victim), pace_near(around, victim), at.now_ns);
      const bool gets_on = watch_at_ns == 0 || sizes_.fast();  // who does not is not given more
      return has_robbed(f, victim, gets_on ? victim : -1,
                        ground_->near.distance_class(at.node, ground_->near.node_of(victim)));
    }
  }
  return nullptr;
}

// One that has a worker's place gets on as that one does.
frame* thief::steal_from_guests(surroundings& around, std::uint64_t watch_at_ns) {
  const int end = around.slots();
  for (int i = ground_->near.workers(); i < end; i++) {
    if (watch_at_ns != 0 && around.has_tasks(i)) {
      const int w = around.place_of(i);
      if (executes_elsewhere(w) && gets_on(around, w, watch_at_ns)) continue;
    }
    if (frame* f = around.take_from(i)) return has_robbed(f, i, -1, 0);
  }
  return nullptr;
}

// Rossignon et al., PDSEC 2013, section VI: a flexible affinity is a priority.
frame* thief::steal_from_containers(surroundings& around, moment at) {
  const neighbourhood& near = ground_->near;
  if (ground_->charges) at.now_ns = since_idle(at);
  for (const int node : near.others(at.node)) {
    if (around.anything_sent()) return nullptr;
    if (!around.node_holds_tasks(node)) continue;
    const int first = near.workers_of(node).front();  // it stands for its node
    frame* const f =
        ground_->charges ? take_from_container(around, node, at) : around.take_from_container(node, nullptr);
    if (f == nullptr) continue;
    theft_ = near.distance_class(at.node, node);
    stolen_from_ = first;
    return f;
  }
  return nullptr;
}

frame* thief::take_from_container(surroundings& around, int node, moment at) {
  sight& seen = look_at(around, ground_->near.workers_of(node).front(), at);
  const worth it(*this, seen, at);
  frame* const f = around.take_from_container(node, &it);
  if (f != nullptr) has_paid(seen, it.last(), at);
  else if (it.refused()) pass_on(around, seen, at);
  return f;
}

frame* thief::steal_far(surroundings& around, reach how, const neighbourhood::levels& levels,
                        std::uint64_t watch_at_ns, moment at) {
  at.now_ns = since_idle(at);
  for (std::size_t level = 1; level < levels.size(); level++)
    if (frame* f = steal_from_far_level(around, levels[level], how, watch_at_ns, at)) return f;
  return steal_initial(around, at);
}

frame* thief::steal_from_far_level(surroundings& around, const std::vector<int>& level, reach how,
                                   std::uint64_t watch_at_ns, moment at) {
  const std::size_t n = level.size();
  if (n == 0) return nullptr;
  std::size_t i = random_.below(static_cast<std::uint32_t>(n));
  for (std::size_t tried = 0; tried < n; tried++, i = i + 1 == n ? 0 : i + 1) {
    const int victim = level[i];
    if (around.anything_sent()) return nullptr;
    if ((how != reach::all && !around.offers(victim)) || leaves_alone(around, victim, watch_at_ns)) continue;
    sight& seen = look_at(around, victim, at);
    const worth it(*this, seen, at);
    if (frame* f = around.take_from(victim, it)) {
      has_paid(seen, it.last(), at);
      return has_robbed(f, victim, -1, ground_->near.distance_class(at.node, ground_->near.node_of(victim)));
    }
    if (it.refused()) pass_on(around, seen, at);
  }
  return nullptr;
}

frame* thief::steal_initial(surroundings& around, moment at) {
  const neighbourhood& near = ground_->near;
  for (const int node : near.others(at.node)) {
    if (around.anything_sent()) return nullptr;
    if (!around.node_holds_tasks(node)) continue;
    sight& seen = look_at(around, near.workers_of(node).front(), at);
    const worth it(*this, seen, at);
    if (frame* f = around.take_initial(node, it)) {
      has_paid(seen, it.last(), at);
      return f;
    }
    if (it.refused()) pass_on(around, seen, at);
  }
  return nullptr;
}

}  // namespace weir::sched
