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
  std::size_t bins = 0;
  std::string input;        // a file; empty: made up
  std::string library;      // that does the work, by its path
  std::uint64_t seed = 1;
  std::string mode;         // one of the program's modes; the first is the default
  std::string init;         // one of the program's, likewise: who writes the arrays first
  bool interleave = false;  // pages round robin over the nodes, instead of where a static loop touches them first
  bool verify = false;
};

// A static loop writes the arrays first, where they lie then, or on pages that lie round robin over the nodes.
inline constexpr std::string_view loop_inits[] = {"first-touch", "interleave"};

// What a program can be told.
struct program_form {
  std::span<const std::string_view> modes, inits = loop_inits;
  int dimensions = 2, block_dimensions = 2;  // numbers of --size and --block; one number may stand for both
  bool iterations = true;                    // are there any?
  bool library = false;                      // is there one? It must be given then
  options defaults = {};
};

// Reads --size N|RxC, --block N|RxC, --iterations T, --seed S, --mode M, --init I, --verify, --help; --bins B and
// --input FILE where the defaults have bins; --library FILE where there is one. Anything else: one line on standard error, and the process ends with
// status 2.
options parse_options(int argc, char** argv, const program_form&);
inline options parse_options(int argc, char** argv, std::span<const std::string_view> modes) {
  return parse_options(argc, argv, program_form{.modes = modes});
}

struct measurement {
  std::string_view runtime, kernel;
  int threads = 0;
  double seconds = 0;            // of the iterations alone
  std::optional<bool> verified;  // empty: not asked for
};

// One line of JSON on standard output.
void print(const options&, const measurement&, const program_form& = {});

}  // namespace weir::bench::peers
