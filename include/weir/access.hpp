// What a task does with a datum, a stream window or a range of user memory, and how many bytes.
//
//   in(x)     reads the version that is current when the task is created       body gets std::span<const T>
//   out(x)    writes a new version; placed where its writer runs               body gets std::span<T>
//   inout(x)  updates in place, once earlier readers are done                  body gets std::span<T>
//
// commutative(x) and concurrent(x) (weir/group_access.hpp) update in place, too, without an order among each other.
//
// Data stay where they are while a task runs. Between two tasks that update them they may move to another node's
// memory.
//
// in(x) and out(x) of the same datum in one task read the old version and write a new one. Groups
// (in(std::vector<data<T>>), of ranges in(std::vector<memory_range<T>>), or of streams with pop_each and push_each)
// give the body a weir::views<T>; groups of tiles, in(std::vector<memory_tile<T>>), a weir::views<tile<T>>.
// ref(span) is user memory: dependences by address range, no renaming. It stays where it is; tasks are placed by
// where that is, and by policy `local` those that write it first are dealt out to all nodes. ref(tile(matrix,
// stride, first_row, rows, first_column, columns)) is a block of a row-major matrix (tile.hpp).
#pragma once

#include <weir/data.hpp>
#include <weir/detail/wrong_call.hpp>
#include <weir/stream.hpp>
#include <weir/tile.hpp>

#include <span>
#include <type_traits>
#include <vector>

