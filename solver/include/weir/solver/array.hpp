// Arrays of the solver: vectors whose elements are not set when they are made, so that who writes them first decides on
// which node they lie, and whose memory asks for large pages, without which every row of a scattered ordering misses the TLB.
#pragma once

#include <algorithm>
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
bool has_large_pages(std::size_t bytes);
// Before it is written.
void use_small_pages(void*, std::size_t bytes);

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

// Moves an array out of large pages, as long as this lives: the array is another one meanwhile, of no particular values, and
// has its own again, in small pages, at the end. So whoever decides in between on which nodes its pages lie decides page by
// page: a large page that was written lies on one node as a whole. Takes the array's memory twice. Small arrays stay as
// they are.
template <class T>
class in_small_pages {
 public:
  explicit in_small_pages(array<T>& a) : array_(a) {
    if (!detail::has_large_pages(a.size() * sizeof(T))) return;
    values_ = std::exchange(a, array<T>(a.size()));
    detail::use_small_pages(a.data(), a.size() * sizeof(T));
  }
  ~in_small_pages() { std::copy(values_.begin(), values_.end(), array_.begin()); }
  in_small_pages(const in_small_pages&) = delete;
  in_small_pages& operator=(const in_small_pages&) = delete;

 private:
  array<T>& array_;
  array<T> values_;
};

}  // namespace weir::solver
