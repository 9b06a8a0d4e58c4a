// Parallel loops: a range of integers or of elements, cut into chunks that the workers share.
//
//   weir::parallel_for(rt, 0, n, [&](int i) { y[i] += a * x[i]; });
//   weir::parallel_for(rt, 0, n, [&](int begin, int end) { axpy(a, &x[begin], &y[begin], end - begin); });
//   weir::parallel_for(rt, values, [](double& v) { v = std::sqrt(v); });
//   double sum = weir::parallel_reduce(rt, x, 0.0, std::identity(), std::plus());
//
// The bounds are integers, or random-access iterators; for a sized random-access range (vector, span) the range itself
// will do. The body is called for one index or element at a time if it can be, else for the two bounds of a chunk; by
// several threads at once, through a const reference, never copied. A loop returns when all is done. It may be called by
// any thread and in tasks, so in the body of another loop, too; there its caller executes other tasks while it waits.
//
// Where things run. The range is cut into chunks, and the chunks into one contiguous part for each worker. The cut is
// a function of the range's length, the grain and the number of workers, so it is the same each time. The caller runs
// chunks as the worker that it is, or whose place it has, and so do workers that have nothing else to do, unless loops
// with the same body are so short that the caller alone is faster. Each begins with its own part: what one loop touches
// first is near in the next. Then it helps: with parts of its own node at once, with those of other nodes if they have
// more left than they began late. In a loop that touches memory first (its bodies have page faults) other nodes
// are left alone until it has lasted four times as long as the helper's own part, for help would move their pages for
// good. Workers are numbered node by node, so the parts of a node are one contiguous piece, in proportion to its
// workers.
//
// Cost. What loops with the same body took before decides whether others are called at once, or the caller runs what it
// can first: loops that are short are run by their caller alone, for some 0.2 us more than the bodies take. Loops
// whose body is one type for all, a std::function, may be of very different lengths: then a long one is alone for a chunk.
// If others are called who looks for work comes at once, and who sleeps has to be woken; some 10 ns for each time that
// chunks are taken: few, then twice as many each time, until few are left. On several nodes two system calls for each
// worker. Each who comes counts as one task. Without a grain there are at most 64 chunks a
// worker, or 256 of 32 elements or more where the body takes elements and returns nothing, and each begins at a
// multiple of up to 64 elements.
//
// Bodies that wait for each other, if there are more chunks than workers: loop_options::concurrent. Without it they may
// wait for ever.
//
// Errors. A reversed range is a usage_error, and nothing was run. If a body throws, chunks that have not started are left
// out and task_failed is thrown, as by scope::wait(), for one of those that threw; its cause() is what was thrown. In a
// body this_task::cancelled() says that this has happened. The same if the scope of the task that calls the loop ends early
// (scope.hpp), but then it is task_cancelled that is thrown. An empty range is fine, and makes no task.
#pragma once

#include <weir/detail/loop.hpp>
#include <weir/detail/reduction.hpp>
#include <weir/detail/wrong_call.hpp>
#include <weir/error.hpp>
#include <weir/runtime.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace weir {

enum class distribution : std::uint8_t {
  nodes,  // when loops touch the same memory again and again: each node's workers have its piece, if they are in time
  none,   // when a loop is inside another one, or its data are small: everybody helps everybody at once
};

struct loop_options {
  // Elements in a chunk (the last one may have fewer); 0: see above. Larger where a body's call is
  // expensive to set up or to combine, smaller where a few elements take most of the time.
  std::size_t grain = 0;
  weir::distribution distribution = weir::distribution::nodes;
  const char* name = nullptr;  // of its tasks; not copied. Null: "parallel_for" or "parallel_reduce"
  // Bodies wait for what those of other chunks do. Then others are called before the first one, and nobody takes a
  // chunk before it has done the last one. Fewer of them may wait than there are workers.
  bool concurrent = false;
};

