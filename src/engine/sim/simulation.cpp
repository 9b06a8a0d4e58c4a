// Events: a task is created, a worker looks for one, a body has run.
#include "engine/sim/simulation.hpp"

#include <weir/error.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace weir::engine::sim {
namespace {

using flow::frame;
using sched::decision;

std::vector<int> indices(int n) {
  std::vector<int> all;
  for (int i = 0; i < n; i++) all.push_back(i);
  return all;
}

}  // namespace

simulation::actor::actor(flow::shared& s, int index, int node, bool is_worker)
    : flow(s, node, static_cast<std::uint32_t>(index) + 1, is_worker) {}

simulation::simulation(const machine::description& m, std::vector<int> node_of_worker, const std::string& policy,
                       const program& p, std::uint64_t spin_ns, costs c, const sched::tuning& tuned)
    : program_(p),
      costs_(c),
      scheduler_(m, std::move(node_of_worker), place::parse(policy), spin_ns, tuned),
      shared_(os::pretended_memory(), indices(m.node_count()), scheduler_.policy().outputs),
      seen_(place::seen_by_policies(m, [&] {
        std::vector<int> nodes;
        for (int w = 0; w < scheduler_.worker_count(); w++) nodes.push_back(scheduler_.node_of_worker(w));
        return nodes;
      }())),
      frames_(p),
      guest_([&] {
        for (int w = 0; w < scheduler_.worker_count(); w++) scheduler_.make_worker_slot(w);
        return scheduler_.add_guest(0);
      }()) {
  scheduler_.set_memory_of_data(shared_);
  for (int w = 0; w < scheduler_.worker_count(); w++)
    slots_.push_back(std::make_unique<actor>(shared_, w, scheduler_.node_of_worker(w), true));
  slots_.push_back(std::make_unique<actor>(shared_, guest_, 0, false));
  frames_.make_data(slots_.back()->flow);
  result_.tasks_of_worker.resize(static_cast<std::size_t>(scheduler_.worker_count()));
}

simulation::~simulation() { frames_.drop_data(slots_.back()->flow); }

bool simulation::is_idle(int worker) const { return slots_[static_cast<std::size_t>(worker)]->what != doing::runs; }

// ---------------------------------------------------------------- events

void simulation::schedule(int slot, std::uint64_t at_ns) {
  events_.push({at_ns, order_++, slot, ++slots_[static_cast<std::size_t>(slot)]->generation});
}

result simulation::run() {
  for (int w = 0; w < scheduler_.worker_count(); w++) {
    scheduler_.sleep.start_searching();
    scheduler_.starts_to_steal(queues(w));
    slots_[static_cast<std::size_t>(w)]->what = doing::searches;
    schedule(w, now_ns_);
  }
  if (!program_.creates.empty()) schedule(guest_, now_ns_);
  while (!events_.empty() && result_.tasks < program_.tasks.size()) {
    const event e = events_.top();
    events_.pop();
    if (e.generation != slots_[static_cast<std::size_t>(e.slot)]->generation) continue;
    now_ns_ = e.at_ns;
    result_.events++;
    happens(e.slot);
    wake_who_was_told();
    if (after_event) after_event(now_ns_);
  }
  if (result_.tasks < program_.tasks.size())
    throw error("simulation: " + std::to_string(program_.tasks.size() - result_.tasks) + " of " +
                std::to_string(program_.tasks.size()) + " tasks are left, and all workers sleep");
  return result_;
}

void simulation::happens(int slot) {
  if (slot == guest_) return create_next();
  if (slots_[static_cast<std::size_t>(slot)]->what == doing::runs) end(slot);
  else look(slot);
}

// Whoever ended a worker's rest, or sent a task to one that pauses: it looks.
void simulation::wake_who_was_told() {
  const bool woken = scheduler_.sleep.wake_epoch() != wakes_seen_;
  wakes_seen_ = scheduler_.sleep.wake_epoch();
  for (int w = 0; w < scheduler_.worker_count(); w++) {
    actor& s = *slots_[static_cast<std::size_t>(w)];
    if (s.what == doing::rests && woken && !scheduler_.sleep.is_resting(w)) {
      scheduler_.has_rested(queues(w), s.rest);
      s.what = doing::searches;
      schedule(w, now_ns_ + costs_.wake_ns);
    } else if (s.what == doing::searches && s.pauses && !queues(w).nothing_pushed()) {
      s.pauses = false;
      schedule(w, now_ns_);
    }
  }
}

// ---------------------------------------------------------------- tasks

