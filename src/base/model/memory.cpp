// The C++ memory model: which stores a load may see, and who happens before whom.
#include "base/model/memory.hpp"

namespace weir::model {
namespace {

// A thread may come back to the same outdated store this often before it must see a newer one: "in a finite time"
// (C++ [atomics.order] 12), so that spin loops end.
constexpr int stale_rereads = 2;

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_consume || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

std::uint64_t apply(update how, std::uint64_t old, std::uint64_t operand) {
  switch (how) {
    case update::exchange: return operand;
    case update::add: return old + operand;
    case update::subtract: return old - operand;
    case update::bit_or: return old | operand;
    case update::bit_and: return old & operand;
  }
  return old;
}

}  // namespace

void memory::reset() {
  used_ = 0;
  threads_ = {};
  fences_ = heavy_ = {};
  error_.clear();
}

void memory::begin_event(int thread) {
  knowledge& now = threads_[static_cast<std::size_t>(thread)].now;
  now.view[thread] = ++now.happened[thread];
}

void memory::fork(int parent, int child) { threads_[static_cast<std::size_t>(child)].now.join(threads_[static_cast<std::size_t>(parent)].now); }

void memory::join(int waiter, int finished) {
  threads_[static_cast<std::size_t>(waiter)].now.join(threads_[static_cast<std::size_t>(finished)].now);
}

void memory::fail(int thread, int location, const char* what) {
  if (error_.empty()) error_ = "T" + std::to_string(thread) + ", #" + std::to_string(location) + ": " + what;
}

int memory::create(int thread, std::uint64_t value) {
  if (used_ == locations_.size()) locations_.emplace_back();
  cell& l = locations_[used_];
  l.history.clear();
  l.history.push_back({value, {}, {}});
  l.seq_cst_index = -1;
  l.stale = {};
  l.creator = thread;
  l.alive = true;
  const std::uint16_t now = threads_[static_cast<std::size_t>(thread)].now.happened[thread];
  l.history[0].seen[thread] = now;
  l.accessed = {};
  l.accessed[thread] = now;
  l.written = l.accessed;
  return static_cast<int>(used_++);
}

void memory::destroy(int thread, int index) {
  cell& l = enter(thread, index);
  if (!threads_[static_cast<std::size_t>(thread)].now.happened.covers(l.accessed)) fail(thread, index, "destroyed while another thread may be using it");
  l.alive = false;
}

// Checks that the cell exists for this thread, and notes the access.
memory::cell& memory::enter(int thread, int index) {
  cell& l = locations_[static_cast<std::size_t>(index)];
  const vector_clock& happened = threads_[static_cast<std::size_t>(thread)].now.happened;
  if (!l.alive) fail(thread, index, "used after it was destroyed");
  if (l.history[0].seen[l.creator] > happened[l.creator]) fail(thread, index, "used by a thread for which its construction has not happened before");
  l.accessed[thread] = happened[thread];
  return l;
}

// The newest store that is known to this view: older ones are overwritten, as far as it can tell.
int memory::oldest_readable(const cell& l, const vector_clock& view) const {
  for (int i = static_cast<int>(l.history.size()) - 1; i > 0; i--) {
    const vector_clock& seen = l.history[static_cast<std::size_t>(i)].seen;
    for (int t = 0; t < max_threads; t++)
      if (seen[t] != 0 && seen[t] <= view[t]) return i;
  }
  return 0;
}

// Index of the store to read. Candidates are the newest one and all readable older ones, except those whose value is
// *not_this_if_old (a compare-exchange that finds its expected value must read the newest store).
int memory::pick_store(int thread, cell& l, std::memory_order order, choices& choose, const std::uint64_t* not_this_if_old) {
  vector_clock view = threads_[static_cast<std::size_t>(thread)].now.view;
  if (order == std::memory_order_seq_cst) view.join(fences_);
  int oldest = oldest_readable(l, view);
  if (order == std::memory_order_seq_cst && l.seq_cst_index > oldest) oldest = l.seq_cst_index;

  const int newest = static_cast<int>(l.history.size()) - 1;
  reread& stale = l.stale[static_cast<std::size_t>(thread)];
  auto allowed = [&](int i) {
    if (i == newest) return true;
    if (i == stale.index && stale.count >= stale_rereads) return false;
    return not_this_if_old == nullptr || l.history[static_cast<std::size_t>(i)].value != *not_this_if_old;
  };
  int candidates = 0;
  for (int i = oldest; i <= newest; i++) candidates += allowed(i);
  int skip = choose.choose(candidates, false);
  int picked = newest;
  while (!allowed(picked) || skip-- > 0) picked--;

  if (picked == newest) stale = {};
  else if (stale.index == picked) stale.count++;
  else stale = {picked, 1};
  return picked;
}

memory::outcome memory::read_store(int thread, cell& l, int index, std::memory_order order) {
  thread_knowledge& mine = threads_[static_cast<std::size_t>(thread)];
  stored_value& s = l.history[static_cast<std::size_t>(index)];
  if (s.seen[thread] == 0) s.seen[thread] = mine.now.happened[thread];
  (acquires(order) ? mine.now : mine.pending).join(s.message);
  if (order == std::memory_order_seq_cst && index > l.seq_cst_index) l.seq_cst_index = index;
  return {s.value, s.value, static_cast<int>(l.history.size()) - 1 - index, true};
}

void memory::append(int thread, cell& l, std::uint64_t value, std::memory_order order, bool continues_release_sequence) {
  const thread_knowledge& mine = threads_[static_cast<std::size_t>(thread)];
  knowledge message = releases(order) ? mine.now : mine.released;
  if (continues_release_sequence) message.join(l.history.back().message);
  l.history.push_back({value, message, {}});
  l.history.back().seen[thread] = mine.now.happened[thread];
  if (order == std::memory_order_seq_cst) l.seq_cst_index = static_cast<int>(l.history.size()) - 1;
}

memory::outcome memory::load(int thread, int index, std::memory_order order, choices& choose) {
  cell& l = enter(thread, index);
  return read_store(thread, l, pick_store(thread, l, order, choose, nullptr), order);
}

memory::outcome memory::store(int thread, int index, std::uint64_t value, std::memory_order order) {
  append(thread, enter(thread, index), value, order, false);
  return {0, value, 0, true};
}

memory::outcome memory::modify(int thread, int index, update how, std::uint64_t operand, std::uint64_t mask, std::memory_order order) {
  cell& l = enter(thread, index);
  outcome o = read_store(thread, l, static_cast<int>(l.history.size()) - 1, order);
  o.written = apply(how, o.read, operand) & mask;
  append(thread, l, o.written, order, true);
  return o;
}

memory::outcome memory::compare_exchange(int thread, int index, std::uint64_t expected, std::uint64_t desired, std::memory_order success,
                                         std::memory_order failure, bool may_fail, choices& choose) {
  cell& l = enter(thread, index);
  const int newest = static_cast<int>(l.history.size()) - 1;
  const int picked = pick_store(thread, l, failure, choose, &expected);
  const bool equal = picked == newest && l.history.back().value == expected;
  if (!equal || (may_fail && choose.choose(2, false) == 1)) {
    outcome o = read_store(thread, l, picked, failure);
    o.stored = false;
    return o;
  }
  outcome o = read_store(thread, l, newest, success);
  o.written = desired;
  append(thread, l, desired, success, true);
  return o;
}

void memory::fence(int thread, std::memory_order order) {
  thread_knowledge& mine = threads_[static_cast<std::size_t>(thread)];
  if (acquires(order)) mine.now.join(mine.pending);
  if (order == std::memory_order_seq_cst) fence_seq_cst(thread);
  if (releases(order)) mine.released = mine.now;
}

// Fences are totally ordered by their order of execution. After one, a thread sees what any thread had seen at an
// earlier one, and what earlier seq_cst operations wrote or read; all this orders, but does not synchronise.
void memory::fence_seq_cst(int thread) {
  knowledge& now = threads_[static_cast<std::size_t>(thread)].now;
  for (std::size_t i = 0; i < used_; i++) {
    cell& l = locations_[i];
    if (!l.alive || l.seq_cst_index < 0) continue;
    std::uint16_t& seen = l.history[static_cast<std::size_t>(l.seq_cst_index)].seen[thread];
    if (seen == 0) seen = now.happened[thread];
  }
  now.view.join(fences_);
  fences_.join(now.view);
}

// A heavy fence makes every thread pass a full one, somewhere between its light fences: the compiler may move accesses
// about between these. So all that a thread did before its last light fence is before, all that it does after its next
// one is after, and a light fence alone does nothing.
void memory::light_fence(int thread) {
  thread_knowledge& mine = threads_[static_cast<std::size_t>(thread)];
  mine.now.view.join(heavy_);
  mine.at_light_fence = mine.now.view;
}

void memory::heavy_fence(int thread) {
  for (const thread_knowledge& t : threads_) fences_.join(t.at_light_fence);
  fence(thread, std::memory_order_seq_cst);
  heavy_ = fences_;
}

void memory::read_plain(int thread, int index) {
  cell& l = enter(thread, index);
  if (!threads_[static_cast<std::size_t>(thread)].now.happened.covers(l.written)) fail(thread, index, "data race: plain read, not ordered with another thread's write");
}

void memory::write_plain(int thread, int index) {
  cell& l = enter(thread, index);
  if (!threads_[static_cast<std::size_t>(thread)].now.happened.covers(l.accessed)) fail(thread, index, "data race: plain write, not ordered with another thread's access");
  l.written[thread] = l.accessed[thread];
}

}  // namespace weir::model