namespace detail {

template <class T>
concept loop_integer = std::integral<T> && !std::same_as<T, bool>;
template <class First, class Last>
concept loop_bounds = (loop_integer<First> && loop_integer<Last>) || (std::random_access_iterator<First> && std::sized_sentinel_for<Last, First>);
template <class R>
concept loop_range = std::ranges::random_access_range<R> && std::ranges::sized_range<R>;

// A range whose bounds have been checked.
template <class Position>
struct checked_range {
  Position first;
  std::uint64_t elements;

  Position at(std::uint64_t offset) const {
    // Modulo 2^64: also where the range is longer than its type's largest value.
    if constexpr (loop_integer<Position>) return static_cast<Position>(static_cast<std::uint64_t>(first) + offset);
    else return first + static_cast<std::iter_difference_t<Position>>(offset);
  }
};

[[noreturn]] inline void throw_reversed(const char* what, const std::string& first, const std::string& last) {
  throw usage_error(std::string(what) + ": the range begins at " + first + " and ends at " + last + ", before it begins");
}

template <loop_integer First, loop_integer Last>
auto checked(const char* what, First first, Last last) {
  using index = std::common_type_t<First, Last>;
  // Promoted: the comparison takes no characters.
  if (std::cmp_less(+last, +first)) throw_reversed(what, std::to_string(+first), std::to_string(+last));
  if (std::is_unsigned_v<index> && std::cmp_less(+first, 0))
    throw usage_error(std::string(what) + ": the range begins at " + std::to_string(+first) + ", but its end is of an unsigned type; give both a signed one");
  return checked_range<index>{static_cast<index>(first), static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)};
}

template <std::random_access_iterator First, std::sized_sentinel_for<First> Last>
checked_range<First> checked(const char* what, First first, Last last) {
  const auto n = last - first;
  if (n < 0) throw_reversed(what, "0", std::to_string(n));
  return {std::move(first), static_cast<std::uint64_t>(n)};
}

template <loop_integer I>
I element_at(I i) {
  return i;
}
template <std::random_access_iterator I>
decltype(auto) element_at(const I& i) {
  return *i;
}
template <class Position>
using element_of = decltype(element_at(std::declval<const Position&>()));

template <class Body, class Position>
concept element_body = std::invocable<const Body&, element_of<Position>>;
template <class Body, class Position>
concept chunk_body = std::invocable<const Body&, Position, Position>;

// Where a run of chunks begins and ends in the range.
template <class Position>
struct cut_range {
  checked_range<Position> range;
  std::uint64_t grain, chunks;
  Position begin(std::uint64_t first) const { return range.at(first * grain); }
  Position end(std::uint64_t last) const { return range.at(last == chunks ? range.elements : last * grain); }
};

inline loop_shape shape_of(runtime& rt, std::uint64_t elements, const loop_options& o, std::uint64_t chunks_a_worker) {
  const bool by_node = o.distribution == distribution::nodes && rt.nodes() > 1;
  loop_shape s = loop_shape::of(elements, o.grain, rt.workers(), by_node, chunks_a_worker);
  s.concurrent = o.concurrent;
  if (s.chunks < s.workers) s.by_node = false;  // some workers have no part
  return s;
}

template <class Position, class Body>
void for_chunks(runtime& rt, const checked_range<Position>& range, const Body& body, const loop_options& o) {
  static_assert(element_body<Body, Position> || chunk_body<Body, Position>,
                "weir::parallel_for: the body takes an index or element, or the begin and end of a chunk; several "
                "threads call it, so it must be callable as const (no mutable lambda)");
  if (range.elements == 0) return;
  constexpr bool by_element = element_body<Body, Position>;
  const loop_shape shape =
      shape_of(rt, range.elements, o, by_element ? chunks_of_elements_per_worker : chunks_per_worker);
  // By value what is short: servers read it, and it lies beside the rest of what they read.
  const auto work = [cut = cut_range<Position>{range, shape.grain, shape.chunks}, &body](std::uint64_t first,
                                                                                       std::uint64_t last) {
    if constexpr (element_body<Body, Position>) {
      const Position end = cut.end(last);
      for (Position i = cut.begin(first); i != end; ++i) std::invoke(body, element_at(i));
    } else if constexpr (chunk_body<Body, Position>) {
      std::invoke(body, cut.begin(first), cut.end(last));
    }
  };
  const char* const name = o.name != nullptr ? o.name : "parallel_for";
  loop<decltype(work), !element_body<Body, Position>>(rt, shape, name, work).run();
}