void simulation::create(int slot, int index) {
  flow::context& c = slots_[static_cast<std::size_t>(slot)]->flow;
  frame* const f =
      frames_.make(index, [&](const detail::task_ops* ops, const task_options& o, detail::frame_size size) {
        return flow::create_frame(c, nullptr, ops, o, size);
      });
  if (f->has_no_data()) f->state.store(flow::frame_state::ready, std::memory_order_relaxed);
  place::windows* const windows = scheduler_.windows();
  const bool wanted = windows != nullptr && windows->wants(*f);
  place::recognition::reader& known = slots_[static_cast<std::size_t>(slot)]->known;
  const bool recognised = wanted && windows->recognise(*f, known);
  bool over = false;
  const bool in_window = wanted && !recognised && windows->joins(*f, over);
  if (over) scheduler_.sleep.wake_any();
  result_.recognised += recognised ? 1 : 0;
  if (in_window) place::windows::mark(*f);
  if (f->has_no_data() || flow::submit(c, f)) c.ready.push(f);
  if (in_window && windows->add(*f, known.signature, queues(slot).node, c.ready)) scheduler_.sleep.wake_any();
  if (!c.ready.empty()) scheduler_.accept_ready(queues(slot), c.ready, false);
}

void simulation::create_next() {
  create(guest_, program_.creates[created_++]);
  if (created_ < program_.creates.size()) schedule(guest_, now_ns_ + costs_.create_ns);
  else if (scheduler_.windows() != nullptr && scheduler_.windows()->cut()) scheduler_.sleep.wake_any();  // it waits
}

std::uint64_t simulation::transfers_ns(int node, frame* f) const {
  double ns = 0;
  const auto add = [&](std::uint64_t bytes, int at) {
    if (at < 0) return;
    ns += static_cast<double>(bytes) *
          scheduler_.costs().ns_per_byte()[static_cast<std::size_t>(at) * static_cast<std::size_t>(seen_.nodes) +
                                           static_cast<std::size_t>(node)];
  };
  flow::for_each_input(nullptr, f, add);
  flow::for_each_output(nullptr, f, add);
  return static_cast<std::uint64_t>(ns);
}

void simulation::begin(int worker, frame* f, std::uint64_t delay_ns) {
  actor& s = *slots_[static_cast<std::size_t>(worker)];
  const task& t = program_.tasks[static_cast<std::size_t>(frame_maker::task_of(f))];
  s.what = doing::runs;
  s.running = queues(worker).running = f;
  s.begin_ns = now_ns_ + delay_ns;
  f->state.store(flow::frame_state::running, std::memory_order_relaxed);
  if (!f->has_no_data()) flow::prepare(s.flow, f);
  const std::uint64_t far_ns = f->has_no_data() ? 0 : transfers_ns(s.flow.node, f);
  result_.transfer_ns += far_ns;
  if (begins) begins(frame_maker::task_of(f), worker, s.begin_ns);
  schedule(worker, s.begin_ns + t.ns + far_ns);
}

void simulation::end(int worker) {
  actor& s = *slots_[static_cast<std::size_t>(worker)];
  sched::slot_queues& q = queues(worker);
  frame* const f = s.running;
  const int index = frame_maker::task_of(f);
  const std::uint64_t took_ns = now_ns_ - s.begin_ns;
  f->ops->note(detail::task_length::long_, took_ns);
  q.hunts.sizes().note(took_ns);
  for (const int i : program_.tasks[static_cast<std::size_t>(index)].creates) create(worker, i);
  if (ends) ends(index, worker, now_ns_);
  tell_policy(worker, policy::event::kind::task_done, f);
  if (f->has_no_data()) {
    flow::free_frame(s.flow, f);
  } else {
    scheduler_.has_run(q, f);
    flow::complete(s.flow, f, nullptr);
  }
  q.running = s.running = nullptr;
  frame* next = s.flow.ready.empty() ? nullptr : scheduler_.accept_ready(q, s.flow.ready, true);
  q.finished.add(1);
  result_.tasks++;
  result_.tasks_of_worker[static_cast<std::size_t>(worker)]++;
  result_.ns = now_ns_;
  if (next != nullptr && next->priority <= 0 && scheduler_.something_comes_first(q)) {
    scheduler_.push_own(q, next);
    next = scheduler_.take_own(q);
  }
  if (next != nullptr && scheduler_.may_have_cooled(*next)) next = scheduler_.oldest_data_first(q, next);
  const bool kept = next != nullptr;
  if (!kept) next = scheduler_.take_at_hand(q);
  if (next != nullptr) return begin(worker, next, kept || q.hunts.stolen_from() < 0 ? 0 : has_stolen(worker));
  s.what = doing::searches;
  scheduler_.sleep.start_searching();
  scheduler_.starts_to_steal(q);
  tell_policy(worker, policy::event::kind::becomes_idle, nullptr);
  schedule(worker, now_ns_);
}

