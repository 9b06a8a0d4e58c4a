// Windows of tasks: collected, shown to the policy, let go.
#include "place/windows.hpp"

#include "place/place.hpp"
#include "place/window_builder.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace weir::place {
namespace {

// What a plan saves is saved again each time that data are used where they were placed. With 1, workers that have nothing
// to do at the beginning cut windows of a few tasks, which decide where arrays lie for good.
constexpr std::uint64_t uses_expected = 8;

// A window that ends before it is full has at least so many. Fewer: a program that begins with few data is planned by what
// it does with those.
constexpr std::size_t least_tasks_per_worker = 8;

// Over all pairs of nodes with workers.
double mean_far_ns_per_byte(const policy_machine& m) {
  constexpr double line_bytes = 64;
  double sum = 0;
  int pairs = 0;
  for (int from = 0; from < m.nodes; from++)
    for (int to = 0; to < m.nodes; to++) {
      if (from == to || !m.has_worker[static_cast<std::size_t>(from)] || !m.has_worker[static_cast<std::size_t>(to)])
        continue;
      sum += std::max(0.0, m.read(from, to) - m.read(from, from));
      pairs++;
    }
  return pairs == 0 ? 0 : sum / pairs / line_bytes;
}

}  // namespace

windows::windows(policy& p, const policy_machine& m)
    : policy_(p), machine_(m), far_ns_per_byte_(mean_far_ns_per_byte(m)), most_(p.window()) {}

// Whether it is the first to name what it writes. Of data that is guessed: a task that only writes is.
bool windows::names_new(flow::frame& f) {
  bool reads = false, is_new = false;
  const auto look = [&](const flow::access& a) {
    const bool writes = a.kind() == flow::waiter_kind::update || a.kind() == flow::waiter_kind::overwrite;
    if (writes) is_new |= a.source->kind == detail::version_kind::ground;
    reads |= a.kind() == flow::waiter_kind::read || a.kind() == flow::waiter_kind::update;
  };
  for (unsigned i = 0; i < f.accesses; i++) look(*f.access_at(i));
  flow::for_each_part(flow::parts_of(f), look);
  if (!reads && f.versions > 0) is_new |= f.version_at(0)->kind == detail::version_kind::replace;
  return is_new;
}

bool windows::add(flow::frame& f) {
  const bool is_new = names_new(f);
  const auto ns = static_cast<std::uint64_t>(static_cast<double>(bytes_named(f)) * far_ns_per_byte_);
  std::lock_guard guard(lock_);
  frames_.push_back(&f);
  size_.store(frames_.size(), std::memory_order_relaxed);
  misplaced_ns_.store(misplaced_ns_.load(std::memory_order_relaxed) + ns, std::memory_order_relaxed);
  if (is_new) seen_all_at_ = std::max(2 * frames_.size(), least_tasks_per_worker * static_cast<std::size_t>(workers_));
  const std::size_t most = wanted();
  if (most == 0) cut_.store(true, std::memory_order_relaxed);  // it was marked when windows were wanted still
  if (frames_.size() == seen_all_at_) seen_all_.store(true, std::memory_order_relaxed);
  return most == 0 || frames_.size() == most || frames_.size() == seen_all_at_;
}

// Who plans marks the tasks before it takes the list, under the same lock: so either it finds this one there, or this
// one is seen to be placed.
bool windows::hold_marked(flow::frame* f) {
  std::lock_guard guard(lock_);
  if (flow::affinity_of(*f) != flow::awaits_plan) return false;
  held_.push_back(f);
  held_count_.store(held_.size(), std::memory_order_relaxed);
  return true;
}

bool windows::cut() {
  if (size_.load(std::memory_order_relaxed) == 0 || cut_.load(std::memory_order_relaxed)) return false;
  cut_.store(true, std::memory_order_relaxed);
  return true;
}

bool windows::is_due(std::uint64_t now_ns, int idle, std::uint64_t& look_again_ns) {
  look_again_ns = never_ns;
  if (size_.load(std::memory_order_relaxed) == 0 || planning_.load(std::memory_order_relaxed)) return false;
  if (is_full() || seen_all_.load(std::memory_order_relaxed) || cut_.load(std::memory_order_relaxed)) return true;
  if (!holds_any()) return false;
  if (idle >= workers_ && waiting_.load(std::memory_order_relaxed) > 0) return true;
  std::uint64_t since = waited_since_ns_.load(std::memory_order_relaxed);
  if (since == 0) {
    waited_since_ns_.compare_exchange_strong(since, now_ns, std::memory_order_relaxed, std::memory_order_relaxed);
    since = now_ns;
  }
  const std::uint64_t patience_ns =
      uses_expected * misplaced_ns_.load(std::memory_order_relaxed) / static_cast<std::uint64_t>(std::max(idle, 1));
  look_again_ns = since + patience_ns;
  return now_ns >= look_again_ns;
}

