// Where a ready task goes that does not stay with who made it ready, and who is told.
#include "sched/scheduler.hpp"

#include <algorithm>

namespace weir::sched {
namespace {

// A task that goes to somebody else's queues says who sent it: for traces.
void note_sender(const slot_queues& self, frame* f) {
  f->pending.store(frame::sent_by(self.index), std::memory_order_relaxed);
}

}  // namespace

routing scheduler::route_elsewhere(slot_queues& self, frame* f) {
  if (f->required) {
    note_sender(self, f);
    const int node = f->affinity;  // once it is pushed it may have run, and be gone
    if (!requires_any_.load(std::memory_order_relaxed)) requires_any_.store(true, std::memory_order_relaxed);
    required_[static_cast<std::size_t>(node)].push(f);
    if (!wake_one_of_node(node))
      for (const int w : workers_of_node(node))
        if (slot(w).claim.is_made()) slot(w).claim.look_again();
    return routing::sent;
  }
  if (policy_.discipline == policy::queues::central) {
    central_.push(f);
    return routing::sent;
  }
  if (containers_ != nullptr) {
    push_to_container(self, f);
    return routing::sent;
  }
  if (nodes_ < 2) return routing::stays;
  if (is_left_to_others(self, f)) {
    push_onto(self.normal, self, ready_task::to_be_placed(f));
    return routing::sent;
  }
  return send(self, f, self.running);
}

// To find out where a task belongs, and to send it there, takes as long as to create it, and all wait for who creates.
// So as long as anybody has nothing to do a thread of the program leaves it to them. Not what is dealt out in the order
// in which it is created, nor what has a node or a plan, nor what is urgent; and no more than an inbox holds, or those
// who search do not keep up.
bool scheduler::is_left_to_others(slot_queues& self, const frame* f) const {
  if (!charges_ || self.index < worker_count() || f->accesses == 0 || f->priority > 0) return false;
  if (f->affinity != detail::node_unknown || flow::names_user_memory(f)) return false;
  const auto most = static_cast<std::size_t>(ground_.tuned.inbox_capacity);
  if (self.normal.size_at_most() >= most) self.normal.look_again();
  return self.normal.size_at_most() < most && sleep.searching() > 0;
}

routing scheduler::send(slot_queues& self, frame* f, frame* creator) {
  const policy::wish wish = place({self.index, self.node, creator}, f);
  const bool planned = flow::node_of_plan(f->affinity) >= 0;  // once it is pushed it may have run, and be gone
  if (wish.initial) {
    push_to_initial(self, f, wish.node, planned && flow::names_user_memory(f));
    return routing::sent;
  }
  // What a guest keeps is taken by whoever comes first, of whatever node.
  if (wish.node == policy::here || (wish.node == self.node && self.index < worker_count())) return routing::stays;
  if (const routing to_node = push_to_node(self, f, wish.node); to_node != routing::stays) return to_node;
  if (!planned) return routing::stays;
  push_to_initial(self, f, wish.node, false);  // all of a window at once: more than an inbox holds
  return routing::sent;
}

void scheduler::push_to_initial(slot_queues& self, frame* f, int node, bool first) {
  note_sender(self, f);
  initial_tasks& its = initial_[static_cast<std::size_t>(node)];
  first ? its.push_first(f) : its.push(f);
  if (!wake_one_of_node(node)) sleep.work_published(0);  // if that node's workers stay busy somebody has to see it
}

// Rossignon et al., PDSEC 2013, section VI: to the node of its affinity, else to the nodes in turn; or where the
// policy places it. published() finds somebody if all of that node are busy.
void scheduler::push_to_container(slot_queues& self, frame* f) {
  const policy::wish wish = place({self.index, self.node, self.running}, f);
  const int node = container_for(self, wish.node);
  note_sender(self, f);
  containers_[static_cast<std::size_t>(node)].push(f, hint_of(f));
  atomic_fence(std::memory_order_seq_cst);
  if (sleep.sleeping() > 0) wake_one_of_node(node);
}

int scheduler::container_for(slot_queues& self, int wished) {
  if (wished == policy::here && charges_) wished = self.node;
  if (node_has_worker(wished)) return wished;
  if (wished >= 0) return near_.others(wished).front();
  const int first = node_of_worker(0);
  const std::vector<int>& others = near_.others(first);
  const std::size_t turn = self.turns++ % (others.size() + 1);
  return turn == 0 ? first : others[turn - 1];
}

// Drebes et al., PACT 2016, section 2.3, Algorithm 1, lines 29-33: to the inbox of a random worker of that node.
routing scheduler::push_to_node(slot_queues& self, frame* f, int node) {
  const std::vector<int>& workers = workers_of_node(node);
  if (workers.empty()) return routing::stays;
  const auto n = static_cast<std::uint32_t>(workers.size());
  const routing done = push_to_worker(self, ready_task(f, hint_of(f)), workers[n == 1 ? 0 : self.random.below(n)]);
  (done == routing::stays ? self.pushes_refused : self.pushes).add(1);
  return done;
}

routing scheduler::push_near(slot_queues& self, frame* f, int node, int worker) {
  if (nodes_ < 2 || policy_.discipline == policy::queues::central || containers_ != nullptr) return routing::stays;
  const std::vector<int>& workers = workers_of_node(node);
  if (workers.empty()) return routing::stays;
  const bool is_there = std::find(workers.begin(), workers.end(), worker) != workers.end();
  constexpr std::uint64_t page_bytes = 4096;
  const task_hint hint(page_bytes, f->ops->typical_ns.load(std::memory_order_relaxed));
  return push_to_worker(self, ready_task(f, charges_ ? hint : task_hint()), is_there ? worker : workers.front());
}

// Who sends tasks waits for each line that others have written meanwhile. Of a worker that has nothing to do it looks
// at that one's own word, and neither at the board of offers nor at the counts of who sleeps and searches.
routing scheduler::push_to_worker(slot_queues& self, ready_task t, int target) {
  slot_queues& its = slot(target);
  note_sender(self, t.task());
  if (t.task()->priority > 0) note_urgent();
  if (!(t.task()->priority > 0 ? its.pushed_urgent : its.pushed).try_push(t)) return routing::stays;
  // Orders the push before the look at who sleeps (src/sched/README.md, "publish against sleep").
  atomic_fence(std::memory_order_seq_cst);
  if (sleep.wake_or_see_spinning(target)) return routing::awaited;
  if ((charges_ && offers_.offer(target)) || t.hint().bytes() == 0) self.has_news = true;
  return wakes_mate_of(target) ? routing::awaited : routing::sent;
}

// That is busy: a mate of its node may take the task.
bool scheduler::wakes_mate_of(int worker) {
  const std::vector<int>& mates = workers_of_node(node_of_worker(worker));
  if (mates.size() == 1 || sleep.sleeping() <= 0) return false;
  return std::ranges::any_of(mates, [&](int w) { return sleep.wake_fenced(w); });
}

}  // namespace weir::sched
