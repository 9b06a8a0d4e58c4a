// Streams: matching windows of elements to the pushes that feed them (Pop and Cohen, TACO 2013; seed 000 section 4.1).
#pragma once

#include "flow/context.hpp"

#include <weir/detail/build.hpp>

#include <deque>
#include <memory>
#include <vector>

namespace weir::detail {

// What one access sees of a stream: bytes [start, start + bytes) of everything ever pushed, in the pieces in which
// they were pushed.
struct stream_window {
  struct piece {
    waiter wait;
    version* source = nullptr;
    std::uint64_t offset = 0;    // into the source
    std::uint64_t position = 0;  // into the window
    std::uint64_t bytes = 0;
  };

  frame* task = nullptr;
  stream_state* stream = nullptr;
  std::uint64_t start = 0, bytes = 0;
  std::uint64_t matched = 0;  // bytes that have a producer
  std::vector<std::unique_ptr<piece>> pieces;
  void* gathered = nullptr;   // private copy, where there are several pieces
  int gathered_place = 0;

  template <class F> void for_each_piece(F&& f) const {
    for (const auto& p : pieces) f(*p);
  }
  const void* data() const {
    if (gathered != nullptr) return gathered;
    return pieces.empty() ? nullptr : static_cast<const char*>(pieces.front()->source->buffer) + pieces.front()->offset;
  }
};

struct stream_state : resource {
  struct segment {
    std::uint64_t start, bytes;
    version* source;
  };
  runtime_state* runtime = nullptr;
  const char* name = nullptr;
  std::uint32_t element_bytes = 1;
  void (*retire)(stream_state*) = nullptr;  // called when it is about to be deleted
  std::uint64_t written = 0, read = 0;     // positions in bytes: next push, next pop
  std::deque<segment> segments;            // pushed, and not wholly before `read`
  std::deque<stream_window*> unmatched;    // windows still without all their producers, in creation order
};

}  // namespace weir::detail

namespace weir::flow {

using detail::stream_state;

struct stream_registry {
  spin_lock lock;
  std::set<stream_state*> all;
};

// The stream is locked for these. A push announces v as the next bytes of the stream; a window takes its bytes.
void append_segment(context&, stream_state&, version& v);
// True if all its producers are known; if not, the window gets them as they come, and then its task one thing less
// to wait for.
bool open_window(context&, stream_state&, access&, frame*);
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
