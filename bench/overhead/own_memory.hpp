// The program's own memory that patterns name by address (patterns.hpp, memory), for runtimes that order tasks by it.
//
// There are two rows of columns, used in turn: a task of a step reads the row of the step before and writes the other.
// A pattern whose tasks update their column has one row.
#pragma once

#include <bench/overhead/work.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace weir::bench::overhead {

using value = double;

inline constexpr std::size_t block_bytes = 4096;
inline constexpr std::size_t block_values = block_bytes / sizeof(value);
inline constexpr std::size_t tile_rows = 16, tile_values = block_values / tile_rows;

// Addresses that are there, but take no memory before somebody writes to them: 16 GiB, or less where so much is
// refused.
class address_space {
 public:
  static constexpr std::size_t line_bytes = 64;

  address_space() = default;
  // Throws std::bad_alloc if even a page is refused.
  void reserve();
  ~address_space();
  address_space(const address_space&) = delete;
  address_space& operator=(const address_space&) = delete;

  // In a line that was not handed out before. After the last it goes on with the first.
  value& next() {
    if (used_ == lines_) used_ = 0;
    return first_[used_++ * (line_bytes / sizeof(value))];
  }

 private:
  value* first_ = nullptr;
  std::size_t lines_ = 0, used_ = 0;
};

class own_memory {
 public:
  // For the workload's pattern, which is by_address().
  void prepare(const workload& w);

  // What a column holds: a number if Values is 1, else a block, or the first row of a tile.
  template <std::size_t Values>
  std::span<value> column(std::uint64_t step, std::uint32_t c) {
    return {rows_[step & 1].data() + c * Values, Values};
  }
  // A tile: of the row's bytes seen as a matrix of tile_rows rows, in which the columns' tiles lie side by side.
  value* matrix(std::uint64_t step) { return rows_[step & 1].data(); }
  std::size_t stride() const { return rows_[0].size() / tile_rows; }
  // A block, and the numbers beside it, as far as there are any.
  std::span<const value> with_neighbours(std::uint64_t step, std::uint32_t c) const {
    const std::vector<value>& row = rows_[step & 1];
    const std::size_t first = c * block_values, last = first + block_values;
    const std::size_t before = c == 0 ? 0 : 1, after = last == row.size() ? 0 : 1;
    return std::span(row).subspan(first - before, before + block_values + after);
  }
  value& fresh() { return fresh_.next(); }

 private:
  std::vector<value> rows_[2];
  address_space fresh_;
};

// What of a workload's columns lies side by side, as a constant: use(std::integral_constant<std::size_t, ...>()).
template <class Use>
void with_column_values(const workload& w, const Use& use) {
  if (w.what->values == memory::cells) use(std::integral_constant<std::size_t, 1>());
  else if (w.what->values == memory::tiles) use(std::integral_constant<std::size_t, tile_values>());
  else use(std::integral_constant<std::size_t, block_values>());
}

}  // namespace weir::bench::overhead
