// An ordinary array whose pages are spread round robin over all memory nodes: where programs without a runtime that
// places data keep what all workers use (SHM of Drebes et al., PACT 2016, section 4.3).
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace weir::bench {

namespace detail {
// Zeroed when first touched. Throws std::bad_alloc. Where interleaving is refused, says so once on standard error and
// goes on: pages then lie where they are first touched.
void* map_interleaved(std::size_t bytes);
void unmap_interleaved(void*, std::size_t bytes) noexcept;
}  // namespace detail

// All interleaved arrays there are get the pages they lack, still interleaved; from then on the system may move their
// pages, as with numa_balancing, which leaves alone what a program has placed. Says so once on standard error if it is
// refused.
void let_interleaved_pages_move();

template <class T>
class interleaved_array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  interleaved_array() = default;
  explicit interleaved_array(std::size_t size) : first_(static_cast<T*>(detail::map_interleaved(size * sizeof(T)))), size_(size) {}
  interleaved_array(interleaved_array&& other) noexcept : first_(std::exchange(other.first_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  interleaved_array& operator=(interleaved_array other) noexcept {
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~interleaved_array() {
    if (first_) detail::unmap_interleaved(first_, size_ * sizeof(T));
  }

  T* data() noexcept { return first_; }
  const T* data() const noexcept { return first_; }
  std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) noexcept { return first_[i]; }
  const T& operator[](std::size_t i) const noexcept { return first_[i]; }
  std::span<T> span() noexcept { return {first_, size_}; }
  std::span<const T> span() const noexcept { return {first_, size_}; }

 private:
  T* first_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weir::bench
