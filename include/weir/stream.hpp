// weir::stream<T>: an unbounded FIFO through which concurrently created producers and consumers find each other.
//
// Accesses are matched in the order in which tasks that name the stream are created, whoever creates them: pushes
// append elements, pops and ticks move the read position on, a peek looks ahead without moving it. A window may be
// fed by several pushes and a push may feed several windows (Pop and Cohen, TACO 2013; in short, Drebes, Pop,
// Heydemann, Cohen and Drach, PACT 2016, section 4.1); sizes need not divide each other.
#pragma once

#include <weir/detail/frame.hpp>
#include <weir/detail/wrong_call.hpp>

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

// Arguments that do not say how many elements. A floating-point number is rather an element.
template <class... Args>
inline constexpr bool no_count = true;
template <class N>
inline constexpr bool no_count<N> = !std::is_convertible_v<N, std::size_t> || std::is_floating_point_v<N>;

template <class... Args>
refused refuse_count() {
  static_assert(never<Args...>,
                "weir: a stream's push(n), pop(n), peek(n) and tick(n) take a number of elements, for spawn(); a "
                "task's body writes or reads the elements themselves, through the std::span it gets");
  return {};
}

}  // namespace detail

// Handle to a stream of T; copies name the same stream. When the last handle is gone and no task that names it is
// left, elements nobody consumed are dropped with a warning on standard error.
template <class T>
class stream {
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
  template <class... Args> requires(detail::no_count<Args...>)
  detail::refused push(const Args&...) const { return detail::refuse_count<Args...>(); }
  template <class... Args> requires(detail::no_count<Args...>)
  detail::refused pop(const Args&...) const { return detail::refuse_count<Args...>(); }
  template <class... Args> requires(detail::no_count<Args...>)
  detail::refused peek(const Args&...) const { return detail::refuse_count<Args...>(); }
  template <class... Args> requires(detail::no_count<Args...>)
  detail::refused tick(const Args&...) const { return detail::refuse_count<Args...>(); }

  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  friend class runtime;
  template <class U> friend detail::stream_state* detail::state_of(const stream<U>&) noexcept;
  explicit stream(detail::stream_state* s) : state_(s) {}
  detail::stream_state* state_ = nullptr;

  // Last: Clang knows no members behind an assertion that fails, and would miss them.
  static_assert(std::is_trivially_copyable_v<T>, "weir::stream<T>: T must be trivially copyable");
  static_assert(!std::is_const_v<T>,
                "weir::stream<T>: T must not be const; pop() and peek() say that a task only reads");
};

namespace detail {
template <class U>
stream_state* state_of(const stream<U>& s) noexcept {
  return s.state_;
}
}  // namespace detail

}  // namespace weir
