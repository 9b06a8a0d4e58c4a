// Runs one stencil kernel under OpenMP. The runtime is the one the compiler brings along (openmp_application.hpp).
#pragma once

#include <bench/peers/openmp_application.hpp>
#include <bench/peers/stencil_peer.hpp>
#include <bench/peers/tiled_stencil.hpp>

namespace weir::bench::peers {

// `loop` and `tasks` run all iterations on whole arrays; `tiles` creates tasks on arrays of which each block lies in
// one piece. relax_tile is the computation on one tile. The returned value is main()'s.
template <stencil::method Method>
struct stencil_modes {
  void (*loop)(const stencil_problem<Method>&);
  void (*tasks)(const stencil_problem<Method>&);
  void (*tiles)(const tiled_stencil<Method>&, int iterations);
};

template <stencil::method Method>
int run_openmp(int argc, char** argv, std::string_view kernel_name, void (*relax_tile)(const stencil::tile&),
               serial_result (*solve)(const configuration&), const stencil_modes<Method>& program) {
  static constexpr std::string_view modes[] = {"loop", "tasks", "tiles"};
  static constexpr std::string_view inits[] = {"first-touch", "interleave", "tasks", "one", "inside"};
  const program_form form{.modes = modes, .inits = inits};
  const options o = parse_options(argc, argv, form);
  if (o.mode == "tiles")
    return run_application<tiled_stencil<Method>>(
        o, form, configuration_of(o, form), argv[0], kernel_name, solve,
        {.fills = create_fills<tiled_stencil<Method>>, .tasks = program.tiles});
  if (o.init != "first-touch" && o.init != "interleave")
    refuse("--init " + o.init + " needs --mode tiles: blocks of whole arrays share pages");
  const stencil_problem<Method> problem(o);
#pragma omp parallel for schedule(static)
  for (int b = 0; b < problem.blocks(); b++) problem.fill(b);

  measurement m{.runtime = openmp_runtime, .kernel = kernel_name, .threads = omp_get_max_threads()};
  m.seconds = measure([&] { o.mode == "loop" ? program.loop(problem) : program.tasks(problem); });
  if (o.verify) m.verified = problem.verify(relax_tile);
  print(o, m);
  return close_output(argv[0], m.verified.value_or(true) ? 0 : 1);
}

}  // namespace weir::bench::peers
