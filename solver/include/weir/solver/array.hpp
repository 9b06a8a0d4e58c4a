// Arrays of the solver: vectors whose elements are not set when they are made, so that who writes them first decides on
// which node they lie, and whose memory asks for large pages, without which every row of a scattered ordering misses the TLB.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace weir::solver {
namespace detail {

// Aligned to a cache line; from 4 MiB on to a large page. Throws std::bad_alloc.
void* allocate(std::size_t bytes);
void deallocate(void*, std::size_t bytes) noexcept;

template <class T>
struct allocator {
  using value_type = T;
  allocator() = default;
  template <class U>
  allocator(const allocator<U>&) noexcept {}

  T* allocate(std::size_t n) { return static_cast<T*>(detail::allocate(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept { detail::deallocate(p, n * sizeof(T)); }

  // Elements made without a value are left as they are.
  template <class U>
  void construct(U*) noexcept {
    static_assert(std::is_trivially_default_constructible_v<U>);
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    std::construct_at(p, std::forward<Args>(args)...);
  }
  bool operator==(const allocator&) const = default;
};

}  // namespace detail

// array<double>(n): n numbers of no particular value; array<double>(n, 0.0): n zeros.
template <class T>
using array = std::vector<T, detail::allocator<T>>;

}  // namespace weir::solver
