// Windows of tasks: collected, shown to the policy, let go.
#include "place/windows.hpp"

#include "place/place.hpp"
#include "place/window_builder.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <new>
#include <utility>

namespace weir::place {
namespace {

// A window that ends before it is full has at least so many. Fewer: a program that begins with few data is planned by
// what it does with those.
constexpr std::size_t least_tasks_per_worker = 8;

// What is to be placed is there when as many tasks as this part of those before have named nothing new. More: ready
// tasks wait for longer. Who recognises tasks looks at the second half of a window, too: these are the first that come
// again.
constexpr std::size_t nothing_new_part = 2, nothing_new_part_to_recognise = 1;

// Nobody creates tasks any more, or something else is done between them. Shorter: a creator that the system has stopped
// for a moment. Longer: workers that are idle beside tasks.
constexpr std::uint64_t pause_ns = 500'000;

// Who looks has come by then, or has found something else. Longer: workers that are idle beside tasks, if so.
constexpr std::uint64_t head_start_ns = 20'000;

// At a time, ahead of the plan. More: a worker that could run what becomes ready meanwhile. Fewer: more looks for such.
// A task on more bytes than these is the last one: the system may be asked about each of their pages.
constexpr std::size_t tasks_looked_at = 16;
constexpr std::uint64_t bytes_looked_at = std::uint64_t{1} << 20;
constexpr std::size_t all_tasks = ~std::size_t{0};

// Who looks at tasks ahead looks for others so often. Longer: more is left when the window is due.
constexpr std::uint64_t watch_ns = 20'000;

// Over all pairs of nodes with workers.
double mean_far_ns_per_byte(const policy_machine& m) {
  double sum = 0;
  int pairs = 0;
  for (int from = 0; from < m.nodes; from++)
    for (int to = 0; to < m.nodes; to++) {
      if (from == to || !m.has_worker[static_cast<std::size_t>(from)] || !m.has_worker[static_cast<std::size_t>(to)])
        continue;
      sum += std::max(0.0, m.read(from, to) - m.read(from, from));
      pairs++;
    }
  return pairs == 0 ? 0 : sum / pairs / policy_machine::line_bytes;
}

}  // namespace

windows::windows(policy& p, const policy_machine& m, bool chooses)
    : policy_(p), machine_(m), chooses_(chooses), far_ns_per_byte_(mean_far_ns_per_byte(m)), most_(p.window()),
      going_to_(static_cast<std::size_t>(m.nodes) + 1) {}

windows::~windows() = default;

// Whether it is the first to name what it writes. Of data that is guessed: a task that only writes is.
bool windows::names_new(flow::frame& f, flow::frame* parts) {
  bool reads = false, is_new = false;
  const auto look = [&](const flow::access& a) {
    const bool writes = a.kind() == flow::waiter_kind::update || a.kind() == flow::waiter_kind::overwrite;
    if (writes) is_new |= a.source->kind == detail::version_kind::ground;
    reads |= a.kind() == flow::waiter_kind::read || a.kind() == flow::waiter_kind::update;
  };
  for (unsigned i = 0; i < f.accesses; i++) look(*f.access_at(i));
  flow::for_each_part(parts, look);
  if (!reads && f.versions > 0) is_new |= f.version_at(0)->kind == detail::version_kind::replace;
  return is_new;
}

bool windows::ask_joins(flow::frame& f, bool& wake) {
  const flow::user_places found(user_memory_, &f);
  if (place::joins(policy_, task_view(f, user_memory_, &found), said_)) return true;
  if (policy_.window() != 0) return false;
  most_.store(0, std::memory_order_relaxed);
  wake = cut();
  return false;
}

bool windows::add(flow::frame& f, std::uint64_t signature, int node, flow::ready_list& ready) {
  flow::frame* const parts = flow::parts_of(f);
  const bool is_new = names_new(f, parts);
  const auto ns = static_cast<std::uint64_t>(static_cast<double>(bytes_named(f)) * far_ns_per_byte_);
  std::lock_guard guard(lock_);
  try {
    tasks_of_it_.push_back({&f, signature, 0, detail::node_unknown, parts != nullptr});
  } catch (const std::bad_alloc&) {
    leave_out(f, ready);
    return false;
  }
  const std::size_t size = tasks_of_it_.size();
  size_.store(size, std::memory_order_relaxed);
  created_on_.store(node, std::memory_order_relaxed);
  misplaced_ns_.store(misplaced_ns_.load(std::memory_order_relaxed) + ns, std::memory_order_relaxed);
  const std::size_t more = size / (recognises_ ? nothing_new_part_to_recognise : nothing_new_part);
  if (is_new && !waits_)
    seen_all_at_ = std::max(size + more, least_tasks_per_worker * static_cast<std::size_t>(workers_));
  const std::size_t most = wanted();
  if (most == 0) cut_.store(true, std::memory_order_relaxed);  // it was marked when windows were wanted still
  if (size == seen_all_at_) seen_all_.store(true, std::memory_order_relaxed);
  return most == 0 || size == most || size == seen_all_at_;
}

// There is no memory to remember it: it is placed by itself. It may be held already.
void windows::leave_out(flow::frame& f, flow::ready_list& ready) {
  flow::set_affinity(f, detail::node_unknown);
  flow::ready_list others;
  while (flow::frame* const h = held_.pop()) {
    if (h != &f) others.push(h);
    else held_count_.store(held_count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    if (h == &f) ready.push(h);
  }
  held_ = others;
}

// Who plans marks the tasks before it takes the list, under the same lock: so either it finds this one there, or this
// one is seen to be placed.
bool windows::hold_marked(flow::frame* f) {
  std::lock_guard guard(lock_);
  if (flow::affinity_of(*f) != flow::awaits_plan) return false;
  held_.push(f);
  held_count_.store(held_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return true;
}

bool windows::cut() {
  if (size_.load(std::memory_order_relaxed) == 0 || cut_.load(std::memory_order_relaxed)) return false;
  cut_.store(true, std::memory_order_relaxed);
  return true;
}

bool windows::is_due(std::uint64_t now_ns, int idle, std::uint64_t& look_again_ns) {
  look_again_ns = never_ns;
  if (const std::size_t again = chooses_ && wanted() == 0 ? policy_.window() : 0; again != 0)
    most_.store(again, std::memory_order_relaxed);
  const busy others = busy_.load(std::memory_order_relaxed);
  if (size_.load(std::memory_order_relaxed) == 0 || others == busy::planning) return false;
  if (others == busy::looking) {
    look_again_ns = now_ns + watch_ns;
    return false;
  }
  if (is_full() || seen_all_.load(std::memory_order_relaxed) || cut_.load(std::memory_order_relaxed)) return true;
  if (!holds_any()) return false;
  if (idle >= workers_ && waiting_.load(std::memory_order_relaxed) > 0) return true;
  if (waits_) return false;
  std::uint64_t since = waited_since_ns_.load(std::memory_order_relaxed);
  if (since == 0) {
    waited_since_ns_.compare_exchange_strong(since, now_ns, std::memory_order_relaxed, std::memory_order_relaxed);
    since = now_ns;
  }
  const std::uint64_t patience_ns =
      uses_expected * misplaced_ns_.load(std::memory_order_relaxed) / static_cast<std::uint64_t>(std::max(idle, 1));
  look_again_ns = since + patience_ns;
  return is_paused(now_ns, look_again_ns) || now_ns >= look_again_ns;
}

bool windows::waits_for_nearer(std::uint64_t now_ns, std::uint64_t& look_again_ns) {
  std::uint64_t since = 0;
  if (due_since_ns_.compare_exchange_strong(since, now_ns, std::memory_order_relaxed, std::memory_order_relaxed))
    since = now_ns;
  look_again_ns = since + head_start_ns;
  return now_ns < look_again_ns;
}

bool windows::is_paused(std::uint64_t now_ns, std::uint64_t& look_again_ns) {
  const std::size_t size = size_.load(std::memory_order_relaxed);
  if (size_then_.exchange(size, std::memory_order_relaxed) != size) size_since_ns_.store(now_ns, std::memory_order_relaxed);
  const std::uint64_t over_ns = size_since_ns_.load(std::memory_order_relaxed) + pause_ns;
  look_again_ns = std::min(look_again_ns, over_ns);
  return now_ns >= over_ns;
}

windows::taken windows::take() {
  taken t;
  std::lock_guard guard(lock_);
  t.tasks = std::exchange(tasks_of_it_, {});
  t.kept = std::exchange(kept_, 0);
  t.cut = cut_.load(std::memory_order_relaxed) ||
          (t.tasks.size() < wanted() && !seen_all_.load(std::memory_order_relaxed));
  t.most = seen_all_.load(std::memory_order_relaxed) ? std::min(seen_all_at_, wanted()) : wanted();
  seen_all_at_ = 0;
  seen_all_.store(false, std::memory_order_relaxed);
  size_.store(0, std::memory_order_relaxed);
  misplaced_ns_.store(0, std::memory_order_relaxed);
  waited_since_ns_.store(0, std::memory_order_relaxed);
  size_then_.store(0, std::memory_order_relaxed);
  cut_.store(false, std::memory_order_relaxed);
  due_since_ns_.store(0, std::memory_order_relaxed);
  return t;
}

bool windows::begins(busy what) {
  busy nobody = busy::no;
  return busy_.load(std::memory_order_relaxed) == busy::no &&
         busy_.compare_exchange_strong(nobody, what, std::memory_order_acquire, std::memory_order_relaxed);
}

bool windows::plan(flow::ready_list& ready) {
  if (!begins(busy::planning)) return false;
  taken t = take();
  const bool any = !t.tasks.empty();
  if (any) place_all(t, ready);
  ahead_.reset();
  seen_ahead_.store(0, std::memory_order_relaxed);
  busy_.store(busy::no, std::memory_order_release);
  return any;
}

// Tasks that were created before the last window was placed are asked about one by one when they are ready; so are all
// of a window for which there is no memory.
void windows::place_all(taken& t, flow::ready_list& ready) {
  std::size_t placed = t.tasks.size();
  try {
    if (wanted() != 0) {
      if (recognises_) set_later_apart(t);
      placed = ask_about(t);
    }
  } catch (const std::bad_alloc&) {
    for (member& m : t.tasks) m.node = policy::here;
    placed = t.tasks.size();
    if (!said_.exchange(true, std::memory_order_relaxed))
      std::fputs("weir: no memory to look at a window of tasks; they are placed one by one\n", stderr);
  }
  release(t, ready, placed);
}

// Before it may run, and its parts are gone.
void windows::place(const member& m, std::int16_t affinity) {
  if (m.has_parts)
    for (flow::frame* p = flow::parts_of(*m.frame); p != nullptr; p = p->next) flow::set_affinity(*p, affinity);
  flow::set_affinity(*m.frame, affinity);
}

// Those that were created before one like them was placed. They leave the window, and may run at once; what others of
// it have in common with them they have with the nodes of these. How many are left.
std::size_t windows::place_known(std::vector<member>& tasks, std::size_t from) {
  std::size_t left = from;
  for (std::size_t i = from; i < tasks.size(); i++) {
    const int known = known_.place_of(tasks[i].signature, planners_);
    if (known >= 0) place(tasks[i], affinity_of_place(known));
    else tasks[left++] = tasks[i];
  }
  recognised_.store(recognised_.load(std::memory_order_relaxed) + tasks.size() - left, std::memory_order_relaxed);
  tasks.erase(tasks.begin() + static_cast<std::ptrdiff_t>(left), tasks.end());
  return left;
}

// From here on all are like one before. A window of few tasks that are all alike says little.
std::size_t windows::end_of_new(const taken& t) const {
  std::vector<std::pair<std::uint64_t, std::size_t>> by_signature;
  by_signature.reserve(t.tasks.size());
  for (std::size_t i = 0; i < t.tasks.size(); i++) by_signature.emplace_back(t.tasks[i].signature, i);
  std::sort(by_signature.begin(), by_signature.end());
  std::size_t end = t.kept + least_tasks_per_worker * static_cast<std::size_t>(workers_);
  for (std::size_t i = 0; i < by_signature.size(); i++)
    if (i == 0 || by_signature[i].first != by_signature[i - 1].first) end = std::max(end, by_signature[i].second + 1);
  return end;
}

// Beside those that are known already.
void windows::set_later_apart(taken& t) {
  const std::size_t left = place_known(t.tasks, t.kept), most = std::min(std::max(t.most, t.kept + 1), end_of_new(t));
  if (left <= most) return;
  const auto first = t.tasks.begin() + static_cast<std::ptrdiff_t>(most);
  t.later.assign(first, t.tasks.end());
  t.tasks.erase(first, t.tasks.end());
}

// How many are placed, the others being kept. Of those that were kept there is nothing new to see if none has come, or
// all that have come later are known now.
std::size_t windows::ask_about(taken& t) {
  std::size_t placed = t.tasks.size();
  if (!recognises_ || placed > t.kept) placed = ask_policy(t);
  if (!t.later.empty() && place_known(t.later, 0) == 0) placed = t.tasks.size();
  tasks_.store(tasks_.load(std::memory_order_relaxed) + placed, std::memory_order_relaxed);
  return placed;
}

// From what was looked at ahead, if these are the first tasks still: some may have been recognised since.
window_builder& windows::built(const taken& t) {
  const std::size_t seen = ahead_ != nullptr ? std::min(ahead_->size(), t.tasks.size()) : 0;
  std::size_t same = 0;
  while (same < seen && ahead_->is(same, {t.tasks[same].frame, t.tasks[same].node})) same++;
  if (same < seen || seen == 0) {
    begin_to_build();
    same = 0;
  }
  if (same < ahead_->size()) ahead_->end_at(same);
  std::vector<window_builder::member> others;
  for (std::size_t i = same; i < t.tasks.size(); i++) others.push_back({t.tasks[i].frame, t.tasks[i].node});
  ahead_->add(others);
  return *ahead_;
}

void windows::begin_to_build() {
  ahead_ = std::make_unique<window_builder>(machine_, user_memory_);
  ahead_->set_clock(clock_);
}

bool windows::look_ahead(std::uint64_t now_ns, int who, std::uint64_t& look_again_ns) {
  const std::size_t size = std::min(size_.load(std::memory_order_relaxed), wanted());
  const std::size_t seen = seen_ahead_.load(std::memory_order_relaxed);
  if (waits_ || size <= seen) return false;
  if (size - seen >= tasks_looked_at) return look_ahead_now(who);
  if (who == watcher_.load(std::memory_order_relaxed) && grows(size, now_ns))
    look_again_ns = std::min(look_again_ns, now_ns + watch_ns);
  return false;
}

// Or has done so a moment ago.
bool windows::grows(std::size_t size, std::uint64_t now_ns) {
  if (size_watched_.exchange(size, std::memory_order_relaxed) != size)
    watched_since_ns_.store(now_ns, std::memory_order_relaxed);
  return now_ns < watched_since_ns_.load(std::memory_order_relaxed) + pause_ns;
}

bool windows::look_ahead_now(int who) {
  if (!begins(busy::looking)) return false;
  watcher_.store(who, std::memory_order_relaxed);
  bool has_looked = false;
  try {
    if (ahead_ == nullptr) begin_to_build();
    has_looked = look_at_some();
  } catch (const std::bad_alloc&) {
    look_at_none();
  }
  busy_.store(busy::no, std::memory_order_release);
  return has_looked;
}

// Who looks is idle, and something else may become ready: it is a few. A policy that chooses whether there is a plan at
// all decides by where memory lies, and is shown what is known of that when it is due.
bool windows::look_at_some() {
  std::array<window_builder::member, tasks_looked_at> some;
  std::size_t n = 0;
  {
    const std::lock_guard guard(lock_);
    for (std::size_t i = ahead_->size(); i < tasks_of_it_.size() && n < some.size(); i++)
      some[n++] = {tasks_of_it_[i].frame, tasks_of_it_[i].node};
  }
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < n; i++)
    if ((bytes += bytes_named(*some[i].frame)) >= bytes_looked_at) n = i + 1;
  const bool all_have_places = ahead_->add({some.data(), n});
  if (chooses_ && !all_have_places) look_at_none();
  else seen_ahead_.store(ahead_->size(), std::memory_order_relaxed);
  return n != 0;
}

void windows::look_at_none() {
  ahead_.reset();
  seen_ahead_.store(all_tasks, std::memory_order_relaxed);
}

std::size_t windows::ask_policy(taken& t) {
  task_window w = built(t).take(t.cut);
  show(policy_, w, said_);
  most_.store(policy_.window(), std::memory_order_relaxed);
  windows_.store(windows_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < w.size(); i++) {
    const int n = w.node(i);
    const bool has_workers = n >= 0 && n < machine_.nodes && machine_.has_worker[static_cast<std::size_t>(n)] != 0;
    t.tasks[i].node = has_workers ? n : policy::here;
  }
  find_with_data(w, t.tasks);
  if (recognises_) remember(t);
  if (w.moves_memory()) charge_memory(w, t);
  return wanted() == 0 ? w.size() : w.kept_from();
}

// Whether at least half of what a task has in common with others and with nodes is on its own.
void windows::find_with_data(const task_window& w, std::vector<member>& tasks) {
  auto l = w.links().begin();
  auto b = w.bonds().begin();
  for (std::size_t i = 0; i < tasks.size(); i++) {
    std::uint64_t there = 0, all = 0;
    const auto add = [&](int node, std::uint64_t bytes) {
      all += bytes;
      there += node == tasks[i].node ? bytes : 0;
    };
    for (; l != w.links().end() && l->to == i; ++l) add(tasks[l->from].node, l->bytes);
    for (; b != w.bonds().end() && b->task == i; ++b) add(b->node, b->bytes);
    tasks[i].with_data = 2 * there >= all;
  }
}

// Those that are kept for the next window, too: most of the tasks that come are like these.
void windows::remember(taken& t) {
  for (std::size_t i = 0; i < t.tasks.size(); i++) {
    member& m = t.tasks[i];
    if (m.node < 0) continue;
    const int place = flow::first_planned - m.affinity();
    if (i < t.kept) known_.amend(m.position, m.signature, place);
    else m.position = known_.add(m.signature, place);
  }
}

// A plan that wants memory to move has weighed that against what its tasks, and those that are expected to come, would
// pay: that is owed from now on, by the first of them that use it. If none are expected each pays when it comes.
void windows::charge_memory(const task_window& w, const taken& t) {
  if (migration_ == nullptr) return;
  memory_moves_.store(true, std::memory_order_relaxed);
  if (w.moving_uses() < 2) return;
  const flow::frame* last = nullptr;
  for (const task_window::bond& b : w.bonds()) {
    const member& m = t.tasks[b.task];
    if (!b.own_memory || m.node < 0 || b.node == m.node || b.task < t.kept || m.frame == last) continue;
    last = m.frame;
    flow::charge_memory(*migration_, m.frame, m.node, w.moving_uses());
  }
}

// In front of those that were created meanwhile. False: there is no memory for that.
bool windows::keep(const taken& t, std::size_t from) {
  const std::lock_guard guard(lock_);
  const std::size_t kept = t.tasks.size() - from;
  try {
    tasks_of_it_.reserve(kept + t.later.size() + tasks_of_it_.size());
  } catch (const std::bad_alloc&) {
    return false;
  }
  tasks_of_it_.insert(tasks_of_it_.begin(), t.later.begin(), t.later.end());
  tasks_of_it_.insert(tasks_of_it_.begin(), t.tasks.begin() + static_cast<std::ptrdiff_t>(from), t.tasks.end());
  kept_ = kept;
  size_.store(tasks_of_it_.size(), std::memory_order_relaxed);
  if (t.cut) cut_.store(true, std::memory_order_relaxed);
  return true;
}

void windows::release(const taken& t, flow::ready_list& ready, std::size_t end) {
  const bool keeps = (end < t.tasks.size() || !t.later.empty()) && keep(t, end);
  for (std::size_t i = 0; i < (keeps ? end : t.tasks.size()); i++) place(t.tasks[i], t.tasks[i].affinity());
  for (std::size_t i = 0; i < t.later.size() && !keeps; i++) place(t.later[i], t.later[i].affinity());
  const std::lock_guard guard(lock_);
  let_go(ready);
  if (wanted() == 0 && !tasks_of_it_.empty()) cut_.store(true, std::memory_order_relaxed);
}

// Node by node in turn, so that none waits for its first task until the others have all of theirs.
void windows::let_go(flow::ready_list& ready) {
  flow::ready_list others;
  std::size_t left = 0, going = 0;
  while (flow::frame* const f = held_.pop()) {
    const std::int16_t affinity = flow::affinity_of(*f);
    const bool stays = affinity == flow::awaits_plan;
    (stays ? left : going)++;
    (stays ? others : going_to_[static_cast<std::size_t>(flow::node_of_plan(affinity) + 1)]).push(f);
  }
  held_ = others;
  while (going > 0)
    for (flow::ready_list& its : going_to_)
      if (flow::frame* const f = its.pop()) {
        ready.push(f);
        going--;
      }
  held_count_.store(left, std::memory_order_relaxed);
  news_.store(left == 0, std::memory_order_relaxed);
}

}  // namespace weir::place
