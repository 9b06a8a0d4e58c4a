// Streams: matching windows of elements to the pushes that feed them (Pop and Cohen,
// TACO 2013; Drebes et al., PACT 2016, section 4.1).
#pragma once

#include "flow/context.hpp"

#include <weir/detail/build.hpp>

#include <cstddef>
#include <mutex>
#include <set>
#include <utility>

namespace weir::detail {

// What one access sees of a stream: bytes [start, start + bytes) of everything ever pushed, in the pieces in which
// they were pushed.
struct stream_window {
  struct piece {
    waiter wait;
    piece* next = nullptr;
    version* source = nullptr;
    std::uint64_t offset = 0;    // into the source
    std::uint64_t position = 0;  // into the window
    std::uint64_t bytes = 0;
  };

  frame* task = nullptr;
  stream_state* stream = nullptr;
  stream_window* next = nullptr;  // in whatever list holds it
  std::uint64_t start = 0, bytes = 0;
  std::uint64_t matched = 0;  // bytes that have a producer
  piece* first = nullptr;     // of its pieces, in order of position
  piece* last = nullptr;      // if there is a first one
  void* gathered = nullptr;   // private copy, where there are several pieces
  int gathered_place = 0;

  stream_window() = default;
  stream_window(const stream_window&) = delete;
  stream_window& operator=(const stream_window&) = delete;
  ~stream_window() {
    while (first != nullptr) delete std::exchange(first, first->next);
  }
  void add(piece& p) {
    p.next = nullptr;
    (first == nullptr ? first : last->next) = &p;
    last = &p;
  }
  template <class F> void for_each_piece(F&& f) const {
    for (const piece* p = first; p != nullptr; p = p->next) f(*p);
  }
  const void* data() const {
    if (gathered != nullptr) return gathered;
    return first == nullptr ? nullptr : static_cast<const char*>(first->source->buffer) + first->offset;
  }
};

// A push, as long as it is not wholly before where the stream is read.
struct stream_segment {
  stream_segment* next = nullptr;
  std::uint64_t start = 0, bytes = 0;
  version* source = nullptr;
};

// First in, first out, through a member `next`: what was made goes in without memory.
template <class T>
class linked_queue {
 public:
  T* first() const { return head_; }
  bool empty() const { return head_ == nullptr; }
  void push(T& t) {
    t.next = nullptr;
    (head_ == nullptr ? head_ : tail_->next) = &t;
    tail_ = &t;
  }
  T* pop() {
    T* const t = head_;
    if (t != nullptr) head_ = t->next;
    return t;
  }
  // Those that f is true for leave the queue; it may free them.
  template <class F> void remove_if(F&& f) {
    linked_queue kept;
    while (T* const t = pop())
      if (!f(*t)) kept.push(*t);
    *this = kept;
  }

 private:
  T* head_ = nullptr;
  T* tail_ = nullptr;  // if there is a head
};

struct stream_state : resource {
  runtime_state* runtime = nullptr;
  const char* name = nullptr;
  std::uint32_t element_bytes = 1;
  void (*retire)(stream_state*) = nullptr;  // called when it is about to be deleted
  std::uint64_t written = 0, read = 0;     // positions in bytes: next push, next pop
  linked_queue<stream_segment> segments;
  linked_queue<stream_window> unmatched;   // windows still without all their producers, in creation order
  // Of the task that is being matched (stream_plan): where the stream will be, and how many of its windows will be there.
  std::uint64_t planned_written = 0, planned_read = 0;
  std::size_t planned_windows = 0;
};

}  // namespace weir::detail

namespace weir::flow {

using detail::stream_state;

struct stream_registry {
  // Throws std::bad_alloc.
  void add(stream_state& s) {
    std::set<stream_state*> entry{&s};
    std::lock_guard guard(lock);
    all.insert(entry.extract(entry.begin()));
  }
  void remove(stream_state& s) {
    std::set<stream_state*>::node_type entry;  // freed without the lock
    std::lock_guard guard(lock);
    entry = all.extract(&s);
  }

  spin_lock lock;
  std::set<stream_state*> all;
};

// What a task's windows and pushes need, made before anything is changed: whatever follows needs no memory. The task's
// streams are locked from here on.
class stream_plan {
 public:
  // Throws std::bad_alloc.
  explicit stream_plan(frame*);
  ~stream_plan() { clear(); }
  stream_plan(const stream_plan&) = delete;
  stream_plan& operator=(const stream_plan&) = delete;

  // A push announces v as the next bytes of its stream; a window takes its bytes. In the order of the plan: accesses first.
  void append_segment(context&, stream_state&, version& v);
  // True if all its producers are known; if not, the window gets them as they come, and then its task one thing less
  // to wait for.
  bool open_window(context&, stream_state&, access&);

 private:
  void plan_window(frame*, const access&);
  void plan_push(const version&);
  void add_pieces(std::size_t);
  void clear() noexcept;
  void attach(context&, stream_window&, const detail::stream_segment&);

  detail::linked_queue<stream_window> windows_;
  detail::linked_queue<detail::stream_segment> segments_;
  detail::linked_queue<stream_window::piece> pieces_;  // at least as many as will be used
};

// The stream is locked.
void skip_ahead(context&, stream_state&, std::uint64_t bytes);

void gather(context&, stream_window&);
void close_window(context&, stream_window*);

// Every stream of a runtime, locked: while this exists nobody makes a stream, pushes to one or opens a window.
class locked_streams {
 public:
  explicit locked_streams(context&);
  ~locked_streams();
  locked_streams(const locked_streams&) = delete;
  locked_streams& operator=(const locked_streams&) = delete;
  // Windows that nobody feeds, of the tasks that are to be skipped for this reason, are waited for no longer.
  void abandon_windows(const char* cause);

 private:
  context& context_;
  const creating creating_;
};

void retain(stream_state&);
void release(context&, stream_state*);

}  // namespace weir::flow
