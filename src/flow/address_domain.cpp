// Dependences by address: tasks whose ranges are not all exact repeats, each of another record.
#include "flow/address_domain.hpp"

#include "flow/access_group.hpp"

#include <algorithm>
#include <array>
#include <mutex>

namespace weir::flow {
namespace {

// More parts than this are made one record again by a task that writes all of them when they are at rest. Fewer:
// ranges that are named in two ways, in turn, are cut each time. More: each access looks at more parts.
constexpr std::size_t most_parts_at_rest = 8;
// More accesses than this are told apart by numbers in their records. Fewer: tasks of more cost a fifth more. More:
// each is compared with each.
constexpr unsigned most_compared = 32;

void set_kind(frame* f, access& a, waiter_kind kind) {
  a.target = reinterpret_cast<std::uintptr_t>(f) | static_cast<std::uintptr_t>(kind);
}

// Others, or its parts, do for this one what orders the task.
void cover(frame* f, access& a) {
  constexpr waiter_kind covered[] = {waiter_kind::covered_read, waiter_kind::covered_update,
                                     waiter_kind::covered_overwrite, waiter_kind::covered_read,
                                     waiter_kind::covered_read};
  const part_use use = part_use_of(a);
  if (has_version(use)) f->version_at(a.extra())->be_unused();
  set_kind(f, a, covered[static_cast<int>(use)]);
  a.parts = nullptr;
}

template <class F>
void for_each_range(frame* f, F&& what) {
  for (std::uint32_t i = 0; i < f->accesses; i++)
    if (access& a = *f->access_at(i); names_range(*f, a)) what(i, a);
}

}  // namespace

bool address_domain::any_twice(frame* f) {
  if (f->accesses > most_compared) return true;  // perhaps
  for (const access *a = f->access_at(0), *end = a + f->accesses; a != end; a++)
    for (const access* b = a + 1; b != end; b++)
      if (a->wanted == b->wanted) return true;
  return false;
}

// Two that overlap have records in common.
bool address_domain::any_overlap(frame* f) {
  for (access *a = f->access_at(0), *end = a + f->accesses; a != end; a++)
    for (const access* b = a + 1; names_range(*f, *a) && b != end; b++)
      if (names_range(*f, *b) && a->offset() < b->offset() + b->bytes && b->offset() < a->offset() + a->bytes)
        return true;
  return false;
}

// The usual task that has parts: few ranges, which do not overlap, and what makes them up is known. False: it is
// another one, and nothing has happened.
template <class Noted>
bool address_domain::use_known(context& c, frame* f, frame*& parts, const Noted& noted) {
  if (f->accesses > most_compared || any_overlap(f)) return false;
  std::array<range_table::found, most_compared> known;
  std::size_t reads = 0, writes = 0;
  for (unsigned i = 0; i < f->accesses; i++) {
    const access& a = *f->access_at(i);
    if (!names_range(*f, a)) continue;
    known[i] = table_.find(a.offset(), a.bytes);
    if (known[i].record != nullptr) continue;
    if (known[i].parts == nullptr || !table_.is_up_to_date(*known[i].parts)) return false;
    const std::size_t n = known[i].parts->all.size();
    if (a.kind() == waiter_kind::read) reads += n;
    else if (n <= most_parts_at_rest) writes += n;
    else return false;
  }
  parts_builder builder(c, f, reads, writes);
  access* first_covered = nullptr;
  for (unsigned i = 0; i < f->accesses; i++) {
    access& a = *f->access_at(i);
    if (known[i].record != nullptr) {
      noted(*known[i].record);
      bind(f, a, *known[i].record);
    } else if (known[i].parts != nullptr) {
      for (const range_parts::part& p : known[i].parts->all) {
        noted(*p.record);
        builder.add(*p.record, part_use_of(a));
      }
      cover(f, a);
      if (first_covered == nullptr) first_covered = &a;
    }
  }
  if (first_covered != nullptr) first_covered->parts = parts = builder.take();
  return true;
}

frame* address_domain::resolve_parts(context& c, frame* f) {
  const auto note = [now = table_.now()](range_record& r) { r.note_named(now); };
  if (frame* parts = nullptr; use_known(c, f, parts, note)) return parts;
  if (!list_uses(f, false)) {
    make_records(c, f);
    list_uses(f, true);
    note_parts(c, f);
  }
  if (named_twice_) join_uses();
  return bind_uses(c, f);
}

bool address_domain::resolve_known(context& c, frame* f, frame*& parts) {
  table_.tick_among(c);
  const auto later = [](const range_record&) {};
  const bool known = (f->unusual & tiles_matter_) != 0 ? bind_known(f, false)
                                                       : bind_ranges(f, later) || use_known(c, f, parts, later);
  if (!known)
    for_each_range(f, [](std::uint32_t, access& a) { a.wanted = nullptr; });
  return known;
}

void address_domain::note_named(frame* f, frame* parts) const {
  const std::uint32_t now = table_.now();
  for_each_range(f, [&](std::uint32_t, access& a) {
    if (!detail::is_covered(a.kind())) range_record::note_named(*a.wanted, now);
  });
  for_each_part(parts, [&](access& a) { range_record::note_named(*a.wanted, now); });
}

// Parts that are what the access needs now.
bool address_domain::fits(const range_parts* parts, const access& a, std::uint32_t task) const {
  if (parts == nullptr || !parts->is_up_to_date()) return false;
  if (a.kind() == waiter_kind::read) return true;
  const auto at_rest = [&](const range_parts::part& p) { return table_.may_go(*p.record, task); };
  return parts->all.size() <= most_parts_at_rest || !std::ranges::all_of(parts->all, at_rest);
}

// After this the records of a task's ranges begin and end where these do; none of them goes as long as the number is
// that of this task.
void address_domain::make_records(context& c, frame* f) {
  const std::uint32_t task = next_number();
  for_each_range(f, [&](std::uint32_t, access& a) {
    if (a.bytes == 0) return;
    const range_table::found known = table_.find(a.offset(), a.bytes);
    if (known.record != nullptr) {
      known.record->named_by = task;
    } else if (fits(known.parts, a, task)) {
      for (const range_parts::part& p : known.parts->all) p.record->named_by = task;
    } else {
      if (known.parts != nullptr && known.parts->is_up_to_date()) join(c, *known.parts);
      table_.cover(c, a.offset(), a.bytes, task);
    }
  });
}

// What a task writes that has many parts, all at rest.
void address_domain::join(context& c, const range_parts& parts) {
  for (const range_parts::part& p : parts.all) table_.take_out(c, *p.record);
}

// What records the task uses, and whether any is in several accesses. False: not all are known. With `by_address` they
// have been made.
bool address_domain::list_uses(frame* f, bool by_address) {
  const std::uint32_t task = next_number();
  uses_.clear();
  named_twice_ = false;
  parts_ = written_parts_ = 0;
  for (std::uint32_t i = 0; i < f->accesses; i++) {
    access& a = *f->access_at(i);
    if (!names_range(*f, a) || a.bytes == 0) continue;
    const std::size_t before = uses_.size();
    const auto list = [&, how = part_use_of(a)](range_record& r) {
      named_twice_ |= std::exchange(r.named_by, task) == task;
      r.note_named(table_.now());
      uses_.push_back({&r, i, how});
    };
    const range_table::found known = table_.find(a.offset(), a.bytes);
    if (known.record != nullptr) {
      list(*known.record);
      continue;
    }
    if (fits(known.parts, a, task)) {
      for (const range_parts::part& p : known.parts->all) list(*p.record);
    } else {
      if (!by_address) return false;
      table_.for_each_part(a.offset(), a.bytes, list);
    }
    const std::size_t parts = uses_.size() - before;
    if (parts == 1) continue;
    parts_ += parts;
    if (a.kind() != waiter_kind::read) written_parts_ += parts;
  }
  return true;
}

// To be found the next time. All records of the task are listed, for what makes room may take others out.
void address_domain::note_parts(context& c, frame* f) noexcept {
  for_each_range(f, [&](std::uint32_t, access& a) {
    if (a.bytes == 0) return;
    const range_table::found known = table_.find(a.offset(), a.bytes);
    if (known.record == nullptr && (known.parts == nullptr || !known.parts->is_up_to_date()))
      table_.note_parts(c, a.offset(), a.bytes, number_);
  });
}

// Of the uses of each record only one is left.
void address_domain::join_uses() {
  std::ranges::sort(uses_, [](const use& a, const use& b) {
    return a.record != b.record ? a.record < b.record : a.access < b.access;
  });
  for (std::size_t first = 0; first < uses_.size();) {
    std::size_t end = first + 1;
    while (end < uses_.size() && uses_[end].record == uses_[first].record) end++;
    if (end > first + 1) keep_one(first, end);
    first = end;
  }
  std::ranges::stable_sort(uses_, {}, &use::access);
  count_parts_anew();
}

// One that writes, if any does. It reads, too, if any does. What is of a group, and more, is an update.
void address_domain::keep_one(std::size_t first, std::size_t end) {
  std::size_t kept = first;
  bool reads = false, of_group = false, differ = false;
  for (std::size_t i = first; i < end; i++) {
    const part_use how = uses_[i].how;
    reads |= how != part_use::overwrite;
    of_group |= how == part_use::commutative || how == part_use::concurrent;
    differ |= how != uses_[first].how;
    if (!has_version(uses_[kept].how) && how != part_use::read) kept = i;
  }
  for (std::size_t i = first; i < end; i++)
    if (i != kept) uses_[i].record = nullptr;
  use& u = uses_[kept];
  u.only_as_part |= of_group && differ && !has_version(u.how);
  if ((u.how == part_use::overwrite && reads) || (of_group && differ)) u.how = part_use::update;
}

bool address_domain::needs_no_parts(std::size_t first, std::size_t end) const {
  return end == first + 1 && uses_[first].record != nullptr && !uses_[first].only_as_part;
}

// Where the uses of the access end whose first one is this.
std::size_t address_domain::end_of_uses(std::size_t first, std::uint32_t access) const {
  while (first < uses_.size() && uses_[first].access == access) first++;
  return first;
}

void address_domain::count_parts_anew() {
  parts_ = written_parts_ = 0;
  for (std::size_t first = 0; first < uses_.size();) {
    const std::size_t end = end_of_uses(first, uses_[first].access);
    for (std::size_t u = first; u < end && !needs_no_parts(first, end); u++) {
      if (uses_[u].record == nullptr) continue;
      parts_++;
      if (has_version(uses_[u].how)) written_parts_++;
    }
    first = end;
  }
}

// Accesses with one record, which is theirs alone, are as those to data. Of the others the parts are returned, and the
// first of them has these.
frame* address_domain::bind_uses(context& c, frame* f) {
  parts_builder builder(c, f, parts_ - written_parts_, written_parts_);
  access* first_covered = nullptr;
  std::size_t first = 0;
  for_each_range(f, [&](std::uint32_t i, access& a) {
    const std::size_t begin = first, end = end_of_uses(begin, i);
    first = end;
    if (needs_no_parts(begin, end)) {
      bind(f, a, *uses_[begin].record);
      if (uses_[begin].how == part_use::update) set_kind(f, a, waiter_kind::update);
      return;
    }
    cover(f, a);
    if (first_covered == nullptr) first_covered = &a;
    for (std::size_t u = begin; u < end; u++)
      if (uses_[u].record != nullptr) builder.add(*uses_[u].record, uses_[u].how);
  });
  if (first_covered == nullptr) return nullptr;
  first_covered->parts = builder.take();
  return first_covered->parts;
}

// ------------------------------------------------------------------------------------------------------- domains

namespace {

// The right to use a domain; inside a visit.
class held_domain {
 public:
  held_domain(context& c, address_domain& d) : creating_(c.common.creation, c.as_creator, c.alone) {
    if (!creating_.alone()) lock_ = std::unique_lock(d.lock);
  }

 private:
  const creating creating_;
  std::unique_lock<domain_lock> lock_;
};

}  // namespace

void end_of_wait(context& c, address_domain& d) {
  if (!d.has_lost.exchange(false, std::memory_order_relaxed) && !c.common.traced) return;
  const visit here(c);
  const held_domain held(c, d);
  d.forget(c, false);
}

void forget_all_domains(context& c) {
  const visit here(c);
  const creating alone(c.common.creation, c.as_creator, c.alone);
  c.common.addresses->forget(c, true);
  for (const auto& d : c.common.ended) d->forget(c, true);
}

std::unique_ptr<address_domain> make_domain(const shared& s) { return std::make_unique<address_domain>(s); }

void end_domain(context& c, std::unique_ptr<address_domain> d) noexcept {
  {
    const visit here(c);
    const held_domain held(c, *d);
    d->forget(c, false);
    if (d->is_over()) return;
  }
  std::lock_guard guard(c.common.ended_lock);
  try {
    c.common.ended.push_back(std::move(d));
  } catch (const std::bad_alloc&) {
    static_cast<void>(d.release());  // rather lost than used when it is gone
  }
}

}  // namespace weir::flow
