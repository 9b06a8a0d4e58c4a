// What a task does with a datum, a stream window or a range of user memory, and how many bytes.
//
//   in(x)     reads the version that is current when the task is created       body gets std::span<const T>
//   out(x)    writes a new version; placed where its writer runs               body gets std::span<T>
//   inout(x)  updates in place, once earlier readers are done                  body gets std::span<T>
//
// in(x) and out(x) of the same datum in one task read the old version and write a new one. Groups
// (in(std::vector<data<T>>), or of streams with pop_each and push_each) give the body a weir::views<T>.
// ref(span) is user memory: dependences by address range, no placement, no renaming.
#pragma once

#include <weir/data.hpp>
#include <weir/stream.hpp>

#include <span>
#include <vector>

namespace weir {
namespace detail {

enum class access_mode : std::uint8_t { in, out, inout };

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
template <class T>
struct address_range {
  std::span<T> memory;
};

}  // namespace detail

template <class T> detail::datum_access<T, detail::access_mode::in> in(const data<T>& d) { return {whole_of(d)}; }
template <class T> detail::datum_access<T, detail::access_mode::in> in(const detail::slice<T>& s) { return {s}; }
template <class T> detail::datum_access<T, detail::access_mode::out> out(const data<T>& d) { return {whole_of(d)}; }
template <class T> void out(const detail::slice<T>&) = delete;  // a new version is written whole; update parts with inout
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

// User memory. Overlapping ranges order tasks as if they ran one after the other in creation order.
template <class T> detail::address_range<T> ref(std::span<T> memory) { return {memory}; }
template <class T> detail::address_range<T> ref(std::vector<T>& v) { return {std::span<T>(v)}; }
template <class T> detail::address_range<const T> ref(const std::vector<T>& v) { return {std::span<const T>(v)}; }
template <class T> detail::address_range<T> ref(T& object) { return {std::span<T>(&object, 1)}; }

template <class T> detail::address_access<const T, detail::access_mode::in> in(const detail::address_range<T>& r) { return {r.memory.data(), r.memory.size()}; }
template <class T> detail::address_access<T, detail::access_mode::out> out(const detail::address_range<T>& r) { return {r.memory.data(), r.memory.size()}; }
template <class T> detail::address_access<T, detail::access_mode::inout> inout(const detail::address_range<T>& r) { return {r.memory.data(), r.memory.size()}; }

}  // namespace weir