// More chunks than this are no reduction any more: memory is needed for a result of each.
inline constexpr std::uint64_t most_results = std::uint64_t{1} << 24;

template <class T, class Combine, class Body, class Position>
T reduced(const Combine& combine, const Body& body, Position i, const Position end) {
  if constexpr (element_body<Body, Position>) {
    T result = std::invoke(body, element_at(i));
    for (++i; i != end; ++i) result = T(std::invoke(combine, std::move(result), T(std::invoke(body, element_at(i)))));
    return result;
  } else {
    return std::invoke(body, std::move(i), Position(end));
  }
}

template <class Body, class Position>
struct body_result {
  using type = std::invoke_result_t<const Body&, Position, Position>;
};
template <class Body, class Position>
  requires element_body<Body, Position>
struct body_result<Body, Position> {
  using type = std::invoke_result_t<const Body&, element_of<Position>>;
};

// At most one sentence, and then false.
template <class T, class Position, class Body, class Combine>
consteval bool check_reduction() {
  constexpr bool callable = element_body<Body, Position> || chunk_body<Body, Position>;
  static_assert(callable,
                "weir::parallel_reduce: the body takes an index or element, or the begin and end of a chunk; several "
                "threads call it, so it must be callable as const (no mutable lambda)");
  if constexpr (callable) {
    using result = std::remove_cvref_t<typename body_result<Body, Position>::type>;
    constexpr bool movable = std::movable<T>;
    constexpr bool convertible = !movable || std::convertible_to<result, T>;
    constexpr bool kept = !convertible || !(std::floating_point<result> && std::integral<T>);
    constexpr bool combinable = !kept || std::is_invocable_r_v<T, const Combine&, T, T>;
    static_assert(movable, "weir::parallel_reduce: results are moved, and the identity's type cannot be");
    static_assert(convertible,
                  "weir::parallel_reduce: the body's result must be convertible to the type of the identity");
    static_assert(kept,
                  "weir::parallel_reduce: the result has the type of the identity, here an integer, and the body's "
                  "would be truncated to it; write 0.0 instead of 0");
    static_assert(combinable,
                  "weir::parallel_reduce: combine(left, right) takes two results and returns one; several threads "
                  "call it, so it must be callable as const");
    return movable && convertible && kept && combinable;
  }
  return false;
}

template <class T, class Position, class Body, class Combine>
T reduce_in_chunks(runtime& rt, const checked_range<Position>& range, T identity, const Body& body,
                   const Combine& combine, const loop_options& o) {
  if (range.elements == 0) return identity;
  const loop_shape shape = shape_of(rt, range.elements, o, chunks_per_worker);
  if (shape.chunks > most_results)
    throw usage_error("parallel_reduce: a grain of " + std::to_string(shape.grain) + " makes " + std::to_string(shape.chunks) + " partial results of " + std::to_string(shape.elements) + " elements; expected at most " +
                      std::to_string(most_results) + ", so a larger grain");
  reduction<T, Combine> results(shape.chunks, std::move(identity), combine);
  const auto value_of = [cut = cut_range<Position>{range, shape.grain, shape.chunks}, &combine,
                         &body](std::uint64_t chunk) {
    return reduced<T>(combine, body, cut.begin(chunk), cut.end(chunk + 1));
  };
  using work = reduction_work<T, Combine, decltype(value_of)>;
  const char* const name = o.name != nullptr ? o.name : "parallel_reduce";
  loop<work, !element_body<Body, Position>>(rt, shape, name, work{results.share(), value_of}).run();
  return results.take();
}

