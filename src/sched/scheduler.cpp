// Queues, placement of ready tasks, and stealing in order of distance.
#include "sched/scheduler.hpp"

#include <weir/error.hpp>

#include <algorithm>
#include <mutex>
#include <string>

namespace weir::sched {

namespace {

// A task that goes to somebody else's queues says who sent it: for traces.
void note_sender(const slot_queues& self, frame* f) { f->pending.store(frame::sent_by(self.index), std::memory_order_relaxed); }

}  // namespace

void locked_queue::push(frame* f) {
  f->next = nullptr;
  std::lock_guard guard(lock_);
  list& l = f->priority > 0 ? urgent_ : normal_;
  (l.tail != nullptr ? l.tail->next : l.head) = f;
  l.tail = f;
  size_.store(size() + 1, std::memory_order_relaxed);
  note_first();
}

scheduler::scheduler(const machine::description& m, std::vector<int> worker_nodes, place::chosen p)
    : sleep(static_cast<int>(worker_nodes.size())),
      machine_(m),
      nodes_(m.nodes.size()),
      seen_(place::seen_by_policies(m, worker_nodes)),
      policy_(std::move(p)),
      routes_all_(nodes_ > 1 || policy_.discipline == policy::queues::central ||
                  policy_.discipline == policy::queues::nodes),
      charges_(nodes_ > 1 && policy_.places),
      costs_(seen_),
      worker_nodes_(std::move(worker_nodes)),
      node_has_worker_(nodes_, 0),
      workers_of_node_(nodes_),
      slots_(worker_nodes_.size() + most_guest_slots),
      offers_(static_cast<int>(worker_nodes_.size())),
      containers_(policy_.discipline == policy::queues::nodes ? std::make_unique<node_queue[]>(nodes_) : nullptr),
      required_(nodes_),
      initial_(nodes_) {
  for (int w = 0; w < worker_count(); w++) {
    const auto node = static_cast<std::size_t>(worker_nodes_[static_cast<std::size_t>(w)]);
    node_has_worker_[node] = 1;
    workers_of_node_[node].push_back(w);
  }
  slot_count_.store(worker_count(), std::memory_order_release);
  policy_.object->begin(seen_);
  order_victims();
  if (policy_.orders_victims) order_victims_as_asked();
}

scheduler::~scheduler() {
  for (int i = 0; i < slot_count(); i++) delete slots_[static_cast<std::size_t>(i)].load(std::memory_order_relaxed);
}

// Distances become classes 0, 1, 2, ...; for each node, workers by the class of their node.
void scheduler::order_victims() {
  const int nodes = static_cast<int>(nodes_);
  for (int a = 0; a < nodes; a++)
    for (int b = 0; b < nodes; b++) classes_.push_back(a == b ? 0 : machine_.distance_between(a, b));
  std::sort(classes_.begin(), classes_.end());
  classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
  // Machines with more distances than we count apart: the farthest ones share the last class.
  if (classes_.size() > max_distance_classes) classes_.resize(max_distance_classes);
  class_.resize(nodes_ * nodes_);
  for (int a = 0; a < nodes; a++)
    for (int b = 0; b < nodes; b++) {
      const double d = a == b ? 0 : machine_.distance_between(a, b);
      const auto it = std::lower_bound(classes_.begin(), classes_.end(), d);
      const auto index = it == classes_.end() ? classes_.size() - 1 : static_cast<std::size_t>(it - classes_.begin());
      class_[static_cast<std::size_t>(a) * nodes_ + static_cast<std::size_t>(b)] = static_cast<std::uint8_t>(index);
    }
  victims_.assign(nodes_, std::vector<std::vector<int>>(classes_.size()));
  for (int node = 0; node < nodes; node++)
    for (int w = 0; w < worker_count(); w++)
      victims_[static_cast<std::size_t>(node)][static_cast<std::size_t>(distance_class(node, worker_nodes_[static_cast<std::size_t>(w)]))].push_back(w);
  nodes_by_distance_.resize(nodes_);
  for (int from = 0; from < nodes; from++) {
    std::vector<int>& others = nodes_by_distance_[static_cast<std::size_t>(from)];
    for (int to = 0; to < nodes; to++)
      if (to != from && node_has_worker(to)) others.push_back(to);
    std::stable_sort(others.begin(), others.end(), [&](int a, int b) { return distance_class(from, a) < distance_class(from, b); });
  }
  if (!classes_.empty()) classes_[0] = 10;  // the node itself, in the firmware's scale
}

// Levels as in victims_: the own node's first, then one worker at a time.
void scheduler::order_victims_as_asked() {
  for (int w = 0; w < worker_count(); w++) {
    auto& levels = asked_victims_.emplace_back(1);
    for (const int victim : policy_.object->victims(w)) {
      if (victim < 0 || victim >= worker_count())
        throw configuration_error("policy " + policy_.name + ": victims(" + std::to_string(w) + ") names worker " +
                                  std::to_string(victim) + "; expected 0 to " + std::to_string(worker_count() - 1));
      if (node_of_worker(victim) == node_of_worker(w)) levels[0].push_back(victim);
      else levels.push_back({victim});
    }
  }
}

const std::vector<std::vector<int>>& scheduler::victims_of(const slot_queues& self) const {
  if (asked_victims_.empty() || self.index >= worker_count()) return victims_[static_cast<std::size_t>(self.node)];
  return asked_victims_[static_cast<std::size_t>(self.index)];
}

void scheduler::make_worker_slot(int worker) {
  const auto w = static_cast<std::size_t>(worker);
  auto queues = std::make_unique<slot_queues>(worker, worker_nodes_[w], worker_nodes_.size());
  if (charges_) queues->seen.resize(worker_nodes_.size());
  slots_[w].store(queues.release(), std::memory_order_release);
}

int scheduler::add_guest(int node) {
  const int index = slot_count_.load(std::memory_order_relaxed);
  if (static_cast<std::size_t>(index) >= slots_.size()) return -1;
  slots_[static_cast<std::size_t>(index)].store(new slot_queues(index, node, 0), std::memory_order_release);
  slot_count_.store(index + 1, std::memory_order_release);
  return index;
}

policy::wish scheduler::place(slot_queues& self, frame* f) {
  if (f->affinity >= 0) return f->affinity;
  if (!policy_.places || nodes_ < 2) return policy::here;
  return place::ask(*policy_.object, seen_, *f, {self.index, self.node, self.running}, said_);
}

bool scheduler::wake_one_of_node(int node) {
  for (int w : workers_of_node_[static_cast<std::size_t>(node)])
    if (sleep.wake(w)) return true;
  return false;
}

// For thieves: what costs more elsewhere. Not what gets memory where the task runs: what follows it will go there. But
// of a task that decides for others, all.
void scheduler::note_hint(frame* f, const policy::wish& w, int here) const {
  if (f->has_no_data()) return;
  const int at = w.node == policy::here ? here : w.node;
  std::uint64_t bytes = w.bytes == policy::wish::unknown ? 0 : w.bytes;
  const auto add = [&](std::uint64_t n, int node) { bytes += (node >= 0 && node == at) || w.initial ? n : 0; };
  if (w.bytes == policy::wish::unknown) flow::for_each_input(f, add);
  flow::for_each_output(f, add);
  f->hint = task_hint(bytes, f->ops->typical_ns.load(std::memory_order_relaxed)).bits();
}

bool scheduler::route_elsewhere(slot_queues& self, frame* f) {
  if (f->required) {
    note_sender(self, f);
    const int node = f->affinity;  // once it is pushed it may have run, and be gone
    required_[static_cast<std::size_t>(node)].push(f);
    wake_one_of_node(node);
    return true;
  }
  if (policy_.discipline == policy::queues::central) {
    central_.push(f);
    return true;
  }
  if (containers_ != nullptr) {
    push_to_container(self, f);
    return true;
  }
  if (nodes_ < 2) return false;
  const policy::wish wish = place(self, f);
  if (charges_) note_hint(f, wish, self.node);
  if (wish.initial) {
    note_sender(self, f);
    initial_[static_cast<std::size_t>(wish.node)].push(f);
    if (!wake_one_of_node(wish.node)) sleep.work_published(0);  // if that node's workers stay busy somebody has to see it
    return true;
  }
  // What a guest keeps is taken by whoever comes first, of whatever node.
  const bool stays = wish.node == policy::here || (wish.node == self.node && self.index < worker_count());
  return !stays && push_to_node(self, f, wish.node);
}

// Rossignon et al., PDSEC 2013, section VI: to the node of its affinity, else to the nodes in turn; or where the
// policy places it. published() finds somebody if all of that node are busy.
void scheduler::push_to_container(slot_queues& self, frame* f) {
  const policy::wish wish = place(self, f);
  if (charges_) note_hint(f, wish, self.node);
  const int node = container_for(self, wish.node);
  note_sender(self, f);
  containers_[static_cast<std::size_t>(node)].push(f, hint_of(f));
  atomic_fence(std::memory_order_seq_cst);
  if (sleep.sleeping() > 0) wake_one_of_node(node);
}

int scheduler::container_for(slot_queues& self, int wished) {
  if (wished == policy::here && charges_) wished = self.node;
  if (node_has_worker(wished)) return wished;
  if (wished >= 0) return nodes_by_distance_[static_cast<std::size_t>(wished)].front();
  const int first = node_of_worker(0);
  const auto& others = nodes_by_distance_[static_cast<std::size_t>(first)];
  const std::size_t turn = self.turns++ % (others.size() + 1);
  return turn == 0 ? first : others[turn - 1];
}

// Rossignon et al., PDSEC 2013, section VI: a flexible affinity is a priority.
frame* scheduler::take_from_far_containers(slot_queues& self) {
  const std::uint64_t now = charges_ ? idle_time_ns(self) + self.idle_since_ns : 0;
  for (int node : nodes_by_distance_[static_cast<std::size_t>(self.node)]) {
    node_queue& q = containers_[static_cast<std::size_t>(node)];
    frame* const f = charges_ && !q.empty() ? q.pop(worth_from(self, node, now)) : q.pop();
    if (f == nullptr) continue;
    self.steals[static_cast<std::size_t>(distance_class(self.node, node))].add(1);
    self.stolen_from = workers_of_node_[static_cast<std::size_t>(node)].front();  // it stands for its node
    return f;
  }
  return nullptr;
}

// Drebes et al., PACT 2016, section 2.3, Algorithm 1, lines 29-33: to the inbox of a random worker of that node.
bool scheduler::push_to_node(slot_queues& self, frame* f, int node) {
  const auto& workers = workers_of_node_[static_cast<std::size_t>(node)];
  if (workers.empty()) return false;
  if (!push_to_worker(
          self, ready_task(f, hint_of(f)),
          workers[workers.size() == 1 ? 0 : self.random.below(static_cast<std::uint32_t>(workers.size()))])) {
    self.pushes_refused.add(1);
    return false;
  }
  self.pushes.add(1);
  return true;
}

bool scheduler::push_to_worker(slot_queues& self, ready_task t, int target) {
  slot_queues& its = slot(target);
  note_sender(self, t.task());
  if (!(t.task()->priority > 0 ? its.pushed_urgent : its.pushed).try_push(t)) return false;
  if (t.hint().bytes() == 0) self.has_cheap_news = true;
  if (charges_) offers_.offer(target);
  // Orders the push before the look at who sleeps (src/sched/README.md, "publish against sleep").
  atomic_fence(std::memory_order_seq_cst);
  if (sleep.sleeping() > 0 && !sleep.wake(target)) {
    // It is busy: a mate of its node may take the task, and failing that anybody who has nothing to do.
    for (int w : workers_of_node_[static_cast<std::size_t>(node_of_worker(target))])
      if (sleep.wake(w)) return true;
  }
  return true;
}

frame* scheduler::take_own(slot_queues& self) {
  if (policy_.discipline == policy::queues::central) {
    if (frame* f = central_.pop()) return f;
  }
  if (containers_ != nullptr && self.node >= 0) {
    if (frame* f = required_[static_cast<std::size_t>(self.node)].pop()) return f;
    if (frame* f = containers_[static_cast<std::size_t>(self.node)].pop()) return f;
  }
  if (const ready_task t = self.urgent.pop()) return t.task();
  if (nodes_ > 1)
    if (const ready_task t = self.pushed_urgent.try_pop()) return t.task();
  if (const ready_task t = self.normal.pop()) return t.task();
  if (self.node >= 0) {
    if (frame* f = required_[static_cast<std::size_t>(self.node)].pop()) return f;
    if (nodes_ > 1)
      if (frame* f = initial_[static_cast<std::size_t>(self.node)].pop()) return f;
  }
  return self.pushed.try_pop().task();
}

// While the task just taken runs: mostly the thief's next one. Its lines are in the caches of its creator.
static void prefetch_frame(const void* f) {
  for (int line = 0; line < 3; line++) __builtin_prefetch(static_cast<const char*>(f) + 64 * line, 1);
}

frame* scheduler::steal_from(slot_queues& self, slot_queues& victim) {
  if (&victim == &self) return nullptr;
  if (!victim.urgent.empty())
    if (const auto stolen = victim.urgent.steal()) return stolen.item.task();
  if (!victim.pushed_urgent.empty())
    if (const ready_task t = victim.pushed_urgent.try_pop()) return t.task();
  if (!victim.normal.empty())
    if (const auto stolen = victim.normal.steal()) {
      prefetch_frame(stolen.next.task());
      return stolen.item.task();
    }
  return victim.pushed.empty() ? nullptr : victim.pushed.try_pop().task();
}

// An idle worker takes a task from another node when the time for which it has been idle beside that node's tasks, and
// the task's wait there, have grown to what taking it costs: their geometric mean
// (docs/decisions/0022-balance-by-one-estimate.md).
bool scheduler::pays(const slot_queues& self, const sight& of, task_hint hint, std::size_t before,
                     std::uint64_t now_ns) const {
  if (hint.bytes() == 0) return true;
  const double cost = costs_.of(hint, of.node, self.node), idle = static_cast<double>(now_ns - of.surplus_ns);
  const double wait = static_cast<double>(std::max(before * hint.ns(), now_ns - of.since_ns));
  return idle * wait >= cost * cost;
}

// If that node's worker gets on as it does, or not at all.
std::uint64_t scheduler::pays_at_ns(const slot_queues& self, const sight& of, task_hint hint, std::size_t before,
                                    std::uint64_t now_ns) const {
  if (hint.bytes() == 0) return now_ns;
  const double cost = costs_.of(hint, of.node, self.node), wait = static_cast<double>(before * hint.ns());
  const std::uint64_t if_stuck = std::max(of.since_ns, of.surplus_ns) + static_cast<std::uint64_t>(cost);
  if (wait <= 0) return if_stuck;
  return std::min(if_stuck, of.surplus_ns + static_cast<std::uint64_t>(std::min(cost * cost / wait, 1e18)));
}

scheduler::sight scheduler::look_at(const slot_queues& self, const slot_queues& victim, std::uint64_t now_ns) const {
  const int node = node_of_worker(victim.index);
  if (self.seen.empty()) return {{0, self.idle_since_ns, now_ns, self.idle_since_ns}, node};
  slot_queues::progress_seen& p = self.seen[static_cast<std::size_t>(victim.index)];
  const std::uint64_t finished = victim.finished.read();
  const bool first = p.seen_ns < self.idle_since_ns || p.seen_ns > now_ns;
  if (first || p.finished != finished) {
    p.finished = finished;
    p.since_ns = now_ns;
  }
  if (first || !(victim.has_tasks() || node_holds_tasks(node))) p.surplus_ns = now_ns;
  p.seen_ns = now_ns;
  return {p, node};
}

bool scheduler::node_holds_tasks(int node) const {
  const auto n = static_cast<std::size_t>(node);
  return !initial_[n].empty() || (containers_ != nullptr && !containers_[n].empty());
}

// What is oldest in a deque is executed last; what was sent there, after all that is in the deque.
frame* scheduler::steal_from_far(slot_queues& self, slot_queues& victim, std::uint64_t now_ns) const {
  const sight of = look_at(self, victim, now_ns);
  const auto pays_behind = [&](std::size_t before) {
    return [this, &self, &of, now_ns, before](ready_task t) { return pays(self, of, t.hint(), before, now_ns); };
  };
  if (const std::size_t n = victim.urgent.size(); n > 0)
    if (const auto stolen = victim.urgent.steal(pays_behind(n))) return stolen.item.task();
  if (!victim.pushed_urgent.empty())
    if (const ready_task t = victim.pushed_urgent.try_pop(pays_behind(1))) return t.task();
  const std::size_t n = victim.normal.size();
  if (n > 0)
    if (const auto stolen = victim.normal.steal(pays_behind(n))) return stolen.item.task();
  return victim.pushed.empty() ? nullptr : victim.pushed.try_pop(pays_behind(n + 1)).task();
}

frame* scheduler::take_initial(slot_queues& self, std::uint64_t now_ns) {
  for (const int node : nodes_by_distance_[static_cast<std::size_t>(self.node)]) {
    locked_queue& q = initial_[static_cast<std::size_t>(node)];
    if (q.empty()) continue;
    if (frame* f = q.pop(worth_from(self, node, now_ns))) return f;
  }
  return nullptr;
}

void scheduler::note_theft(slot_queues& self, int victim) const {
  self.last_victim = node_of_worker(victim) == self.node ? victim : -1;
  self.stolen_again = 0;
  self.stolen_from = victim;
}

frame* scheduler::steal_level(slot_queues& self, const std::vector<int>& level, std::uint64_t watch_at_ns) {
  const std::size_t n = level.size();
  if (n == 0) return nullptr;
  std::size_t i = n == 1 ? 0 : self.random.below(static_cast<std::uint32_t>(n));
  for (std::size_t tried = 0; tried < n; tried++, i = i + 1 == n ? 0 : i + 1) {
    if (!self.nothing_pushed()) return nullptr;  // on a large machine a round takes longer than a task
    if (leaves_small_tasks_of(self, level[i], watch_at_ns)) continue;
    if (frame* f = steal_from(self, slot(level[i]))) {
      note_theft(self, level[i]);
      self.robbed = watch_at_ns == 0 || self.sizes.fast() ? level[i] : -1;  // who does not get on is not given more
      return f;
    }
  }
  return nullptr;
}

bool scheduler::leaves_small_tasks_of(slot_queues& self, int victim, std::uint64_t watch_at_ns) {
  if (watch_at_ns == 0) return false;
  const auto v = static_cast<std::size_t>(victim);
  if (self.sizes.leave_unseen(v, watch_at_ns)) return true;
  const slot_queues& its = slot(victim);
  return !its.has_tasks() || self.sizes.leave(v, its.progress(), watch_at_ns);
}

frame* scheduler::steal_far_level(slot_queues& self, const std::vector<int>& level, reach how, std::uint64_t now_ns,
                                  std::uint64_t watch_at_ns) {
  const std::size_t n = level.size();
  if (n == 0) return nullptr;
  std::size_t i = self.random.below(static_cast<std::uint32_t>(n));
  for (std::size_t tried = 0; tried < n; tried++, i = i + 1 == n ? 0 : i + 1) {
    if (!self.nothing_pushed()) return nullptr;
    if ((how != reach::all && !offers_.offers(level[i])) || leaves_small_tasks_of(self, level[i], watch_at_ns))
      continue;
    if (frame* f = steal_from_far(self, slot(level[i]), now_ns)) {
      note_theft(self, level[i]);
      self.robbed = -1;
      return f;
    }
  }
  return nullptr;
}

frame* scheduler::steal_far(slot_queues& self, reach how, const std::vector<std::vector<int>>& levels,
                            std::uint64_t watch_at_ns) {
  const std::uint64_t now = idle_time_ns(self) + self.idle_since_ns;
  for (std::size_t level = 1; level < levels.size(); level++)
    if (frame* f = steal_far_level(self, levels[level], how, now, watch_at_ns)) {
      count_theft(self);
      return f;
    }
  return take_initial(self, now);
}

void scheduler::count_theft(slot_queues& self) const {
  self.steals[static_cast<std::size_t>(distance_class(self.node, node_of_worker(self.stolen_from)))].add(1);
}

// One that has a worker's place gets on as that one does.
frame* scheduler::steal_from_guests(slot_queues& self, std::uint64_t now_ns) {
  const int end = slot_count();
  for (int i = worker_count(); i < end; i++) {
    slot_queues& victim = slot(i);
    if (now_ns != 0 && victim.has_tasks())
      if (const int w = victim.place.load(std::memory_order_relaxed); executes_elsewhere(self, w) && self.sizes.leave(static_cast<std::size_t>(w), slot(w).progress(), now_ns)) continue;
    if (frame* f = steal_from(self, victim)) {
      self.last_victim = i;
      self.stolen_again = 0;
      self.stolen_from = i;
      self.robbed = -1;
      return f;
    }
  }
  return nullptr;
}

frame* scheduler::steal_round(slot_queues& self, reach how) {
  if (frame* f = central_.pop()) return f;
  if (containers_ != nullptr && how != reach::near)
    if (frame* f = take_from_far_containers(self)) return f;
  const auto& levels = victims_of(self);
  const std::size_t end = how != reach::near && !charges_ ? levels.size() : 1;
  const std::uint64_t watch_at_ns = self.sizes.all_small() ? os::now_ns() : 0;
  for (std::size_t level = 0; level < end; level++) {
    if (frame* f = steal_level(self, levels[level], watch_at_ns)) {
      count_theft(self);
      return f;
    }
    // The program's own threads belong to no node: after the neighbours, before the rest.
    if (level == 0)
      if (frame* f = steal_from_guests(self, watch_at_ns)) return f;
  }
  return charges_ ? steal_far(self, how, levels, watch_at_ns) : nullptr;
}

// Where a place changes hands two threads' clocks may differ a little.
std::uint64_t scheduler::idle_time_ns(slot_queues& self) {
  const std::uint64_t now = os::now_ns();
  if (self.idle_since_ns == 0) self.idle_since_ns = now;
  return now - std::min(now, self.idle_since_ns);
}

bool scheduler::any_work_for(const slot_queues& self, counting what, bool with_left) const {
  if (!central_.empty()) return true;
  if (self.node >= 0 && !required_[static_cast<std::size_t>(self.node)].empty()) return true;
  const bool weighs = charges_ && what == counting::worth_it;
  const std::uint64_t now = weighs && self.idle_since_ns != 0 ? os::now_ns() : 0;
  for (int node = 0; node < machine_.node_count(); node++)
    if (node_holds_tasks(node) && (!weighs || node == self.node || pays_to_empty(self, node, now))) return true;
  const int end = slot_count();
  for (int i = with_left ? 0 : worker_count(); i < end; i++) {
    const slot_queues& q = *slots_[static_cast<std::size_t>(i)].load(std::memory_order_acquire);
    if (!with_left && executes_elsewhere(self, q.place.load(std::memory_order_relaxed))) continue;
    if (weighs && i < worker_count() && far_from(self, i) ? pays_to_rob(self, q, now) : q.has_tasks()) return true;
  }
  return false;
}

// Of a node's own queues: what their first tasks are worth.
template <class F>
void scheduler::for_each_first_of_node(int node, F&& f) const {
  const auto n = static_cast<std::size_t>(node);
  if (!initial_[n].empty()) f(initial_[n].first(), initial_[n].size());
  if (containers_ != nullptr && !containers_[n].empty()) f(containers_[n].first(), containers_[n].size());
}

bool scheduler::pays_to_empty(const slot_queues& self, int node, std::uint64_t now_ns) const {
  bool any = false;
  const auto worth = worth_from(self, node, now_ns);
  for_each_first_of_node(node, [&](task_hint hint, std::size_t before) { any = any || worth(hint, before); });
  return any;
}

template <class F>
void scheduler::for_each_first(const slot_queues& victim, F&& f) {
  const std::size_t urgent = victim.urgent.size(), normal = victim.normal.size();
  if (const ready_task t = victim.urgent.first()) f(t.hint(), urgent);
  if (const ready_task t = victim.pushed_urgent.first()) f(t.hint(), std::size_t{1});
  if (const ready_task t = victim.normal.first()) f(t.hint(), normal);
  if (const ready_task t = victim.pushed.first()) f(t.hint(), normal + 1);
}

bool scheduler::pays_to_rob(const slot_queues& self, const slot_queues& victim, std::uint64_t now_ns) const {
  if (!victim.has_tasks()) return false;
  bool any = false;
  const sight of = look_at(self, victim, now_ns);
  for_each_first(victim,
                 [&](task_hint hint, std::size_t before) { any = any || pays(self, of, hint, before, now_ns); });
  return any;
}

std::uint64_t scheduler::next_theft_from_ns(const slot_queues& self, const slot_queues& victim,
                                            std::uint64_t now_ns) const {
  std::uint64_t next = never;
  const sight of = look_at(self, victim, now_ns);
  for_each_first(victim, [&](task_hint hint, std::size_t before) {
    next = std::min(next, pays_at_ns(self, of, hint, before, now_ns));
  });
  return next;
}

std::uint64_t scheduler::next_theft_ns(slot_queues& self) const {
  if (!charges_) return never;
  std::uint64_t next = never;
  const std::uint64_t now = idle_time_ns(self) + self.idle_since_ns;
  for (const int node : nodes_by_distance_[static_cast<std::size_t>(self.node)]) {
    if (node_holds_tasks(node)) {
      const sight of = look_at(self, first_of_node(node), now);
      for_each_first_of_node(node, [&](task_hint hint, std::size_t before) {
        next = std::min(next, pays_at_ns(self, of, hint, before, now));
      });
    }
    for (const int w : workers_of_node(node))
      next = std::min(
          next, next_theft_from_ns(self, *slots_[static_cast<std::size_t>(w)].load(std::memory_order_acquire), now));
  }
  return next;
}

void scheduler::has_own_place(const slot_queues& self) {
  const int end = slot_count();
  for (int i = worker_count(); i < end; i++) {
    int its = self.index;
    if (slot(i).place.load(std::memory_order_relaxed) == its) slot(i).place.compare_exchange_strong(its, -1, std::memory_order_relaxed, std::memory_order_relaxed);
  }
}

void scheduler::published(slot_queues& self) {
  if (self.index >= worker_count()) {
    if (watching_.load(std::memory_order_relaxed) == 0 || !self.runs_small_tasks) sleep.work_published(0);
    return;
  }
  if (worker_count() == 1) return;  // it is awake
  if (watching_.load(std::memory_order_relaxed) > 0 && self.sizes.all_small()) return;
  const bool cheap = std::exchange(self.has_cheap_news, false);
  if (charges_) offers_.offer(self.index);
  light_fence();
  if (charges_ && !cheap && sleep.sleeping() > 0 && only_dozers_sleep()) {
    const auto& mates = workers_of_node_[static_cast<std::size_t>(self.node)];
    if (mates.size() > 1) sleep.wake_any_of(mates.front(), mates.back() + 1);
    return;
  }
  sleep.work_published(self.index);
}

bool scheduler::anything_sent_to(const slot_queues& self) const {
  const auto node = static_cast<std::size_t>(node_of_worker(self.index));
  return self.has_tasks() || !required_[node].empty() || !initial_[node].empty();
}

bool scheduler::all_queues_empty() const {
  for (const locked_queue& q : required_)
    if (!q.empty()) return false;
  const slot_queues& any = *slots_[0].load(std::memory_order_acquire);
  return !any_work_for(any, counting::all);
}

}  // namespace weir::sched
