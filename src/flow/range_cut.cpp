// Ranges that are cut while tasks use them.
#include "flow/range_cut.hpp"

#include "flow/range_table.hpp"
#include "flow/versions.hpp"

#include <weir/detail/access_traits.hpp>

namespace weir::flow {
namespace {

// Behind the records of the frame.
struct cut_state {
  waiter whole_is_there;
  range_table* table = nullptr;
  range_record* whole = nullptr;
};

cut_state& state_of(frame* cut) {
  constexpr std::size_t alignment = alignof(cut_state);
  return *std::launder(reinterpret_cast<cut_state*>(
      reinterpret_cast<char*>(cut) + detail::closure_offset(cut->versions, cut->accesses, alignment)));
}

// Behind those of the pieces there is a version that nobody knows: it keeps the frame until the whole's is unused.
unsigned pieces_of(const frame* cut) { return cut->versions - 1u; }

std::uintptr_t target_of(frame* cut, waiter_kind kind) {
  return reinterpret_cast<std::uintptr_t>(cut) | static_cast<std::uintptr_t>(kind);
}

void publish_pieces(context& c, frame* cut, version& whole, const char* cause) {
  cut->trace_id = whole.kind == detail::version_kind::ground ? 0 : whole.producer()->trace_id;
  if (cause != nullptr) cut->skipped_because.store(cause, std::memory_order_relaxed);
  for (unsigned i = 0; i < pieces_of(cut); i++) publish(c, *cut->version_at(i), cause);
}

// The version of the whole is there, and nobody uses it.
void end_whole(context& c, frame* cut) {
  for (unsigned i = 0; i < pieces_of(cut); i++) drop_users(c, *cut->version_at(i));
  drop_heir(c, *cut->access_at(0)->source);
  state_of(cut).table->give_back(*state_of(cut).whole);
  implementation::bury(c, *cut->version_at(pieces_of(cut)));
}

}  // namespace

frame* make_cut(context& c, unsigned pieces) {
  const unsigned versions = pieces + 1;
  const std::size_t bytes = detail::closure_offset(versions, 1, alignof(cut_state)) + sizeof(cut_state);
  const detail::frame_size size{static_cast<std::uint32_t>(bytes), static_cast<std::uint16_t>(versions), 1};
  frame* const cut = create_frame(c, nullptr, nullptr, {}, size);
  cut->state.store(frame_state::done, std::memory_order_relaxed);
  detail::cursor at(cut);
  for (unsigned i = 0; i < pieces; i++) {
    version& v = detail::put_version(at, detail::version_kind::range, nullptr, 0);
    v.users.store(version::while_current, std::memory_order_relaxed);
  }
  detail::put_version(at, detail::version_kind::range, nullptr, 0).be_unused();
  detail::put_access(at, waiter_kind::cut_unused);
  new (&state_of(cut)) cut_state{{nullptr, target_of(cut, waiter_kind::cut_publish)}};
  return cut;
}

void begin_cut(context& c, frame* cut, range_table& table, range_record& whole,
               std::span<range_record* const> pieces) noexcept {
  version& v = *whole.state.current;
  access& unused = *cut->access_at(0);
  unused.source = &v;
  state_of(cut).table = &table;
  state_of(cut).whole = &whole;
  cut->live.store(cut->versions, std::memory_order_relaxed);
  for (unsigned i = 0; i < pieces_of(cut); i++) {
    datum& piece = pieces[i]->state;
    piece.current = cut->version_at(i);
    piece.readers = 1;  // all that use the whole
    piece.depth = whole.state.depth;
  }
  cut->pending.store(2, std::memory_order_relaxed);
  if (!subscribe(c, v, state_of(cut).whole_is_there)) {
    cut->pending.store(1, std::memory_order_relaxed);
    publish_pieces(c, cut, v, v.failed ? failure_of(v.producer()) : nullptr);
  }
  v.heir = &unused;
  const std::uint64_t users = implementation::retire(c, v, whole.state.readers, version::has_heir);
  if (implementation::low_half(users) == 0) tell_heir(c, v, unused);
}

// The two may come in any order, and at the same time.
void continue_cut(context& c, const waiter& w, const char* cause) {
  frame* const cut = w.task();
  if (w.kind() == waiter_kind::cut_publish) publish_pieces(c, cut, *cut->access_at(0)->source, cause);
  if (cut->pending.fetch_sub(1, std::memory_order_acq_rel) == 1) end_whole(c, cut);
}

}  // namespace weir::flow
