// Memory of recorded graphs: blocks that do not move, so that nothing is copied as a graph grows.
//
// Not from the general allocator: it gives a worker's thread memory of an arena of its own, which goes back to the
// system whenever a graph ends. A graph of 65,536 tasks then took 2,900 page faults each time, and twice as long to build.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace weir::graphs {

// Throws std::bad_alloc. Large ones are in huge pages, where the system has some.
void* new_block(std::size_t bytes);
void free_block(void*, std::size_t bytes) noexcept;

// An array without values that is made anew rather than resized.
template <class T>
class block_array {
 public:
  block_array() = default;
  ~block_array() { free_block(data_, capacity_ * sizeof(T)); }
  block_array(const block_array&) = delete;
  block_array& operator=(const block_array&) = delete;
  T* data() const { return data_; }
  // What was in it is lost. Throws std::bad_alloc.
  void make(std::size_t n) {
    if (n <= capacity_) return;
    T* const made = static_cast<T*>(new_block(n * sizeof(T)));
    free_block(std::exchange(data_, made), std::exchange(capacity_, n) * sizeof(T));
  }

 private:
  T* data_ = nullptr;
  std::size_t capacity_ = 0;
};

// A sequence in blocks, each twice as large as the one before.
template <class T>
class block_list {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  block_list() = default;
  ~block_list() {
    for (std::size_t b = 0; b < most_blocks; b++) free_block(blocks_[b], (first << b) * sizeof(T));
  }
  block_list(const block_list&) = delete;
  block_list& operator=(const block_list&) = delete;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return *at(i); }
  const T& operator[](std::size_t i) const { return *at(i); }
  T& back() { return *at(size_ - 1); }
  // Throws std::bad_alloc.
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (next_ == block_end_) [[unlikely]] enter_block(block_of(size_));
    T* const t = new (next_) T(std::forward<Args>(args)...);
    next_++;
    size_++;
    return *t;
  }
  void pop_back() {
    size_--;
    next_ = at(size_);
    block_end_ = blocks_[block_of(size_)] + (first << block_of(size_));
  }

  // From the first to the last one, or back.
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t b = 0, begin = 0; begin < size_; begin += first << b, b++)
      for (T *t = blocks_[b], *end = t + std::min(first << b, size_ - begin); t != end; t++) f(*t);
  }
  template <class F>
  void for_each_backwards(F&& f) const {
    for (std::size_t b = most_blocks; b-- > 0;) {
      const std::size_t begin = (first << b) - first;
      if (begin >= size_) continue;
      for (T* t = blocks_[b] + std::min(first << b, size_ - begin); t != blocks_[b];) f(*--t);
    }
  }

 private:
  // A page. Smaller: small graphs need several blocks. Larger: they need memory that they do not use.
  static constexpr std::size_t first = 4096 / sizeof(T);
  static_assert(std::has_single_bit(first));
  static constexpr std::size_t most_blocks = 36;  // more elements than any machine has memory for

  static std::size_t block_of(std::size_t i) {
    return static_cast<std::size_t>(std::bit_width(i + first) - std::bit_width(first));
  }
  [[gnu::noinline]] void enter_block(std::size_t b) {
    if (blocks_[b] == nullptr) blocks_[b] = static_cast<T*>(new_block((first << b) * sizeof(T)));
    next_ = blocks_[b];
    block_end_ = next_ + (first << b);
  }
  T* at(std::size_t i) const {
    const std::size_t b = block_of(i);
    return blocks_[b] + (i + first - (first << b));
  }

  T* blocks_[most_blocks] = {};
  T *next_ = nullptr, *block_end_ = nullptr;  // where the next one comes, and its block ends
  std::size_t size_ = 0;
};

}  // namespace weir::graphs
