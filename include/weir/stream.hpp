// weir::stream<T>: an unbounded FIFO through which concurrently created producers and consumers find each other.
//
// Accesses are matched in the order in which tasks that name the stream are created, whoever creates them: pushes
// append elements, pops and ticks move the read position on, a peek looks ahead without moving it. A window may be
// fed by several pushes and a push may feed several windows (Pop and Cohen, TACO 2013; seed 000 section 4.1); sizes
// need not divide each other.
#pragma once

#include <weir/detail/frame.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace weir {

class runtime;
template <class T> class stream;

namespace detail {

struct stream_state;
stream_state* create_stream(runtime_state&, std::size_t element_bytes, const char* name);
void retain_stream(stream_state*) noexcept;
void release_stream(stream_state*) noexcept;

enum class stream_mode { push, pop, peek, tick };

template <class U> stream_state* state_of(const stream<U>&) noexcept;

template <class T, stream_mode Mode>
struct stream_access {
  stream_state* stream;
  std::size_t count;  // elements
};

}  // namespace detail

// Handle to a stream of T; copies name the same stream. When the last handle is gone and no task that names it is
// left, elements nobody consumed are dropped with a warning on standard error.
template <class T>
class stream {
  static_assert(std::is_trivially_copyable_v<T>, "weir::stream<T>: T must be trivially copyable");

 public:
  stream() = default;
  stream(const stream& other) noexcept : state_(other.state_) {
    if (state_) detail::retain_stream(state_);
  }
  stream(stream&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  stream& operator=(stream other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~stream() {
    if (state_) detail::release_stream(state_);
  }

  // Accesses, to be passed to spawn(). A body receives std::span<T> for push, std::span<const T> for pop and peek,
  // nothing for tick. Zero elements are allowed and match nothing.
  detail::stream_access<T, detail::stream_mode::push> push(std::size_t n) const { return {state_, n}; }
  detail::stream_access<T, detail::stream_mode::pop> pop(std::size_t n) const { return {state_, n}; }
  detail::stream_access<T, detail::stream_mode::peek> peek(std::size_t n) const { return {state_, n}; }
  detail::stream_access<T, detail::stream_mode::tick> tick(std::size_t n) const { return {state_, n}; }

  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  friend class runtime;
  template <class U> friend detail::stream_state* detail::state_of(const stream<U>&) noexcept;
  explicit stream(detail::stream_state* s) : state_(s) {}
  detail::stream_state* state_ = nullptr;
};

namespace detail {
template <class U>
stream_state* state_of(const stream<U>& s) noexcept {
  return s.state_;
}
}  // namespace detail

}  // namespace weir
