// Making and ending an engine, and finding the calling thread's slot.
#include "engine/threads/engine.hpp"

#include <climits>
#include <cstring>
#include <limits>
#include <new>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <pthread.h>

namespace weir::engine {
namespace {

atomic<std::uint64_t> next_id{1}, next_guest{1};

// Engines alive, so that a thread that ends can hand its guest slots back. Like all that is kept about threads it is never
// destroyed: runtimes may be static objects, and end after whatever else is static or a thread's own.
std::mutex& registry_mutex() {
  static constinit std::mutex m;
  return m;
}
constinit engine* newest = nullptr;

// A child that is forked finds the registry whole and unlocked.
struct registry_lock {
  os::fork_shield shield;
  std::lock_guard<std::mutex> guard{registry_mutex()};
};

// Its destructor is called when a thread ends, after those of the thread's objects; for the main thread only if that
// ends before the process does.
constinit pthread_key_t exit_key{};
constinit bool exit_key_made = false;

// libweir may be unloaded before the threads end that have used it.
[[gnu::destructor]] void delete_exit_key() {
  if (std::exchange(exit_key_made, false)) pthread_key_delete(exit_key);
}

thread_local constinit std::uint64_t this_guest = 0;     // the calling thread's number; 0: it needed none so far

}  // namespace

thread_local constinit thread_binding used_last;
thread_local constinit thread_binding as_worker;
thread_local constinit std::uint64_t blocks_in_task_of = 0;

namespace {

// The system's allocator has an arena for each thread, at a multiple of 64 MiB. So what each of them makes first lies
// at the same place in its arena, and in the same sets of all caches. Who looks at some twenty workers one after the
// other would find none of their lines there any more, although nobody has written them.
std::unique_ptr<char[]> keep_apart(int worker) {
  constexpr std::size_t step = 13 * cache_line_bytes, period = 64 * step;
  return std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(worker) * step % period + 1);
}

// A forked child looks again and then finds out that the workers stayed in the parent.
[[maybe_unused]] const int forget_binding = pthread_atfork(nullptr, nullptr, [] {
  used_last = as_worker = {};
  blocks_in_task_of = 0;
});

std::vector<int> nodes_of(const machine::description& m, const std::vector<int>& cpus) {
  std::vector<int> nodes;
  for (int c : cpus) nodes.push_back(m.cpus[static_cast<std::size_t>(c)].node);
  return nodes;
}

// Threads that stand in for those in weir::blocking() and are kept when they are not needed. Fewer: where more tasks
// block at a time, threads are made and ended again and again, some tens of microseconds each. More: each keeps what
// it has touched of its stack, mostly some 20 KiB.
constexpr std::size_t substitutes_parked_per_worker = 4;

// Of what the process may use.
std::uint64_t an_eighth_of_memory(const machine::description& m) {
  std::uint64_t bytes = 0;
  for (const auto& n : m.nodes) bytes += n.memory_bytes;
  if (bytes == 0) bytes = std::numeric_limits<std::uint64_t>::max();
  return std::min(bytes, m.memory_limit_bytes != 0 ? m.memory_limit_bytes : bytes) / 8;
}

// Nothing of a task is left in it.
bool is_at_rest(const slot& s) {
  return s.holds_no_task() && s.queues.running == nullptr && s.credits == 0 && s.bulk == nullptr &&
         s.loop == nullptr && s.loops == nullptr && s.nested_waits.load(std::memory_order_relaxed) == 0 &&
         s.flow.ready.empty() && s.flow.rest == nullptr && !s.flow.late.any();
}

// They have ended. Guests may still let go of something.
[[maybe_unused]] bool workers_are_at_rest(const engine& e) {
  bool all = true;
  e.for_each_slot([&](const slot& s) { all &= s.index() >= e.scheduler().worker_count() || is_at_rest(s); });
  const sched::sleep_control<>& sleep = e.scheduler().sleep;
  return all && sleep.is_valid() && sleep.sleeping() == 0 && sleep.searching() == 0 && sleep.places_kept() == 0;
}

std::vector<int> os_nodes_of(const machine::description& m) {
  std::vector<int> nodes;
  for (const auto& n : m.nodes) nodes.push_back(n.os_index);
  return nodes;
}

}  // namespace

