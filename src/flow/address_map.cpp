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

void let_go(address_claim* k) {
  if (k != nullptr && k->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete k;
}

// The new task waits for `earlier` unless that one is done.
void wait_for(context& c, frame* f, address_claim& mine, address_claim* earlier, waiter_kind kind) {
  if (earlier == nullptr || earlier == &mine) return;
  auto w = std::make_unique<claim_wait>();
  w->target = reinterpret_cast<std::uintptr_t>(f) | static_cast<std::uintptr_t>(kind);
  f->pending.fetch_add(1, std::memory_order_relaxed);  // the creator still holds one
  waiter* head = earlier->waiters.load(std::memory_order_acquire);
  for (;;) {
    if (head == version::published_mark()) {
      satisfy(c, *w, earlier->cause.load(std::memory_order_relaxed));
      w->producer = earlier->trace_id;
      if (w->producer != 0) mine.waits.push_back(std::move(w));
      return;
    }
    w->next = head;
    if (earlier->waiters.compare_exchange_weak(head, w.get(), std::memory_order_release, std::memory_order_acquire)) break;
  }
  mine.waits.push_back(std::move(w));
}

}  // namespace

void address_map::claim(context& c, frame* f) {
  auto* mine = new address_claim;
  mine->waits.reserve(4);
  std::lock_guard guard(lock_);
  for (unsigned i = 0; i < f->accesses; i++) {
    access& a = *f->access_at(i);
    if (a.kind() != waiter_kind::address) continue;
    hold(mine);
    a.claim = mine;
    if (a.bytes == 0) continue;
    const std::uintptr_t first = a.offset();
    claim_range(c, f, *mine, first, first + a.bytes, static_cast<detail::access_mode>(a.extra()));
  }
  let_go(mine);
}

// After this no range reaches across `address`.
void address_map::split_at(std::uintptr_t address) {
  auto it = ranges_.upper_bound(address);
  if (it == ranges_.begin()) return;
  --it;
  if (it->first == address || it->second.end <= address) return;
  range right = it->second;
  it->second.end = address;
  if (right.writer != nullptr) hold(right.writer);
  for (address_claim* r : right.readers) hold(r);
  ranges_.emplace(address, std::move(right));
}

void address_map::claim_range(context& c, frame* f, address_claim& mine, std::uintptr_t first, std::uintptr_t end, detail::access_mode mode) {
  split_at(first);
  split_at(end);
  auto it = ranges_.lower_bound(first);
  std::uintptr_t position = first;
  while (position < end) {
    if (it == ranges_.end() || it->first > position) {  // nobody named these bytes before
      const std::uintptr_t gap_end = it == ranges_.end() ? end : std::min(end, it->first);
      it = ranges_.emplace(position, range{gap_end, nullptr, {}}).first;
    }
    enter(c, f, mine, it->second, mode);
    position = it->second.end;
    ++it;
  }
}

void address_map::enter(context& c, frame* f, address_claim& mine, range& r, detail::access_mode mode) {
  // Whoever overwrites without reading does not care whether the earlier writer failed.
  wait_for(c, f, mine, r.writer, mode == detail::access_mode::out ? waiter_kind::order : waiter_kind::dependence);
  if (mode == detail::access_mode::in) {
    // Readers that are done matter to nobody: without this a table read by a million tasks would keep a million claims.
    if (r.readers.size() == r.readers.capacity()) {
      const auto finished = std::partition(r.readers.begin(), r.readers.end(), [](address_claim* k) { return !done(k); });
      for (auto k = finished; k != r.readers.end(); ++k) let_go(*k);
      r.readers.erase(finished, r.readers.end());
    }
    if (r.writer != &mine) {
      hold(&mine);
      r.readers.push_back(&mine);
    }
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

void address_map::forget_done() {
  std::lock_guard guard(lock_);
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
