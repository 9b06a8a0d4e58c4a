// Queues, placement of ready tasks, and stealing in order of distance.
#include "sched/scheduler.hpp"

#include <weir/error.hpp>

#include <algorithm>
#include <mutex>
#include <string>

namespace weir::sched {

namespace {

// Of the largest of a task's inputs: smaller ones are some lines of all that a cache holds, wherever they are.
constexpr std::uint64_t least_bytes_cached = 1024;

}  // namespace

void locked_queue::push(frame* f) {
  f->next = nullptr;
  std::lock_guard guard(lock_);
  list& l = f->priority > 0 ? urgent_ : normal_;
  (l.tail != nullptr ? l.tail->next : l.head) = f;
  l.tail = f;
  if (empty()) sign_.set(true);
  size_.store(size() + 1, std::memory_order_relaxed);
  note_first();
}

// What a worker sees of the queues, and takes from them.
class scheduler::view final : public surroundings {
  static auto as_asked(const judgement& j) {
    return [&j](task_hint hint, std::size_t before) { return j.takes(hint, before); };
  }

 public:
  view(scheduler& all, slot_queues& self) : all_(all), self_(self) {}

  frame* take_own() override { return all_.take_own(self_); }
  frame* take_shared() override { return all_.central_.pop(); }
  frame* take_from(int slot) override;
  frame* take_from(int slot, const judgement&) override;
  frame* take_from_container(int node, const judgement* j) override {
    node_queue& q = all_.containers_[static_cast<std::size_t>(node)];
    return j == nullptr ? q.pop() : q.pop(as_asked(*j));
  }
  frame* take_initial(int node, const judgement& j) override {
    return all_.initial_[static_cast<std::size_t>(node)].pop(as_asked(j));
  }

  int slots() const override { return all_.slot_count(); }
  bool anything_shared() const override { return !all_.central_.empty(); }
  bool anything_required_here() const override { return all_.anything_required_of(self_); }
  bool anything_sent() const override { return !self_.nothing_pushed() || self_.bell_says() != self_.bell_before_look; }
  bool has_tasks(int slot) const override { return all_.any_in(all_.slot(slot)); }
  bool node_holds_tasks(int node) const override { return all_.node_holds_tasks(node); }
  bool offers(int worker) const override { return all_.offers_.offers(worker); }
  bool rests(int worker) const override { return all_.sleep.is_resting(worker); }
  first_tasks first_of(int slot) const override;
  first_tasks first_of_node(int node) const override;
  std::uint64_t finished(int slot) const override { return all_.slot(slot).finished.read(); }
  pace pace_of(int slot) const override { return all_.pace_of(all_.slot(slot)); }
  bool holds_as_much(int node, int as_node) const override {
    return all_.balance_ && all_.balance_->holds_as_much(node, as_node);
  }
  int place_of(int slot) const override { return all_.slot(slot).place.load(std::memory_order_relaxed); }

 private:
  frame* take_some(slot_queues& guest);
  frame* take_of_guest(slot_queues& guest);

