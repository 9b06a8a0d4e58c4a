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
// they were pushed. It lies in its task's frame, with room for one piece: most windows have no more.
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
  stream_state* stream = nullptr;  // kept by the window; null: it has had all its producers from the beginning
  stream_window* next = nullptr;   // in whatever list holds it
  std::uint64_t start = 0, bytes = 0;
  std::uint64_t matched = 0;  // bytes that have a producer
  piece* last = nullptr;      // of its pieces, in order of position; null: none yet
  piece first;                // if there is a last one
  void* gathered = nullptr;   // private copy, where there are several pieces
  int gathered_place = 0;

  stream_window(frame* f, std::uint64_t from, std::uint64_t count) : task(f), start(from), bytes(count) {}
  stream_window(const stream_window&) = delete;
  stream_window& operator=(const stream_window&) = delete;
  ~stream_window() {
    while (first.next != nullptr) delete std::exchange(first.next, first.next->next);
  }
  // `more`: makes a piece, if the window's own is taken.
  template <class More> piece& add(More&& more) {
    if (last == nullptr) return *(last = &first);
    last->next = more();
    last = last->next;
    last->next = nullptr;
    return *last;
  }
  template <class F> void for_each_piece(F&& f) const {
    for (const piece* p = last == nullptr ? nullptr : &first; p != nullptr; p = p->next) f(*p);
  }
  bool in_several_pieces() const { return first.next != nullptr; }
  const void* data() const {
    if (gathered != nullptr) return gathered;
    return last == nullptr ? nullptr : static_cast<const char*>(first.source->buffer) + first.offset;
  }
};
static_assert(sizeof(stream_window) == window_bytes);

// First in, first out, through a member: what was made goes in without memory.
template <class T, T* T::* Next = &T::next>
class linked_queue {
 public:
  T* first() const { return head_; }
  bool empty() const { return head_ == nullptr; }
  void push(T& t) {
    WEIR_ASSERT(head_ == nullptr || tail_->*Next == nullptr);
    t.*Next = nullptr;
    (head_ == nullptr ? head_ : tail_->*Next) = &t;
    tail_ = &t;
  }
  T* pop() {
    T* const t = head_;
    if (t != nullptr) head_ = t->*Next;
    return t;
  }
  // Those that `leaves` is true for leave the queue; it may free them. Up to the first that is_beyond is true for.
  template <class Beyond, class Leaves> void remove_if(Beyond&& is_beyond, Leaves&& leaves) {
    T* kept = nullptr;
    for (T *t = head_, *next; t != nullptr && !is_beyond(*t); t = next) {
      next = t->*Next;
      if (!leaves(*t)) {
        kept = t;
        continue;
      }
      (kept == nullptr ? head_ : kept->*Next) = next;
      if (next == nullptr) tail_ = kept;
    }
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
  // Pushes that are not wholly before where the stream is read; each has one user for being there.
  linked_queue<version, &version::next_push> pushes;
  std::uint64_t first_start = 0;           // where the first of them begins
  linked_queue<stream_window> unmatched;   // windows still without all their producers, in creation order
  // Of the task that is being matched (stream_plan): where the stream will be, and how many of its windows will be
  // there.
  std::uint64_t planned_written = 0, planned_read = 0;
  std::size_t planned_windows = 0;

  // By who has locked it: what is wholly before where it is read has gone; windows wait for what comes. O(both lists).
  bool front_is_unread() const { return pushes.empty() || first_start + pushes.first()->bytes > read; }
  bool is_valid() const;
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

// The pieces that a task's windows and pushes need beyond the one in each window, made before anything is changed:
// whatever follows needs no memory. The task's streams are locked from here on.
class stream_plan {
 public:
  // Throws std::bad_alloc.
  explicit stream_plan(frame*);
  ~stream_plan() {
    if (!pieces_.empty()) clear();
  }
  stream_plan(const stream_plan&) = delete;
  stream_plan& operator=(const stream_plan&) = delete;

  // A push announces v as the next bytes of its stream; a window takes its bytes. In the order of the plan: accesses
  // first.
  void append_push(context&, stream_state&, version& v);
  // The task's i-th window. True if all its producers are known; if not, the window gets them as they come, and then
  // its task one thing less to wait for.
  bool open_window(context&, frame*, unsigned i, access&);

 private:
  void plan(frame*);
  void plan_window(const access&);
  void plan_push(const version&);
  void add_pieces(std::size_t);
  void clear() noexcept;

  detail::linked_queue<stream_window::piece> pieces_;  // at least as many as will be used
};

// The stream is locked.
void skip_ahead(context&, stream_state&, std::uint64_t bytes);

// A window in several pieces. Throws std::bad_alloc.
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
void release(context&, stream_state*);  // outside of visits

}  // namespace weir::flow
