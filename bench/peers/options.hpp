// The command line and the output of the peer programs: the same kernels under other runtimes.
#pragma once

#include <bench/common/command_line.hpp>
#include <bench/common/stencil/blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir::bench::peers {

struct options {
  stencil::extent size{1, 2048, 2048};
  stencil::extent block{1, 64, 256};
  int iterations = 20;
  std::uint64_t seed = 1;
  std::string mode;         // one of the program's modes; the first is the default
  bool interleave = false;  // pages round robin over the nodes, instead of where a static loop touches them first
  bool verify = false;
};

// Reads --size N|RxC, --block N|RxC, --iterations T, --seed S, --mode M, --init first-touch|interleave, --verify, --help.
// Anything else: one line on standard error, and the process ends with status 2.
options parse_options(int argc, char** argv, std::span<const std::string_view> modes);

struct measurement {
  std::string_view runtime, kernel;
  int threads = 0;
  double seconds = 0;            // of the iterations alone
  std::optional<bool> verified;  // empty: not asked for
};

// One line of JSON on standard output.
void print(const options&, const measurement&);

}  // namespace weir::bench::peers