// On one node nothing can move.
std::unique_ptr<memory::migration> engine::make_migration() {
  using when = memory::migration::when;
  const policy::migration m = scheduler_.policy().migrates;
  if (m == policy::migration::off || !shared_.several_nodes) return nullptr;
  const policy_machine& seen = scheduler_.seen_by_policy();
  return std::make_unique<memory::migration>(
      shared_.user_memory, machine_.is_host ? os::host_memory() : os::pretended_memory(), os_nodes_of(machine_),
      seen.read_ns, seen.write_ns, m == policy::migration::automatic ? when::at_once : when::at_barriers);
}

engine::engine(const machine::description& m, std::vector<int> worker_cpus, place::chosen p, const options& o)
    : machine_(m),
      id_(next_id.fetch_add(1, std::memory_order_relaxed)),
      fork_generation_(os::fork_generation()),
      // Far enough ahead for wide graphs to show their parallelism; near enough for frames to stay in the caches.
      backlog_limit_(o.backlog != 0 ? o.backlog : 4096 + 1024 * worker_cpus.size()),
      most_frame_bytes_(an_eighth_of_memory(m)),
      most_used_up_bytes_(an_eighth_of_memory(m)),
      shared_(m.is_host ? os::host_memory() : os::pretended_memory(), os_nodes_of(m), p.outputs),
      sample_mask_((shared_.several_nodes ? tasks_per_sample_of_several_nodes : tasks_per_sample) - 1),
      scheduler_(m, nodes_of(m, worker_cpus), std::move(p), o.spin_ns, o.tuned),
      slots_(worker_cpus.size() + sched::scheduler::most_guest_slots),
      guests_(sched::scheduler::most_guest_slots),
      slot_to_release_(make_slot_to_release()),
      bound_(o.bind && m.is_host),
      each_cpu_has_worker_(bound_ && worker_cpus.size() > 1 &&
                           std::set<int>(worker_cpus.begin(), worker_cpus.end()).size() == m.cpus.size()),
      spin_ns_(o.spin_ns),
      one_worker_(worker_cpus.size() == 1),
      told_alone_(static_cast<std::uint32_t>(o.tuned.told_alone)),
      stack_(o.stack),
      waiting_threads_execute_(o.waiting_threads_execute),
      guests_run_what_they_create_(o.guests_run_what_they_create),
      recorder_(o.recorder),
      worker_begins_(o.worker_begins),
      tasks_need_frames_(recorder_ != nullptr || scheduler_.policy().observes),
      watched_always_(!bound_ || recorder_ != nullptr || migration_ != nullptr || scheduler_.policy().observes),
      workers_to_come_(static_cast<std::ptrdiff_t>(worker_cpus.size())),
      worker_cpus_(machine::bindings(m, worker_cpus)),
      substitutes_(stack_, substitutes_parked_per_worker * worker_cpus.size(), [this](substitute& self, os::stack_bounds stack) { substitute_main(self, stack); }) {
  shared_.traced = recorder_ != nullptr;
  scheduler_.set_memory_of_data(shared_);
  scheduler_.set_user_memory(shared_.user_memory);
  scheduler_.set_clock(os::now_ns);
  if (windows_ != nullptr) windows_->set_clock(os::now_ns);
  if (windows_ != nullptr && migration_ != nullptr) windows_->set_migration(*migration_);
  // A window can be full before its creator is too far ahead.
  if (windows_ != nullptr && o.backlog == 0) backlog_limit_ = std::max(backlog_limit_, 2 * windows_->wanted());
  if (given_up_.claim_failure()) given_up_.note_failure(nullptr);  // no more of them
  prepare_asymmetric_fences();
  for (std::size_t i = 0; i < m.cpus.size(); i++) {
    const auto os = static_cast<std::size_t>(m.cpus[i].os_index);
    if (node_of_os_cpu_.size() <= os) node_of_os_cpu_.resize(os + 1, -1);
    node_of_os_cpu_[os] = m.cpus[i].node;
  }
  worker_of_os_cpu_.resize(node_of_os_cpu_.size(), -1);
  for (std::size_t w = 0; w < worker_cpus.size(); w++) {
    const int os = m.cpus[static_cast<std::size_t>(worker_cpus[w])].os_index;
    if (m.is_host) worker_of_os_cpu_[static_cast<std::size_t>(os)] = static_cast<int>(w);
  }
  make_exit_key();
  start_workers(worker_cpus);
  enter_registry();
}

engine::~engine() {
  leave_registry();
  stop();
  WEIR_ASSERT(quiescent());
}

void engine::enter_registry() {
  const registry_lock guard;
  older_ = newest;
  newest = this;
}

