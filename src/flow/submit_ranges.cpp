// Tasks that name user memory: matched as those that name data, once the records of their ranges are found.
#include "flow/access_group.hpp"
#include "flow/matching.hpp"

namespace weir::flow {
namespace {

using detail::version_kind;

// Reads are matched, and updates counted. Streams there are none.
inline unsigned match_inputs(frame* f, inputs& in) {
  unsigned updates = 0;
  in.there = true;
  for (access *a = f->access_at(0), *end = a + f->accesses; a != end; a++) {
    if (a->kind() == waiter_kind::read) {
      if (in.reads++ == 0) in.deepest_read = a;
      const version& v = match_usual_read(*a, in);
      if (in.there) in.there = v.published() && !v.failed;
    } else if (a->kind() == waiter_kind::update || a->kind() == waiter_kind::overwrite) {
      in.depth = std::max(in.depth, a->wanted->depth);
      updates++;
    }
  }
  return updates;
}

inline void announce(context& c, frame* f, std::uint32_t depth) {
  const unsigned versions = f->versions;
  if (versions > 1) f->live.store(f->versions, std::memory_order_relaxed);
  for (version *v = f->version_at(0), *end = v + versions; v != end; v++) {
    if (v->kind == version_kind::replace) announce_usual(c, *v, depth);
    else if (v->kind != version_kind::unused) announce_in_place(*v, depth);
  }
}

// Returns how many are not waited for.
inline std::uint32_t match_updates(context& c, frame* f) {
  std::uint32_t satisfied = 0;
  for (access *a = f->access_at(0), *end = a + f->accesses; a != end; a++) {
    if (a->kind() != waiter_kind::update && a->kind() != waiter_kind::overwrite) continue;
    datum& d = *a->wanted;
    version& old = *d.current;
    a->source = &old;
    if (!succeed_current(c, d, *f->version_at(a->extra()), *a) || subscribe(c, old, *a)) continue;
    if (a->kind() == waiter_kind::update) note_failure(f, old);
    satisfied++;
  }
  return satisfied;
}

// Its creator holds one of what a task waits for, or all, and all reads together are another one.
bool match_ranges(context& c, frame* f, frame* parts) {
  inputs in;
  const unsigned updates = match_inputs(f, in);
  part_inputs more;
  if (parts != nullptr) more = match_part_reads(parts);
  in.depth = std::max(in.depth, more.depth);
  const std::uint32_t depth = in.depth + 1;
  announce(c, f, depth);
  if (updates == 0 && parts == nullptr && c.seen_busy) return wait_for_reads(c, f, in);
  const bool waits_for_reads = in.reads != 0 && !in.there;
  const std::uint32_t held = c.seen_busy ? 1 : frame::being_created;
  f->pending.store(held + updates + more.awaited() + (waits_for_reads ? 1 : 0), std::memory_order_relaxed);
  f->state.store(frame_state::waiting, std::memory_order_release);
  std::uint32_t satisfied = held + match_updates(c, f);
  if (parts != nullptr) satisfied += match_part_writes(c, parts, f, depth);
  if (!more.there && await_part_reads(c, parts)) satisfied++;
  if (waits_for_reads && start_reads(c, f, in)) satisfied++;
  return satisfy_created(c, f, satisfied);
}

}  // namespace

ranges_right::ranges_right(context& c, frame* f)
    : context_(c), domain_(domain_of(c, *f)), creating_(c.common.creation, c.as_creator, c.alone) {
  if (creating_.alone()) parts_.first = domain_.resolve(c, f);
  else resolve_among_others(f);
}

// Groups are opened and closed by who has the lock alone.
[[gnu::noinline]] void ranges_right::resolve_among_others(frame* f) {
  context& c = context_;
  if (c.knew_ranges && (f->unusual & frame::has_groups) == 0) {
    hold_.share(c, domain_);
    if (domain_.open_groups() == 0 && domain_.resolve_known(c, f, parts_.first)) {
      locks_.emplace(c, f, resource_set::locked(), true, parts_.first);
      return domain_.note_named(f, parts_.first);
    }
    hold_.let_go();
  }
  hold_.take(domain_);
  c.knew_ranges = domain_.resolve_known(c, f, parts_.first);
  if (c.knew_ranges) domain_.note_named(f, parts_.first);
  else parts_.first = domain_.resolve(c, f);
  locks_.emplace(c, f, resource_set::locked());
}

// One function for the usual task: what it saves is much of what a small one costs.
[[gnu::noinline]] bool submit_ranges(context& c, frame* f) {
  const visit here(c);
  ranges_right held(c, f);
  if (held.any_group_is_open()) [[unlikely]] close_groups_of(c, f, held.parts());
  validate(c, f, held);
  if (c.common.mode != allocation::deferred) allocate_outputs(c, f);
  return match_ranges(c, f, held.take_parts());
}

}  // namespace weir::flow
