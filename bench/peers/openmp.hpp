// Runs one stencil kernel under OpenMP. The runtime is the one the compiler brings along.
#pragma once

#include <bench/peers/stencil_peer.hpp>

#include <omp.h>

namespace weir::bench::peers {

#if defined(__clang__)
inline constexpr std::string_view openmp_runtime = "libomp";
#else
inline constexpr std::string_view openmp_runtime = "libgomp";
#endif

// `loop` and `tasks` run all iterations; relax_tile is the computation on one tile. The returned value is main()'s.
template <stencil::method Method, class Tile>
int run_openmp(int argc, char** argv, std::string_view kernel_name, const Tile& relax_tile, void (*loop)(const stencil_problem<Method>&), void (*tasks)(const stencil_problem<Method>&)) {
  static constexpr std::string_view modes[] = {"loop", "tasks"};
  const options o = parse_options(argc, argv, modes);
  const stencil_problem<Method> problem(o);
#pragma omp parallel for schedule(static)
  for (int b = 0; b < problem.blocks(); b++) problem.fill(b);

  measurement m{.runtime = openmp_runtime, .kernel = kernel_name, .threads = omp_get_max_threads()};
  m.seconds = measure([&] { o.mode == "loop" ? loop(problem) : tasks(problem); });
  if (o.verify) m.verified = problem.verify(relax_tile);
  print(o, m);
  return close_output(argv[0], m.verified.value_or(true) ? 0 : 1);
}

}  // namespace weir::bench::peers
