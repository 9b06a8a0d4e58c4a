// weir::views<T>: what a body gets for a group of accesses: the blocks, windows or ranges, in the order of the group.
#pragma once

#include <weir/detail/frame.hpp>
#include <weir/tile.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <span>
#include <type_traits>

namespace weir {
namespace detail {

// What a group's members are.
enum class group_of : std::uint8_t { data_or_windows, own_memory, shared_data };  // the last: updated by several tasks

// What is handed out for one of them.
template <class T> struct group_member { using type = std::span<T>; };
template <class T> struct group_member<tile<T>> { using type = tile<T>; };

}  // namespace detail

// A random-access range of std::span<T>, made when they are asked for: views[i] costs a few instructions, so a loop
// over elements takes the span first. Copies are as good as the original. Valid while the task's body runs. T is const
// where the task only reads. views<tile<T>> is a range of tiles.
template <class T>
class views {
 public:
  class iterator;
  using member = typename detail::group_member<T>::type;

  views(detail::frame* f, unsigned first, unsigned count, detail::group_of what = detail::group_of::data_or_windows)
      : frame_(f), count_(count), first_(static_cast<std::uint16_t>(first)), what_(what) {}

  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  // i < size().
  member operator[](std::size_t i) const noexcept;
  iterator begin() const noexcept { return {*this, 0}; }
  iterator end() const noexcept { return {*this, static_cast<std::ptrdiff_t>(count_)}; }

 private:
  std::span<T> span_at(unsigned index) const noexcept;
  detail::frame* frame_;
  std::uint32_t count_;
  std::uint16_t first_;  // of the task's accesses, or of its versions
  detail::group_of what_;
};

// Remains valid without the views that it came from.
template <class T>
class views<T>::iterator {
 public:
  using value_type = member;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;  // of C++17, which wants references
  using iterator_concept = std::random_access_iterator_tag;

  iterator() = default;

  value_type operator*() const noexcept { return all_[static_cast<std::size_t>(at_)]; }
  value_type operator[](difference_type n) const noexcept { return all_[static_cast<std::size_t>(at_ + n)]; }
  iterator& operator++() noexcept { return *this += 1; }
  iterator& operator--() noexcept { return *this -= 1; }
  iterator operator++(int) noexcept { return {all_, at_++}; }
  iterator operator--(int) noexcept { return {all_, at_--}; }
  iterator& operator+=(difference_type n) noexcept {
    at_ += n;
    return *this;
  }
  iterator& operator-=(difference_type n) noexcept { return *this += -n; }
  friend iterator operator+(iterator i, difference_type n) noexcept { return i += n; }
  friend iterator operator+(difference_type n, iterator i) noexcept { return i += n; }
  friend iterator operator-(iterator i, difference_type n) noexcept { return i -= n; }
  friend difference_type operator-(const iterator& a, const iterator& b) noexcept { return a.at_ - b.at_; }
  friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.at_ == b.at_; }
  friend std::strong_ordering operator<=>(const iterator& a, const iterator& b) noexcept { return a.at_ <=> b.at_; }

 private:
  friend class views;
  iterator(const views& all, difference_type at) : all_(all), at_(at) {}
  views all_{nullptr, 0, 0};
  difference_type at_ = 0;
};

}  // namespace weir

template <class T>
inline constexpr bool std::ranges::enable_view<weir::views<T>> = true;
template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<weir::views<T>> = true;
