// Frames: made, prepared to run, completed. Matching is in submit.cpp.
#include "flow/task.hpp"

#include "flow/address_map.hpp"
#include "flow/stream.hpp"
#include "flow/versions.hpp"

#include <weir/error.hpp>

#include <cstring>
#include <new>

namespace weir::flow {

shared::shared(os::memory_backend& backend, const std::vector<int>& os_nodes, allocation m)
    : frames(backend, os_nodes, false),
      buffers(backend, os_nodes, true),
      mode(m),
      several_nodes(os_nodes.size() > 1),
      addresses(std::make_unique<address_map>()),
      streams(std::make_unique<stream_registry>()) {}

shared::~shared() = default;

void shared::addresses_forget_done() { addresses->forget_done(); }

frame* create_frame(context& c, detail::scope_state* scope, const detail::task_ops* ops, const task_options& options, std::size_t versions, std::size_t accesses, std::size_t closure_bytes,
                    std::size_t closure_alignment) {
  constexpr std::size_t most = 65535;
  if (versions > most || accesses > most)
    throw usage_error(std::string("task ") + (options.name ? options.name : "(unnamed)") + " has " + std::to_string(versions + accesses) + " accesses; a task may have 65535 inputs and as many outputs");
  const std::size_t bytes = detail::closure_offset(static_cast<unsigned>(versions), static_cast<unsigned>(accesses), closure_alignment) + closure_bytes;
  auto* f = new (c.frames.allocate(bytes, c.node).data) frame();
  f->state.store(frame_state::creating, std::memory_order_relaxed);
  f->ops = ops;
  f->scope = scope;
  f->name = options.name;
  f->priority = static_cast<std::int8_t>(options.priority);
  f->affinity = static_cast<std::int16_t>(options.affinity.node);
  f->required = options.affinity.required;
  f->bytes = static_cast<std::uint32_t>(bytes);
  f->versions = static_cast<std::uint16_t>(versions);
  f->accesses = static_cast<std::uint16_t>(accesses);
  f->home = static_cast<std::int16_t>(c.node);
  return f;
}

void free_frame(context& c, frame* f) noexcept {
  f->state.store(frame_state::free, std::memory_order_relaxed);
  c.frames.release({f, f->home, f->home}, f->bytes);
}

namespace {

// An update becomes the owner of its predecessor's buffer; only if read views still look at that one, it copies.
void take_over(context& c, version& v, access& a) {
  version& old = *a.source;
  const std::uint64_t views = old.users.load(std::memory_order_acquire) >> 32;
  if (views == 1) {  // ours
    v.buffer = old.buffer;
    v.node = old.node;
    old.buffer = nullptr;
  } else if (v.bytes != 0) {
    const memory::block b = c.buffers.allocate(v.bytes, c.node);
    v.buffer = b.data;
    v.node = static_cast<std::int16_t>(b.place);
    std::memcpy(v.buffer, old.buffer, v.bytes);
  }
}

}  // namespace

void prepare(context& c, frame* f) {
  if (c.common.mode == allocation::deferred)
    for (unsigned i = 0; i < f->versions; i++) {
      version& v = *f->version_at(i);
      if (v.kind != detail::version_kind::update) allocate_buffer(c, v);
    }
  for (unsigned i = 0; i < f->accesses; i++) {
    access& a = *f->access_at(i);
    if (a.kind() == waiter_kind::update) take_over(c, *f->version_at(a.version_index), a);
    if (a.kind() == waiter_kind::window) gather(c, *a.window);
  }
}

void complete(context& c, frame* f, const char* cause) {
  if (cause != nullptr) f->skipped_because.store(cause, std::memory_order_relaxed);
  f->state.store(frame_state::done, std::memory_order_relaxed);
  const unsigned versions = f->versions, accesses = f->accesses;
  const bool ask_place = c.common.mode == allocation::first_touch && c.common.several_nodes;
  for (unsigned i = 0; i < versions; i++) {
    version& v = *f->version_at(i);
    if (ask_place && cause == nullptr) find_out_place(c, v);
    publish(c, v, cause);
  }
  for (unsigned i = 0; i < accesses; i++) {
    access& a = *f->access_at(i);
    switch (a.kind()) {
      case waiter_kind::read: drop_users(c, *a.source); break;
      case waiter_kind::update: drop_view(c, *a.source); break;
      case waiter_kind::window: close_window(c, a.window); break;
      case waiter_kind::address: address_map::finish(c, a.claim, cause); break;
      default: break;
    }
  }
  // Each version held the frame through its producer's use; with the last one the frame may go.
  if (versions == 0) free_frame(c, f);
  version* first = versions == 0 ? nullptr : f->version_at(0);
  for (unsigned i = 0; i < versions; i++) drop_users(c, first[i]);
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

void* window_data(access& a) noexcept { return const_cast<void*>(a.window->data()); }

}  // namespace weir::detail