windows::taken windows::take() {
  taken t;
  std::lock_guard guard(lock_);
  t.frames = std::exchange(frames_, {});
  t.nodes = std::exchange(kept_nodes_, {});
  t.cut = cut_.load(std::memory_order_relaxed) ||
          (t.frames.size() < wanted() && !seen_all_.load(std::memory_order_relaxed));
  seen_all_at_ = 0;
  seen_all_.store(false, std::memory_order_relaxed);
  size_.store(0, std::memory_order_relaxed);
  misplaced_ns_.store(0, std::memory_order_relaxed);
  waited_since_ns_.store(0, std::memory_order_relaxed);
  cut_.store(false, std::memory_order_relaxed);
  return t;
}

bool windows::plan(flow::ready_list& ready) {
  if (planning_.exchange(true, std::memory_order_acquire)) return false;
  const taken t = take();
  if (!t.frames.empty()) place_all(t, ready);
  planning_.store(false, std::memory_order_release);
  return !t.frames.empty();
}

// Tasks that were created before the last window was placed are asked about one by one when they are ready.
void windows::place_all(const taken& t, flow::ready_list& ready) {
  if (wanted() == 0) return release(t, std::vector<int>(t.frames.size(), policy::here), ready, t.frames.size());
  task_window w = window_builder(machine_, user_memory_, t.frames, t.nodes, t.cut).take();
  show(policy_, w, said_);
  most_.store(policy_.window(), std::memory_order_relaxed);
  windows_.store(windows_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::vector<int> nodes;
  for (std::size_t i = 0; i < w.size(); i++) {
    const int n = w.node(i);
    const bool has_workers = n >= 0 && n < machine_.nodes && machine_.has_worker[static_cast<std::size_t>(n)] != 0;
    nodes.push_back(has_workers ? n : policy::here);
  }
  const std::size_t placed = wanted() == 0 ? w.size() : w.kept_from();
  tasks_.store(tasks_.load(std::memory_order_relaxed) + placed, std::memory_order_relaxed);
  release(t, nodes, ready, placed);
}

// Node by node in turn, so that none waits for its first task until the others have all of theirs. Returns how many
// are still held.
std::size_t windows::let_go(flow::ready_list& ready) {
  std::vector<std::vector<flow::frame*>> of_node(static_cast<std::size_t>(machine_.nodes) + 1);
  std::size_t left = 0, most = 0;
  for (flow::frame* const f : held_) {
    const std::int16_t affinity = flow::affinity_of(*f);
    if (affinity == flow::awaits_plan) {
      held_[left++] = f;
      continue;
    }
    auto& its = of_node[static_cast<std::size_t>(flow::node_of_plan(affinity) + 1)];
    its.push_back(f);
    most = std::max(most, its.size());
  }
  held_.resize(left);
  for (std::size_t i = 0; i < most; i++)
    for (const auto& its : of_node)
      if (i < its.size()) ready.push(its[i]);
  return left;
}

void windows::release(const taken& t, const std::vector<int>& nodes, flow::ready_list& ready, std::size_t end) {
  for (std::size_t i = 0; i < end; i++) {
    flow::frame& f = *t.frames[i];
    const std::int16_t affinity = nodes[i] < 0 ? detail::node_unknown : flow::planned_on(nodes[i]);
    // Before it may run, and its parts are gone.
    for (flow::frame* p = flow::parts_of(f); p != nullptr; p = p->next) flow::set_affinity(*p, affinity);
    flow::set_affinity(f, affinity);
  }
  std::lock_guard guard(lock_);
  // In front of those that were created meanwhile.
  kept_nodes_.assign(nodes.begin() + static_cast<std::ptrdiff_t>(end), nodes.end());
  frames_.insert(frames_.begin(), t.frames.begin() + static_cast<std::ptrdiff_t>(end), t.frames.end());
  size_.store(frames_.size(), std::memory_order_relaxed);
  const std::size_t left = let_go(ready);
  held_count_.store(left, std::memory_order_relaxed);
  news_.store(left == 0, std::memory_order_relaxed);
  if (wanted() == 0 && !frames_.empty()) cut_.store(true, std::memory_order_relaxed);
}

}  // namespace weir::place
