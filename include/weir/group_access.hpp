// Updates whose order does not matter: several tasks update the same memory, and none has to wait for a certain other.
//
//   commutative(x)  updates in place, in any order, never two tasks at the same time      body gets std::span<T>
//   concurrent(x)   updates in place, all at the same time; the bodies synchronise         body gets std::span<T>
//
// Tasks that say the same of the same datum, one behind the other in creation order, are a group. A group is ordered
// as one inout() would be: each of its tasks waits for what was created before it, and whatever else names the datum
// later, reads included, waits for all of them. commutative() and concurrent() are two groups, one after the other. In
// OpenMP these are the dependence types mutexinoutset and inoutset, in OmpSs commutative and concurrent.
//
// commutative(x): a sum to which tasks add what they have found, a list to which they append. Once everything else
// that a task waits for is there it gets the data it names in this way, all of them together. If one is in use it
// waits, in no queue and on no worker, and whoever is done with that hands it on to who has waited longest. A task
// holds nothing while it waits to run. But it has its data as long as it runs: if it waits for a task that it has
// created and that names one of them too, that wait ends with a deadlock_error.
//
// concurrent(x): a histogram with atomic counters, or parts that each task chooses when it runs.
//
// A task that fails does not keep the others of its group from running; what comes after the group is skipped.
// A datum named in one of these ways is named in no other by the same task: spawn() throws usage_error. Ranges may be:
// bytes that one task names in several ways are as if it updated them with inout(). Ranges are ordered by their bytes,
// but only those that tasks name exactly alike are of one group: a range that cuts another one begins a new group.
//
// Cost: what in() costs, and a few operations for each commutative datum; and for each group, not each task, a frame
// of some 320 bytes and what two updates cost. If a weir::view still looks at the datum when a group begins, the group
// works on a copy, as inout() does, and spawn() may throw std::bad_alloc. Data do not move to other nodes while a
// group has them. What is named so counts as read and as written.
#pragma once

#include <weir/access.hpp>

namespace weir {
namespace detail {

template <class T>
concept not_const = !std::is_const_v<T>;

}  // namespace detail

template <class T>
detail::datum_access<T, detail::access_mode::commutative> commutative(const data<T>& d) {
  return {whole_of(d)};
}
template <class T>
detail::datum_access<T, detail::access_mode::commutative> commutative(const detail::slice<T>& s) {
  return {s};
}
template <class T>
detail::group_access<T, detail::access_mode::commutative> commutative(const std::vector<data<T>>& g) {
  return {g};
}
template <class T>
detail::group_access<T, detail::access_mode::commutative> commutative(std::span<const data<T>> g) {
  return {g};
}
template <detail::not_const T>
detail::address_access<T, detail::access_mode::commutative> commutative(const memory_range<T>& r) {
  return {r.memory.data(), r.memory.size()};
}
template <detail::not_const T>
detail::address_group_access<T, detail::access_mode::commutative> commutative(const std::vector<memory_range<T>>& g) {
  return {g};
}
template <detail::not_const T>
detail::address_group_access<T, detail::access_mode::commutative> commutative(std::span<const memory_range<T>> g) {
  return {g};
}
template <detail::not_const T>
detail::tile_access<T, detail::access_mode::commutative> commutative(const memory_tile<T>& t) {
  return {t.memory};
}
template <detail::not_const T>
detail::tile_group_access<T, detail::access_mode::commutative> commutative(const std::vector<memory_tile<T>>& g) {
  return {g};
}
template <detail::not_const T>
detail::tile_group_access<T, detail::access_mode::commutative> commutative(std::span<const memory_tile<T>> g) {
  return {g};
}

template <class T>
detail::datum_access<T, detail::access_mode::concurrent> concurrent(const data<T>& d) {
  return {whole_of(d)};
}
template <class T>
detail::datum_access<T, detail::access_mode::concurrent> concurrent(const detail::slice<T>& s) {
  return {s};
}
template <class T>
detail::group_access<T, detail::access_mode::concurrent> concurrent(const std::vector<data<T>>& g) {
  return {g};
}
template <class T>
detail::group_access<T, detail::access_mode::concurrent> concurrent(std::span<const data<T>> g) {
  return {g};
}
template <detail::not_const T>
detail::address_access<T, detail::access_mode::concurrent> concurrent(const memory_range<T>& r) {
  return {r.memory.data(), r.memory.size()};
}
template <detail::not_const T>
detail::address_group_access<T, detail::access_mode::concurrent> concurrent(const std::vector<memory_range<T>>& g) {
  return {g};
}
template <detail::not_const T>
detail::address_group_access<T, detail::access_mode::concurrent> concurrent(std::span<const memory_range<T>> g) {
  return {g};
}
template <detail::not_const T>
detail::tile_access<T, detail::access_mode::concurrent> concurrent(const memory_tile<T>& t) {
  return {t.memory};
}
template <detail::not_const T>
detail::tile_group_access<T, detail::access_mode::concurrent> concurrent(const std::vector<memory_tile<T>>& g) {
  return {g};
}
template <detail::not_const T>
detail::tile_group_access<T, detail::access_mode::concurrent> concurrent(std::span<const memory_tile<T>> g) {
  return {g};
}

// What is refused.
namespace detail {

template <class T>
inline constexpr bool is_constant_memory = false;
template <class T>
inline constexpr bool is_constant_memory<memory_range<const T>> = true;
template <class T>
inline constexpr bool is_constant_memory<std::vector<memory_range<const T>>> = true;
template <class T>
inline constexpr bool is_constant_memory<std::span<const memory_range<const T>>> = true;
template <class T>
inline constexpr bool is_constant_memory<memory_tile<const T>> = true;
template <class T>
inline constexpr bool is_constant_memory<std::vector<memory_tile<const T>>> = true;
template <class T>
inline constexpr bool is_constant_memory<std::span<const memory_tile<const T>>> = true;

template <class T>
concept constant_memory = is_constant_memory<T>;

template <class T>
refused refuse_constant_group() {
  static_assert(never<T>,
                "weir: commutative() and concurrent() say that the task writes, and the memory in ref() is const; "
                "expected in(ref(memory)), or memory that is not const");
  return {};
}
template <class Call>
refused refuse_group() {
  static_assert(never<Call>,
                "weir: commutative() and concurrent() take a weir::data, a part of one (x.first(n), x.last(n) or "
                "x.slice(offset, n)), a std::vector<data<T>> or std::span<const data<T>>, or memory of your own as "
                "ref(memory) or ref(weir::tile(...)), or a std::vector of these");
  return {};
}

}  // namespace detail

template <detail::constant_memory M>
detail::refused commutative(const M&) {
  return detail::refuse_constant_group<M>();
}
template <detail::constant_memory M>
detail::refused concurrent(const M&) {
  return detail::refuse_constant_group<M>();
}
inline detail::refused commutative(detail::refused) { return {}; }
inline detail::refused concurrent(detail::refused) { return {}; }
template <class Call = void> detail::refused commutative(detail::anything) { return detail::refuse_group<Call>(); }
template <class Call = void> detail::refused concurrent(detail::anything) { return detail::refuse_group<Call>(); }

}  // namespace weir
