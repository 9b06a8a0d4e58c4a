// Problems small enough to run by the hundred, with ragged last blocks.
#pragma once

#include <bench/common/kernel.hpp>

#include <map>
#include <string>

namespace weir::bench {

// The kernel's defaults, with a small size. `c` is complete and checked.
inline configuration small_problem(const kernel& k) {
  struct shape {
    std::vector<std::size_t> size, block;
  };
  static const std::map<std::string, shape, std::less<>> shapes = {
      {"jacobi-1d", {{1000}, {96}}},           {"seidel-1d", {{1000}, {96}}},          {"jacobi-2d", {{50, 37}, {8, 16}}},
      {"seidel-2d", {{50, 37}, {8, 16}}},      {"jacobi-3d", {{13, 17, 19}, {4, 8, 5}}}, {"seidel-3d", {{13, 17, 19}, {4, 8, 5}}},
      {"blur-roberts", {{61, 45}, {16, 8}}},   {"kmeans", {{500, 3}, {64}}},          {"bitonic", {{600}, {64}}},
      {"cholesky", {{50}, {16}}},              {"nstream", {{1000}, {96}}},
      {"red-black", {{50, 37}, {8, 16}}},
      {"conjugate-gradient", {{23, 17}, {4}}}, {"integral-histogram", {{61, 45}, {16, 8}}},
      {"qr", {{90}, {40}}},                    {"symmetric-inverse", {{50}, {16}}},
  };
  configuration c = k.defaults;
  const auto& s = shapes.at(std::string(k.name));
  c.size = s.size;
  c.block = s.block;
  if (k.uses.iterations) c.iterations = 5;
  if (k.uses.clusters) c.clusters = 4;
  check_configuration(k, c);
  return c;
}

// What the sequential program says about small_problem(k); computed once.
inline const std::any& small_solution(const kernel& k) {
  static std::map<std::string_view, std::any> known;
  std::any& value = known[k.name];
  if (!value.has_value()) value = k.solve(small_problem(k)).value;
  return value;
}

}  // namespace weir::bench
