// Stands in for include/weir/detail/atomic.hpp where this folder comes first in the include path: code that is no
// template on an atomics policy, compiled once more with atomics that the model checker drives. Types keep size and
// alignment, so layouts stay as they are. Objects whose memory is reused must be destroyed before.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <unordered_map>

#include "base/model/model.hpp"

namespace weir {

inline constexpr std::size_t cache_line_bytes = 128;

namespace detail {
// Model atomics that are larger than the type they stand for, by address. Raw bytes: what a failed run leaves behind is
// never destroyed.
template <class T>
struct raw {
  alignas(T) unsigned char bytes[sizeof(T)];
};
template <class T>
inline std::unordered_map<const void*, raw<T>> beside;
}  // namespace detail

template <class T>
class atomic;
template <class T>
using unset_atomic = atomic<T>;

template <class T>
class atomic {
  using site = std::source_location;
  using order = std::memory_order;
  using modelled = model::atomic<T>;
  static constexpr bool fits = sizeof(modelled) <= sizeof(T) && alignof(modelled) <= alignof(T);

 public:
  atomic() : atomic(T{}) {}
  explicit atomic(T value) { new (place()) modelled(value); }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  ~atomic() {
    get().~modelled();
    if constexpr (!fits) detail::beside<modelled>.erase(this);
  }

  T load(order o, site at = site::current()) const { return get().load(o, at); }
  void store(T v, order o, site at = site::current()) { get().store(v, o, at); }
  T exchange(T v, order o, site at = site::current()) { return get().exchange(v, o, at); }
  T fetch_add(T n, order o, site at = site::current()) { return get().fetch_add(n, o, at); }
  T fetch_sub(T n, order o, site at = site::current()) { return get().fetch_sub(n, o, at); }
  T fetch_or(T n, order o, site at = site::current()) { return get().fetch_or(n, o, at); }
  T fetch_and(T n, order o, site at = site::current()) { return get().fetch_and(n, o, at); }
  bool compare_exchange_weak(T& e, T d, order s, order f, site at = site::current()) { return get().compare_exchange_weak(e, d, s, f, at); }
  bool compare_exchange_strong(T& e, T d, order s, order f, site at = site::current()) { return get().compare_exchange_strong(e, d, s, f, at); }

  modelled& get() const { return *std::launder(reinterpret_cast<modelled*>(place())); }

 private:
  unsigned char* place() const {
    if constexpr (fits) return bytes_;
    else return detail::beside<modelled>[this].bytes;
  }

  alignas(T) mutable unsigned char bytes_[sizeof(T)];
};

inline void atomic_fence(std::memory_order order, std::source_location at = std::source_location::current()) { model::model_atomics::fence(order, at); }
inline void light_fence(std::source_location at = std::source_location::current()) { model::model_atomics::light_fence(at); }
inline void heavy_fence(std::source_location at = std::source_location::current()) { model::model_atomics::heavy_fence(at); }
inline void cpu_pause(std::source_location at = std::source_location::current()) { model::model_atomics::pause(at); }

template <class T>
using plain_cell = model::plain<T>;
using real_atomics = model::model_atomics;

}  // namespace weir
