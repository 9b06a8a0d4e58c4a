// What the stress tests share: how long they go on, and the runtimes that they start.
#pragma once

#include "tests/support/support.hpp"

namespace weir::test {

using clock = std::chrono::steady_clock;

// How long each test goes on.
inline std::chrono::duration<double> budget() {
  const char* text = std::getenv("WEIR_STRESS_SECONDS");
  return std::chrono::duration<double>(text != nullptr ? std::strtod(text, nullptr) : 1.5);
}
inline int patience() { return static_cast<int>(budget().count()) + 60; }

inline runtime_options random_options(std::mt19937_64& random) {
  runtime_options o;
  o.policy = policy_names()[between(random, 0, policy_names().size() - 1)];
  o.workers = static_cast<int>(between(random, 1, 8));
  const char* machines[] = {"", "nodes:2 cpus:1", "nodes:4 cpus:2", "nodes:8 cpus:1"};
  o.machine = machines[between(random, 0, 3)];
  if (between(random, 0, 2) == 0) o.backlog = between(random, 1, 200);
  return o;
}

}  // namespace weir::test
