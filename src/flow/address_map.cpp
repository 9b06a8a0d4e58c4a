// Dependences by address. One lock per runtime: only programs that name user memory pay for it.
#include "flow/address_map.hpp"

#include "flow/task.hpp"
#include "flow/versions.hpp"

#include <weir/access.hpp>

#include <algorithm>

namespace weir::flow {
namespace {

bool done(const address_claim* k) { return k->waiters.load(std::memory_order_acquire) == version::published_mark(); }

void hold(address_claim* k) { k->holders.fetch_add(1, std::memory_order_relaxed); }

// For a task that need not wait for `earlier`, which is done.
void note_failure(frame* f, waiter_kind kind, const address_claim& earlier) {
  const char* const cause = earlier.cause.load(std::memory_order_relaxed);
  if (cause != nullptr && kind != waiter_kind::order) f->skipped_because.store(cause, std::memory_order_relaxed);
}

void let_go(address_claim* k) {
  if (k == nullptr) return;
  const std::uint32_t before = k->holders.fetch_sub(1, std::memory_order_acq_rel);
  WEIR_ASSERT(before > 0);
  if (before == 1) delete k;
}

// The new task waits for `earlier` unless that one is done.
void wait_for(context& c, frame* f, address_claim& mine, address_claim* earlier, waiter_kind kind) {
  if (earlier == nullptr || earlier == &mine) return;
  waiter* head = earlier->waiters.load(std::memory_order_acquire);
  const bool was_done = head == version::published_mark();
  if (was_done && earlier->trace_id == 0) {
    note_failure(f, kind, *earlier);
    return;
  }
  claim_wait& w = mine.waits[mine.used++];
  w.target = reinterpret_cast<std::uintptr_t>(f) | static_cast<std::uintptr_t>(kind);
  f->pending.fetch_add(1, std::memory_order_relaxed);  // the creator still holds one
  while (head != version::published_mark()) {
    w.next = head;
    if (earlier->waiters.compare_exchange_weak(head, &w, std::memory_order_release, std::memory_order_acquire)) return;
  }
  satisfy(c, w, earlier->cause.load(std::memory_order_relaxed));
  w.producer = earlier->trace_id;
}

template <class F>
void for_each_range(frame* f, F&& what) {
  for (unsigned i = 0; i < f->accesses; i++) {
    const access& a = *f->access_at(i);
    if (a.kind() == waiter_kind::address && a.bytes != 0) what(a.offset(), a.offset() + a.bytes, static_cast<detail::access_mode>(a.extra()));
  }
}

}  // namespace

// After this no range reaches across `address`.
void address_map::split_at(std::uintptr_t address) {
  auto it = ranges_.upper_bound(address);
  if (it == ranges_.begin()) return;
  --it;
  range& left = it->second;
  if (it->first == address || left.end <= address) return;
  ranges_.emplace(address, left);
  left.end = address;
  if (left.writer != nullptr) hold(left.writer);
  for (address_claim* r : left.readers) hold(r);
}

// After this there are ranges for exactly these bytes.
void address_map::cut_out(std::uintptr_t first, std::uintptr_t end) {
  split_at(first);
  split_at(end);
  auto it = ranges_.lower_bound(first);
  for (std::uintptr_t position = first; position < end; ++it) {
    if (it == ranges_.end() || it->first > position) {  // nobody named these bytes before
      const std::uintptr_t gap_end = it == ranges_.end() ? end : std::min(end, it->first);
      it = ranges_.emplace(position, range{gap_end, nullptr, {}}).first;
    }
    position = it->second.end;
  }
}

void address_map::make_room_for_reader(range& r) {
  if (r.readers.size() < r.readers.capacity()) return;
  // Readers that are done matter to nobody: without this a table read by a million tasks would keep a million claims.
  const auto finished = std::partition(r.readers.begin(), r.readers.end(), [](address_claim* k) { return !done(k); });
  for (auto k = finished; k != r.readers.end(); ++k) let_go(*k);
  r.readers.erase(finished, r.readers.end());
  if (r.readers.size() == r.readers.capacity()) r.readers.reserve(std::max<std::size_t>(1, 2 * r.readers.capacity()));
}

void address_map::enter(context& c, frame* f, address_claim& mine, range& r, detail::access_mode mode) {
  // Whoever overwrites without reading does not care whether the earlier writer failed.
  wait_for(c, f, mine, r.writer, mode == detail::access_mode::out ? waiter_kind::order : waiter_kind::dependence);
  if (mode == detail::access_mode::in) {
    const bool entered = r.writer == &mine || (!r.readers.empty() && r.readers.back() == &mine);
    if (entered) return;
    hold(&mine);
    r.readers.push_back(&mine);
    return;
  }
  for (address_claim* k : r.readers) {
    wait_for(c, f, mine, k, waiter_kind::order);
    let_go(k);
  }
  r.readers.clear();
  let_go(r.writer);
  hold(&mine);
  r.writer = &mine;
}

// All cuts first: each makes new ranges of the others.
std::size_t address_map::prepare(frame* f, bool traced) {
  const auto counts = [traced](const address_claim* k) { return traced || !done(k); };
  std::size_t waits = 0;
  for_each_range(f, [&](std::uintptr_t first, std::uintptr_t end, detail::access_mode) { cut_out(first, end); });
  for_each_range(f, [&](std::uintptr_t first, std::uintptr_t end, detail::access_mode mode) {
    for (auto it = ranges_.lower_bound(first); it != ranges_.end() && it->first < end; ++it) {
      range& r = it->second;
      if (r.writer != nullptr && counts(r.writer)) waits++;
      if (mode == detail::access_mode::in) make_room_for_reader(r);
      else waits += static_cast<std::size_t>(std::count_if(r.readers.begin(), r.readers.end(), counts));
    }
  });
  return waits;
}

void address_map::claim(context& c, frame* f) {
  auto made = std::make_unique<address_claim>();
  std::lock_guard guard(lock_);
  const std::size_t waits = prepare(f, c.common.traced);
  if (waits != 0) made->waits = std::make_unique<claim_wait[]>(waits);
  address_claim* const mine = made.release();
  for_each_range(f, [&](std::uintptr_t first, std::uintptr_t end, detail::access_mode mode) {
    for (auto it = ranges_.lower_bound(first); it != ranges_.end() && it->first < end; ++it) enter(c, f, *mine, it->second, mode);
  });
  WEIR_ASSERT(mine->used <= waits);
  for (unsigned i = 0; i < f->accesses; i++)
    if (access& a = *f->access_at(i); a.kind() == waiter_kind::address) {
      hold(mine);
      a.claim = mine;
    }
  let_go(mine);
}

void address_map::finish(context& c, address_claim* k, const char* cause, std::uint64_t trace_id) {
  if (!done(k)) {  // once per task, although each of its accesses calls this
    if (cause != nullptr) k->cause.store(cause, std::memory_order_relaxed);
    k->trace_id = trace_id;
    waiter* w = k->waiters.exchange(version::published_mark(), std::memory_order_acq_rel);
    while (w != nullptr && w != version::published_mark()) {
      waiter* next = w->next;
      static_cast<claim_wait*>(w)->producer = trace_id;
      satisfy(c, *w, cause);
      w = next;
    }
  }
  let_go(k);
}

bool address_map::is_valid() const {
  std::uintptr_t end = 0;
  for (const auto& [first, r] : ranges_) {
    if (first < end || r.end <= first) return false;
    end = r.end;
  }
  return true;
}

void address_map::forget_done() {
  std::lock_guard guard(lock_);
  WEIR_ASSERT(is_valid());
  for (auto it = ranges_.begin(); it != ranges_.end();) {
    range& r = it->second;
    const bool idle = (r.writer == nullptr || done(r.writer)) && std::all_of(r.readers.begin(), r.readers.end(), done);
    if (!idle) {
      ++it;
      continue;
    }
    let_go(r.writer);
    for (address_claim* k : r.readers) let_go(k);
    it = ranges_.erase(it);
  }
}

void address_map::forget_all() {
  for (auto& [first, r] : ranges_) {
    let_go(r.writer);
    for (address_claim* k : r.readers) let_go(k);
  }
  ranges_.clear();
}

}  // namespace weir::flow
