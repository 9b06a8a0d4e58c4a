// A program that measures the rows under one runtime: its command line, its output, and what a runtime adds.
#pragma once

#include <bench/common/region.hpp>
#include <bench/common/stopwatch.hpp>
#include <bench/main/rows.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace weir::bench::from_main {

struct problem {
  const row* what = nullptr;
  int workers = 1;
  std::uint64_t size = 0;
  std::uint64_t iterations = 1;  // of compute(), in an element of the row `loops`
};

// Seconds that so many repetitions take, one after the other.
using batch = std::function<double(std::uint64_t repetitions)>;

// What a runtime has: a row at a place. prepare() starts the runtime, where starting it is not what is measured.
struct entry {
  std::string_view row;
  place from;
  batch (*prepare)(const problem&);
};

template <class Once>
double seconds_of(std::uint64_t repetitions, const Once& once) {
  const stopwatch watch;
  {
    const measured_region region;
    for (std::uint64_t i = 0; i < repetitions; i++) once();
  }
  return watch.seconds();
}

// The same work without a runtime (serial.cpp); empty where none is left.
batch serial_batch(const problem&);

// The main() of every program: measures once, and prints one line of JSON. The returned value is the exit status: 1 if
// a result was wrong; after one line on standard error 2 for bad input.
int program_main(int argc, char** argv, std::string_view runtime, std::span<const entry>);

}  // namespace weir::bench::from_main