namespace weir {

// Memory of the program, as ref() returns it; for variables and for groups of them.
template <class T>
struct memory_range {
  std::span<T> memory;
};
// A block of a matrix of the program, the same.
template <class T>
struct memory_tile {
  tile<T> memory;
};

namespace detail {

enum class access_mode : std::uint8_t { in, out, inout, commutative, concurrent };

template <class T, access_mode Mode>
struct datum_access {
  slice<T> part;
};
template <class T, access_mode Mode>
struct group_access {
  std::span<const data<T>> members;
};
template <class T, access_mode Mode>
struct address_access {
  T* first;
  std::size_t count;
};
template <class T, stream_mode Mode>
struct stream_group_access {
  std::span<const stream<T>> members;
  std::size_t count;
};
template <class T, access_mode Mode>
struct address_group_access {
  std::span<const memory_range<T>> members;
};

template <class T, access_mode Mode>
struct tile_access {
  tile<T> named;
};
template <class T, access_mode Mode>
struct tile_group_access {
  std::span<const memory_tile<T>> members;
};

template <class T> inline constexpr bool is_span = false;
template <class T, std::size_t N> inline constexpr bool is_span<std::span<T, N>> = true;
template <class T> inline constexpr bool is_tile = false;
template <class T> inline constexpr bool is_tile<tile<T>> = true;
template <class T> inline constexpr bool is_handle = false;
template <class T> inline constexpr bool is_handle<data<T>> = true;
template <class T> inline constexpr bool is_handle<slice<T>> = true;
template <class T> inline constexpr bool is_handle<stream<T>> = true;
template <class T> inline constexpr bool is_handle<memory_range<T>> = true;
template <class T> inline constexpr bool is_handle<memory_tile<T>> = true;

// A task announces a version of what it writes alone. What it shares with a group is read and written by all of that.
inline constexpr bool is_of_group(access_mode m) {
  return m == access_mode::commutative || m == access_mode::concurrent;
}
inline constexpr bool has_version(access_mode m) { return m == access_mode::out || m == access_mode::inout; }

template <class T>
constexpr void check_is_memory() {
  static_assert(!is_handle<std::remove_const_t<T>>,
                "weir: weir::ref(x) names memory of your own, and this is no memory but a handle of weir's; expected "
                "in(x), out(x) or inout(x) of a weir::data or of what weir::ref(memory) returned, or a stream's "
                "push(n), pop(n), peek(n) or tick(n)");
}

template <class T>
refused refuse_constant() {
  static_assert(never<T>,
                "weir: out() and inout() say that the task writes, and the memory in ref() is const; expected "
                "in(ref(memory)), or memory that is not const");
  return {};
}

template <class Call>
refused refuse_streams() {
  static_assert(never<Call>,
                "weir: push_each(), pop_each() and peek_each() take a std::vector<stream<T>> and a number of "
                "elements");
  return {};
}

}  // namespace detail

template <class T> detail::datum_access<T, detail::access_mode::in> in(const data<T>& d) { return {whole_of(d)}; }
template <class T> detail::datum_access<T, detail::access_mode::in> in(const detail::slice<T>& s) { return {s}; }
template <class T> detail::datum_access<T, detail::access_mode::out> out(const data<T>& d) { return {whole_of(d)}; }
template <class T> detail::datum_access<T, detail::access_mode::inout> inout(const data<T>& d) { return {whole_of(d)}; }
template <class T> detail::datum_access<T, detail::access_mode::inout> inout(const detail::slice<T>& s) { return {s}; }

// Groups: any number of data of one type, known when the task is spawned. The vector is only looked at by spawn().
template <class T> detail::group_access<T, detail::access_mode::in> in(const std::vector<data<T>>& g) { return {g}; }
template <class T> detail::group_access<T, detail::access_mode::in> in(std::span<const data<T>> g) { return {g}; }
template <class T> detail::group_access<T, detail::access_mode::out> out(const std::vector<data<T>>& g) { return {g}; }
template <class T> detail::group_access<T, detail::access_mode::out> out(std::span<const data<T>> g) { return {g}; }
template <class T> detail::group_access<T, detail::access_mode::inout> inout(const std::vector<data<T>>& g) { return {g}; }


// Arrays of streams: the same count on each of them.
template <class T> detail::stream_group_access<T, detail::stream_mode::push> push_each(const std::vector<stream<T>>& g, std::size_t n) { return {g, n}; }
template <class T> detail::stream_group_access<T, detail::stream_mode::pop> pop_each(const std::vector<stream<T>>& g, std::size_t n) { return {g, n}; }
template <class T> detail::stream_group_access<T, detail::stream_mode::peek> peek_each(const std::vector<stream<T>>& g, std::size_t n) { return {g, n}; }

// User memory, which must outlive the task. Overlapping ranges order tasks as if they ran one after the other in
// creation order.
template <class T> memory_range<T> ref(std::span<T> memory) { return {memory}; }
template <class T> memory_range<T> ref(std::vector<T>& v) {
  detail::check_is_memory<T>();
  return {std::span<T>(v)};
}
template <class T> memory_range<const T> ref(const std::vector<T>& v) {
  detail::check_is_memory<T>();
  return {std::span<const T>(v)};
}
template <class T> memory_range<T> ref(T& object) {
  detail::check_is_memory<T>();
  return {std::span<T>(&object, 1)};
}
// A block of a matrix (tile.hpp).
template <class T> memory_tile<T> ref(tile<T> block) { return {block}; }

template <class T>
detail::address_access<const T, detail::access_mode::in> in(const memory_range<T>& r) {
  return {r.memory.data(), r.memory.size()};
}
template <class T>
detail::address_access<T, detail::access_mode::out> out(const memory_range<T>& r) {
  return {r.memory.data(), r.memory.size()};
}
template <class T>
detail::address_access<T, detail::access_mode::inout> inout(const memory_range<T>& r) {
  return {r.memory.data(), r.memory.size()};
}

template <class T>
detail::tile_access<const T, detail::access_mode::in> in(const memory_tile<T>& t) {
  return {t.memory};
}
template <class T>
detail::tile_access<T, detail::access_mode::out> out(const memory_tile<T>& t) {
  return {t.memory};
}
template <class T>
detail::tile_access<T, detail::access_mode::inout> inout(const memory_tile<T>& t) {
  return {t.memory};
}

// Groups: any number of ranges of one type, known when the task is spawned; they may overlap. spawn() looks at the
// vector, and nobody after that.
template <class T>
detail::address_group_access<T, detail::access_mode::in> in(const std::vector<memory_range<T>>& g) {
  return {g};
}
template <class T>
detail::address_group_access<T, detail::access_mode::in> in(std::span<const memory_range<T>> g) {
  return {g};
}
template <class T>
detail::address_group_access<T, detail::access_mode::out> out(const std::vector<memory_range<T>>& g) {
  return {g};
}
template <class T>
detail::address_group_access<T, detail::access_mode::out> out(std::span<const memory_range<T>> g) {
  return {g};
}
template <class T>
detail::address_group_access<T, detail::access_mode::inout> inout(const std::vector<memory_range<T>>& g) {
  return {g};
}
template <class T>
detail::address_group_access<T, detail::access_mode::inout> inout(std::span<const memory_range<T>> g) {
  return {g};
}

// The same of tiles, which may be of several matrices. Bodies get a weir::views<tile<T>>.
template <class T>
detail::tile_group_access<T, detail::access_mode::in> in(const std::vector<memory_tile<T>>& g) {
  return {g};
}
template <class T>
detail::tile_group_access<T, detail::access_mode::in> in(std::span<const memory_tile<T>> g) {
  return {g};
}
template <class T>
detail::tile_group_access<T, detail::access_mode::out> out(const std::vector<memory_tile<T>>& g) {
  return {g};
}
template <class T>
detail::tile_group_access<T, detail::access_mode::out> out(std::span<const memory_tile<T>> g) {
  return {g};
}
template <class T>
detail::tile_group_access<T, detail::access_mode::inout> inout(const std::vector<memory_tile<T>>& g) {
  return {g};
}
template <class T>
detail::tile_group_access<T, detail::access_mode::inout> inout(std::span<const memory_tile<T>> g) {
  return {g};
}

template <class T> detail::refused out(const memory_range<const T>&) { return detail::refuse_constant<T>(); }
template <class T>
detail::refused out(const std::vector<memory_range<const T>>&) {
  return detail::refuse_constant<T>();
}
template <class T> detail::refused out(std::span<const memory_range<const T>>) { return detail::refuse_constant<T>(); }
template <class T> detail::refused out(const memory_tile<const T>&) { return detail::refuse_constant<T>(); }
template <class T> detail::refused inout(const memory_tile<const T>&) { return detail::refuse_constant<T>(); }
template <class T> detail::refused inout(const memory_range<const T>&) { return detail::refuse_constant<T>(); }
template <class T>
detail::refused inout(const std::vector<memory_range<const T>>&) {
  return detail::refuse_constant<T>();
}
template <class T>
detail::refused inout(std::span<const memory_range<const T>>) {
  return detail::refuse_constant<T>();
}
template <class T>
detail::refused out(const std::vector<memory_tile<const T>>&) {
  return detail::refuse_constant<T>();
}
template <class T>
detail::refused out(std::span<const memory_tile<const T>>) {
  return detail::refuse_constant<T>();
}
template <class T>
detail::refused inout(const std::vector<memory_tile<const T>>&) {
  return detail::refuse_constant<T>();
}
template <class T>
detail::refused inout(std::span<const memory_tile<const T>>) {
  return detail::refuse_constant<T>();
}

// What no overload above takes, and what was refused already.
inline detail::refused in(detail::refused) { return {}; }
inline detail::refused out(detail::refused) { return {}; }
inline detail::refused inout(detail::refused) { return {}; }
template <class Call = void> detail::refused in(detail::anything) {
  static_assert(detail::never<Call>,
                "weir: in() takes a weir::data, a part of one (x.first(n), x.last(n) or x.slice(offset, n)), a "
                "std::vector<data<T>> or std::span<const data<T>>, or memory of your own as ref(memory), or a "
                "std::vector of these");
  return {};
}
template <class Call = void> detail::refused out(detail::anything) {
  static_assert(detail::never<Call>,
                "weir: out() takes a weir::data, a std::vector<data<T>> or std::span<const data<T>>, or memory of "
                "your own as ref(memory), or a std::vector of these");
  return {};
}
template <class T> detail::refused out(const detail::slice<T>&) {
  static_assert(detail::never<T>,
                "weir: out() takes a whole weir::data, for a new version is written whole; update a part with "
                "inout()");
  return {};
}
template <class Call = void> detail::refused inout(detail::anything) {
  static_assert(detail::never<Call>,
                "weir: inout() takes a weir::data, a part of one (x.first(n), x.last(n) or x.slice(offset, n)), a "
                "std::vector<data<T>>, or memory of your own as ref(memory), or a std::vector of these");
  return {};
}
template <class T>
  requires(!std::is_lvalue_reference_v<T> && !detail::is_span<std::remove_const_t<T>> &&
           !detail::is_tile<std::remove_const_t<T>>)
detail::refused ref(T&&) {
  static_assert(detail::never<T>,
                "weir: ref() of a temporary: the task would use memory that is gone; expected a variable, vector or "
                "span that outlives the task");
  return {};
}
template <class Call = void> detail::refused push_each(detail::anything, detail::anything) {
  return detail::refuse_streams<Call>();
}
template <class Call = void> detail::refused pop_each(detail::anything, detail::anything) {
  return detail::refuse_streams<Call>();
}
template <class Call = void> detail::refused peek_each(detail::anything, detail::anything) {
  return detail::refuse_streams<Call>();
}

}  // namespace weir
