// Who gets which tokens.
#include "flow/tokens.hpp"

#include "flow/access_group.hpp"
#include "flow/versions.hpp"

#include <mutex>

namespace weir::flow {
namespace {

template <class F>
void for_each_token(frame* f, F&& what) {
  for_each_in_group(*f, parts_of(*f), [&](access& a) {
    if ((a.extra() & access::exclusive) != 0) what(token_of(a));
  });
}

// Null: it needs several.
token* only_token(frame* f) {
  token* only = nullptr;
  bool several = false;
  for_each_token(f, [&](token& t) {
    several = only != nullptr;
    only = &t;
  });
  return several ? nullptr : only;
}

void begin(context& c, frame* f) {
  f->pending.store(0, std::memory_order_relaxed);
  f->state.store(frame_state::ready, std::memory_order_relaxed);
  c.ready.push(f);
}

// The first token that the task cannot have; null: it has all. `own`: one that it has.
token* take_all_or_none(context& c, frame* f, const token* own) {
  token* missing = nullptr;
  for_each_token(f, [&](token& t) {
    if (missing == nullptr && &t != own && !t.try_take()) missing = &t;
  });
  if (missing == nullptr) return nullptr;
  // Who has come for one of these meanwhile needs no other: those that do hold the lock.
  bool taken = true;
  for_each_token(f, [&](token& t) {
    taken &= &t != missing;
    if (!taken || &t == own) return;
    if (frame* const other = t.hand_on(); other != nullptr) begin(c, other);
  });
  return missing;
}

// Of a task that needs several, by who holds the lock. True: it has them. False: it waits for one of them, or runs. If
// that one is free by now somebody has got on, so this ends.
bool take_several(context& c, frame* f, const token* own) {
  for (;;) {
    token* const missing = take_all_or_none(c, f, own);
    if (missing == nullptr) return true;
    if (missing->wait_if_taken(f)) return false;
  }
}

}  // namespace

// It is touched no more once it waits, for it may have been handed what it needs, and run.
void make_ready_with_tokens(context& c, frame* f) {
  f->pending.store(1, std::memory_order_relaxed);
  if (token* const only = only_token(f); only != nullptr) {
    if (only->take_or_wait(f)) begin(c, f);
  } else {
    const std::lock_guard several(c.common.several_tokens);
    if (take_several(c, f, nullptr)) begin(c, f);
  }
}

void release_token(context& c, token& t) {
  while (frame* const f = t.hand_on()) {
    if (only_token(f) != nullptr) return begin(c, f);
    const std::lock_guard several(c.common.several_tokens);
    if (take_several(c, f, &t)) return begin(c, f);
  }
}

}  // namespace weir::flow
