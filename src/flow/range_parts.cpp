// Accesses to ranges that several records make up.
#include "flow/range_parts.hpp"

#include "flow/versions.hpp"

#include <weir/detail/access_traits.hpp>

#include <algorithm>

namespace weir::flow {
namespace {

// Of one frame: as many as its counts may be, or fewer, so that its memory comes from a pool.
constexpr std::size_t most_in_frame = 4096;

unsigned extra_of(part_use use) {
  if (use == part_use::commutative) return access::in_group | access::exclusive;
  return use == part_use::concurrent ? access::in_group : 0;
}

bool writes(const access& a) { return a.kind() != waiter_kind::dependence; }

template <class F>
void for_each_frame_of(frame* parts, F&& f) {
  while (parts != nullptr) {
    frame* const next = next_parts(parts);  // it may go
    f(parts);
    parts = next;
  }
}

}  // namespace

frame*& next_parts(frame* parts) {
  char* const behind = reinterpret_cast<char*>(parts) +
                       detail::closure_offset(parts->versions, parts->accesses, alignof(frame*));
  return *std::launder(reinterpret_cast<frame**>(behind));
}

std::uint32_t count_parts(frame* parts) {
  std::uint32_t n = 0;
  for (; parts != nullptr; parts = next_parts(parts)) n += parts->accesses;
  return n;
}

void free_parts(context& c, frame* parts) noexcept {
  for_each_frame_of(parts, [&](frame* p) { free_frame(c, p); });
}

parts_builder::parts_builder(context& c, frame* task, std::size_t all, std::size_t written)
    : context_(c), task_(task), left_(all), written_left_(written) {}

parts_builder::~parts_builder() { free_parts(context_, first_); }

// Versions come first in a frame, so their number is needed: as many as may be among the next accesses. Those that are
// none stay unused.
void parts_builder::open() {
  const auto accesses = static_cast<std::uint16_t>(std::min(left_, most_in_frame));
  const auto versions = static_cast<std::uint16_t>(std::min<std::size_t>(written_left_, accesses));
  const std::size_t bytes = detail::closure_offset(versions, accesses, alignof(frame*)) + sizeof(frame*);
  frame* const p = create_frame(context_, nullptr, nullptr, {.name = task_->name},
                                {static_cast<std::uint32_t>(bytes), versions, accesses});
  p->state.store(frame_state::done, std::memory_order_relaxed);
  detail::cursor at(p);
  for (unsigned i = 0; i < versions; i++) detail::put_version(at, detail::version_kind::range, nullptr, 0).be_unused();
  new (&next_parts(p)) frame*(nullptr);
  (first_ == nullptr ? first_ : next_parts(last_)) = p;
  last_ = p;
  accesses_ = versions_ = 0;
}

void parts_builder::add(range_record& r, part_use use) {
  if (last_ == nullptr || accesses_ == last_->accesses) open();
  constexpr waiter_kind kinds[] = {waiter_kind::dependence, waiter_kind::update, waiter_kind::overwrite,
                                   waiter_kind::dependence, waiter_kind::dependence};
  access& a = *new (last_->access_at(accesses_++)) access();
  a.target = reinterpret_cast<std::uintptr_t>(task_) | static_cast<std::uintptr_t>(kinds[static_cast<int>(use)]);
  a.wanted = &r.state;
  a.set_place(0, extra_of(use));
  left_--;
  if (!has_version(use)) return;
  a.set_place(0, versions_);
  version& v = *last_->version_at(versions_++);
  v.kind = detail::version_kind::range;
  v.owner = &r.state;
  v.waiters.store(nullptr, std::memory_order_relaxed);
  written_left_--;
}

// ------------------------------------------------------------------------------------------------------ matching

std::uint32_t match_part_reads(frame* parts) {
  std::uint32_t depth = 0;
  for_each_part(parts, [&](access& a) {
    datum& d = *a.wanted;
    depth = std::max(depth, d.depth);
    if (writes(a)) return;
    d.readers++;
    a.source = d.current;
  });
  return depth;
}

void announce_parts(frame* parts, std::uint32_t depth) {
  for (frame* p = parts; p != nullptr; p = next_parts(p)) {
    p->live.store(p->versions, std::memory_order_relaxed);
    for (unsigned i = 0; i < p->versions; i++)
      if (version& v = *p->version_at(i); v.kind == detail::version_kind::range) announce_in_place(v, depth);
  }
}

void match_part_writes(context& c, frame* parts) {
  for (frame* p = parts; p != nullptr; p = next_parts(p))
    for (unsigned i = 0; i < p->accesses; i++) {
      access& a = *p->access_at(i);
      if (!writes(a)) continue;
      datum& d = *a.wanted;
      version& old = *d.current;
      a.source = &old;
      if (succeed_current(c, d, *p->version_at(a.extra()), a)) tell_heir(c, old, a);
    }
}

std::uint32_t await_parts(context& c, frame* parts, frame* task) {
  std::uint32_t there = 0;
  for_each_part(parts, [&](access& a) {
    if (writes(a) || subscribe(c, *a.source, a)) return;
    if (a.source->failed) task->skipped_because.store(failure_of(*a.source), std::memory_order_relaxed);
    there++;
  });
  return there;
}

// ---------------------------------------------------------------------------------------------------- completion

void complete_parts(context& c, frame* parts, const frame* task, const char* cause) {
  for_each_frame_of(parts, [&](frame* p) {
    for (unsigned i = 0; i < p->accesses; i++) {
      access& a = *p->access_at(i);
      writes(a) ? drop_heir(c, *a.source) : drop_users(c, *a.source);
    }
    p->skipped_because.store(cause, std::memory_order_relaxed);
    p->trace_id = task->trace_id;
    const unsigned versions = p->versions;
    version* v = p->version_at(0);
    if (versions == 0) free_frame(c, p);
    for (const version* end = v + versions; v != end; v++) publish(c, *v, cause);
  });
}

}  // namespace weir::flow