void engine::leave_registry() {
  const registry_lock guard;
  engine** to = &newest;
  while (*to != this) to = &(*to)->older_;
  *to = older_;
}

void engine::start_workers(const std::vector<int>& cpus) {
  const auto cannot_start = [all = cpus.size()](std::size_t w, const std::string& why, const char* expected) {
    return error("the thread of worker " + std::to_string(w) + " of " + std::to_string(all) + " cannot be started: " + why + "; expected " + expected);
  };
  threads_.reserve(cpus.size());
  for (std::size_t w = 0; w < cpus.size(); w++) {
    const auto give_up = [&] {
      stopping_.store(1, std::memory_order_relaxed);
      workers_to_come_.count_down(static_cast<std::ptrdiff_t>(cpus.size() - w));
      stop();
    };
    try {
      threads_.emplace_back(stack_, [this, w](os::stack_bounds stack) { worker_main(static_cast<int>(w), worker_cpus_[w], stack); });
    } catch (const std::system_error& e) {
      give_up();
      throw cannot_start(w, e.code().message(), "a system that allows as many threads and their stacks (ulimit -u -v, the container's limit of processes)");
    } catch (...) {
      give_up();
      throw;
    }
  }
  workers_to_come_.wait();
  const int without = worker_without_memory_.load(std::memory_order_relaxed);
  if (without < 0) return;
  stop();
  throw cannot_start(static_cast<std::size_t>(without), "there is no memory left for its queues", "some 100 KiB a worker (ulimit -v, the container's limit of memory)");
}

void engine::stop() {
  stopping_.store(1, std::memory_order_seq_cst);
  if (slot* const mine = forked() ? nullptr : own_guest_slot(); mine != nullptr) give_up_kept_place(*mine);
  scheduler_.sleep.wake_all();
  for (os::thread& t : threads_) t.join();
  threads_.clear();
  substitutes_.end();
  WEIR_ASSERT(workers_are_at_rest(*this));
}

void engine::throw_forked() {
  throw error("this process was forked after its weir::runtime was made, and the workers stayed in the parent; make a "
              "new runtime in the child, or call exec");
}

bool engine::in_task() const { return as_worker.engine_id == id_ && as_worker.current->depth > 0; }

int engine::node_of_calling_cpu() const {
  const int cpu = os::current_cpu();
  if (!machine_.is_host || cpu < 0 || static_cast<std::size_t>(cpu) >= node_of_os_cpu_.size()) return 0;
  return std::max(0, node_of_os_cpu_[static_cast<std::size_t>(cpu)]);
}

void engine::refresh_node(slot& s) {
  if (machine_.node_count() < 2 || !machine_.is_host) return;
  const int node = node_of_calling_cpu();
  if (node != s.flow.node) s.flow.move_to(node);
  s.queues.node = node;
}

slot& engine::guest_slot() {
  throw_if_forked();
  slot* const mine = as_worker.engine_id == id_ ? as_worker.current : own_guest_slot();
  used_last = {id_, mine != nullptr ? mine : &take_guest_slot()};
  return *used_last.current;
}

slot* engine::guest_slot_if_any() noexcept {
  try {
    return &guest_slot();
  } catch (...) {
    return nullptr;
  }
}

// A thread finds what it has written itself, without a lock.
slot* engine::own_guest_slot() const {
  if (this_guest == nobody) return nullptr;
  const int first = scheduler_.worker_count(), end = scheduler_.slot_count();
  for (int i = first; i < end; i++)
    if (guests_[static_cast<std::size_t>(i - first)].load(std::memory_order_relaxed) == this_guest) return slot_at(i);
  return nullptr;
}

slot& engine::take_guest_slot() {
  if (this_guest == nobody) {
    if (const int e = pthread_setspecific(exit_key, &exit_key); e != 0) throw error(std::string("a thread cannot use a weir::runtime: the system has no memory for what it keeps of a thread: ") + std::strerror(e));
    this_guest = next_guest.fetch_add(1, std::memory_order_relaxed);
  }
  std::lock_guard guard(guests_mutex_);
  const int index = free_guest_slot();
  slot& s = guest_slot_at(index);
  guest_at(index).store(this_guest, std::memory_order_relaxed);
  s.floors = stack_floors();
  refresh_node(s);
  return s;
}

