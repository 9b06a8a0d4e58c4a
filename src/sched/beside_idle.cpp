// What a worker that runs tasks sees of others that do not.
#include "sched/scheduler.hpp"

#include <algorithm>

namespace weir::sched {

// Others of its own node may be busy, too: then all are that could run these tasks beside their data.
void scheduler::look_at_idle(slot_queues& self, std::uint32_t running, bool more_to_come, std::uint64_t begin_ns,
                             std::uint64_t end_ns) const {
  const std::uint64_t ns = self.beside.due(begin_ns, end_ns);
  if (ns == 0) return;
  const int busy = worker_count() - sleep.sleeping() - sleep.searching();
  const int mates = static_cast<int>(workers_of_node(self.node).size());
  if (busy > (mates == worker_count() ? 1 : std::max(1, mates))) return;
  self.beside.add(why_others_are_idle(self, running, more_to_come), busy <= 1, ns);
}

idle_reason scheduler::why_others_are_idle(const slot_queues& self, std::uint32_t running, bool more_to_come) const {
  if (!required_[static_cast<std::size_t>(self.node)].empty()) return idle_reason::required;
  const bool costly = anything_costly_beside(self);
  if (costly || anything_cheap_beside(self))
    return self.hunts.sizes().all_small() ? idle_reason::small : costly ? idle_reason::distant : idle_reason::brief;
  return more_to_come || outstanding() > static_cast<std::int64_t>(running) ? idle_reason::dependent
                                                                             : idle_reason::uncreated;
}

// Tasks that others need not weigh.
bool scheduler::anything_cheap_beside(const slot_queues& self) const {
  if (!central_.empty() || self.has_tasks() || node_holds_tasks(self.node)) return true;
  const int end = slot_count();
  for (int i = worker_count(); i < end; i++)
    if (any_in(*slots_[static_cast<std::size_t>(i)].load(std::memory_order_acquire))) return true;
  return false;
}

bool scheduler::anything_costly_beside(const slot_queues& self) const {
  if (!charges_) return false;
  const auto costs = [](task_hint hint) { return hint.bytes() > 0; };
  const auto n = static_cast<std::size_t>(self.node);
  return costs(self.normal.first().hint()) || costs(self.pushed.first().hint()) || costs(self.urgent.first().hint()) ||
         costs(self.pushed_urgent.first().hint()) || (!initial_[n].empty() && costs(initial_[n].first())) ||
         (containers_ != nullptr && !containers_[n].empty() && costs(containers_[n].first()));
}

std::int64_t scheduler::outstanding() const {
  std::uint64_t spawned = 0, finished = 0;
  const int end = slot_count();
  for (int i = 0; i < end; i++) {
    const slot_queues& q = *slots_[static_cast<std::size_t>(i)].load(std::memory_order_acquire);
    finished += q.finished.read();
    spawned += q.spawned.read();
  }
  return static_cast<std::int64_t>(spawned - finished);
}

}  // namespace weir::sched