// What it takes; the theft is counted.
std::uint64_t simulation::has_stolen(int worker) {
  queues(worker).hunts.stolen_from() = -1;
  result_.thefts++;
  return costs_.theft_ns;
}

void simulation::tell_policy(int worker, policy::event::kind what, frame* f) {
  if (!scheduler_.policy().observes) return;
  const std::optional<task_view> task = f != nullptr ? std::optional<task_view>(*f) : std::nullopt;
  scheduler_.tell_policy({what, worker, scheduler_.node_of_worker(worker), task ? &*task : nullptr});
}

// ---------------------------------------------------------------- idle workers

void simulation::look(int worker) {
  actor& s = *slots_[static_cast<std::size_t>(worker)];
  sched::slot_queues& q = queues(worker);
  if (s.what == doing::rests) {  // the time is up
    scheduler_.sleep.end_rest(worker);
    scheduler_.has_rested(q, s.rest);
    s.what = doing::searches;
  }
  s.pauses = false;
  std::uint64_t window_due_ns = decision::never_ns;
  s.has_planned = !s.has_planned && plan_window(worker, window_due_ns);
  if (s.has_planned) return schedule(worker, now_ns_ + costs_.plan_ns);
  const decision d = scheduler_.step(q, now_ns_);
  if (d.wakes >= 0) scheduler_.sleep.wake(d.wakes);
  if (d.what == decision::kind::run) {
    scheduler_.stops_stealing(q);
    if (scheduler_.sleep.stop_searching()) scheduler_.sleep.wake_any();
    return begin(worker, d.task, q.hunts.stolen_from() < 0 ? 0 : has_stolen(worker));
  }
  if (d.what != decision::kind::look_again) return rest(worker, d.until(window_due_ns));
  s.pauses = true;
  schedule(worker, now_ns_ + pause_ns(worker));
}

// True: it has placed a window's tasks. Else, when one will be due.
bool simulation::plan_window(int worker, std::uint64_t& look_again_ns) {
  place::windows* const windows = scheduler_.windows();
  if (windows == nullptr) return false;
  const int idle = std::max(scheduler_.sleep.searching(), 0) + std::max(scheduler_.sleep.sleeping(), 0);
  if (!windows->is_due(now_ns_, idle, look_again_ns)) {
    while (scheduler_.is_near_window(queues(worker)) && windows->look_ahead(now_ns_, worker, look_again_ns)) continue;
    return false;
  }
  if (!scheduler_.is_near_window(queues(worker)) && windows->waits_for_nearer(now_ns_, look_again_ns)) return false;
  const bool is_near = windows->created_on() == queues(worker).node;
  flow::ready_list ready;
  if (!windows->plan(ready)) return false;
  result_.windows++;
  result_.windows_from_afar += is_near ? 0 : 1;
  scheduler_.accept_ready(queues(worker), ready, false);
  return true;
}

// As the threads pause (engine/threads/spinning.hpp).
std::uint64_t simulation::pause_ns(int worker) {
  constexpr int round_of_long_search = 5;
  const int round = queues(worker).hunts.round();
  return (8 * costs_.pause_ns) << (round < queues(worker).hunts.tuned().rounds_at_least ? round
                                                                                        : round_of_long_search);
}

void simulation::rest(int worker, const decision& d) {
  actor& s = *slots_[static_cast<std::size_t>(worker)];
  sched::slot_queues& q = queues(worker);
  using counting = sched::thief::counting;
  scheduler_.begins_to_rest(q, d.what);
  scheduler_.sleep.begin_rest(worker, d.what == decision::kind::sleep);
  const counting counts = d.what == decision::kind::sleep ? counting::all : counting::worth_it;
  s.what = doing::rests;
  s.rest = d.what;
  s.generation++;  // nothing else is to happen
  const bool stays = !scheduler_.any_work_for(q, counts, now_ns_, d.what != decision::kind::watch);
  if (!stays) return schedule(worker, now_ns_ + costs_.pause_ns);
  if (d.what != decision::kind::sleep) schedule(worker, std::max(d.at_ns, now_ns_ + costs_.pause_ns));
}

}  // namespace weir::engine::sim
