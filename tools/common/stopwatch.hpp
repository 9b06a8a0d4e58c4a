// How long something takes.
#pragma once

#include <chrono>

namespace weir::tools {

double seconds_of(const auto& what) {
  const auto begin = std::chrono::steady_clock::now();
  what();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace weir::tools
