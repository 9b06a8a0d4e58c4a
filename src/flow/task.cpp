// Frames: made, prepared to run, completed. Matching is in submit.cpp.
#include "flow/task.hpp"

#include "flow/access_group.hpp"
#include "flow/address_domain.hpp"
#include "flow/stream.hpp"
#include "flow/versions.hpp"

#include <weir/detail/build.hpp>
#include <weir/error.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace weir::flow {

shared::shared(os::memory_backend& backend, const std::vector<int>& os_nodes, allocation m)
    : frames(backend, os_nodes, false),
      buffers(backend, os_nodes, true),
      user_memory(backend, os_nodes),
      mode(m),
      several_nodes(os_nodes.size() > 1),
      addresses(std::make_unique<address_domain>(*this)),
      streams(std::make_unique<stream_registry>()) {}

shared::~shared() {
  ended.clear();
  addresses.reset();
  WEIR_ASSERT(frames.nothing_is_in_use());
  WEIR_ASSERT(buffers.nothing_is_in_use());
}

namespace {

// Whether to bring an update's data here pays: they lie on another node, and the task takes so long that it may well
// look at all of them. Then what follows it finds them where it ran, as with a task that writes a new version.
bool moves_here(const context& c, const version& old, const frame& task) {
  if (old.bytes == 0 || old.node < 0 || old.node == c.node) return false;
  const auto nodes = static_cast<std::size_t>(c.common.nodes), from = static_cast<std::size_t>(old.node);
  const double ns_per_byte = c.common.ns_per_byte[from * nodes + static_cast<std::size_t>(c.node)];
  return task.ops->typical_ns.load(std::memory_order_relaxed) >= static_cast<double>(old.bytes) * ns_per_byte;
}

void copy_here(context& c, version& v, const version& old) {
  const memory::block b = c.buffers.allocate(v.bytes, is_first_touch(c) ? memory::place_unknown : c.node);
  v.buffer = b.data;
  v.node = static_cast<std::int16_t>(b.place);
  std::memcpy(v.buffer, old.buffer, v.bytes);
}

// False: there is no memory; then it stays where it is.
[[gnu::noinline]] bool move_here(context& c, version& v, const version& old) {
  try {
    copy_here(c, v, old);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// An update becomes the owner of its predecessor's buffer. It copies if read views still look at that one, or if the
// data should lie elsewhere.
void take_over(context& c, version& v, access& a) {
  version& old = *a.source;
  if (old.users.load(std::memory_order_acquire) == version::has_heir) {  // nobody else is left
    if (c.common.moves_updates && moves_here(c, old, *a.task()) && move_here(c, v, old)) [[unlikely]] return;
    v.buffer = old.buffer;
    v.node = old.node;
    old.buffer = nullptr;
  } else if (v.bytes != 0) {
    copy_here(c, v, old);
  }
}

}  // namespace

void allocate_where_planned(context& c, frame* f) {
  for (unsigned i = 0; i < f->versions; i++) {
    version& v = *f->version_at(i);
    if (v.kind == detail::version_kind::update || v.bytes == 0) continue;
    const int plan = planned_place_of(v);
    place_word(v).store(detail::node_unknown, std::memory_order_relaxed);  // no reader changes it from here on
    const memory::block b = c.buffers.allocate(v.bytes, plan);
    v.buffer = b.data;
    place_word(v).store(static_cast<std::int16_t>(b.place), std::memory_order_relaxed);
  }
}

void prepare_unusual(context& c, frame* f) {
  if (c.common.mode == allocation::deferred) {
    version* v = f->version_at(0);
    for (const version* end = v + f->versions; v != end; v++)
      if (v->kind != detail::version_kind::update) allocate_buffer(c, *v);
  } else if (c.common.mode == allocation::at_consumer) {
    allocate_where_planned(c, f);
  }
  access* a = f->access_at(0);
  for (const access* end = a + f->accesses; a != end; a++) {
    if (a->kind() == waiter_kind::update) take_over(c, *f->version_at(a->extra()), *a);
    if (a->kind() == waiter_kind::window && a->window->in_several_pieces()) gather(c, *a->window);
  }
}

// The system is asked first. Of nodes that hold as much of it, the one that comes first.
int node_near(context& c, const void* memory, std::size_t bytes) {
  if (!c.common.several_nodes) return detail::node_unknown;
  const auto first = reinterpret_cast<std::uintptr_t>(memory);
  memory::regions& known = c.common.user_memory;
  known.before_write({first, bytes}, true);
  std::uint64_t most = 0;
  int nearest = detail::node_unknown;
  known.for_each_part(first, bytes, [&](std::uint64_t n, int node) {
    if (node < 0 || n <= most) return;
    most = n;
    nearest = node;
  });
  return nearest;
}

void find_out_places(context& c, frame* f) {
  if (c.common.mode != allocation::first_touch || !c.common.several_nodes) return;
  for (unsigned i = 0; i < f->versions; i++) find_out_place(c, *f->version_at(i));
}

namespace {

// Inside a visit: what others find out about the task changes with the rest.
inline void note_done(frame* f, const char* cause) {
  if (cause != nullptr) f->skipped_because.store(cause, std::memory_order_relaxed);
  f->state.store(frame_state::done, std::memory_order_relaxed);
}

// Most windows are one piece of a push that was known when they were opened.
inline void drop_window(context& c, stream_window* w) {
  if (w->last == &w->first && !w->in_several_pieces() && w->stream == nullptr) [[likely]] drop_users(c, *w->first.source);
  else close_window(c, w);
}

// Lets go of what a task read, updated or claimed.
[[gnu::always_inline]] inline void drop_input(context& c, const frame* f, access& a, const char* cause) {
  switch (a.kind()) {
    case waiter_kind::read: drop_users(c, *a.source); break;
    case waiter_kind::update:
    case waiter_kind::overwrite: drop_heir(c, *a.source); break;
    case waiter_kind::window: drop_window(c, a.window); break;
    case waiter_kind::covered_read:
    case waiter_kind::covered_update:
    case waiter_kind::covered_overwrite:
      if (a.parts != nullptr) complete_parts(c, a.parts, f, cause);
      break;
    default: break;
  }
}

// The frame may go with the last one, and does if there are none. Returns their bytes.
inline std::uint64_t publish_outputs(context& c, frame* f, const char* cause) {
  const unsigned versions = f->versions;
  version* v = f->version_at(0);
  if (versions == 0) free_frame(c, f);
  std::uint64_t bytes = 0;
  for (const version* end = v + versions; v != end; v++) {
    bytes += v->bytes;
    publish<whom_to_tell::some>(c, *v, cause);
  }
  return bytes;
}

void drop_all_late(context& c) {
  c.late.take_all([&](version& v) { drop_users(c, v); });
}

// They wait until what became ready, or will when the rest is told, is placed.
void leave_late_inputs(context& c) {
  if (c.ready.empty() && c.rest == nullptr) drop_all_late(c);
  else c.has_left_some = true;
}

// With the last version that it publishes the frame may go. So what it has read is remembered until then, for others
// wait for the outputs. Not what it has updated: who finds a record of user memory at rest takes it that nobody has its
// ground.
[[gnu::noinline]] void drop_read_later(context& c, const frame* f, access& a, const char* cause) {
  a.kind() == waiter_kind::read ? drop_later(c, *a.source) : drop_input(c, f, a, cause);
}
// Once more, so that the usual ways have their own inside them.
[[gnu::noinline]] std::uint64_t publish_all(context& c, frame* f, const char* cause) {
  return publish_outputs(c, f, cause);
}

[[gnu::noinline]] traffic complete_with_many_inputs(context& c, frame* f, const char* cause) {
  traffic t;
  access* a = f->access_at(0);
  for (const access* end = a + f->accesses; a != end; a++) {
    const bool is_range = names_range(*f, *a);
    if (is_range ? reads_user_memory(*a) : a->kind() <= waiter_kind::window) t.read += a->bytes;
    if (is_range && writes_user_memory(*a)) t.written += a->bytes;
    drop_read_later(c, f, *a, cause);
  }
  t.written += publish_all(c, f, cause);
  if (c.late.any()) leave_late_inputs(c);
  return t;
}

}  // namespace

traffic complete_usual(context& c, frame* f, const char* cause) {
  const visit here(c);
  note_done(f, cause);
  const unsigned versions = f->versions, inputs = f->accesses;
  if (inputs > c.few_inputs) [[unlikely]]
    return complete_with_many_inputs(c, f, cause);
  traffic t;
  const access* const a = f->access_at(0);
  version* sources[context::most_few_inputs];
  for (unsigned i = 0; i < inputs; i++) {
    sources[i] = a[i].source;
    t.read += a[i].bytes;
  }
  version* v = f->version_at(0);
  if (versions == 0) free_frame(c, f);
  for (const version* end = v + versions; v != end; v++) {
    t.written += v->bytes;
    publish<whom_to_tell::some>(c, *v, cause);
  }
  for (unsigned i = 0; i < inputs; i++) drop_users(c, *sources[i]);
  return t;
}

traffic complete_stage(context& c, frame* f, const char* cause) {
  const visit here(c);
  note_done(f, cause);
  const access& a = *f->access_at(0);
  traffic t;
  if (a.kind() == waiter_kind::window) {
    t.read = a.bytes;
    drop_window(c, a.window);
  } else if (a.kind() == waiter_kind::read) {
    t.read = a.bytes;
    drop_users(c, *a.source);
  }
  if (f->versions == 0) {
    free_frame(c, f);
  } else {
    version& v = *f->version_at(0);
    t.written = v.bytes;
    publish<whom_to_tell::some>(c, v, cause);
  }
  return t;
}

traffic complete_unusual(context& c, frame* f, const char* cause) {
  const visit here(c);
  note_done(f, cause);
  if (f->accesses > c.few_inputs) [[unlikely]]
    return complete_with_many_inputs(c, f, cause);
  traffic t;
  access* a = f->access_at(0);
  for (const access* end = a + f->accesses; a != end; a++) {
    if (a->kind() <= waiter_kind::window) t.read += a->bytes;  // read, update, window
    drop_input(c, f, *a, cause);
  }
  t.written += publish_outputs(c, f, cause);
  return t;
}

traffic complete_with_user_memory(context& c, frame* f, const char* cause) {
  const visit here(c);
  if (cause != nullptr) [[unlikely]] domain_of(c, *f).has_lost.store(true, std::memory_order_relaxed);
  note_done(f, cause);
  if (f->accesses > c.few_inputs) [[unlikely]]
    return complete_with_many_inputs(c, f, cause);
  traffic t;
  access* a = f->access_at(0);
  for (const access* end = a + f->accesses; a != end; a++) {
    const bool is_range = names_range(*f, *a);
    if (is_range ? reads_user_memory(*a) : a->kind() <= waiter_kind::window) t.read += a->bytes;
    if (is_range && a->kind() != waiter_kind::read && a->kind() != waiter_kind::covered_read) t.written += a->bytes;
    drop_input(c, f, *a, cause);
  }
  t.written += publish_outputs(c, f, cause);
  if (c.late.any()) [[unlikely]] leave_late_inputs(c);  // of parts
  return t;
}

traffic complete_in_groups(context& c, frame* f, const char* cause) {
  const visit here(c);
  if (cause != nullptr && names_user_memory(f)) domain_of(c, *f).has_lost.store(true, std::memory_order_relaxed);
  note_done(f, cause);
  leave_groups(c, f, cause);
  traffic t;
  access* a = f->access_at(0);
  for (const access* end = a + f->accesses; a != end; a++) {
    const bool is_range = names_range(*f, *a);
    if (is_range ? reads_user_memory(*a) : a->kind() <= waiter_kind::window) t.read += a->bytes;
    if (is_range ? writes_user_memory(*a) : is_of_group(*a)) t.written += a->bytes;
    drop_input(c, f, *a, cause);
  }
  t.written += publish_outputs(c, f, cause);
  if (c.late.any()) [[unlikely]] leave_late_inputs(c);
  return t;
}

namespace implementation {

void tell_several(context& c, waiter* w, const char* cause) {
  if (!c.leaves_some || cause != nullptr || c.rest != nullptr) return tell(c, w, cause);
  waiter* last = w;
  for (std::uint32_t n = 1; n < c.tells_at_most && last->next != nullptr; n++) last = last->next;
  c.rest = std::exchange(last->next, nullptr);
  c.has_left_some |= c.rest != nullptr;
  tell(c, w, nullptr);
}

}  // namespace implementation

void tell(context& c, waiter* some) {
  const visit here(c);
  implementation::tell(c, some, nullptr);
}

void drop_late(context& c) {
  const visit here(c);
  drop_all_late(c);
}

namespace {

bool lists(const atomic<waiter*>& waiters, const frame& task) {
  const waiter* w = waiters.load(std::memory_order_acquire);
  if (w == version::published_mark() || w == version::unwanted_mark()) return false;
  for (; w != nullptr; w = w->next)
    if (w->kind() != waiter_kind::external && w->task() == &task) return true;
  return false;
}

// The heir is written before it is announced.
bool has_heir(const version& v, const frame& task) {
  return (v.users.load(std::memory_order_acquire) & version::has_heir) != 0 && v.heir->task() == &task;
}

}  // namespace

bool waits_for(const frame& waiting, const version& v) { return lists(v.waiters, waiting) || has_heir(v, waiting); }

bool waits_for_end_of(frame& waiting, frame& running) {
  const auto keeps = [&](frame& f) {
    for (unsigned i = 0; i < f.versions; i++)
      if (waits_for(waiting, *f.version_at(i))) return true;
    return false;
  };
  const auto reads = [&](const access& a) { return has_heir(*a.source, waiting); };
  if (keeps(running)) return true;
  for (unsigned i = 0; i < running.accesses; i++)
    if (const access& a = *running.access_at(i); a.kind() == waiter_kind::read && reads(a)) return true;
  bool found = waits_for_group_of(waiting, running);
  frame* const parts = parts_of(running);
  for_each_part(parts, [&](const access& a) { found |= a.kind() == waiter_kind::part_read && reads(a); });
  for (frame* p = parts; p != nullptr; p = p->next) found |= keeps(*p);
  return found;
}

void declare_outputs_failed(context& c, frame& f, const char* cause) {
  const auto declare = [&](frame& of) {
    for (unsigned i = 0; i < of.versions; i++) declare_failed(c, *of.version_at(i), cause);
  };
  declare(f);
  for (frame* p = parts_of(f); p != nullptr; p = p->next) declare(*p);
  declare_groups_failed(c, f, cause);
}

void give_first_version(context& c, datum& d, const void* values) {
  // No operations: it never runs.
  frame* f = create_frame(c, nullptr, nullptr, {.name = d.name}, detail::size_of_frame({.name = d.name}, 1, 0, 0, 1));
  detail::cursor at{f};
  version& v = detail::put_version(at, detail::version_kind::replace, &d, d.bytes);
  try {
    allocate_buffer(c, v);
  } catch (...) {
    free_frame(c, f);  // the datum goes with its handle
    throw;
  }
  if (d.bytes != 0) std::memcpy(v.buffer, values, d.bytes);
  find_out_place(c, v);
  v.heir = nullptr;
  v.users.store(version::while_current, std::memory_order_relaxed);
  v.waiters.store(version::published_mark(), std::memory_order_relaxed);  // others are handed the datum
  f->state.store(frame_state::done, std::memory_order_relaxed);
  replace_current(c, d, v);
}

std::string described_inputs(frame& f) {
  std::string text = f.display_name();
  for (unsigned i = 0; i < f.accesses; i++) {
    access& a = *f.access_at(i);
    if (a.kind() != waiter_kind::window || a.window->matched >= a.window->bytes) continue;
    const stream_state& s = *a.window->stream;
    text += " (stream " + std::string(s.name ? s.name : "(unnamed)") + ": " + std::to_string((a.window->bytes - a.window->matched) / s.element_bytes) + " of " +
            std::to_string(a.window->bytes / s.element_bytes) + " elements have no producer)";
  }
  return text;
}

}  // namespace weir::flow

namespace weir::detail {

void throw_too_many_accesses(const task_options& options, std::size_t accesses) {
  throw usage_error(std::string("task ") + (options.name ? options.name : "(unnamed)") + " has " + std::to_string(accesses) + " accesses; a task may have 65535 inputs and as many outputs");
}

void* window_data(access& a) noexcept { return const_cast<void*>(a.window->data()); }

}  // namespace weir::detail
