// Tasks whose ranges of memory are known only when the test runs: how many they are, and what is done with them.
#pragma once

#include "tests/support/support.hpp"

#include <functional>
#include <span>
#include <vector>

namespace weir::test {

using word = std::uint64_t;
using byte = unsigned char;

enum class mode : std::uint8_t { in, out, inout };
constexpr bool does_read(mode m) { return m != mode::out; }
constexpr bool does_write(mode m) { return m != mode::in; }

// A range, or a tile, if it has a stride: of so many rows like these bytes, of the matrix that begins there.
struct named_bytes {
  mode how;
  std::span<byte> bytes;
  std::size_t rows = 1, stride = 0;
  byte* matrix = nullptr;

  bool is_tile() const { return stride != 0; }
  tile<byte> as_tile() const {
    const auto first = static_cast<std::size_t>(bytes.data() - matrix);
    return {matrix, stride, first / stride, rows, first % stride, bytes.size()};
  }
};

// Of one task at most. Up to three come in any order; more come in the order of `mode`, for every order of them is a
// function of its own to the compiler. In groups they are as many as one likes.
inline constexpr std::size_t most_ranges = 6, most_ranges_in_any_order = 3, most_tiles = 3;

struct named_data {
  std::vector<data<word>> in, out, inout;
};
struct data_views {
  views<const word> in;
  views<word> out, inout;
};
// Gets null if the task names no data.
using ranges_body = std::function<void(const data_views*)>;

// Through `s`, or through the runtime if that is null. The task fails if it does not get what it named. In groups,
// also if it names tiles: each mode's ranges, and then the tiles.
void spawn_ranges(runtime& rt, scope* s, const std::vector<named_bytes>& ranges, const named_data* named,
                  ranges_body body, bool in_groups = false);

}  // namespace weir::test
