// What tasks of a window have in common is found where they were matched: each version that a task uses says who
// writes it.
#include "place/window_builder.hpp"

#include "place/dealing.hpp"

#include <algorithm>
#include <bit>

namespace weir::place {
namespace {

double local_ns_per_byte(const policy_machine& m) {
  double least = m.read(0, 0);
  for (int n = 1; n < m.nodes; n++) least = std::min(least, m.read(n, n));
  return least / policy_machine::line_bytes;
}

// Tasks, some 100 ns each, of which a task of four accesses has its first four lines in no cache.
constexpr std::size_t tasks_fetched_ahead = 8;
void prefetch(const flow::frame* f) {
  constexpr std::size_t lines = 4;
  for (std::size_t i = 0; i < lines; i++) __builtin_prefetch(reinterpret_cast<const char*>(f) + i * policy_machine::line_bytes);
}

// Who writes a version: parts of a task, and groups, have frames of their own that never run. The task of parts may be
// done at any moment, and gone; it is not looked at.
struct writer {
  flow::frame* of_version;
  const flow::frame* task;
  bool is_group;
};
writer writer_of(flow::version& v) {
  flow::frame* const f = v.producer();
  if (f->ops != nullptr || f->accesses == 0) return {f, f, false};
  const flow::frame* const task = f->access_at(0)->task();
  return {f, task, task == f};
}

}  // namespace

void window_builder::numbers::add(const flow::frame* f) {
  frames_.push_back(f);
  if (2 * frames_.size() > number_.size()) return grow();
  put(static_cast<std::uint32_t>(frames_.size() - 1));
}

void window_builder::numbers::put(std::uint32_t i) {
  const std::size_t mask = number_.size() - 1;
  std::size_t s = slot_of(frames_[i]);
  while (number_[s] != 0) s = (s + 1) & mask;
  number_[s] = i + 1;
}

void window_builder::numbers::grow() {
  number_.assign(std::max(least_slots, 2 * number_.size()), 0);
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(number_.size()));
  for (std::uint32_t i = 0; i < frames_.size(); i++) put(i);
}

int window_builder::numbers::of(const flow::frame* f) const {
  const std::size_t mask = number_.size() - 1;
  for (std::size_t s = slot_of(f);; s = (s + 1) & mask) {
    if (number_[s] == 0) return -1;
    if (frames_[number_[s] - 1] == f) return static_cast<int>(number_[s]) - 1;
  }
}

window_builder::window_builder(const policy_machine& m, memory::regions* known)
    : known_(known), ns_per_byte_(local_ns_per_byte(m)) {}

bool window_builder::add(std::span<const member> tasks) {
  all_have_places_ = true;
  for (std::size_t i = 0; i < tasks.size(); i++) {
    if (i + tasks_fetched_ahead < tasks.size()) prefetch(tasks[i + tasks_fetched_ahead].frame);
    add_one(*tasks[i].frame, tasks[i].node);
  }
  return all_have_places_;
}

void window_builder::end_at(std::size_t tasks) {
  made_.tasks_.erase(made_.tasks_.begin() + static_cast<std::ptrdiff_t>(tasks), made_.tasks_.end());
  made_.nodes_.resize(tasks);
  made_.bytes_.resize(tasks);
  made_.cost_ns_.resize(tasks);
  made_.own_memory_.resize(tasks);
  while (!made_.links_.empty() && made_.links_.back().to >= tasks) made_.links_.pop_back();
  while (!made_.bonds_.empty() && made_.bonds_.back().task >= tasks) made_.bonds_.pop_back();
}

task_window window_builder::take(bool cut) {
  // Of one that none had finished of when it was added, one may have by now.
  for (std::size_t i = 0; i < made_.size(); i++) {
    const std::uint64_t ns = functions_[i]->typical_ns.load(std::memory_order_relaxed);
    if (ns != 0) made_.cost_ns_[i] = ns;
  }
  made_.cut_ = cut;
  made_.kept_from_ = made_.size();
  return std::move(made_);
}

std::uint64_t bytes_named(flow::frame& f) {
  std::uint64_t bytes = 0;
  for (unsigned i = 0; i < f.accesses; i++)
    if (const flow::access& a = *f.access_at(i); a.kind() != flow::waiter_kind::shape) bytes += a.bytes;
  for (unsigned i = 0; i < f.versions; i++)
    if (const flow::version& v = *f.version_at(i); v.kind == detail::version_kind::replace) bytes += v.bytes;
  return bytes;
}

void window_builder::add_one(flow::frame& f, int node) {
  const auto task = static_cast<std::uint32_t>(made_.size());
  numbers_.add(&f);
  made_.tasks_.emplace_back(f, known_);
  made_.nodes_.push_back(node);
  const std::uint64_t bytes_of_it = bytes_named(f);
  made_.bytes_.push_back(bytes_of_it);
  functions_.push_back(f.ops);
  made_.cost_ns_.push_back(
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(bytes_of_it) * ns_per_byte_)));
  made_.own_memory_.emplace_back();
  const bool on_own_memory = flow::names_user_memory(&f);
  if (on_own_memory) made_.own_memory_[task] = {flow::place_of_most(&f), dealing::page_of(&f)};
  std::uint64_t there = 0, awaited = 0;
  flow::for_each_source(f, [&](flow::version& v, std::uint64_t bytes) {
    (add_source(task, v, bytes) ? awaited : there) += bytes;
  });
  // Where its memory lies need not be looked up if others write most of it before: it will be where those are placed.
  if (on_own_memory && there >= awaited) add_places(task, f);
}

// A version that is there was not written by a task of the window, for none of those has run. One that is not has a
// writer that is alive.
bool window_builder::add_source(std::uint32_t task, flow::version& v, std::uint64_t bytes) {
  const bool of_range = v.kind == detail::version_kind::range || v.kind == detail::version_kind::ground;
  if (v.published()) {
    if (!of_range && v.node >= 0) made_.bonds_.push_back({task, v.node, bytes});
    return false;
  }
  const writer w = writer_of(v);
  if (w.is_group) {
    const auto [first, is_new] = first_of_group_.try_emplace(w.task, task);
    if (!is_new && first->second != task) made_.links_.push_back({first->second, task, bytes});
    return true;
  }
  if (const int from = numbers_.of(w.task); from >= 0)
    made_.links_.push_back({static_cast<std::uint32_t>(from), task, bytes});
  else if (const int node = flow::placed_node(*w.of_version); node >= 0)
    made_.bonds_.push_back({task, node, bytes});
  else
    all_have_places_ = false;
  return true;
}

// Memory of the program's own stays where it is.
void window_builder::add_places(std::uint32_t task, flow::frame& f) {
  if (known_ == nullptr) return;
  const flow::user_places found(known_, &f);
  std::uint64_t written = 0, unplaced = 0;
  found.for_each([&](std::uint64_t bytes, int node, bool reads, bool writes) {
    if (node >= 0) made_.bonds_.push_back({task, node, reads && writes ? 2 * bytes : bytes, true});
    written += writes ? bytes : 0;
    unplaced += writes && node == detail::node_unknown ? bytes : 0;
    all_have_places_ &= node != detail::node_unknown;
  });
  made_.own_memory_[task].is_new = 2 * unplaced > written;
}

}  // namespace weir::place
