// A program's own memory: an ordinary array from the C library, of which tasks name parts with weir::ref.
#pragma once

#include <weir/weir.hpp>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace weir::bench {

namespace detail {
// Whole pages of zeros that lie nowhere yet: each comes to lie where it is first written. Throws std::bad_alloc.
void* allocate_own(std::size_t bytes);

struct free_own {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
}  // namespace detail

template <class T>
class own_array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  own_array() = default;
  explicit own_array(std::size_t size)
      : first_(static_cast<T*>(detail::allocate_own(size * sizeof(T)))), size_(size) {}

  std::span<T> span() const noexcept { return {first_.get(), size_}; }
  std::span<T> part(std::size_t offset, std::size_t count) const { return span().subspan(offset, count); }

 private:
  std::unique_ptr<T[], detail::free_own> first_;
  std::size_t size_ = 0;
};

// Blocks of one array, each behind the one before.
template <class T>
class own_blocks {
 public:
  own_blocks() = default;
  // elements(b): how many block b has.
  template <class Elements>
  own_blocks(std::size_t count, const Elements& elements) {
    first_.reserve(count + 1);
    first_.push_back(0);
    for (std::size_t b = 0; b < count; b++) first_.push_back(first_[b] + elements(b));
    array_ = own_array<T>(first_.back());
  }
  std::span<T> whole() const { return array_.span(); }
  std::span<T> operator[](std::size_t b) const { return array_.part(first_[b], first_[b + 1] - first_[b]); }

 private:
  own_array<T> array_;
  std::vector<std::size_t> first_;  // of each block, and the end
};

// What a task names of a block, whether that is a datum or own memory: all of it, or a part.
template <class T> const data<T>& whole(const data<T>& block) { return block; }
template <class T> auto whole(std::span<T> block) { return weir::ref(block); }
template <class T> auto part(const data<T>& block, std::size_t offset, std::size_t count) {
  return block.slice(offset, count);
}
template <class T> auto part(std::span<T> block, std::size_t offset, std::size_t count) {
  return weir::ref(block.subspan(offset, count));
}

}  // namespace weir::bench
