// Making and ending an engine, and finding the calling thread's slot.
#include "engine/threads/engine.hpp"

#include <map>
#include <system_error>

#include <pthread.h>

namespace weir::engine {
namespace {

atomic<std::uint64_t> next_id{1};

// Engines alive, so that a thread that ends can hand its guest slots back.
std::mutex& registry_mutex() {
  static std::mutex m;
  return m;
}
std::map<std::uint64_t, engine*>& registry() {
  static std::map<std::uint64_t, engine*> r;
  return r;
}

}  // namespace

thread_local constinit thread_binding used_last;

// What a thread remembers: its slot in the engine it used last, and all its guest slots.
struct thread_exit {
  struct guest {
    std::uint64_t engine_id;
    int index;
  };
  std::vector<guest> guests;

  static void take_back(engine& e, int index) { e.slot_at(index)->taken.store(0, std::memory_order_release); }
  // Threads may outlive many engines.
  void remember(guest g) {
    constexpr std::size_t many = 64;
    if (guests.size() >= many) {
      std::lock_guard guard(registry_mutex());
      std::erase_if(guests, [](const guest& old) { return !registry().contains(old.engine_id); });
    }
    guests.push_back(g);
  }
  ~thread_exit() {
    std::lock_guard guard(registry_mutex());
    for (const guest& g : guests)
      if (const auto it = registry().find(g.engine_id); it != registry().end()) take_back(*it->second, g.index);
  }
};

namespace {

thread_local thread_binding as_worker;  // in the engine whose worker the thread is: it may use others meanwhile

// A forked child looks again and then finds out that the workers stayed in the parent.
[[maybe_unused]] const int forget_binding = pthread_atfork(nullptr, nullptr, [] { used_last = as_worker = {}; });

thread_local thread_exit leaving;

std::vector<int> nodes_of(const machine::description& m, const std::vector<int>& cpus) {
  std::vector<int> nodes;
  for (int c : cpus) nodes.push_back(m.cpus[static_cast<std::size_t>(c)].node);
  return nodes;
}

std::vector<int> os_nodes_of(const machine::description& m) {
  std::vector<int> nodes;
  for (const auto& n : m.nodes) nodes.push_back(n.os_index);
  return nodes;
}

}  // namespace

engine::engine(const machine::description& m, std::vector<int> worker_cpus, place::policy p, const options& o)
    : machine_(m),
      id_(next_id.fetch_add(1, std::memory_order_relaxed)),
      fork_generation_(os::fork_generation()),
      // Far enough ahead for wide graphs to show their parallelism; near enough for frames to stay in the caches.
      backlog_limit_(o.backlog != 0 ? o.backlog : 4096 + 1024 * worker_cpus.size()),
      shared_(m.is_host ? os::host_memory() : os::pretended_memory(), os_nodes_of(m), p.outputs),
      scheduler_(m, nodes_of(m, worker_cpus), std::move(p)),
      slots_(worker_cpus.size() + sched::scheduler::max_guests),
      bound_(o.bind && m.is_host),
      spin_ns_(o.spin_ns),
      one_worker_(worker_cpus.size() == 1),
      stack_(o.stack),
      recorder_(o.recorder),
      watched_(!bound_ || recorder_ != nullptr),
      workers_to_come_(static_cast<std::ptrdiff_t>(worker_cpus.size())) {
  shared_.traced = recorder_ != nullptr;
  prepare_asymmetric_fences();
  for (std::size_t i = 0; i < m.cpus.size(); i++) {
    const auto os = static_cast<std::size_t>(m.cpus[i].os_index);
    if (node_of_os_cpu_.size() <= os) node_of_os_cpu_.resize(os + 1, -1);
    node_of_os_cpu_[os] = m.cpus[i].node;
  }
  start_workers(worker_cpus);
  std::lock_guard guard(registry_mutex());
  registry().emplace(id_, this);
}

engine::~engine() {
  {
    std::lock_guard guard(registry_mutex());
    registry().erase(id_);
  }
  stop();
  delete_slots();
}

void engine::start_workers(const std::vector<int>& cpus) {
  const std::vector<std::vector<int>> bound_to = machine::bindings(machine_, cpus);
  for (std::size_t w = 0; w < cpus.size(); w++) {
    try {
      threads_.emplace_back(stack_, [this, w, &bound_to](os::stack_bounds stack) { worker_main(static_cast<int>(w), bound_to[w], stack); });
    } catch (const std::system_error& e) {
      stopping_.store(1, std::memory_order_relaxed);
      workers_to_come_.count_down(static_cast<std::ptrdiff_t>(cpus.size() - w));
      stop();
      delete_slots();
      throw error("the thread of worker " + std::to_string(w) + " of " + std::to_string(cpus.size()) + " cannot be started: " + e.code().message() +
                  "; expected a system that allows as many threads and their stacks (ulimit -u -v, the container's limit of processes)");
    }
  }
  workers_to_come_.wait();
}

void engine::delete_slots() {
  for (auto& s : slots_) delete s.load(std::memory_order_relaxed);
}

void engine::stop() {
  stopping_.store(1, std::memory_order_seq_cst);
  scheduler_.sleep.wake_all();
  for (os::thread& t : threads_) t.join();
  threads_.clear();
}

void engine::throw_if_forked() const {
  if (forked())
    throw error("this process was forked after its weir::runtime was made, and the workers stayed in the parent; make a new runtime in the child, or call exec");
}

slot* engine::this_worker() { return as_worker.current; }

bool engine::in_task() const { return as_worker.engine_id == id_ && as_worker.current->depth > 0; }

int engine::node_of_calling_cpu() const {
  const int cpu = os::current_cpu();
  if (!machine_.is_host || cpu < 0 || static_cast<std::size_t>(cpu) >= node_of_os_cpu_.size()) return 0;
  return std::max(0, node_of_os_cpu_[static_cast<std::size_t>(cpu)]);
}

void engine::refresh_node(slot& s) {
  if (machine_.node_count() < 2 || !machine_.is_host) return;
  s.queues.node = s.flow.node = node_of_calling_cpu();
}

// A slot nobody uses any more serves the next thread; what is left in its queues stays there to be stolen.
slot& engine::guest_slot() {
  throw_if_forked();
  if (as_worker.engine_id == id_) {
    used_last = as_worker;
    return *used_last.current;
  }
  for (const auto& g : leaving.guests)
    if (g.engine_id == id_) {
      used_last = {id_, slot_at(g.index)};
      return *used_last.current;
    }
  std::lock_guard guard(guests_mutex_);
  slot* found = nullptr;
  for (int i = scheduler_.worker_count(); i < scheduler_.slot_count() && found == nullptr; i++) {
    slot* s = slot_at(i);
    if (s->taken.load(std::memory_order_acquire) == 0) found = s;
  }
  if (found == nullptr) {
    const int index = scheduler_.add_guest(node_of_calling_cpu());
    if (index < 0) throw error("more than " + std::to_string(sched::scheduler::max_guests) + " threads use one weir::runtime at once");
    found = new slot(*this, shared_, scheduler_.slot(index), false);
    slots_[static_cast<std::size_t>(index)].store(found, std::memory_order_release);
  }
  found->taken.store(1, std::memory_order_relaxed);
  refresh_node(*found);
  leaving.remember({id_, found->index()});
  used_last = {id_, found};
  return *found;
}

void engine::become_worker(slot& s, os::stack_bounds stack) {
  s.floors = stack_floors(stack);
  used_last = as_worker = {id_, &s};
}

// Reads `os_cpus` before it says that it is there: start_workers() may go on then.
void engine::worker_main(int worker, const std::vector<int>& os_cpus, os::stack_bounds stack) {
  os::name_this_thread(("weir " + std::to_string(worker)).c_str());
  if (bound_ && !os::bind_this_thread(os_cpus)) bind_refused_.store(1, std::memory_order_relaxed);
  // Made here so that it lies on the worker's own node.
  scheduler_.make_worker_slot(worker);
  auto* mine = new slot(*this, shared_, scheduler_.slot(worker), true);
  if (recorder_ != nullptr) mine->log = &recorder_->make_log(worker, mine->queues.node, machine_.node_count(), shared_.buffers);
  become_worker(*mine, stack);
  if (shared_.several_nodes)
    for (memory::pools* p : {&shared_.frames, &shared_.buffers}) p->warm_up(mine->queues.node);
  slots_[static_cast<std::size_t>(worker)].store(mine, std::memory_order_release);
  // Nobody may look into a slot that is not there yet. Asleep: those to come may need this one's CPU.
  workers_to_come_.arrive_and_wait();
  if (stopping_.load(std::memory_order_relaxed) != 0) return;
  while (frame* f = next_task(*mine)) execute(*mine, f);
  used_last = as_worker = {};
}

}  // namespace weir::engine
