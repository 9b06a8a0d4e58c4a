// weir::runtime, weir::scope, and what data handles need of a runtime.
#include "runtime/runtime.hpp"

#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

namespace weir {
namespace detail {

runtime_state::runtime_state(const runtime_options& o, machine::description m, place::chosen p, machine::cpu_claim c,
                             std::unique_ptr<trace::recorder> r)
    : machine(std::move(m)),
      policy_name(p.name),
      cpus(std::move(c)),
      recorder(std::move(r)),
      engine(machine, cpus.worker_cpus(), std::move(p),
             {.bind = chosen_binding(o),
              .backlog = o.backlog,
              .spin_ns = chosen_spin_ns(o, machine, cpus.worker_cpus().size()),
              .tuned = chosen_tuning(),
              .stack = chosen_stack(o),
              .waiting_threads_execute = o.waiting_threads_execute,
              .guests_run_what_they_create = o.waiting_threads_execute && o.spawn_executes_outside_tasks,
              .recorder = recorder.get()}),
      start_ns(os::now_ns()) {
  engine.shared().runtime = this;
}

void hold(runtime_state& s) { s.holders.fetch_add(1, std::memory_order_relaxed); }

void let_go(runtime_state* s) noexcept {
  if (s->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete s;
}

namespace {

// A failure that no wait() has thrown must not be lost in silence.
void say_what_nobody_asked_for(scope_state& scope, const char* of) noexcept {
  const std::exception_ptr failure = scope.take_failure();
  if (failure == nullptr) return;
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weir: %s; nobody called %s::wait(), which throws this\n", e.what(), of);
  } catch (...) {
  }
}

// Ends weir::runtime. Whatever goes wrong is handed to `failed`, and the rest is done all the same.
template <class Failed, class Unasked>
void end_state(runtime_state* s, const Failed& failed, const Unasked& unasked) {
  engine::engine& e = s->engine;
  if (e.forked()) return;  // the workers are in the parent: what is here cannot be ended, only left
  const auto succeeds = [&failed](auto&& f) {
    try {
      f();
      return true;
    } catch (const std::exception& x) {
      failed(x);
      return false;
    }
  };
  const auto quiescent = [&e] { return e.quiescent(); };
  // Who runs out of memory while tasks are given up tries again: workers cannot end before their tasks.
  while (!succeeds([&] { e.wait_until(quiescent, engine::permission::for_all()); }) && !e.quiescent()) {
  }
  unasked(e.root());
  if (s->print_statistics) succeeds([&] { std::fputs(collect_statistics(*s).to_string().c_str(), stderr); });
  {
    const engine::slot_to_release here(e);
    flow::forget_all_domains(here->flow);
  }
  e.stop();
  s->cpus.give_back();
  succeeds([&] { write_trace(*s); });
  let_go(s);
}

// Also by a thread for which the runtime has no place.
void end_of_wait(engine::engine& e, flow::address_domain& d) {
  if (!d.forgets_at_waits()) return;
  const engine::slot_to_release here(e);
  flow::end_of_wait(here->flow, d);
}

// For the destructor: nothing is thrown.
void end_runtime(runtime_state* s) {
  end_state(s, [](const std::exception& e) { std::fprintf(stderr, "weir: at the end of a runtime: %s\n", e.what()); },
            [](scope_state& root) { say_what_nobody_asked_for(root, "weir::runtime"); });
}

}  // namespace

void write_trace(runtime_state& s) {
  if (s.recorder == nullptr) return;
  trace::about a{.policy = s.policy_name, .machine = s.machine.name, .nodes = s.machine.node_count(), .bound = s.engine.bound()};
  for (const int c : s.cpus.worker_cpus()) a.worker_nodes.push_back(s.machine.cpus[static_cast<std::size_t>(c)].node);
  a.worker_cpus = machine::bindings(s.machine, s.cpus.worker_cpus());
  a.chosen = s.engine.scheduler().policy().object->explanation();
  s.recorder->write(a);
}

frame* create_frame(runtime_state& rt, scope_state* scope, const task_ops* ops, const task_options& o, frame_size size) {
  return rt.engine.create(scope, ops, o, size);
}
void discard_frame(runtime_state& rt, frame* f) noexcept { rt.engine.discard(f); }
void submit_frame(runtime_state& rt, frame* f) { rt.engine.submit(f); }
void submit_control_program(runtime_state& rt, frame* f) { rt.engine.submit_control_program(f); }
bool run_at_once(runtime_state& rt, scope_state* scope, const task_ops& ops, void (*run)(void*), void* body) {
  return rt.engine.run_at_once(scope, ops, run, body);
}

void throw_null_access(const char* what) { throw usage_error(std::string("a task names ") + what + " that refers to nothing; make it with weir::runtime first"); }

void throw_slice_error(const datum* d, std::size_t offset, std::size_t count) {
  if (d == nullptr) throw_null_access("a weir::data handle");
  throw usage_error(std::string("datum ") + (d->name ? d->name : "(unnamed)") + ": elements " + std::to_string(offset) + " to " + std::to_string(offset + count) + " were asked for, it has " +
                    std::to_string(d->bytes / d->element_bytes));
}

void throw_range_error(const frame* f, std::uintptr_t first, std::size_t count, std::size_t element_bytes) {
  throw usage_error(std::string("task ") + f->display_name() + ": a range of " + std::to_string(count) +
                    " elements of " + std::to_string(element_bytes) + " bytes at address " + std::to_string(first) +
                    " reaches beyond what can be addressed; weir::ref names memory of the program");
}

void throw_tile_error(const tile_numbers& n) {
  const auto all = [](const char* what, std::size_t first, std::size_t count) {
    return std::string(what) + " " + std::to_string(first) + " to " + std::to_string(first + count);
  };
  if (n.rows == 0 || n.columns == 0)
    throw usage_error("weir::tile: " + std::to_string(n.rows) + " rows of " + std::to_string(n.columns) +
                      " columns were asked for; a tile has at least one of each");
  if (n.columns > n.stride || n.first_column > n.stride - n.columns)
    throw usage_error("weir::tile: " + all("columns", n.first_column, n.columns) +
                      " were asked for, and the matrix has " + std::to_string(n.stride) +
                      " elements from row to row (its stride)");
  throw usage_error("weir::tile: " + all("rows", n.first_row, n.rows) + " of a matrix at address " +
                    std::to_string(n.matrix) + ", with " + std::to_string(n.stride) + " elements of " +
                    std::to_string(n.element_bytes) + " bytes from row to row, reach beyond what can be addressed");
}

void throw_window_error(const frame* f, const stream_state* s, std::size_t count) {
  throw usage_error(std::string("task ") + f->display_name() + ": a window of " + std::to_string(count) + " elements of " + std::to_string(s->element_bytes) + " bytes on stream " +
                    (s->name ? s->name : "(unnamed)") + " is more than can be addressed");
}

datum* create_datum(runtime_state& rt, std::size_t elements, std::size_t element_bytes, const char* name) {
  rt.engine.throw_if_forked();
  if (elements > most_bytes / element_bytes)
    throw usage_error(std::string("datum ") + (name ? name : "(unnamed)") + ": " + std::to_string(elements) + " elements of " + std::to_string(element_bytes) + " bytes are more than can be addressed");
  engine::slot& s = rt.engine.current();
  auto* d = new (s.flow.frames.allocate(sizeof(datum), s.flow.node).data) datum;
  d->no_frame.store(0, std::memory_order_relaxed);
  d->bytes = elements * element_bytes;
  d->element_bytes = static_cast<std::uint32_t>(element_bytes);
  d->runtime = &rt;
  d->name = name;
  d->home = static_cast<std::int16_t>(s.flow.node);
  hold(rt);
  return d;
}

void fill_datum(datum* d, const void* values) {
  flow::give_first_version(d->runtime->engine.current().flow, *d, values);
}

void release_datum(datum* d) noexcept {
  // Who holds the only handle need not count: nobody else can copy it.
  if (d->handles.load(std::memory_order_acquire) != 1 && d->handles.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  runtime_state* rt = d->runtime;
  if (rt->engine.forked()) return;
  {
    const engine::slot_to_release s(rt->engine);
    if (d->current != nullptr || d->group() != nullptr) {
      flow::let_current_go(s->flow, *d);
      rt->engine.route_released(*s);
    }
    s->flow.frames.release({d, d->home, d->home}, sizeof(datum));
  }
  let_go(rt);
}

void run_loop(runtime_state& rt, loop_work& l) {
  engine::engine& e = rt.engine;
  e.throw_if_unable_to_wait();
  const std::exception_ptr gave_up = wait_and_rethrow(e, l.scope, [&] {
    const engine::waited_for_inside waited_for(l.scope, e.where_running_task_is());
    e.run_loop(l);
  });
  if (gave_up != nullptr && e.in_task()) std::rethrow_exception(gave_up);
}
bool loop_goes_on() noexcept {
  engine::slot* const s = engine::engine::this_worker();
  return s->owner.loop_goes_on(*s);
}
std::uint64_t now_ns() noexcept { return os::now_ns(); }
std::uint64_t page_faults_of_this_thread() noexcept { return os::page_faults_of_this_thread(); }
bool loop_awaits(const loop_work&, int worker) noexcept { return engine::engine::this_worker()->owner.loop_awaits(worker); }

namespace {

const char* name_of(const datum& d) { return d.name != nullptr ? d.name : "(unnamed)"; }

// Until a version is there that the caller views. Throws deadlock_error.
void wait_for(engine::engine& e, version& v) {
  flow::external_wait wait(&engine::engine::notify, &e);
  const bool must_wait = [&] {
    flow::context& c = e.current().flow;
    const flow::visit here(c);
    return flow::subscribe(c, v, wait);
  }();
  if (must_wait) e.wait_until([&] { return wait.done(); }, engine::permission::for_task(*v.producer()));
}

// What is there already is neither the caller's own nor waited for.
[[gnu::noinline]] void wait_for_view(engine::engine& e, const datum* d, version* v) {
  if (frame* self = e.current().queues.running;
      self != nullptr && (v->producer() == self || flow::is_in_group_of(*self, *v))) {
    release_view(*d->runtime, v);
    throw usage_error(std::string("task ") + self->display_name() + " waits for datum " + name_of(*d) +
                      ", which it writes itself; use the memory its body was given");
  }
  try {
    wait_for(e, *v);
  } catch (const deadlock_error&) {
    if (!v->failed) return;
    release_view(*d->runtime, v);
    throw;
  }
}

[[noreturn, gnu::noinline]] void throw_unreadable(const datum* d) {
  throw usage_error(std::string("datum ") + name_of(*d) +
                    " is read, but no task writes it; spawn one first, or make it from values");
}

[[noreturn, gnu::noinline]] void throw_failed(const datum* d, version* v) {
  const std::string cause = flow::failure_of(v->producer());
  release_view(*d->runtime, v);
  throw task_failed(std::string("datum ") + name_of(*d) + " cannot be read: task " + cause +
                    " failed before it was written", nullptr);
}

}  // namespace

version* acquire_view(datum* d) {
  engine::engine& e = d->runtime->engine;
  e.throw_if_unable_to_wait();
  version* v = nullptr;
  bool there = false;
  {
    flow::context& c = e.current().flow;
    const flow::visit here(c);
    const flow::held_datum held(c, *d);
    if (d->group() != nullptr) [[unlikely]] flow::close_group(c, *d);
    v = d->current;
    if (v != nullptr) {
      flow::implementation::add_users(c, *v, version::one_view);
      there = v->published();
    }
  }
  if (v == nullptr) [[unlikely]] throw_unreadable(d);
  if (!there) wait_for_view(e, d, v);
  if (v->failed) [[unlikely]] throw_failed(d, v);
  return v;
}

void release_view(runtime_state& rt, version* v) noexcept {
  if (rt.engine.forked()) return;
  const engine::slot_to_release s(rt.engine);
  const flow::visit here(s->flow);
  flow::drop_view(s->flow, *v);
}

stream_state* create_stream(runtime_state& rt, std::size_t element_bytes, const char* name) {
  rt.engine.throw_if_forked();
  auto s = std::make_unique<stream_state>();
  s->runtime = &rt;
  s->element_bytes = static_cast<std::uint32_t>(element_bytes);
  s->name = name;
  s->retire = [](stream_state* stream) { let_go(stream->runtime); };
  rt.engine.shared().streams->add(*s);
  hold(rt);
  return s.release();
}
void retain_stream(stream_state* s) noexcept { flow::retain(*s); }
void release_stream(stream_state* s) noexcept {
  runtime_state& rt = *s->runtime;
  if (rt.engine.forked()) return;
  hold(rt);  // until the slot is left
  flow::release(engine::slot_to_release(rt.engine)->flow, s);
  let_go(&rt);
}

}  // namespace detail

runtime::runtime(const runtime_options& o) try : state_(nullptr, &detail::end_runtime) {
  const os::fork_shield shield;
  place::chosen p = detail::chosen_policy(o);
  machine::description m = detail::chosen_machine(o);
  const bool print_statistics = detail::chosen_statistics();
  machine::cpu_claim cpus = detail::claim_cpus(o, m);
  std::unique_ptr<trace::recorder> recorder = detail::chosen_recorder(o);
  state_.reset(new detail::runtime_state(o, std::move(m), std::move(p), std::move(cpus), std::move(recorder)));
  state_->print_statistics = print_statistics;
  detail::say_misspelt_variables();
} catch (const std::bad_alloc&) {
  throw error("a weir::runtime cannot be made: there is no memory left; expected a system that allows some MiB and 100 "
              "KiB a worker (ulimit -v, the container's limit of memory)");
}

runtime::~runtime() = default;

void runtime::end() {
  state_->engine.throw_if_forked();
  if (state_->engine.in_task() || state_->engine.blocks_in_task())
    throw usage_error("weir::runtime::end() was called inside a task, which would wait for itself");
  std::exception_ptr first;
  const auto note = [&first](std::exception_ptr e) {
    if (first == nullptr) first = std::move(e);
  };
  detail::end_state(state_.release(), [&](const std::exception&) { note(std::current_exception()); },
                    [&](detail::scope_state& root) { note(root.take_failure()); });
  if (first != nullptr) std::rethrow_exception(first);
}

detail::runtime_state& detail::state_of(runtime& rt) noexcept { return *rt.state_; }

void runtime::wait() {
  engine::engine& e = state_->engine;
  if (e.in_task() || e.blocks_in_task()) throw usage_error("weir::runtime::wait() was called inside a task, which would wait for itself; use a weir::scope there");
  const std::exception_ptr gave_up = detail::wait_and_rethrow(e, e.root(), [&e] {
    e.wait_until([&e] { return e.quiescent(); }, engine::permission::for_all());
    detail::end_of_wait(e, *e.shared().addresses);
    e.move_at_barrier();
    e.shared().user_memory.look_again();
  });
  if (gave_up != nullptr) std::rethrow_exception(gave_up);
}

void runtime::cancel() noexcept { state_->engine.end_early(state_->engine.root(), detail::scope_state::was_cancelled); }

int runtime::workers() const noexcept { return state_->engine.scheduler().worker_count(); }
int runtime::nodes() const noexcept { return state_->machine.node_count(); }
int runtime::node_of_worker(int worker) const {
  const sched::scheduler& s = state_->engine.scheduler();
  if (worker < 0 || worker >= s.worker_count()) throw usage_error("there is no worker " + std::to_string(worker) + "; they are numbered from 0 to " + std::to_string(s.worker_count() - 1));
  return s.node_of_worker(worker);
}
std::vector<int> runtime::cpus_of_worker(int worker) const {
  static_cast<void>(node_of_worker(worker));  // throws if there is none
  if (!state_->engine.bound() || state_->engine.bind_refused()) return {};
  return machine::bindings(state_->machine, state_->cpus.worker_cpus())[static_cast<std::size_t>(worker)];
}
const std::string& runtime::policy() const noexcept { return state_->policy_name; }

runtime::open_end::open_end(runtime& rt) : state_(rt.state_.get()) { state_->engine.open_ends.fetch_add(1, std::memory_order_relaxed); }
runtime::open_end::~open_end() {
  state_->engine.open_ends.fetch_sub(1, std::memory_order_relaxed);
  state_->engine.notify_waiters();
}

scope::scope(runtime& rt) : runtime_(rt.state_.get()), state_(true, runtime_->engine.running_task()) {}

scope::scope(runtime& rt, dependences among) : scope(rt) {
  if (among == dependences::own) state_.ranges = flow::make_domain(runtime_->engine.shared()).release();
}

void scope::end_ranges() noexcept {
  if (runtime_->engine.forked()) return;
  const engine::slot_to_release here(runtime_->engine);
  flow::end_domain(here->flow, std::unique_ptr<flow::address_domain>(std::exchange(state_.ranges, nullptr)));
}

void scope::end() noexcept {
  if (runtime_->engine.forked()) return;
  engine::engine& e = runtime_->engine;
  while (!state_.complete()) {
    try {
      const engine::waited_for_inside waited_for(state_, e.where_running_task_is());
      e.wait_for(state_, false);
    } catch (...) {  // a deadlock, of which the scope has been told; or no memory to wait with: then again
    }
  }
  e.begin_anew(state_);
  WEIR_ASSERT(!state_.is_waited_for());  // by a thread that would look at it when it is gone
  detail::say_what_nobody_asked_for(state_, "weir::scope");
}

void scope::cancel() noexcept { runtime_->engine.end_early(state_, detail::scope_state::was_cancelled); }

template <class WaitFor>
inline void scope::wait_by(WaitFor&& wait_for) {
  try {
    runtime_->engine.throw_if_unable_to_wait();
  } catch (...) {
    cancel();  // who cannot be waited for shall not start, or endless recursion would go on without its parents
    throw;
  }
  engine::engine& e = runtime_->engine;
  const std::exception_ptr gave_up = detail::wait_and_rethrow(e, state_, [&] {
    const engine::waited_for_inside waited_for(state_, e.where_running_task_is());
    wait_for(e);
    if (state_.ranges != nullptr) detail::end_of_wait(e, *state_.ranges);
  });
  // In a task it is this wait that has failed; outside something else was found while it lasted.
  if (gave_up != nullptr && e.in_task()) std::rethrow_exception(gave_up);
}

void scope::wait() {
  if (runtime_->engine.is_over(state_)) [[likely]] return;
  wait_by([this](engine::engine& e) { e.wait_for(state_); });
}
void scope::wait_for_workers(bool for_others) {
  wait_by([this, for_others](engine::engine& e) { e.wait_for_workers(state_, for_others); });
}

namespace this_task {

int worker() noexcept {
  const engine::slot* s = engine::engine::this_worker();
  return s != nullptr && s->depth > 0 ? s->index() : -1;
}
int node() noexcept {
  const engine::slot* s = engine::engine::this_worker();
  return s != nullptr && s->depth > 0 ? s->queues.node : -1;
}
bool cancelled() noexcept {
  const engine::slot* s = engine::engine::this_worker();
  if (s == nullptr || s->queues.running == nullptr) return false;
  const detail::scope_state& scope = s->queues.running->scope != nullptr ? *s->queues.running->scope : s->owner.root();
  return scope.failed() || s->owner.ends_early(*s, scope);
}

}  // namespace this_task
}  // namespace weir
