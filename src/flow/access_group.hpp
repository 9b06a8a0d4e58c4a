// Commutative and concurrent accesses: groups of tasks that update a datum or range without an order among each other.
//
// To everybody else a group is one update. It has a frame that never runs, with two versions: the *entry*, which takes
// the place of what was there before, in place, and which the group's tasks read; and the *exit*, which takes the
// place of the entry when all of them are done. A group is open, and tasks join it, until somebody names the datum in
// another way; only then the exit becomes current. Commutative accesses need tokens as well (tokens.hpp). README.md,
// "Groups".
#pragma once

#include "flow/range_parts.hpp"
#include "flow/tokens.hpp"

#include <weir/access.hpp>

namespace weir::flow {

// Whether an access that waits as readers do is one of a group: it writes what it reads.
inline bool is_of_group(const access& a) {
  if ((a.extra() & access::in_group) == 0) return false;
  return a.kind() == waiter_kind::read || a.kind() == waiter_kind::covered_read || a.kind() == waiter_kind::part_read;
}
inline detail::access_mode mode_of_group(const access& a) {
  return (a.extra() & access::exclusive) != 0 ? detail::access_mode::commutative : detail::access_mode::concurrent;
}

// What a task's access does with the records that its memory has.
inline part_use part_use_of(const access& a) {
  if (is_of_group(a)) return (a.extra() & access::exclusive) != 0 ? part_use::commutative : part_use::concurrent;
  if (a.kind() == waiter_kind::read) return part_use::read;
  return a.kind() == waiter_kind::update ? part_use::update : part_use::overwrite;
}

// Calls f(access) for each access of a group that the task waits for itself, or by a part.
template <class F>
void for_each_in_group(frame& f, frame* parts, F&& what) {
  for (unsigned i = 0; i < f.accesses; i++)
    if (access& a = *f.access_at(i); a.kind() == waiter_kind::read && is_of_group(a)) what(a);
  for_each_part(parts, [&](access& a) {
    if (is_of_group(a)) what(a);
  });
}

// The groups that a task needs which is being matched: made before anything is changed, for that may fail.
class joined_groups {
 public:
  // Every datum has a version, or an open group. Throws std::bad_alloc.
  joined_groups(context&, frame*, frame* parts);
  ~joined_groups();
  joined_groups(const joined_groups&) = delete;
  joined_groups& operator=(const joined_groups&) = delete;
  // From now on, and until this goes, all that the task names has a current version: the entry of a group that is open
  // for it, and elsewhere what is of no group.
  void join() noexcept;

 private:
  void make_for(const access&);
  context& context_;
  frame* const task_;
  frame* const parts_;
  frame *first_ = nullptr, *last_ = nullptr;
  bool joined_ = false;
};

// By who may match. Nobody joins any more; what comes next names the exit.
void close_group(context&, datum&);
token& token_of(const access&);  // of a commutative one that was matched
// The same of ranges, of all that a task names in another way.
void close_groups_of(context&, frame*, frame* parts);

// A datum's entry or current version; null: it has none.
version* newest_version(const datum&);

// What was there before a group is there, or its tasks are over.
void continue_group(context&, const waiter&, const char* cause);

// A task that names groups is done, or skipped. Before it lets go of what it read.
void leave_groups(context&, frame*, const char* cause);

// Whether the task is one of those that leave the version behind.
bool is_in_group_of(frame&, version&);

// Of a task that will never run: what comes after its groups is declared failed once only such tasks are left in them.
void declare_groups_failed(context&, frame&, const char* cause);
// Whether a task waits for a group to end that another one, which runs, belongs to; or for one of its tokens.
bool waits_for_group_of(frame& waiting, frame& running);

}  // namespace weir::flow
