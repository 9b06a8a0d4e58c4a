// A worker's work: take a task, run it, publish what it wrote, place what became ready.
#include "engine/threads/engine.hpp"
#include "engine/threads/spinning.hpp"

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace weir::engine {
namespace {

// To make a worker alone, and to end that, costs some microseconds each; being alone saves a third of what a small task
// costs. Longer pauses: more of a run without. Shorter: more of it lost where others come all the time.
constexpr std::uint64_t shortest_alone_pause_ns = 100'000, longest_alone_pause_ns = 100'000'000;

void destroy_closure(frame* f) noexcept {
  if (f->ops->destroy != nullptr && f->unusual != frame::of_graph) f->ops->destroy(f);
}

}  // namespace

void engine::start(detail::graph_state& g) {
  slot& s = current();
  g.scope.outstanding.fetch_add(g.tasks.size(), std::memory_order_relaxed);
  s.recorded.add(std::uint64_t{0} - g.tasks.size());
  s.queues.spawned.add(g.tasks.size());
  g.start(s.flow.ready);
  scheduler_.accept_ready(s.queues, s.flow.ready, false);
}

void engine::check(const detail::graph_state& g) const {
  if (!g.any_placed) return;
  g.tasks.for_each([this](const detail::graph_task& t) {
    if (t.affinity != -1 || t.required) check_affinity({.name = t.name, .affinity = {t.affinity, t.required}});
  });
}

frame* engine::next_task(slot& s) {
  for (;;) {
    if (s.turns.is_due()) [[unlikely]] let_others_go_on(s, nullptr);
    if (is_away(s)) [[unlikely]] sleep_while_claimed(s);
    if (frame* f = scheduler_.take_at_hand(s.queues)) return f;
    frame* const f = idle(s, nullptr);
    if (f != nullptr || stopping_.load(std::memory_order_relaxed) != 0) return f;
  }
}

// Looks everywhere, sleeps, looks again. Null: the engine stops, or the nested condition holds, or another thread
// wants to go on in this place, or should, for there is a loop that this one must not help with.
frame* engine::idle(slot& s, const std::function<bool()>* nested_condition) {
  using what = sched::decision::kind;
  return_credits(s, 0);
  sched::sleep_control<>& sleep = scheduler_.sleep;
  counts_as_busy_in_loops(s);
  sleep.start_searching();
  scheduler_.starts_to_steal(s.queues);
  if (scheduler_.policy().observes) tell_policy(s, policy::event::kind::becomes_idle, nullptr);
  const auto found = [&](frame* f) {
    scheduler_.stops_stealing(s.queues);
    if (sleep.stop_searching()) sleep.wake_any();
    return f;
  };
  const auto over = [&] { return (nested_condition != nullptr ? (*nested_condition)() : stopping_.load(std::memory_order_acquire) != 0) || s.turns.anybody_ready(); };
  bool has_planned = false;  // what it has let go comes before the next window
  bool has_served = false;   // a loop
  for (;;) {
    if (over()) return found(nullptr);
    lend_to_who_wants(s);
    if (flow::waiter* const some = take_untold(); some != nullptr) [[unlikely]] {
      found(nullptr);
      help_to_tell(s, some);
      sleep.start_searching();
      scheduler_.starts_to_steal(s.queues);
    }
    std::uint64_t window_due_ns = sched::decision::never_ns;
    has_planned = !has_planned && is_to_plan(s, window_due_ns);
    if (has_planned) {
      found(nullptr);
      plan_window(s);
      sleep.start_searching();
      scheduler_.starts_to_steal(s.queues);
      continue;
    }
    sched::decision d{what::look_again};
    int round = s.queues.hunts.round();
    const bool is_between_loops = std::exchange(has_served, false);
    const bool comes = (!is_between_loops || goes_on_with_loops(s)) && s.queues.bell_rings() &&
                       !s.queues.has_tasks() && may_help(s);
    loop_search loop = comes ? look_for_loops(s) : loop_search::nothing;
    if (loop == loop_search::nothing) {
      d = scheduler_.step(s.queues, os::now_ns());
      if (d.wakes >= 0) sleep.wake(d.wakes);
      if (d.what == what::run) return found(d.task);
      round = s.queues.hunts.round();
      // Whatever its round is before it rests: a loop keeps it from that, so it must not miss one for ever.
      if (d.what != what::look_again || looks_for_loops(s, round)) loop = look_for_loops(s);
    }
    if (loop == loop_search::forbidden) return found(nullptr);  // another thread may
    if (loop == loop_search::ran_one) {
      has_served = true;
      s.queues.hunts.starts_anew();
      continue;
    }
    if (look_ahead(s, window_due_ns)) continue;
    if (round % 8 == 0 && waiting_.anybody_sleeps() && nobody_busy() && quiescent()) notify_waiters();
    if (d.what != what::look_again && windows_ != nullptr) d = d.until(window_due_ns);
    if (d.what == what::look_again) pause_spinning(s, round);
    else rest(s, d, std::ref(over));  // a copy would be too large to be made without memory
  }
}

// A worker that has no task on its stack lends its place meanwhile.
void engine::pause_spinning(slot& s, int round) {
  if (!s.holds_no_task() || round < rounds_without_yielding)
    return pause_between_rounds(round, s.queues, [&] { return s.queues.bell_rings(); });
  sched::sleep_control<>& sleep = scheduler_.sleep;
  const std::uint32_t heard = s.queues.bell_heard;  // the slot is another thread's as soon as the place is lent
  sleep.start_spinning(s.index());
  pause_between_rounds(round, s.queues, [&] {
    return sleep.is_lent(s.index()) || s.queues.bell->load(std::memory_order_acquire) != heard;
  });
  sleep.stop_spinning(s.index(), [&] {
    return scheduler_.any_work_for(s.queues, sched::thief::counting::all, os::now_ns()) || any_loop_is_up() ||
           stopping_.load(std::memory_order_acquire) != 0;
  });
  scheduler_.has_own_place(s.queues);
}

// To a thread of the program that has tasks of its own, and which has not found a place: this worker would only take those.
void engine::lend_to_who_wants(slot& s) {
  if (place_wanted_on_.load(std::memory_order_relaxed) != s.queues.node || !s.holds_no_task()) [[likely]] return;
  if (s.queues.has_tasks()) return;
  pause_spinning(s, rounds_to_lend);
  place_wanted_on_.store(-1, std::memory_order_relaxed);
}

// Until the time that was decided, or until it is woken.
void engine::rest(slot& s, const sched::decision& d, const std::function<bool()>& over) {
  using what = sched::decision::kind;
  using counting = sched::thief::counting;
  s.flow.buffers.flush_counts();
  drop_claim(s);
  const bool in_task = !s.holds_no_task();
  const trace::sleep_slice asleep(s.log, in_task);
  // Asleep without a task, it may have lent the place: then it must not look whether it is in loops, and it is in none.
  const auto any_loop = [&] { return in_task ? any_loop_for(s) : any_loop_is_up(); };
  const counting counts = d.what == what::sleep ? counting::all : counting::worth_it;
  const auto anything = [&] {
    return scheduler_.any_work_for(s.queues, counts, os::now_ns(), d.what != what::watch) || any_loop() || over() ||
           window_is_due();
  };
  const auto everybody_asleep = [&] { all_asleep(); };
  scheduler_.begins_to_rest(s.queues, d.what);
  if (d.what == what::sleep) {
    scheduler_.sleep.sleep(s.index(), in_task, anything, everybody_asleep);
    if (!in_task) scheduler_.has_own_place(s.queues);
  } else {
    constexpr std::uint64_t longest_us = 1'000'000;
    const std::uint64_t now = os::now_ns(), us = d.at_ns > now ? std::min((d.at_ns - now) / 1000 + 1, longest_us) : 0;
    scheduler_.sleep.doze(s.index(), anything, everybody_asleep, static_cast<std::uint32_t>(us));
  }
  scheduler_.has_rested(s.queues, d.what);
}

// Runs a task and publishes what it wrote.
void engine::run_one(slot& s, frame* f) {
  sched::slot_queues& q = s.queues;
  frame* const outer = q.running;
  q.running = f;
  s.depth++;
  f->state.store(detail::frame_state::running, std::memory_order_relaxed);
  const char* cause = watched_.load(std::memory_order_relaxed) != 0 ? run_watched(s, f) : run_body<false>(s, f);
  if (f->has_no_data()) {
    if (f->unusual == frame::of_graph) {
      graphs::complete(s.flow, f, cause);
      s.recorded.add(1);
    } else {
      flow::free_frame(s.flow, f);
    }
  } else {
    scheduler_.has_run(q, f);
    const flow::traffic bytes = flow::complete(s.flow, f, cause);
    if (!shared_.several_nodes && cause == nullptr) {
      s.read_bytes[0].add(bytes.read);
      s.written_bytes[0].add(bytes.written);
    }
  }
  q.running = outer;
  s.depth--;
  if (s.flow.has_left_some) [[unlikely]] finish_large(s);
}

void engine::execute(slot& s, frame* f) {
  frame* const outer = s.queues.running;
  scope_state* const outer_scope = s.scope;
  const scope_outside* const outside = std::exchange(s.outside, nullptr);
  s.older_tasks_end = s.queues.end_of_older();  // whoever executes tasks on top of a creator restores it
  while (f != nullptr) {
    if (f->scope != s.scope) enter_scope(s, f->scope);
    run_one(s, f);
    frame* next = s.flow.ready.empty() ? nullptr : scheduler_.accept_ready(s.queues, s.flow.ready, true);
    finished_one(s);
    if (next != nullptr && next->priority <= 0 && scheduler_.something_comes_first(s.queues)) {
      scheduler_.push_own(s.queues, next);
      next = scheduler_.take_own(s.queues);
    }
    if (next != nullptr && scheduler_.may_have_cooled(*next) && s.holds_no_task())
      next = scheduler_.oldest_data_first(s.queues, next);
    if (next != nullptr && (s.turns.is_due() || is_away(s) || !may_go_on_with(s, *next))) [[unlikely]]
      next = leave_in_queue(s, next);
    f = next;
  }
  s.outside = outside;
  if (outer != nullptr && s.scope != outer_scope) enter_scope(s, outer_scope);
}

// For later, or for others.
frame* engine::leave_in_queue(slot& s, frame* f) {
  scheduler_.push_own(s.queues, f);
  scheduler_.published(s.queues);
  return nullptr;
}

// The scope may be gone as soon as its count says so.
void engine::return_credits(slot& s, std::int64_t keep) {
  const std::int64_t n = s.credits - keep;
  if (n <= 0) return;
  s.credits = keep;
  finish_in(*s.scope, n);
}

// What most engines do without most of the time.
const char* engine::run_watched(slot& s, frame* f) {
  if (!bound_ && !s.floors.of_guest) refresh_node(s);
  const char* const cause = s.log != nullptr ? run_logged(s, f) : run_body<true>(s, f);
  if (scheduler_.policy().observes) tell_policy(s, policy::event::kind::task_done, f);
  return cause;
}

const char* engine::run_logged(slot& s, frame* f) {
  trace::log::start start = s.log->begin(s.queues.hunts.stolen_from(), s.depth > 1);
  const char* const cause = run_body<true>(s, f);
  start.ticks = std::max(start.ticks, s.had_since_ticks);  // what others did in this place before lies beside it
  s.log->task(f, start, s.queues.node, cause);
  return cause;
}

void engine::tell_policy(slot& s, policy::event::kind what, frame* f) noexcept {
  const std::optional<task_view> task =
      f != nullptr ? std::optional<task_view>(std::in_place, *f, &shared_.user_memory) : std::nullopt;
  scheduler_.tell_policy({what, s.index(), s.queues.node, task ? &*task : nullptr});
}

// Null if the outputs are good, else the name of the task that is to blame.
template <bool Watched>
[[gnu::always_inline]] inline const char* engine::run_body(slot& s, frame* f) {
  const char* cause = f->skipped_because.load(std::memory_order_relaxed);
  if (Watched && cause == nullptr && ends_early(s, *f)) cause = of_ended_scope;
  if (cause != nullptr) [[unlikely]] {
    record_skipped(f, cause);
    destroy_closure(f);
    return cause;
  }
  try {
    const bool no_data = f->has_no_data();
    if (!no_data) {
      flow::prepare(s.flow, f);
      if (Watched && migration_ != nullptr) bring_memory(s, f);
    }
    const bool timed = (s.queues.finished.read() & sample_mask_) == 0 || s.queues.hunts.sizes().probing() ||
                       f->ops->is_unknown();
    const std::uint64_t begin = timed ? os::now_ns() : 0;
    f->ops->run(f);
    if (timed) note_time(s, *f->ops, begin, os::now_ns());
    if (shared_.several_nodes && !no_data) count_bytes(s, f);
  } catch (...) {
    cause = f->display_name();
    record_failure(f, std::current_exception());
  }
  destroy_closure(f);
  return cause;
}

// Of a sample of its tasks.
void engine::note_time(slot& s, const detail::task_ops& ops, std::uint64_t begin_ns, std::uint64_t end_ns) {
  const std::uint64_t ns = end_ns - begin_ns;
  ops.note(ns < static_cast<std::uint64_t>(s.queues.hunts.tuned().fast_ns) ? detail::task_length::short_
                                                                           : detail::task_length::long_,
           ns);
  // A piece of a pipeline is worth a theft however short: whether it pays is decided there.
  const auto worth_a_theft = static_cast<std::uint64_t>(s.queues.hunts.tuned().most_small_ns);
  s.queues.hunts.sizes().note(ops.is_apart() ? std::max(ns, worth_a_theft) : ns);
  if (!one_worker_) scheduler_.look_at_idle(s.queues, s.depth, false, begin_ns, end_ns);
  seek_solitude(s, end_ns);
}

// The only worker that is awake. If others come soon each time, it tries again later and later.
void engine::seek_solitude(slot& s, std::uint64_t now_ns) {
  if (now_ns - s.alone_since_ns < s.alone_pause_ns || shared_.solitude.belongs_to(s.flow.as_visitor)) return;
  if (scheduler_.sleep.sleeping() < scheduler_.worker_count() - 1) return;
  const bool ended_soon = now_ns - s.alone_since_ns < 16 * s.alone_pause_ns;
  s.alone_pause_ns = ended_soon ? std::min(2 * s.alone_pause_ns, longest_alone_pause_ns) : shortest_alone_pause_ns;
  s.alone_since_ns = now_ns;
  shared_.solitude.begin(s.flow.as_visitor, [&](auto&& f) { for_each_slot([&](const slot& other) { f(other.flow.as_visitor); }); });
}

// By distance from where the task ran to where its data are.
void engine::count_bytes(slot& s, frame* f) {
  flow::find_out_places(s.flow, f);
  const int here = s.queues.node;
  const auto count = [&](std::array<counter, sched::max_distance_classes>& by_class, std::uint64_t bytes, int node) {
    if (node >= 0) {
      by_class[static_cast<std::size_t>(scheduler_.distance_class(here, node))].add(bytes);
    } else if (node == memory::place_interleaved) {
      // Page by page over all nodes: an equal share on each, and what is left over on the first ones.
      const auto nodes = static_cast<std::uint64_t>(machine_.node_count());
      for (std::uint64_t n = 0; n < nodes; n++)
        by_class[static_cast<std::size_t>(scheduler_.distance_class(here, static_cast<int>(n)))].add(bytes / nodes + (n < bytes % nodes ? 1 : 0));
    } else {
      by_class[0].add(bytes);  // the system does not tell: first touch by this very task, as far as anybody knows
    }
  };
  flow::for_each_data_input(
      f, [&](std::uint64_t bytes, int node, const flow::access&) { count(s.read_bytes, bytes, node); });
  flow::for_each_data_output(f, [&](std::uint64_t bytes, int node) { count(s.written_bytes, bytes, node); });
  if (!flow::names_user_memory(f)) [[likely]]
    return;
  flow::note_user_memory(shared_.user_memory, f, here, [&](std::uint64_t bytes, int node, bool reads, bool writes) {
    if (reads) count(s.read_bytes, bytes, node);
    if (writes) count(s.written_bytes, bytes, node);
  });
}

// What a plan has placed may owe a move. Of others, once nothing moves any more, some stand for all.
void engine::bring_memory(slot& s, frame* f) noexcept {
  if (!flow::names_user_memory(f) || migration_->is_off()) return;
  if (windows_ != nullptr && !windows_->memory_moves()) return;
  const bool sampled = s.tasks_at_rest >= tasks_at_rest_until_sampled && flow::node_of_plan(flow::affinity_of(*f)) < 0;
  if (sampled && s.queues.random.below(tasks_per_sample_at_rest) != 0) return;
  const bool any = flow::bring_memory(*migration_, f, s.queues.node, sampled ? tasks_per_sample_at_rest : 1);
  s.tasks_at_rest = any ? 0 : s.tasks_at_rest + 1;
}

}  // namespace weir::engine
