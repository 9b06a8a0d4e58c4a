// Groups of commutative and of concurrent accesses: opened, joined, closed, entered and left.
#include "flow/access_group.hpp"

#include "flow/address_domain.hpp"
#include "flow/task.hpp"
#include "flow/versions.hpp"

#include <weir/detail/access_traits.hpp>

#include <cstring>
#include <memory>

namespace weir::flow {
namespace {

using detail::access_mode;
using detail::version_kind;

// Behind the records of the frame, until the group is left.
struct group_state {
  flow::token token;
  atomic<std::uint32_t> given_up{0};  // tasks in it that will never run
  access_mode mode = access_mode::concurrent;
  datum* of = nullptr;                // as long as it is open
  std::uint32_t* open = nullptr;      // of a range: how many groups are open in its table
  atomic<std::uint64_t> last{0};      // where tasks are traced: the one that was last to end, as far as is known
};

version& entry_of(frame* g) { return *g->version_at(0); }
version& exit_of(frame* g) { return *g->version_at(1); }
access& entering(frame* g) { return *g->access_at(0); }
access& leaving(frame* g) { return *g->access_at(1); }

constexpr std::size_t group_state_offset = detail::closure_offset(2, 2, alignof(group_state));
group_state& group_state_of(frame* g) {
  return *std::launder(reinterpret_cast<group_state*>(reinterpret_cast<char*>(g) + group_state_offset));
}
frame* group_of(const access& a) { return a.source->producer(); }

void free_group(context& c, frame* g) noexcept {
  std::destroy_at(&group_state_of(g));
  release_buffer(c, entry_of(g));
  free_frame(c, g);
}

// What is viewed now is perhaps viewed still when the group begins. Nobody views it later who does not view it now.
void make_room_for_copy(context& c, version& entry, const version& old) {
  if (entry.bytes == 0 || implementation::views_in(old.users.load(std::memory_order_relaxed)) == 0) return;
  const int pool = old.published() && old.node >= 0 ? old.node : c.node;
  const memory::block b = c.buffers.allocate(entry.bytes, is_first_touch(c) ? memory::place_unknown : pool);
  entry.buffer = b.data;
  entry.node = static_cast<std::int16_t>(b.place);
}

frame* make_group(context& c, datum& d, access_mode mode, std::uint32_t* open_ranges) {
  constexpr auto bytes = static_cast<std::uint32_t>(group_state_offset + sizeof(group_state));
  frame* const g = create_frame(c, nullptr, nullptr, {.name = d.name}, {bytes, 2, 2});
  g->state.store(frame_state::done, std::memory_order_relaxed);
  detail::cursor at(g);
  const bool is_range = open_ranges != nullptr;
  for (int i = 0; i < 2; i++)
    detail::put_version(at, is_range ? version_kind::range : version_kind::update, nullptr, is_range ? 0 : d.bytes);
  for (const auto kind : {waiter_kind::group_enter, waiter_kind::group_leave}) detail::put_access(at, kind);
  auto& s = *new (reinterpret_cast<char*>(g) + group_state_offset) group_state;
  s.mode = mode;
  s.open = open_ranges;
  return g;
}

// The datum is locked. Its current version is succeeded by the group's entry.
void open_group(context& c, datum& d, frame* g) noexcept {
  g->live.store(g->versions, std::memory_order_relaxed);
  version& old = *d.current;
  version& entry = entry_of(g);
  entry.heir = nullptr;
  entry.users.store(version::while_current, std::memory_order_relaxed);
  entering(g).source = &old;
  leaving(g).source = &entry;
  group_state_of(g).of = &d;
  if (std::uint32_t* const n = group_state_of(g).open; n != nullptr) ++*n;
  d.set_group(g);
  if (succeed_current(c, d, entry, entering(g))) tell_heir(c, old, entering(g));
}

// Nobody will join: the exit is told when all that have are done. `readers`: how many have.
void end_joining(context& c, frame* g, std::uint64_t readers) {
  version& exit = exit_of(g);
  exit.heir = nullptr;
  exit.users.store(version::while_current, std::memory_order_relaxed);
  if (std::uint32_t* const n = group_state_of(g).open; n != nullptr) --*n;
  version& entry = entry_of(g);
  entry.heir = &leaving(g);
  const std::uint64_t users = implementation::retire(c, entry, readers, version::has_heir);
  if (implementation::low_half(users) == 0) tell_heir(c, entry, leaving(g));
}

bool is_open_for(const datum& d, const access& a) {
  return d.group() != nullptr && group_state_of(d.group()).mode == mode_of_group(a);
}

// A group takes what was there before over as an update does, or copies it, for views. Who let go of the last view has
// looked at it before: drop_heir(), which comes next, acquires that.
void take_over(context& c, version& entry, version& old) {
  if (old.users.load(std::memory_order_relaxed) == version::has_heir) {
    release_buffer(c, entry);
    entry.buffer = std::exchange(old.buffer, nullptr);
    entry.node = old.node;
  } else if (entry.bytes != 0) {
    WEIR_ASSERT(entry.buffer != nullptr);
    std::memcpy(entry.buffer, old.buffer, entry.bytes);
  }
}

void enter_group(context& c, frame* g, const char* cause) {
  version& old = *entering(g).source;
  g->trace_id = old.kind == version_kind::ground ? 0 : old.producer()->trace_id;
  if (cause != nullptr) g->skipped_because.store(cause, std::memory_order_relaxed);
  else take_over(c, entry_of(g), old);
  drop_heir(c, old);
  publish(c, entry_of(g), cause);
}

void leave_group(context& c, frame* g) {
  version &entry = entry_of(g), &exit = exit_of(g);
  if (!exit.published()) {  // or declare_groups_failed() was before, and others look at it
    exit.buffer = std::exchange(entry.buffer, nullptr);
    exit.node = entry.node;
    if (c.common.traced) g->trace_id = group_state_of(g).last.load(std::memory_order_relaxed);
  }
  const char* const cause = g->skipped_because.load(std::memory_order_relaxed);
  std::destroy_at(&group_state_of(g));
  drop_heir(c, entry);
  publish(c, exit, cause);
}

}  // namespace

token& token_of(const access& a) { return group_state_of(group_of(a)).token; }

// ------------------------------------------------------------------------------------------------------- matching

joined_groups::joined_groups(context& c, frame* f, frame* parts) : context_(c), task_(f), parts_(parts) {
  try {
    for_each_in_group(*f, parts, [&](access& a) { make_for(a); });
  } catch (...) {
    for (frame* g = first_; g != nullptr;) free_group(c, std::exchange(g, g->next));
    throw;
  }
}

void joined_groups::make_for(const access& a) {
  datum& d = *a.wanted;
  if (is_open_for(d, a)) return;
  const bool is_range = a.kind() == waiter_kind::part_read || (a.extra() & access::reads_range) != 0;
  std::uint32_t* const open = is_range ? &domain_of(context_, *task_).open_groups() : nullptr;
  frame* const g = make_group(context_, d, mode_of_group(a), open);
  g->next = nullptr;
  (first_ == nullptr ? first_ : last_->next) = g;
  last_ = g;
  if (d.group() == nullptr) make_room_for_copy(context_, entry_of(g), *d.current);
}

void joined_groups::join() noexcept {
  close_groups_of(context_, task_, parts_);
  for_each_in_group(*task_, parts_, [&](access& a) {
    datum& d = *a.wanted;
    if (is_open_for(d, a)) {
      d.current = &entry_of(d.group());
      return;
    }
    if (d.group() != nullptr) close_group(context_, d);
    frame* const g = first_;
    first_ = g->next;
    open_group(context_, d, g);
  });
  joined_ = true;
}

// Who comes next finds that data have no current version, and looks for a group.
joined_groups::~joined_groups() {
  for (frame* g = first_; g != nullptr;) free_group(context_, std::exchange(g, g->next));
  if (!joined_) return;
  for_each_in_group(*task_, nullptr, [](access& a) {
    if ((a.extra() & access::reads_range) == 0) group_state_of(group_of(a)).of->current = nullptr;
  });
}

void close_group(context& c, datum& d) {
  frame* const g = d.group();
  const std::uint64_t readers = d.readers;
  d.set_group(nullptr);
  d.current = &exit_of(g);
  d.readers = 0;
  d.depth++;
  end_joining(c, g, readers);
}

void supersede_group(context& c, datum& d, std::uint64_t readers) {
  frame* const g = d.group();
  d.set_group(nullptr);
  end_joining(c, g, readers);
  implementation::retire_without_heir(c, exit_of(g), 0);
}

void close_groups_of(context& c, frame* f, frame* parts) {
  const auto close = [&](const access& a) {
    if (!is_of_group(a) && a.wanted->group() != nullptr) close_group(c, *a.wanted);
  };
  for (unsigned i = 0; i < f->accesses; i++)
    if (const access& a = *f->access_at(i); names_range(*f, a) && !detail::is_covered(a.kind())) close(a);
  for_each_part(parts, close);
}

version* newest_version(const datum& d) {
  return d.current == nullptr && d.group() != nullptr ? &entry_of(d.group()) : d.current;
}

bool has_failed(const datum& d) {
  if (d.group() != nullptr) return d.group()->skipped_because.load(std::memory_order_relaxed) != nullptr;
  return d.current->failed;
}

// ------------------------------------------------------------------------------------------------------ completion

// What is noted here is seen by who leaves the group: the task is one of the entry's users until after this.
void leave_groups(context& c, frame* f, const char* cause) {
  for_each_in_group(*f, parts_of(*f), [&](access& a) {
    frame* const g = group_of(a);
    group_state& s = group_state_of(g);
    if (cause != nullptr) g->skipped_because.store(cause, std::memory_order_relaxed);
    if (c.common.traced) s.last.store(f->trace_id, std::memory_order_relaxed);
    if ((a.extra() & access::given_up) != 0) s.given_up.fetch_sub(1, std::memory_order_relaxed);
    if ((a.extra() & access::exclusive) != 0) release_token(c, s.token);
  });
}

void continue_group(context& c, const waiter& w, const char* cause) {
  w.kind() == waiter_kind::group_enter ? enter_group(c, w.task(), cause) : leave_group(c, w.task());
}

bool is_in_group_of(frame& f, version& v) {
  bool found = false;
  for_each_in_group(f, parts_of(f), [&](const access& a) { found |= group_of(a) == v.producer(); });
  return found;
}

// ------------------------------------------------------------------------------------------------------- giving up

namespace {

// If that is a task of the group it needs nothing but tokens once all that it reads is there.
bool waits_for_tokens_of(const frame* g, frame& task) {
  bool needs_it = false, is_there = true;
  for_each_in_group(task, parts_of(task), [&](const access& a) {
    needs_it |= group_of(a) == g;
    is_there &= a.source->published();
  });
  return needs_it && is_there;
}

}  // namespace

// Others in the group may be running, and read and write what comes after it would; they end it then.
void declare_groups_failed(context& c, frame& f, const char* cause) {
  for_each_in_group(f, parts_of(f), [&](access& a) {
    frame* const g = group_of(a);
    group_state& s = group_state_of(g);
    if ((a.extra() & access::given_up) == 0) s.given_up.fetch_add(1, std::memory_order_relaxed);
    a.set_place(a.offset(), a.extra() | access::given_up);
    const std::uint64_t users = entry_of(g).users.load(std::memory_order_relaxed);
    if (implementation::low_half(users) > s.given_up.load(std::memory_order_relaxed)) return;
    g->skipped_because.store(cause, std::memory_order_relaxed);
    declare_failed(c, exit_of(g), cause);
  });
}

bool waits_for_group_of(frame& waiting, frame& running) {
  bool found = false;
  for_each_in_group(running, parts_of(running), [&](access& a) {
    frame* const g = group_of(a);
    found |= waits_for(waiting, exit_of(g));
    if ((a.extra() & access::exclusive) != 0) found |= waits_for_tokens_of(g, waiting);
  });
  return found;
}

}  // namespace weir::flow
