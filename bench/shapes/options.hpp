// The command line of the programs.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::bench::shapes {

enum class first_data : std::uint8_t {
  node0,  // main() makes the first versions, or touches the memory
  near,   // tasks write them, or a parallel loop touches the memory
};

struct options {
  std::vector<std::string> shapes;
  int workers = 0;              // 0: as many as the runtime wants
  std::uint64_t task_us = 20;
  first_data data = first_data::node0;
  std::uint64_t runs = 5;
  std::uint64_t size = 0;       // 0: each shape's own
  std::size_t words = 512;      // of a datum
  std::uint64_t seed = 1;
  std::string policy;           // "": WEIR_POLICY, or weir's own choice
};

// Ends the process for --help and --list, and with status 2 after one line for what makes no sense.
options parse_options(int argc, char** argv, std::span<const shape_info> known, bool has_policies);

std::string_view name_of(first_data);

}  // namespace weir::bench::shapes