template <class T, class Position, class Body, class Combine>
T reduce_chunks(runtime& rt, const checked_range<Position>& range, T identity, const Body& body, const Combine& combine,
                const loop_options& o) {
  if constexpr (check_reduction<T, Position, Body, Combine>())
    return reduce_in_chunks(rt, range, std::move(identity), body, combine, o);
  else return refused();
}

}  // namespace detail

// body(i) for every integer first <= i < last, body(*i) for every iterator, or body(begin, end) for chunks that cover the
// range; in any order, each once. An index has the common type of both bounds.
// Throws usage_error (reversed range), task_failed, task_cancelled.
template <class First, class Last, class Body>
  requires detail::loop_bounds<First, Last>
void parallel_for(runtime& rt, First first, Last last, const Body& body, const loop_options& options = {}) {
  detail::for_chunks(rt, detail::checked("parallel_for", std::move(first), std::move(last)), body, options);
}

// The same for the elements of a vector, span or the like: body(element), or body(begin, end) with its iterators.
template <detail::loop_range Range, class Body>
void parallel_for(runtime& rt, Range&& range, const Body& body, const loop_options& options = {}) {
  parallel_for(rt, std::ranges::begin(range), std::ranges::begin(range) + std::ranges::distance(range), body, options);
}

// combine(identity, combine(..., ...)) over what the body returns for each index or element, or for each chunk, in their
// order: combine(left, right) must be associative and need not be commutative. The result has the type T of the identity,
// which need only be movable; combine may take its arguments by value.
//
// The tree of calls is the same for the same length, grain and number of workers, so the result is, too, bit for bit, also
// of floating-point numbers. With a grain it does not depend on the number of workers either. The identity is combined
// once, on the left, and is the result of an empty range.
//
// combine is called once for each chunk and, if the body takes single elements, in all once for each element; the calls
// for chunks are parallel, log2(chunks) one after the other at the end. Memory: sizeof(T) a chunk; of results that are
// not combined yet, those whose neighbour is not ready.
// Throws as parallel_for, and usage_error where a grain makes more than 2^24 chunks.
template <class T, class First, class Last, class Body, class Combine>
  requires detail::loop_bounds<First, Last>
T parallel_reduce(runtime& rt, First first, Last last, T identity, const Body& body, const Combine& combine, const loop_options& options = {}) {
  return detail::reduce_chunks<T>(rt, detail::checked("parallel_reduce", std::move(first), std::move(last)), std::move(identity), body, combine, options);
}

template <class T, detail::loop_range Range, class Body, class Combine>
T parallel_reduce(runtime& rt, Range&& range, T identity, const Body& body, const Combine& combine, const loop_options& options = {}) {
  return parallel_reduce(rt, std::ranges::begin(range), std::ranges::begin(range) + std::ranges::distance(range), std::move(identity), body, combine, options);
}

// What no overload above takes.
template <class Call = void>
void parallel_for(detail::anything, detail::anything = 0, detail::anything = 0, detail::anything = 0,
                  const loop_options& = {}) {
  static_assert(detail::never<Call>,
                "weir::parallel_for: expected (rt, first, last, body), with two integers or two random-access "
                "iterators, or (rt, range, body), with a sized random-access range such as a vector or span; then "
                "options, if any");
}
template <class Call = void>
void parallel_for(detail::anything rt, detail::anything range, detail::anything body, const loop_options& options) {
  parallel_for<Call>(rt, range, body, 0, options);
}
template <class Call = void>
detail::refused parallel_reduce(detail::anything, detail::anything = 0, detail::anything = 0, detail::anything = 0,
                                detail::anything = 0, detail::anything = 0, const loop_options& = {}) {
  static_assert(detail::never<Call>,
                "weir::parallel_reduce: expected (rt, first, last, identity, body, combine), with two integers or "
                "two random-access iterators, or (rt, range, identity, body, combine), with a sized random-access "
                "range such as a vector or span; then options, if any");
  return {};
}

}  // namespace weir
