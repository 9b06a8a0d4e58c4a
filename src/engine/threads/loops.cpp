// Parallel loops: who calls one serves it, and so does who has nothing else to do. How the chunks are shared is not
// known here (include/weir/detail/loop.hpp).
#include "engine/threads/in_place.hpp"
#include "engine/threads/spinning.hpp"

#include <new>

namespace weir::engine {
namespace {

// Others are in their last chunks when a loop's caller has none left. Longer: it executes other tasks later, where it
// can. Shorter: it is in another task, or asleep, when the loop is over.
constexpr int pauses_before_clock = 64;
constexpr std::uint64_t longest_wait_for_visitors_ns = 20'000;
// Sleepers that who comes to a loop calls. More: its own chunks wait for longer. Fewer: the last one comes later.
constexpr int sleepers_called = 4;
constexpr std::uint64_t lines_of_place = 10;  // about so many a look at others' tasks reads
// Of the time of loops that follow one another this share goes to looking for tasks. More: loops are slower. Less:
// tasks wait longer, for as much as the product of this and what it takes to look everywhere.
constexpr std::uint64_t share_to_look = 100;
constexpr std::size_t bytes_of_loop = 320;  // on its caller's stack: what servers read

}  // namespace

posted_loop* posted_loops::add(int groups, int workers) noexcept {
  std::size_t n = 0;
  while (n < used_.size() && used_[n]) n++;
  if (n == used_.size()) return nullptr;
  posted_loop* p = posts_[n].load(std::memory_order_relaxed);
  if (p == nullptr) {
    try {
      p = new posted_loop(groups, workers);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    posts_[n].store(p, std::memory_order_release);
  }
  used_[n] = true;
  const int used = static_cast<int>(n) + 1;
  if (used > count_.load(std::memory_order_relaxed)) count_.store(used, std::memory_order_release);
  return p;
}

void posted_loops::remove(const post& gone) noexcept {
  for (std::size_t n = 0; n < used_.size(); n++) {
    const posted_loop* const p = posts_[n].load(std::memory_order_relaxed);
    if (p != nullptr && &p->post == &gone) used_[n] = false;
  }
}

// The calling thread serves a loop, as a task without a frame that others could see.
class engine::in_loop {
 public:
  in_loop(slot& s, detail::loop_work& l, const loop_post* post, bool helps)
      : slot_(s),
        creators_(s),
        outer_(s.queues.running),
        outside_(s.outside),
        loop_outside_(s.loop),
        here_(post, helps, s.loops) {
    task.name = l.name;
    task.scope = &l.scope;
    task.pending.store(0, std::memory_order_relaxed);
    task.state.store(detail::frame_state::running, std::memory_order_relaxed);
    if (s.depth == 0) s.scope = nullptr;  // it holds no credits
    s.depth++;
    s.queues.running = &task;
    s.outside = nullptr;
    s.loop = &here_;
    s.older_tasks_end = s.queues.normal.end();
  }
  ~in_loop() {
    slot_.loop = loop_outside_;
    slot_.outside = outside_;
    slot_.queues.running = outer_;
    slot_.depth--;
  }
  in_loop(const in_loop&) = delete;
  in_loop& operator=(const in_loop&) = delete;
  bool searching() const { return here_.searching; }
  void is_posted(const loop_post& where) { here_.post = &where; }

  frame task;

 private:
  slot& slot_;
  const older_tasks_kept_in_mind creators_;
  frame* const outer_;
  const scope_outside* const outside_;
  served_loop* const loop_outside_;
  served_loop here_;
};

// To begin.
void engine::nothing_is_left(detail::loop_work& l) {
  if (l.is_over.load(std::memory_order_relaxed) == 0) l.is_over.store(1, std::memory_order_release);
}

// serve_it(in_loop&) returns whether no chunk is left to begin. Returns whether it still counts as searching.
template <class Serve>
bool engine::serve_with(slot& s, detail::loop_work& l, const loop_post* post, bool helps, Serve&& serve_it) {
  s.queues.spawned.add(1);
  s.queues.hunts.sizes().note_wait();  // whoever serves loops has no small tasks
  bool searching = false;
  {
    in_loop here(s, l, post, helps);
    trace::log::start start{};
    if (s.log != nullptr) start = s.log->begin(s.queues.hunts.stolen_from(), s.depth > 1);
    bool is_over = true;
    const char* cause = ends_early(s, here.task) ? of_ended_scope : nullptr;
    if (cause != nullptr) record_skipped(&here.task, cause);
    else {
      try {
        is_over = serve_it(here);
      } catch (...) {
        cause = l.name;
        record_failure(&here.task, std::current_exception());
      }
    }
    if (is_over) nothing_is_left(l);
    if (s.log != nullptr) s.log->task(&here.task, start, s.queues.node, cause);
    searching = here.searching();
  }
  if (!s.flow.ready.empty()) scheduler_.accept_ready(s.queues, s.flow.ready, false);
  s.queues.finished.add(1);
  return searching;
}

// For who comes. Both return when it is to come again, or 0.
std::uint64_t engine::look_or_help(slot& s, detail::loop_work& l, const loop_post& post) {
  const detail::served how = l.ops.look(l, s.index());
  if (how.all) nothing_is_left(l);
  return how.all || how.comes_again_ns != 0 ? how.comes_again_ns : help(s, l, post);
}
std::uint64_t engine::help(slot& s, detail::loop_work& l, const loop_post& post) {
  call_sleepers(s, l);
  detail::served how;
  const bool searching = serve_with(s, l, &post, true, [&](const in_loop&) {
    how = l.ops.serve(l, s.index(), false);
    return how.all;
  });
  if (!searching) {
    scheduler_.sleep.start_searching();
    scheduler_.starts_to_steal(s.queues);
  }
  return how.comes_again_ns;
}

// Null: it is deep inside others, or there is no memory. `worker`: as which its caller will serve it, or negative.
engine::loop_post* engine::share(slot& poster, detail::loop_work& l, int worker) {
  posted_loop* const p = poster.posted.add(groups_.count(), scheduler_.worker_count());
  if (p == nullptr) return nullptr;
  p->lends_memory(l);
  l.caller = worker;
  l.ops.share(l);
  return &p->post;
}

// For its caller, as the worker `s`.
engine::called_loop engine::serve_own(slot& s, slot& poster, detail::loop_work& l) {
  called_loop others;
  serve_with(s, l, nullptr, false, [&](in_loop& here) {
    const bool shared = !one_worker_ && l.useful > 1;
    const auto how = shared && l.begins_alone ? l.ops.habits.next(l.elements, l.useful) : detail::loop_habits::way{};
    if (shared && how.alone) {
      const std::uint64_t ns = l.ops.begin(l, s.index(), how);
      const bool all = l.elements_begun == l.elements;
      if (how.says_alone) l.ops.habits.note_alone(l.elements_begun, ns);
      if (all) return true;
    }
    if (shared) others.post = share(poster, l, s.index());
    if (others.post == nullptr) {
      l.ops.finish(l, s.index());
      return true;
    }
    if (how.says_shared) others.since_ns = os::now_ns();
    here.is_posted(*others.post);
    l.called.store(1, std::memory_order_relaxed);
    others.post->put_up(l);
    announce(s, poster, l);
    return l.ops.serve(l, s.index(), true).all;
  });
  return others;
}

void engine::run_loop(detail::loop_work& l) {
  slot& s = current();
  l.line_ns = line_ns_;
  if (s.depth > 0) run_loop_in_task(s, l);
  else run_loop_of_guest(s, l);
}

// Nobody is in it any more.
void engine::is_left(slot& poster, const detail::loop_work& l, const called_loop& others) {
  poster.posted.remove(*others.post);
  if (others.since_ns == 0 || l.scope.failed()) return;
  l.ops.habits.note_shared(l.elements - l.elements_begun, l.useful, os::now_ns() - others.since_ns);
}

void engine::run_loop_in_task(slot& s, detail::loop_work& l) {
  const called_loop others = serve_own(s, s, l);
  if (others.post == nullptr) return;
  loop_post& post = *others.post;
  post.take_down();
  if (!nobody_is_left(post)) {
    post.wants_to_be_told(scope_state::number_of_worker(s.index()));
    wait_until([&post] { return post.everybody_has_left(); }, permission::for_none(), false, &l.scope);
    post.needs_not_be_told();
  }
  is_left(s, l, others);
}

void engine::run_loop_of_guest(slot& guest, detail::loop_work& l) {
  end_claim(guest);
  slot* const place = place_for_loop(guest);
  const called_loop others = place != nullptr ? serve_in_place(guest, *place, l) : leave_to_others(guest, l);
  if (others.post == nullptr) return;
  loop_post& post = *others.post;
  if (place != nullptr) post.take_down();
  if (place == nullptr || !nobody_is_left(post)) {
    post.wants_to_be_told(scope_state::no_worker);
    const auto done = [&] {
      if (l.is_over.load(std::memory_order_acquire) == 0) return false;
      post.take_down();
      return post.everybody_has_left();
    };
    wait_until(done, permission::for_none(), false, &l.scope);
    post.needs_not_be_told();
  }
  is_left(guest, l, others);
}

// All places are taken, so the CPUs have enough to do.
engine::called_loop engine::leave_to_others(slot& guest, detail::loop_work& l) {
  called_loop others;
  others.post = share(guest, l, -1);
  if (others.post == nullptr) throw std::bad_alloc();
  others.post->put_up(l);
  announce(guest, guest, l);
  return others;
}

// Null: all places are taken, or the calling thread executes nothing. The worker of this CPU may be about to lend its
// own.
slot* engine::place_for_loop(slot& guest) {
  if (!waiting_threads_execute_ || !knows_stack(guest)) return nullptr;
  if (slot* const kept = enter_kept_place(guest); kept != nullptr) return kept;
  slot* place = take_place_now(guest);
  for (int i = 0; i < rounds_to_lend && place == nullptr && scheduler_.sleep.searching() > 0; i++) {
    std::this_thread::yield();
    place = take_place_now(guest);
  }
  return place;
}

engine::called_loop engine::serve_in_place(slot& guest, slot& place, detail::loop_work& l) {
  const permission only = permission::for_scope(l.scope);
  stack_floors floors = guest.floors;
  floors.only = &only;
  called_loop others;
  bool leaves_tasks = false;
  {
    const in_place here(*this, place, floors);
    others = serve_own(place, guest, l);
    leaves_tasks = scheduler_.anything_sent_to(place.queues) || !place.holds_no_task();
    if (leaves_tasks) {
      scheduler_.sleep.start_searching();
      scheduler_.starts_to_steal(place.queues);
    }
  }
  leave_place(guest, leaves_tasks ? leaving::to_own_thread : leaving::for_a_while);
  return others;
}

// Soon.
bool engine::nobody_is_left(const loop_post& post) const {
  for (int i = 0; i < pauses_before_clock; i++) {
    if (post.everybody_has_left()) return true;
    cpu_pause();
  }
  spin_clock spin(longest_wait_for_visitors_ns);
  while (spin.goes_on()) {
    if (post.everybody_has_left()) return true;
    cpu_pause();
  }
  return false;
}

// As sleep_control::work_published(), but those that search hear of it at once, and those that wake look for it first;
// and of those asleep more than one is woken.
void engine::announce(const slot& s, slot& poster, detail::loop_work& l) {
  light_fence();
  if (scheduler_.sleep.searching() > 0 || scheduler_.sleep.sleeping() > 0)
    bells_.ring(loop_bells::word::of_loop(++poster.loops_posted, poster.index()));
  call_sleepers(s, l);
}

// Who comes calls others in turn, as in a heap whose root is the caller: so nobody looks for who is still asleep. Whose
// own are awake calls any, for some may never come.
void engine::call_sleepers(const slot& s, detail::loop_work& l) {
  if (scheduler_.sleep.sleeping() <= 0) return;
  const int workers = scheduler_.worker_count(), root = std::max(l.caller, 0);
  // A caller that is no worker stands above the root.
  const int first = s.index() < workers ? sleepers_called * ((s.index() - root + workers) % workers) + 1 : 0;
  bool any = false;
  for (int i = first; i < std::min(first + sleepers_called, workers) && are_wanted(l); i++) {
    if (!scheduler_.sleep.wake((root + i) % workers)) continue;
    l.called.fetch_add(1, std::memory_order_relaxed);
    any = true;
  }
  if (!any && are_wanted(l) && scheduler_.sleep.wake_any()) l.called.fetch_add(1, std::memory_order_relaxed);
}

// More workers than have been called would find a chunk.
bool engine::are_wanted(const detail::loop_work& l) {
  return l.called.load(std::memory_order_relaxed) < l.useful;
}

// A server that came while nobody slept still counts as searching: for a short loop that saves two operations on a
// line that all share. But as soon as somebody sleeps, publishers must not rely on it, and others may be called.
bool engine::loop_goes_on(slot& s) {
  if (s.loop->searching && scheduler_.sleep.sleeping() > 0) counts_as_busy_in_loops(s);
  const scope_state& scope = scope_of(*s.queues.running);
  return !scope.failed() && !ends_early(s, scope);
}

bool engine::loop_awaits(int worker) const { return slot_at(worker)->queues.searching.load(std::memory_order_relaxed); }

void engine::counts_as_busy_in_loops(slot& s) {
  for (served_loop* l = s.loops; l != nullptr; l = l->next) {
    if (!std::exchange(l->searching, false)) continue;
    scheduler_.stops_stealing(s.queues);
    if (scheduler_.sleep.stop_searching()) scheduler_.sleep.wake_any();
  }
}

// The lines that the caller has written just now, all at once: else each that comes from its cache says where the next
// one is. It guesses that they are where they were the last time, as they are if the same code calls.
void engine::fetch_loop(const slot& poster, const slot& comes) const {
  const loop_trail& last = comes.last_loop;
  __builtin_prefetch(&poster.posted);
  if (last.post == nullptr) return;
  last.post->fetch(groups_.of(comes.queues.node));
  prefetch_to_write(last.part);
  for (std::size_t i = 0; i < bytes_of_loop; i += cache_line_bytes)
    __builtin_prefetch(static_cast<const char*>(last.loop) + i);
}

// By a worker. What a bell says while it looks it hears the next time.
engine::loop_search engine::look_for_loops(slot& s) {
  if (may_help(s)) return help_with_loops(s, nullptr);
  s.queues.bell_heard = s.queues.bell->load(std::memory_order_acquire);
  return any_loop_for(s) ? loop_search::forbidden : loop_search::nothing;
}

// For who is searching, and has nothing to do.
engine::loop_search engine::help_with_loops(slot& s, const permission* may_run) {
  const loop_bells::word rung(s.queues.bell->load(std::memory_order_acquire));
  loop_search result = loop_search::nothing;
  if (std::exchange(s.queues.bell_heard, rung.bits()) != rung.bits())
    if (slot* const poster = slot_at(rung.poster()); poster != nullptr) {
      fetch_loop(*poster, s);
      result = help_with_loops_of(*poster, s, may_run);
    }
  const int end = scheduler_.slot_count();
  for (int i = 0; i < end && result == loop_search::nothing; i++)
    if (slot* const poster = slot_at(i); poster != nullptr) result = help_with_loops_of(*poster, s, may_run);
  return result;
}

// The outermost first.
engine::loop_search engine::help_with_loops_of(slot& poster, slot& s, const permission* may_run) {
  const int n = poster.posted.count();
  for (int i = 0; i < n; i++) {
    loop_post& post = poster.posted.at(i);
    if (!post.is_up() || is_in(s, post)) continue;
    loop_search result = loop_search::nothing;
    std::uint64_t again_ns = 0, looks_for_work_at_ns = 0;
    do {
      const loop_search visited = visit_loop(post, s, may_run, again_ns);
      if (visited == loop_search::nothing) break;
      result = visited;
    } while (again_ns != 0 && s.depth == 0 && waits_beside(s, post, again_ns, looks_for_work_at_ns));
    if (result != loop_search::nothing) return result;
  }
  return loop_search::nothing;
}

// `again_ns` becomes when it is to come again, or 0.
engine::loop_search engine::visit_loop(loop_post& post, slot& s, const permission* may_run, std::uint64_t& again_ns) {
  again_ns = 0;
  const int group = groups_.of(s.queues.node);
  std::int32_t who = loop_post::nobody;
  detail::loop_work* const l = post.come(group, who);
  if (l == nullptr) {
    tell_poster(who, nullptr);
    return loop_search::nothing;
  }
  s.last_loop = {&post, l, &l->parts[s.index()]};
  const scope_state* const of = &l->scope;
  const bool allowed = may_run == nullptr || may_run->allows(*of);
  if (allowed && l->useful < 2) {
    post.has_nothing_left();
    if (l->is_taken.exchange(1, std::memory_order_relaxed) != 0) {
      tell_poster(post.leave(group), of);
      return loop_search::nothing;
    }
  }
  if (allowed) {
    again_ns = look_or_help(s, *l, post);
    if (l->is_over.load(std::memory_order_relaxed) != 0) post.has_nothing_left();
  }
  tell_poster(post.leave(group), of);
  return allowed ? loop_search::ran_one : loop_search::forbidden;
}

// In one place of all where tasks may wait, the next one.
bool engine::any_work_in_next_place(slot& s, std::uint64_t now) {
  const bool any = scheduler_.any_work_in(s.queues, s.looks.place, now);
  s.looks.has_looked(now);
  return any;
}

// For who has served one, and has nothing to do. Whoever calls the next one waits, and there may be tasks: so it looks
// for those in one place at a time, until the bell rings, or longer if they may have waited for long. False: there are
// some, or it has looked everywhere; or it is to look everywhere at once, as on one node, where that takes no time, and
// where somebody sleeps, for then publishers rely on who searches.
bool engine::goes_on_with_loops(slot& s) {
  if (line_ns_ == 0 || scheduler_.sleep.sleeping() > 0) return false;
  const std::uint64_t ns_a_place = share_to_look * lines_of_place * line_ns_;
  const int places = scheduler_.places_to_look();
  for (int i = 0; i < places; i++) {
    if (s.queues.has_tasks() || s.turns.anybody_ready()) return false;
    const std::uint64_t now = os::now_ns();
    if (!s.looks.is_due(now, ns_a_place) && s.queues.bell_rings()) return true;
    if (any_work_in_next_place(s, now)) return false;
  }
  return false;
}

// For who has left a loop to come again. It stays near: nothing that it reads meanwhile changes before the loop is
// over. False: it is, or there is something else to do, for which it looks in one place at a time, for the loop may be
// over soon. Where somebody sleeps publishers rely on who searches, and one place at a time is not enough.
// `looks_for_work_at_ns`: the next time, from wait to wait; 0 at first.
bool engine::waits_beside(slot& s, const loop_post& post, std::uint64_t until_ns, std::uint64_t& looks_for_work_at_ns) {
  constexpr int pauses_between_clocks = 16;
  const std::uint64_t look_ns = lines_of_place * line_ns_;
  std::uint64_t now = os::now_ns();
  if (looks_for_work_at_ns == 0) looks_for_work_at_ns = now + look_ns;
  for (; now < until_ns; now = os::now_ns()) {
    if (now >= looks_for_work_at_ns) {
      if (any_work_in_next_place(s, now) || s.turns.anybody_ready()) return false;
      if (place_wanted_on_.load(std::memory_order_relaxed) == s.queues.node) return false;
      std::this_thread::yield();
      looks_for_work_at_ns = os::now_ns() + look_ns;
    }
    for (int i = 0; i < pauses_between_clocks; i++) {
      if (!post.is_up() || s.queues.has_tasks() || s.queues.bell_rings()) return false;
      cpu_pause();
    }
    if (scheduler_.sleep.sleeping() > 0) return false;
  }
  return true;
}

// `of`: null if it is not known.
void engine::tell_poster(std::int32_t who, const scope_state* of) {
  if (who == loop_post::nobody) [[likely]] return;
  if (of == nullptr && who == scope_state::no_worker) notify_waiters();
  else tell(who, of);
}

bool engine::any_loop_is_up() const {
  bool any = false;
  for_each_slot([&](const slot& poster) {
    for (int i = poster.posted.count(); i-- > 0;) any = any || poster.posted.at(i).is_up();
  });
  return any;
}

// That no thread with tasks of this slot is in. By who has it.
bool engine::any_loop_for(const slot& s) const {
  bool any = false;
  for_each_slot([&](const slot& poster) {
    for (int i = poster.posted.count(); i-- > 0;)
      any = any || (poster.posted.at(i).is_up() && !is_in(s, poster.posted.at(i)));
  });
  return any;
}

bool engine::is_in(const slot& s, const loop_post& post) {
  for (const served_loop* l = s.loops; l != nullptr; l = l->next)
    if (l->post == &post) return true;
  return false;
}

}  // namespace weir::engine
