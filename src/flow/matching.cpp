// Whether tasks can be matched: what is wrong with those that cannot, said in one sentence.
#include "flow/matching.hpp"

#include "flow/access_group.hpp"

#include <weir/error.hpp>

#include <string>

namespace weir::flow {
namespace {

using detail::version_kind;

std::string described(const frame* f, const datum* d) {
  return std::string("task ") + f->display_name() + ": datum " + (d->name ? d->name : "(unnamed)") + " of " +
         std::to_string(d->bytes / d->element_bytes) + " elements";
}

// A datum in more than one access of a task: several reads, or reads and one new version, make sense.
void check_twice(frame* f, datum* d) {
  int reads = 0, writes = 0, updates = 0, in_groups = 0;
  for (unsigned i = 0; i < f->accesses; i++) {
    const access& a = *f->access_at(i);
    if (a.kind() == waiter_kind::read && a.wanted == d) (is_of_group(a) ? in_groups : reads)++;
    if (a.kind() == waiter_kind::update && a.wanted == d) updates++;
  }
  for (unsigned i = 0; i < f->versions; i++)
    if (f->version_at(i)->kind == version_kind::replace && f->version_at(i)->owner == d) writes++;
  if (in_groups > 0 && in_groups + reads + writes + updates > 1)
    throw usage_error(described(f, d) +
                      " is named by commutative() or concurrent() and once more; name it in one access");
  if (writes + updates > 1)
    throw usage_error(described(f, d) + " is written by more than one access; name it in one out() or inout()");
  if (updates > 0 && reads > 0)
    throw usage_error(described(f, d) +
                      " is read by in() and updated by inout(); use in() and out(), or inout() alone");
}

[[noreturn]] void throw_unwritten(frame* f, datum* d) {
  throw usage_error(described(f, d) +
                    " is read, but no task writes it before; write it with out(), or make it from values");
}

bool is_of_data_group(const access& a) { return is_of_group(a) && (a.extra() & access::reads_range) == 0; }

void release_outputs(context& c, frame* f) noexcept {
  for (unsigned i = 0; i < f->versions; i++) release_buffer(c, *f->version_at(i));
}

}  // namespace

void throw_foreign(const char* task, const char* kind, const char* name) {
  throw usage_error(
      std::string("task ") + task + ": " + kind + " " + (name != nullptr ? name : "(unnamed)") +
      " belongs to another weir::runtime; a task may name what was made by the runtime that it is spawned in");
}

void make_usable(context& c, frame* f, datum* d) {
  check_runtime(c, f, *d);
  if (d->group() == nullptr) throw_unwritten(f, d);
  close_group(c, *d);
}

void validate_accesses(context& c, frame* f) {
  for (unsigned i = 0; i < f->accesses; i++) {
    const access& a = *f->access_at(i);
    if (a.kind() == waiter_kind::read) check_runtime(c, f, *a.wanted);
    if (a.kind() <= waiter_kind::update && a.wanted->current == nullptr) [[unlikely]]
      if (!is_of_group(a) || a.wanted->group() == nullptr) make_usable(c, f, a.wanted);
    if (a.kind() == waiter_kind::window || a.kind() == waiter_kind::skip)
      check_runtime(c, f, *static_cast<const stream_state*>(a.stream));
  }
  for (unsigned i = 0; i < f->versions; i++) {
    const version& v = *f->version_at(i);
    if (v.kind == version_kind::push) check_runtime(c, f, *static_cast<const stream_state*>(v.owner));
    else if (v.kind < version_kind::push) check_runtime(c, f, *static_cast<const datum*>(v.owner));
  }
}

void validate_repetitions(frame* f) {
  for (unsigned i = 0; i < f->accesses; i++)
    if (const access& a = *f->access_at(i); a.kind() == waiter_kind::update || is_of_data_group(a))
      check_twice(f, a.wanted);
  for (unsigned i = 0; i < f->versions; i++)
    if (f->version_at(i)->kind == version_kind::replace) check_twice(f, static_cast<datum*>(f->version_at(i)->owner));
}

namespace {

// What it names is locked, so the versions that are current stay.
[[gnu::cold]] void plan_places(context& c, frame* f) {
  for (unsigned i = 0; i < f->versions; i++)
    if (version& v = *f->version_at(i); v.kind == version_kind::replace || v.kind == version_kind::push)
      v.node = planned_by_creator(c.node);
  for (unsigned i = 0; i < f->accesses; i++) {
    const access& a = *f->access_at(i);
    if (a.kind() > waiter_kind::update || names_range(*f, a) || a.wanted->current == nullptr) continue;
    if (a.wanted->current->kind == version_kind::replace) plan_for_reader(*a.wanted->current, c.node);
  }
}

}  // namespace

void allocate_outputs(context& c, frame* f) {
  if (c.common.mode == allocation::at_consumer) return plan_places(c, f);
  try {
    for (unsigned i = 0; i < f->versions; i++)
      if (f->version_at(i)->kind != version_kind::update) allocate_buffer(c, *f->version_at(i));
  } catch (...) {
    release_outputs(c, f);
    throw;
  }
}


}  // namespace weir::flow