// One that nobody uses any more serves the next thread; what is left in its queues stays there to be stolen.
int engine::free_guest_slot() {
  for (int i = scheduler_.worker_count(); i < scheduler_.slot_count(); i++)
    if (guest_at(i).load(std::memory_order_acquire) == nobody) return i;
  const int index = scheduler_.add_guest(node_of_calling_cpu());
  if (index < 0) throw error("more than " + std::to_string(sched::scheduler::max_guests) + " threads use one weir::runtime at once");
  return index;
}

// Its queues are there; itself too, unless there was no memory for it before.
slot& engine::guest_slot_at(int index) {
  if (slot_at(index) == nullptr) slots_.set(index, std::make_unique<slot>(*this, shared_, scheduler_.slot(index), false));
  return *slot_at(index);
}

// Made before it is needed, for then there may be no memory.
slot& engine::make_slot_to_release() {
  const int index = scheduler_.add_guest(0);
  guest_at(index).store(whoever_lets_go, std::memory_order_relaxed);
  return guest_slot_at(index);
}

void engine::forget_guest(std::uint64_t guest) {
  for (std::size_t i = 0; i < guests_.size(); i++) {
    if (guests_[i].load(std::memory_order_relaxed) != guest) continue;
    if (!forked()) give_up_kept_place(*slot_at(scheduler_.worker_count() + static_cast<int>(i)));
    guests_[i].store(nobody, std::memory_order_release);
  }
}

// Of the calling thread, in all engines. It is in no task.
void engine::give_up_kept_places() {
  if (this_guest == nobody) return;
  const registry_lock guard;
  for (engine* e = newest; e != nullptr; e = e->older_)
    if (slot* const mine = e->forked() ? nullptr : e->own_guest_slot(); mine != nullptr) e->give_up_kept_place(*mine);
}

// If another key's destructor uses a runtime after this, the thread gets a new number, and this is called again.
void engine::thread_ends(void*) {
  const std::uint64_t guest = std::exchange(this_guest, nobody);
  used_last = {};
  const registry_lock guard;
  for (engine* e = newest; e != nullptr; e = e->older_) e->forget_guest(guest);
}

void engine::make_exit_key() {
  const registry_lock guard;
  if (exit_key_made) return;
  if (const int e = pthread_key_create(&exit_key, &thread_ends); e != 0)
    throw error(std::string("weir cannot learn when threads end: pthread_key_create: ") + std::strerror(e) + "; expected a program that leaves one of its " + std::to_string(PTHREAD_KEYS_MAX) + " keys");
  exit_key_made = true;
}

void engine::become_worker(slot& s, os::stack_bounds stack) {
  s.floors = stack_floors(stack);
  used_last = as_worker = {id_, &s};
}

// Made by the worker itself so that it lies on its own node.
slot& engine::make_worker(int worker) {
  auto stagger = keep_apart(worker);
  scheduler_.make_worker_slot(worker);
  if (worker_begins_) worker_begins_(scheduler_, worker);
  auto made = std::make_unique<slot>(*this, shared_, scheduler_.slot(worker), true);
  slot& mine = *made;
  mine.stagger = std::move(stagger);
  mine.flow.leaves_some = !one_worker_;
  mine.flow.tells_at_most = told_alone_;
  if (recorder_ != nullptr)
    mine.log =
        &recorder_->make_log(worker, mine.queues.node, machine_.node_count(), shared_.buffers, shared_.user_memory);
  if (shared_.several_nodes)
    for (memory::pools* p : {&shared_.frames, &shared_.buffers}) p->warm_up(mine.queues.node);
  made->queues.bell = &bells_.of(groups_.of(scheduler_.node_of_worker(worker)));
  slots_.set(worker, std::move(made));
  return mine;
}

void engine::worker_main(int worker, const std::vector<int>& os_cpus, os::stack_bounds stack) {
  os::name_this_thread(("weir " + std::to_string(worker)).c_str());
  os::cpu_binding binding;
  slot* mine = nullptr;
  try {
    if (bound_ && !binding.bind(os_cpus)) bind_refused_.store(1, std::memory_order_relaxed);
    mine = &make_worker(worker);
    become_worker(*mine, stack);
  } catch (const std::bad_alloc&) {
    worker_without_memory_.store(worker, std::memory_order_relaxed);
    stopping_.store(1, std::memory_order_relaxed);
  }
  // Nobody may look into a slot that is not there yet. Asleep: those to come may need this one's CPU.
  workers_to_come_.arrive_and_wait();
  if (stopping_.load(std::memory_order_relaxed) != 0) return;
  while (frame* f = next_task(*mine)) execute(*mine, f);
  used_last = as_worker = {};
}

}  // namespace weir::engine
