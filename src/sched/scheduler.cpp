// Queues, placement of ready tasks, and stealing in order of distance.
#include "sched/scheduler.hpp"

#include <algorithm>
#include <mutex>

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
  size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

frame* locked_queue::pop() {
  if (empty()) return nullptr;
  std::lock_guard guard(lock_);
  list& l = urgent_.head != nullptr ? urgent_ : normal_;
  frame* f = l.head;
  if (f == nullptr) return nullptr;
  l.head = f->next;
  if (l.head == nullptr) l.tail = nullptr;
  size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  return f;
}

scheduler::scheduler(const machine::description& m, std::vector<int> worker_nodes, place::policy p)
    : sleep(static_cast<int>(worker_nodes.size())),
      machine_(m),
      nodes_(m.nodes.size()),
      policy_(std::move(p)),
      routes_all_(nodes_ > 1 || policy_.discipline == place::queues::central || policy_.discipline == place::queues::nodes),
      worker_nodes_(std::move(worker_nodes)),
      node_has_worker_(nodes_, 0),
      workers_of_node_(nodes_),
      slots_(worker_nodes_.size() + most_guest_slots),
      offers_(static_cast<int>(worker_nodes_.size())),
      containers_(policy_.discipline == place::queues::nodes ? std::make_unique<node_queue[]>(nodes_) : nullptr),
      required_(nodes_),
      initial_(nodes_) {
  for (int w = 0; w < worker_count(); w++) {
    const auto node = static_cast<std::size_t>(worker_nodes_[static_cast<std::size_t>(w)]);
    node_has_worker_[node] = 1;
    workers_of_node_[node].push_back(w);
  }
  slot_count_.store(worker_count(), std::memory_order_release);
  order_victims();
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

void scheduler::make_worker_slot(int worker) {
  const auto w = static_cast<std::size_t>(worker);
  auto* queues = new slot_queues(worker, worker_nodes_[w], worker_nodes_.size());
  slots_[w].store(queues, std::memory_order_release);
}

int scheduler::add_guest(int node) {
  const int index = slot_count_.load(std::memory_order_relaxed);
  if (static_cast<std::size_t>(index) >= slots_.size()) return -1;
  slots_[static_cast<std::size_t>(index)].store(new slot_queues(index, node, 0), std::memory_order_release);
  slot_count_.store(index + 1, std::memory_order_release);
  return index;
}

place::wish scheduler::place(slot_queues& self, frame* f) {
  if (f->affinity >= 0) return f->affinity;
  if (policy_.rule == nullptr || nodes_ < 2) return place::here;
  return policy_.rule({machine_, policy_.chosen, node_has_worker_, worker_nodes_, self.node, self.running, self.placement}, f);
}

bool scheduler::wake_one_of_node(int node) {
  for (int w : workers_of_node_[static_cast<std::size_t>(node)])
    if (sleep.wake(w)) return true;
  return false;
}

bool scheduler::route_elsewhere(slot_queues& self, frame* f) {
  if (f->required) {
    note_sender(self, f);
    const int node = f->affinity;  // once it is pushed it may have run, and be gone
    required_[static_cast<std::size_t>(node)].push(f);
    wake_one_of_node(node);
    return true;
  }
  if (policy_.discipline == place::queues::central) {
    central_.push(f);
    return true;
  }
  if (containers_ != nullptr) {
    push_to_container(self, f);
    return true;
  }
  if (nodes_ < 2) return false;
  const place::wish wish = place(self, f);
  if (wish.initial) {
    note_sender(self, f);
    initial_[static_cast<std::size_t>(wish.node)].push(f);
    if (!wake_one_of_node(wish.node)) sleep.work_published(0);  // if that node's workers stay busy somebody has to see it
    return true;
  }
  // What a guest keeps is taken by whoever comes first, of whatever node.
  const bool stays = wish.node == place::here || (wish.node == self.node && self.index < worker_count());
  return !stays && push_to_node(self, f, wish.node);
}

// Rossignon et al., PDSEC 2013, section VI: to the node of its affinity, else to the nodes in turn. published() finds
// somebody if all of that node are busy.
void scheduler::push_to_container(slot_queues& self, frame* f) {
  int node = f->affinity >= 0 ? f->affinity : node_of_worker(0);
  const auto& others = nodes_by_distance_[static_cast<std::size_t>(node)];
  if (f->affinity < 0) {
    const std::size_t turn = self.placement.spread++ % (others.size() + 1);
    if (turn > 0) node = others[turn - 1];
  } else if (!node_has_worker(node)) {
    node = others.front();
  }
  note_sender(self, f);
  containers_[static_cast<std::size_t>(node)].push(f);
  atomic_fence(std::memory_order_seq_cst);
  if (sleep.sleeping() > 0) wake_one_of_node(node);
}

// Rossignon et al., PDSEC 2013, section VI: a flexible affinity is a priority.
frame* scheduler::take_from_far_containers(slot_queues& self) {
  for (int node : nodes_by_distance_[static_cast<std::size_t>(self.node)])
    if (frame* f = containers_[static_cast<std::size_t>(node)].pop()) {
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
  if (!push_to_worker(self, f, workers[workers.size() == 1 ? 0 : self.random.below(static_cast<std::uint32_t>(workers.size()))])) {
    self.pushes_refused.add(1);
    return false;
  }
  self.pushes.add(1);
  return true;
}

bool scheduler::push_to_worker(slot_queues& self, frame* f, int target) {
  slot_queues& its = slot(target);
  note_sender(self, f);
  if (!(f->priority > 0 ? its.pushed_urgent : its.pushed).try_push(f)) return false;
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
  if (self.offering) update_offer(self, 1);
  if (policy_.discipline == place::queues::central) {
    if (frame* f = central_.pop()) return f;
  }
  if (containers_ != nullptr && self.node >= 0) {
    if (frame* f = required_[static_cast<std::size_t>(self.node)].pop()) return f;
    if (frame* f = containers_[static_cast<std::size_t>(self.node)].pop()) return f;
  }
  if (frame* f = self.urgent.pop()) return f;
  if (nodes_ > 1)
    if (frame* f = self.pushed_urgent.try_pop()) return f;
  if (frame* f = self.normal.pop()) return f;
  if (self.node >= 0) {
    if (frame* f = required_[static_cast<std::size_t>(self.node)].pop()) return f;
    if (nodes_ > 1)
      if (frame* f = initial_[static_cast<std::size_t>(self.node)].pop()) return f;
  }
  frame* const sent = self.pushed.try_pop();
  if (sent != nullptr && !self.searching.load(std::memory_order_relaxed)) self.hungry = slot_queues::hunger::none;
  return sent;
}

// While the task just taken runs: mostly the thief's next one. Its lines are in the caches of its creator.
static void prefetch_frame(const void* f) {
  for (int line = 0; line < 3; line++) __builtin_prefetch(static_cast<const char*>(f) + 64 * line, 1);
}

frame* scheduler::steal_from(slot_queues& self, slot_queues& victim) {
  if (&victim == &self) return nullptr;
  if (!victim.urgent.empty())
    if (auto stolen = victim.urgent.steal()) return stolen.item;
  if (!victim.pushed_urgent.empty())
    if (frame* f = victim.pushed_urgent.try_pop()) return f;
  if (!victim.normal.empty())
    if (auto stolen = victim.normal.steal()) {
      prefetch_frame(stolen.next);
      return stolen.item;
    }
  return victim.pushed.empty() ? nullptr : victim.pushed.try_pop();
}

// Since this worker began to doze; false for those that had nothing then.
bool scheduler::no_progress(const slot_queues& self, const slot_queues& victim) {
  const std::uint64_t before = self.finished_before[static_cast<std::size_t>(victim.index)];
  return before != slot_queues::had_nothing && victim.finished.read() == before;
}

// From a worker of another node. A patient thief has seen its offer; the others do not rely on that: the owner may hold
// less than it would offer, or be in a long task while others fill its inbox.
bool scheduler::may_take(const slot_queues& self, const slot_queues& victim, manners how) {
  if (how >= manners::hungry && leaves_something_to_hungry(self, victim)) return true;
  return (how >= manners::greedy && no_progress(self, victim)) || leaves_something(victim);
}

frame* scheduler::take_initial(slot_queues& self) {
  for (const auto& level : victims_[static_cast<std::size_t>(self.node)])
    for (int w : level) {
      const slot_queues& q = slot(w);
      if (!no_progress(self, q)) continue;
      if (frame* f = initial_[static_cast<std::size_t>(q.node)].pop()) return f;
    }
  return nullptr;
}

frame* scheduler::steal_level(slot_queues& self, const std::vector<int>& level, bool far, manners how, std::uint64_t now_ns) {
  const std::size_t n = level.size();
  if (n == 0) return nullptr;
  std::size_t i = n == 1 ? 0 : self.random.below(static_cast<std::uint32_t>(n));
  for (std::size_t tried = 0; tried < n; tried++, i = i + 1 == n ? 0 : i + 1) {
    if (!self.nothing_pushed()) return nullptr;  // on a large machine a round takes longer than a task
    if (far && how == manners::patient && !offers_.offers(level[i])) continue;
    if (now_ns != 0 && self.sizes.leave_unseen(static_cast<std::size_t>(level[i]), now_ns)) continue;
    slot_queues& victim = slot(level[i]);
    if (now_ns != 0 && !victim.has_tasks()) continue;
    if (now_ns != 0 && self.sizes.leave(static_cast<std::size_t>(level[i]), victim.progress(), now_ns)) continue;
    if (far && !may_take(self, victim, how)) continue;
    if (frame* f = steal_from(self, victim)) {
      self.last_victim = node_of_worker(level[i]) == self.node ? level[i] : -1;
      self.stolen_again = 0;
      self.stolen_from = level[i];
      self.robbed = now_ns == 0 || self.sizes.fast() ? level[i] : -1;  // who does not get on is not given more
      return f;
    }
  }
  return nullptr;
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

frame* scheduler::steal_round(slot_queues& self, manners how, bool far) {
  if (frame* f = central_.pop()) return f;
  if (containers_ != nullptr && far)
    if (frame* f = take_from_far_containers(self)) return f;
  const auto& levels = victims_[static_cast<std::size_t>(self.node)];
  const std::size_t end = far ? levels.size() : 1;
  const std::uint64_t watch_at = how <= manners::hungry && self.sizes.all_small() ? os::now_ns() : 0;
  for (std::size_t level = 0; level < end; level++) {
    if (frame* f = steal_level(self, levels[level], level > 0 && anything_held_back(), how, watch_at)) {
      self.steals[level].add(1);
      return f;
    }
    // The program's own threads belong to no node: after the neighbours, before the rest.
    if (level == 0)
      if (frame* f = steal_from_guests(self, watch_at)) return f;
  }
  return how == manners::desperate ? take_initial(self) : nullptr;
}

bool scheduler::any_work_for(const slot_queues& self, manners how, bool with_left) const {
  if (!central_.empty()) return true;
  if (containers_ != nullptr)
    for (std::size_t n = 0; n < nodes_; n++)
      if (!containers_[n].empty()) return true;
  if (self.node >= 0 && !required_[static_cast<std::size_t>(self.node)].empty()) return true;
  for (std::size_t n = 0; n < nodes_; n++)
    if ((how != manners::patient || static_cast<int>(n) == self.node) && !initial_[n].empty()) return true;
  const int end = slot_count();
  for (int i = with_left ? 0 : worker_count(); i < end; i++) {
    const bool far = i < worker_count() && far_from(self, i);
    if (far && how == manners::patient && !offers_.offers(i)) continue;
    const slot_queues& q = *slots_[static_cast<std::size_t>(i)].load(std::memory_order_acquire);
    if (!with_left && executes_elsewhere(self, q.place.load(std::memory_order_relaxed))) continue;
    if (far && how == manners::patient ? leaves_something(q) : q.has_tasks()) return true;
  }
  return false;
}

void scheduler::has_own_place(const slot_queues& self) {
  const int end = slot_count();
  for (int i = worker_count(); i < end; i++) {
    int its = self.index;
    if (slot(i).place.load(std::memory_order_relaxed) == its) slot(i).place.compare_exchange_strong(its, -1, std::memory_order_relaxed, std::memory_order_relaxed);
  }
}

scheduler::held_back scheduler::note_progress(slot_queues& self) {
  held_back found = held_back::nothing;
  for (int w = 0; w < worker_count(); w++) {
    const int node = node_of_worker(w);
    std::uint64_t& before = self.finished_before[static_cast<std::size_t>(w)];
    before = slot_queues::had_nothing;
    if (!self.nothing_pushed()) return held_back::nothing;
    if (!far_from(self, w)) continue;
    const slot_queues& q = slot(w);
    const bool tasks = q.has_tasks();
    if (!tasks && initial_[static_cast<std::size_t>(node)].empty()) continue;
    before = q.finished.read();
    if (found != held_back::tasks) found = tasks ? held_back::tasks : held_back::initial_tasks;
  }
  return found;
}

scheduler::held_back scheduler::note_nothing(slot_queues& self) const {
  std::fill(self.finished_before.begin(), self.finished_before.end(), slot_queues::had_nothing);
  return held_back::tasks;
}

void scheduler::published(slot_queues& self) {
  if (self.index >= worker_count()) {
    if (watching_.load(std::memory_order_relaxed) == 0 || !self.runs_small_tasks) sleep.work_published(0);
    return;
  }
  if (worker_count() == 1) return;  // it is awake
  if (watching_.load(std::memory_order_relaxed) > 0 && self.sizes.all_small()) return;
  if (anything_held_back()) update_offer(self);
  light_fence();
  if (anything_held_back() && only_others_doze(self)) {
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
  return !any_work_for(any, manners::greedy);
}

}  // namespace weir::sched