  scheduler& all_;
  slot_queues& self_;
};

scheduler::scheduler(const machine::description& m, std::vector<int> node_of_worker, place::chosen p,
                     std::uint64_t spin_ns, const tuning& tuned)
    : sleep(static_cast<int>(node_of_worker.size()), node_of_worker),
      machine_(m),
      near_(m, node_of_worker),
      nodes_(m.nodes.size()),
      seen_(place::seen_by_policies(m, node_of_worker)),
      policy_(std::move(p)),
      routes_all_(nodes_ > 1 || policy_.discipline == policy::queues::central ||
                  policy_.discipline == policy::queues::nodes),
      charges_(nodes_ > 1 && policy_.places),
      costs_(seen_),
      ground_{near_, costs_, charges_, policy_.discipline == policy::queues::nodes, spin_ns, tuned},
      slots_(node_of_worker.size() + most_guest_slots),
      offers_(static_cast<int>(node_of_worker.size())),
      containers_(policy_.discipline == policy::queues::nodes ? std::make_unique<node_queue[]>(nodes_) : nullptr),
      required_(nodes_),
      initial_(nodes_) {
  slot_count_.store(worker_count(), std::memory_order_release);
  policy_.object->begin(seen_);
  const auto with_workers = std::count(seen_.has_worker.begin(), seen_.has_worker.end(), 1);
  if (policy_.sees_windows && with_workers > 1) windows_ = std::make_unique<place::windows>(*policy_.object, seen_, policy_.chooses_members);
  if (policy_.orders_victims) near_.set_victims(victims_as_asked());
}

scheduler::~scheduler() {
  for (int i = 0; i < slot_count(); i++) delete slots_[static_cast<std::size_t>(i)].load(std::memory_order_relaxed);
}

std::vector<std::vector<int>> scheduler::victims_as_asked() {
  std::vector<std::vector<int>> by_worker;
  for (int w = 0; w < worker_count(); w++) {
    by_worker.push_back(policy_.object->victims(w));
    for (const int victim : by_worker.back())
      if (victim < 0 || victim >= worker_count())
        throw configuration_error("policy " + policy_.name + ": victims(" + std::to_string(w) + ") names worker " +
                                  std::to_string(victim) + "; expected 0 to " + std::to_string(worker_count() - 1));
  }
  return by_worker;
}

std::uint32_t scheduler::ns_of_far_line() const {
  double sum_ns = 0, pairs = 0;
  for (const int from : seen_.node_of_worker)
    for (const int to : seen_.node_of_worker)
      if (from != to) sum_ns += seen_.read(from, to), pairs++;
  return pairs == 0 ? 0 : static_cast<std::uint32_t>(std::clamp(sum_ns / pairs, 0.0, 1e6));
}

std::unique_ptr<slot_queues> scheduler::make_slot(int index, int node) {
  auto made = std::make_unique<slot_queues>(index, node, ground_, urgent_any_);
  made->sees = std::make_unique<view>(*this, *made);
  return made;
}

void scheduler::make_worker_slot(int worker) {
  slots_[static_cast<std::size_t>(worker)].store(make_slot(worker, node_of_worker(worker)).release(),
                                                 std::memory_order_release);
}

int scheduler::add_guest(int node) {
  const int index = slot_count_.load(std::memory_order_relaxed);
  if (static_cast<std::size_t>(index) >= slots_.size()) return -1;
  slots_[static_cast<std::size_t>(index)].store(make_slot(index, node).release(), std::memory_order_release);
  slot_count_.store(index + 1, std::memory_order_release);
  return index;
}

void scheduler::set_user_memory(memory::regions& known) {
  if (nodes_ > 1) user_memory_ = &known;
  if (windows_ != nullptr) windows_->set_user_memory(known);
}

void scheduler::set_memory_of_data(flow::shared& s) {
  if (!s.several_nodes || s.mode != flow::allocation::deferred) return;
  s.moves_updates = true;
  s.ns_per_byte = costs_.ns_per_byte();
  s.nodes = machine_.node_count();
  balance_.emplace(s.buffers, seen_, costs_.ns_per_byte());
}

// What costs more elsewhere is noted for thieves.
policy::wish scheduler::place(const policy::asker& who, frame* f) {
  if (user_memory_ != nullptr && flow::names_user_memory(f) && charges_) [[unlikely]]
    return place_by_user_memory(who, f);
  const policy::wish w = wished(who, f, nullptr);
  if (charges_) note_hint(f, w, who.node, user_memory_);
  return w;
}

// Where that lies is looked up once, and asked for if it is not known, also of a task that says where it should run.
[[gnu::noinline]] policy::wish scheduler::place_by_user_memory(const policy::asker& who, frame* f) {
  const flow::user_places found(user_memory_, f);
  const policy::wish w = wished(who, f, &found);
  note_hint(f, w, who.node, {user_memory_, &found});
  return w;
}

policy::wish scheduler::wished(const policy::asker& who, frame* f, const flow::user_places* found) {
  if (f->affinity >= 0) return f->affinity;
  if (!policy_.places) return policy::here;
  const task_view task(*f, user_memory_, found, balance_ ? &*balance_ : nullptr);
  return place::ask(*policy_.object, seen_, task, who, said_);
}

bool scheduler::wake_one_of_node(int node) {
  for (int w : workers_of_node(node))
    if (sleep.wake(w)) return true;
  return false;
}

// For thieves: what costs more elsewhere. Not what gets memory where the task runs: what follows it will go there. But
// of a task that decides for others, all.
void scheduler::note_hint(frame* f, const policy::wish& w, int here, const flow::whereabouts& known) const {
  if (f->has_no_data()) return;
  const int at = w.node == policy::here ? here : w.node;
  std::uint64_t bytes = w.bytes == policy::wish::unknown ? 0 : w.bytes;
  const auto add = [&](std::uint64_t n, int node) { bytes += (node >= 0 && node == at) || w.initial ? n : 0; };
  if (w.bytes == policy::wish::unknown) flow::for_each_input(known, f, add);
  flow::for_each_output(known, f, add);
  f->hint = task_hint(bytes, f->ops->typical_ns.load(std::memory_order_relaxed)).bits();
}

// What nobody else may run comes before what others can take, by turns.
frame* scheduler::take_own(slot_queues& self) {
  if (policy_.discipline == policy::queues::central || containers_ != nullptr)
    if (frame* f = take_shared(self)) return f;
  if (self.may_have_urgent()) {
    if (const ready_task t = self.urgent.pop()) return t.task();
    if (nodes_ > 1)
      if (const ready_task t = self.pushed_urgent.try_pop()) return t.task();
  }
  if (self.node >= 0 && nodes_ > 1)
    if (frame* f = initial_[static_cast<std::size_t>(self.node)].pop_first()) return f;
  if (requires_any_.load(std::memory_order_relaxed) && required_comes_first(self))
    if (frame* f = take_required(self)) return f;
  if (const ready_task t = self.normal.pop()) return t.task();
  if (frame* f = take_required(self)) return f;
  if (self.node >= 0 && nodes_ > 1)
    if (frame* f = initial_[static_cast<std::size_t>(self.node)].pop()) return f;
  return self.pushed.try_pop().task();
}

frame* scheduler::take_own_of_guest(slot_queues& guest, slot_queues& place) {
  if (guest.may_have_urgent())
    if (const ready_task t = guest.urgent.pop()) return t.task();
  std::size_t size = guest.normal.size();
  for (; size > 1; size = guest.normal.size()) {
    const ready_task t = guest.normal.pop_beyond_thieves();
    if (!t) return take_last_of_guest(guest, place);
    if (frame* f = placed(place, t)) return f;
  }
  if (size == 0) return nullptr;
  const ready_task last = guest.normal.steal().item;  // what most wait for; none if somebody else has it
  return last ? placed(place, last) : nullptr;
}

frame* scheduler::take_last_of_guest(slot_queues& guest, slot_queues& place) {
  std::array<ready_task, most_stolen_from_guests> last;
  const std::size_t n = guest.normal.steal_some(last);
  std::size_t queued = 0;
  for (std::size_t i = 0; i < n; i++) {
    if (placed(place, last[i]) == nullptr) continue;
    push_onto(place.normal, place, ready_task(last[i].task(), hint_of(last[i].task())));
    queued++;
  }
  if (queued > 1) published(place);
  return queued > 0 ? place.normal.pop().task() : nullptr;
}

frame* scheduler::take_shared(slot_queues& self) {
  if (required_comes_first(self))
    if (frame* f = take_required(self)) return f;
  if (frame* f = central_.pop()) return f;
  return containers_ == nullptr || self.node < 0 ? nullptr : containers_[static_cast<std::size_t>(self.node)].pop();
}

frame* scheduler::take_required(slot_queues& self) {
  if (!anything_required_of(self)) return nullptr;
  frame* const f = required_[static_cast<std::size_t>(self.node)].pop();
  self.took_required = f != nullptr;
  return f;
}

bool scheduler::required_comes_first(slot_queues& self) const {
  return !std::exchange(self.took_required, false) && anything_required_of(self);
}

// While the task just taken runs: mostly the thief's next one. Its lines are in the caches of its creator.
static void prefetch_frame(const void* f) {
  for (int line = 0; line < 3; line++) prefetch_to_write(static_cast<const char*>(f) + 64 * line);
}

// Several short ones at once if there are many: the thread goes on creating, and who takes them one by one meets it in
// the lines of its queue each time. The oldest is run next, and the others wait in this worker's deque, the next one on
// top.
frame* scheduler::view::take_some(slot_queues& guest) {
  const std::size_t share = guest.normal.size() / (2 * static_cast<std::size_t>(all_.worker_count()));
  if (share < 2 || !self_.hunts.sizes().all_short()) return nullptr;
  std::array<ready_task, most_stolen_from_guests> some;
  const std::size_t n = guest.normal.steal_some({some.data(), std::min(share, some.size())});
  if (n == 0) return nullptr;  // somebody else was faster
  for (std::size_t i = 0; i < n; i++) prefetch_frame(some[i].task());
  std::size_t mine = 0;
  for (std::size_t i = 0; i < n; i++)
    if (frame* f = all_.placed(self_, some[i])) some[mine++] = ready_task(f, all_.hint_of(f));
  for (std::size_t i = mine; i-- > 1;) all_.push_onto(self_.normal, self_, some[i]);
  self_.batch_end = self_.normal.end();
  if (mine > 1) all_.published(self_);
  return mine > 0 ? some[0].task() : nullptr;
}

// Or sends what belongs elsewhere there, until there is one that does not, or something was sent to this worker.
frame* scheduler::view::take_of_guest(slot_queues& guest) {
  if (frame* f = take_some(guest)) return f;
  while (!guest.normal.empty()) {
    const auto stolen = guest.normal.steal();
    if (!stolen) return nullptr;
    prefetch_frame(stolen.next.task());
    if (frame* f = all_.placed(self_, stolen.item)) return f;
    if (!self_.nothing_pushed()) return nullptr;
  }
  return nullptr;
}

frame* scheduler::view::take_from(int slot) {
  slot_queues& victim = all_.slot(slot);
  if (self_.may_have_urgent()) {
    if (!victim.urgent.empty())
      if (const auto stolen = victim.urgent.steal()) return stolen.item.task();
    if (!victim.pushed_urgent.empty())
      if (const ready_task t = victim.pushed_urgent.try_pop()) return t.task();
  }
  if (slot >= all_.worker_count()) {
    if (frame* f = take_of_guest(victim)) return f;
  } else if (!victim.normal.empty()) {
    if (const auto stolen = victim.normal.steal()) {
      prefetch_frame(stolen.next.task());
      return stolen.item.task();
    }
  }
  return victim.pushed.empty() ? nullptr : victim.pushed.try_pop().task();
}

// What is oldest in a deque is executed last; what was sent there, after all that is in the deque.
frame* scheduler::view::take_from(int slot, const judgement& j) {
  slot_queues& victim = all_.slot(slot);
  const auto behind = [&j](std::size_t before) {
    return [&j, before](ready_task t) { return j.takes(t.hint(), before); };
  };
  if (self_.may_have_urgent()) {
    if (const std::size_t n = victim.urgent.size(); n > 0)
      if (const auto stolen = victim.urgent.steal(behind(n))) return stolen.item.task();
    if (!victim.pushed_urgent.empty())
      if (const ready_task t = victim.pushed_urgent.try_pop(behind(1))) return t.task();
  }
  const std::size_t n = victim.normal.size();
  if (n > 0)
    if (const auto stolen = victim.normal.steal(behind(n))) return stolen.item.task();
  return victim.pushed.empty() ? nullptr : victim.pushed.try_pop(behind(n + 1)).task();
}

pace scheduler::pace_of(const slot_queues& other) const {
  if (clock_ns_ == nullptr) return {other.progress()};
  const std::uint64_t begin_ns = clock_ns_();
  const std::uint64_t progress = other.progress();
  return {progress, clock_ns_() - begin_ns};
}

first_tasks scheduler::view::first_of(int slot) const {
  const slot_queues& victim = all_.slot(slot);
  first_tasks all;
  if (self_.may_have_urgent()) {
    if (const ready_task t = victim.urgent.first()) all.add(t.hint(), victim.urgent.size());
    if (const ready_task t = victim.pushed_urgent.first()) all.add(t.hint(), 1);
  }
  const std::size_t normal = victim.normal.size();
  if (const ready_task t = victim.normal.first()) all.add(t.hint(), normal);
  if (const ready_task t = victim.pushed.first()) all.add(t.hint(), normal + 1);
  return all;
}

first_tasks scheduler::view::first_of_node(int node) const {
  const auto n = static_cast<std::size_t>(node);
  first_tasks all;
  if (const initial_tasks& q = all_.initial_[n]; !q.empty()) all.add(q.first(), q.size());
  if (all_.containers_ != nullptr)
    if (const node_queue& q = all_.containers_[n]; !q.empty()) all.add(q.first(), q.size());
  return all;
}

bool scheduler::node_holds_tasks(int node) const {
  const auto n = static_cast<std::size_t>(node);
  return initial_.any_in(n) || (containers_ != nullptr && !containers_[n].empty());
}

decision scheduler::step(slot_queues& self, std::uint64_t now_ns) {
  const moment at{now_ns, self.node};
  self.bell_before_look = self.bell_says();
  if (self.seen_by != nullptr) self.seen_by->begins(self.hunts, at);
  const decision d = self.hunts.step(*self.sees, at);
  if (self.seen_by != nullptr) self.seen_by->ends(self.hunts, d);
  if (d.what == decision::kind::run) counted(self, d.task);
  return d;
}

bool scheduler::is_near_window(const slot_queues& self) {
  const int node = windows_->created_on();
  if (node < 0 || node == self.node) return true;
  const auto looks = [&](int w) {
    const slot_queues& other = slot(w);
    return other.searching.load(std::memory_order_relaxed) && !other.rests.load(std::memory_order_relaxed);
  };
  return std::ranges::none_of(workers_of_node(node), looks);
}

// Those that have to wait until the policy has seen their window.
[[gnu::noinline]] void scheduler::keep_back(flow::ready_list& ready) {
  flow::ready_list others;
  while (frame* const f = ready.pop())
    if (!keep(f)) others.push(f);
  ready = others;
}

// How many tasks a worker has run since the one that wrote most of what a task reads; a huge number if another worker
// ran that. 0 of little data, which caches do not lose, and of what is urgent. Not asked of short tasks.
std::uint32_t scheduler::age_of_data(const slot_queues& self, frame* f) const {
  if (f->priority > 0) return 0;
  if (f->unusual == frame::of_graph || self.index >= worker_count()) return 0;
  std::uint64_t most = least_bytes_cached;
  flow::version* largest = nullptr;
  flow::for_each_source(*f, [&](flow::version& v, std::uint64_t bytes) {
    if (bytes < most) return;
    most = bytes;
    largest = &v;
  });
  if (largest == nullptr) return 0;
  if (largest->kind == detail::version_kind::ground) return ~std::uint32_t{0};
  const std::uint32_t ran_as = largest->producer()->pending.load(std::memory_order_relaxed);
  return frame::ran_ago(ran_as, self.ran_by, self.finished.read());
}

bool scheduler::has_cooled(std::uint32_t age) const {
  return ground_.tuned.tasks_in_cache != 0 && age > static_cast<std::uint32_t>(ground_.tuned.tasks_in_cache);
}

// If there is no room for more it comes next, as others do.
void scheduler::push_behind(slot_queues& self, frame* f) noexcept {
  const ready_task t(f, hint_of(f));
  if (!self.pushed.try_push(t)) return push_own(self, f);
  if (t.hint().bytes() == 0) self.has_news = true;
}

// In a wait inside a task what became ready may be what is waited for: that comes before all others.
void scheduler::push_released(slot_queues& self, frame* f) noexcept {
  const bool waits = self.running == nullptr && may_have_cooled(*f) && has_cooled(age_of_data(self, f));
  waits ? push_behind(self, f) : push_own(self, f);
}

[[gnu::noinline]] frame* scheduler::oldest_data_first(slot_queues& self, frame* next) {
  const std::uint32_t age = age_of_data(self, next);
  if (!has_cooled(age)) return next;
  ready_task other = self.normal.pop();
  if (!other) other = self.pushed.try_pop();
  if (!other) return next;
  const bool is_older = may_have_cooled(*other.task()) && age_of_data(self, other.task()) > age;
  is_older ? push_behind(self, next) : push_own(self, other.task());
  published(self);  // for a moment nobody saw the other one
  return is_older ? other.task() : next;
}

frame* scheduler::accept_ready(slot_queues& self, flow::ready_list& ready, bool keep_one) {
  frame* kept = nullptr;
  bool queued = false;
  const auto awaits_plan = [](frame& f) { return flow::affinity_of(f) == flow::awaits_plan; };
  if (windows_ != nullptr && ready.any_of(awaits_plan)) [[unlikely]] keep_back(ready);
  while (frame* f = ready.pop()) {
    if (keep_one && give_back(self, f)) continue;
    if (const routing r = route(self, f); r != routing::stays) {
      queued |= r == routing::sent;
    } else if (keep_one && (kept == nullptr || f->priority >= kept->priority)) {
      if (kept != nullptr) {
        push_released(self, kept);
        queued = true;
      }
      kept = f;
    } else {
      keep_one ? push_released(self, f) : push_own(self, f);
      queued = true;
    }
  }
  if (queued) published(self);
  return kept;
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
  if (watching_.load(std::memory_order_relaxed) > 0 && self.hunts.sizes().all_small()) return;
  const bool first = charges_ && offers_.offer(self.index), news = std::exchange(self.has_news, false) || first;
  light_fence();
  if (charges_ && !news && sleep.sleeping() > 0 && only_dozers_sleep()) {
    const std::vector<int>& mates = workers_of_node(self.node);
    if (mates.size() > 1) sleep.wake_any_of(mates.front(), mates.back() + 1);
    return;
  }
  sleep.work_published(self.index);
}

bool scheduler::anything_sent_to(const slot_queues& self) const {
  const auto node = static_cast<std::size_t>(node_of_worker(self.index));
  return self.has_tasks() || !required_[node].empty() || initial_.any_in(node);
}

bool scheduler::all_queues_empty() const {
  if (!central_.empty() || (windows_ != nullptr && windows_->holds_any())) return false;
  for (int node = 0; node < machine_.node_count(); node++)
    if (!required_[static_cast<std::size_t>(node)].empty() || node_holds_tasks(node)) return false;
  for (int i = 0; i < slot_count(); i++)
    if (any_in(*slots_[static_cast<std::size_t>(i)].load(std::memory_order_acquire))) return false;
  return true;
}

}  // namespace weir::sched
