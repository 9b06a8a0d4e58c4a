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

struct named_bytes {
  mode how;
  std::span<byte> bytes;
};

// Of one task at most. Up to three come in any order; more come in the order of `mode`, for every order of them is a
// function of its own to the compiler.
inline constexpr std::size_t most_ranges = 6, most_ranges_in_any_order = 3;

struct named_data {
  std::vector<data<word>> in, out, inout;
};
struct data_views {
  views<const word> in;
  views<word> out, inout;
};
// Gets null if the task names no data.
using ranges_body = std::function<void(const data_views*)>;

// Through `s`, or through the runtime if that is null. The task fails if it does not get the ranges that it named.
void spawn_ranges(runtime& rt, scope* s, const std::vector<named_bytes>& ranges, const named_data* named,
                  ranges_body body);

}  // namespace weir::test
