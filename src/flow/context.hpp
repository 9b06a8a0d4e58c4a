// What a thread brings along when it works on tasks and data, and what all threads of a runtime share.
#pragma once

#include "base/base.hpp"
#include "flow/creators.hpp"
#include "flow/solitude.hpp"
#include "memory/memory.hpp"
#include "os/os.hpp"

#include <weir/detail/frame.hpp>

#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weir::flow {

using detail::access;
using detail::datum;
using detail::frame;
using detail::frame_state;
using detail::resource;
using detail::stream_window;
using detail::version;
using detail::waiter;
using detail::waiter_kind;

// When and where the buffer of an output comes into being. Third axis of a policy.
enum class allocation : std::uint8_t {
  at_creation,  // when the task is created, on the creator's node: what runtimes without placement do
  at_consumer,  // when the task runs, on the node that the creator of its first reader was on (PACT 2016, section 3.2,
                // "immediate", but for when), or else its own creator
  deferred,     // when the task runs, on the executing worker's node: every write is local (PACT 2016, section 3.2)
  interleaved,  // at creation, pages round robin over all nodes: no hot spot, no locality
  first_touch,  // at creation, placed by the system where it is first written
};

// Tasks that became ready, first in first out, linked through frame::next. A version's readers come in the reverse of the
// order in which they began to wait, so the last one out is mostly the oldest.
class ready_list {
 public:
  void push(frame* f) {
    WEIR_ASSERT(head_ == nullptr || tail_->next == nullptr);
    f->next = nullptr;
    (head_ == nullptr ? head_ : tail_->next) = f;
    tail_ = f;
  }
  frame* pop() {
    frame* f = head_;
    if (f != nullptr) head_ = f->next;
    return f;
  }
  bool empty() const { return head_ == nullptr; }
  bool has_several() const { return head_ != nullptr && head_ != tail_; }
  template <class F>
  bool any_of(F&& is_so) const {
    for (frame* f = head_; f != nullptr; f = f->next)
      if (is_so(*f)) return true;
    return false;
  }
  // True: it was there, alone.
  bool take_if_only(const frame* f) {
    if (head_ != f || tail_ != f) return false;
    head_ = nullptr;
    return true;
  }

 private:
  frame* head_ = nullptr;
  frame* tail_ = nullptr;  // if head_ is not null
};

// What a task with many inputs has read, and lets go of when what it wrote is published: each is a line that lies
// elsewhere by then, and others wait for that.
class late_inputs {
 public:
  bool any() const { return n_ != 0; }
  // False: there is no room.
  bool add(version& v) {
    if (n_ == most) return false;
    all_[n_++] = &v;
    return true;
  }
  // Calls f(version) for each, which may add none.
  template <class F>
  void take_all(F&& f) {
    const std::uint32_t n = std::exchange(n_, 0);
    for (std::uint32_t i = 0; i < n; i++) f(*all_[i]);
  }

 private:
  static constexpr std::uint32_t most = 256;  // of more the others go before
  std::uint32_t n_ = 0;
  version* all_[most];
};

class address_domain;
struct stream_registry;

// One per runtime.
struct shared {
  shared(os::memory_backend& backend, const std::vector<int>& os_nodes, allocation mode);
  ~shared();
  memory::pools frames;
  memory::pools buffers;
  memory::regions user_memory;
  const allocation mode;
  const bool several_nodes;
  bool traced = false;  // frame::trace_id is kept
  // Data that are updated on another node may move there. What it takes longer to read a byte there: nodes x nodes,
  // [from][to].
  bool moves_updates = false;
  int nodes = 0;
  std::vector<double> ns_per_byte;
  const detail::runtime_state* runtime = nullptr;  // whose data and streams tasks may name
  std::unique_ptr<address_domain> addresses;  // the runtime's domain
  spin_lock ended_lock;
  std::vector<std::unique_ptr<address_domain>>
      ended;  // of scopes that are gone, while tasks that were given up are not, or somebody is about to end a cut
  std::unique_ptr<stream_registry> streams;
  creation_right creation;
  flow::solitude solitude;
  spin_lock several_tokens;  // of who takes more than one token (tokens.hpp)
};

// One per thread that creates or executes tasks; used by one thread at a time.
struct context {
  context(shared& s, int node_index, std::uint32_t creator_id, bool is_seen_busy)
      : common(s), frames(s.frames, node_index), buffers(s.buffers, node_index), node(node_index), creator(creator_id), seen_busy(is_seen_busy) {}

  // The thread is on another node.
  void move_to(int node_index) noexcept {
    node = node_index;
    frames.move_home(node_index);
    buffers.move_home(node_index);
  }

  shared& common;
  memory::cache frames;
  memory::cache buffers;
  int node;                     // the thread's, as an index; where it allocates
  const std::uint32_t creator;  // owner id for resource locks, never 0
  flow::creator as_creator;
  visitor as_visitor;
  bool alone = false;           // while it is inside: nobody else is, nor can be
  const bool seen_busy;         // a worker: while it creates tasks nobody thinks that all is quiet
  ready_list ready;
  // Whether complete() leaves some of what it has to do to who calls it. Of those that wait for a version so many are
  // told and the others left in `rest`, if there are none yet; and what was read by a task with more inputs than a few
  // is left in `late`.
  bool leaves_some = false;
  bool has_left_some = false;
  std::uint32_t tells_at_most = 0;
  std::uint32_t few_inputs = most_few_inputs;
  static constexpr std::uint32_t most_few_inputs = 16;
  detail::waiter* rest = nullptr;
  std::uint32_t unnoted_ticks = 0;  // of range_table::tick_among()
  bool knew_ranges = true;      // the ranges of the last task that it created among others were all known
  late_inputs late;
};

// Held by whoever changes a version's counts or lists. Not nested.
class visit {
 public:
  explicit visit(context& c) : context_(c) {
    WEIR_ASSERT(!c.alone);
    c.alone = c.common.solitude.enter(c.as_visitor);
  }
  ~visit() {
    context_.alone = false;
    context_.common.solitude.leave(context_.as_visitor);
  }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

 private:
  context& context_;
};

}  // namespace weir::flow
