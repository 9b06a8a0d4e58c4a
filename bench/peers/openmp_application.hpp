// Runs an application on its own memory under OpenMP: who writes the memory first, and then who the tasks are.
#pragma once

#include <bench/common/kernel.hpp>
#include <bench/common/output.hpp>
#include <bench/peers/measure.hpp>
#include <bench/peers/options.hpp>
#include <bench/peers/pages.hpp>

#include <omp.h>

#include <any>

namespace weir::bench::peers {

#if defined(__clang__)
inline constexpr std::string_view openmp_runtime = "libomp";
#else
inline constexpr std::string_view openmp_runtime = "libgomp";
#endif

// Functions that are called by one thread of a team but for `loop`, which all of them call.
template <class Problem>
struct openmp_program {
  void (*fills)(const Problem&) = nullptr;                  // creates tasks that fill the parts
  void (*tasks)(const Problem&, int iterations) = nullptr;  // and those of the iterations
  void (*loop)(const Problem&, int iterations) = nullptr;   // worksharing loops instead of tasks; may be null
};

inline constexpr std::string_view application_modes[] = {"tasks", "loop"};
// `tasks`: a task a part, which are waited for. `inside`: these are part of what is measured, and nobody waits for
// them.
inline constexpr std::string_view application_inits[] = {"tasks", "one", "inside", "first-touch", "interleave"};

// The kernel's configuration, as `weir bench` would make it.
inline configuration configuration_of(const options& o, const program_form& f) {
  configuration c;
  c.size = {o.size.rows};
  c.block = {o.block.rows};
  if (f.dimensions > 1) c.size.push_back(o.size.columns);
  if (f.block_dimensions > 1 || f.dimensions > 1) c.block.push_back(o.block.columns);
  c.iterations = o.iterations;
  c.bins = o.bins;
  c.seed = o.seed;
  c.input = o.input;
  return c;
}

template <class Problem>
void initialise(const Problem& p, const openmp_program<Problem>& program, const options& o) {
  if (o.interleave)
    for (const std::span<std::byte> array : p.memory()) interleave(array.data(), array.size());
  if (o.init == "one") {
    for (std::size_t part = 0; part < p.parts(); part++) p.fill(part);
  } else if (o.init == "tasks") {
#pragma omp parallel
#pragma omp single
    program.fills(p);
  } else if (o.init != "inside") {
#pragma omp parallel for schedule(static)
    for (std::size_t part = 0; part < p.parts(); part++) p.fill(part);
  }
}

template <class Problem>
void run_program(const Problem& p, const openmp_program<Problem>& program, const options& o) {
  if (o.mode == "loop") {
#pragma omp parallel
    program.loop(p, o.iterations);
    return;
  }
#pragma omp parallel
#pragma omp single
  {
    if (o.init == "inside") program.fills(p);
    program.tasks(p, o.iterations);
  }
}

// The returned value is main()'s. `solve` is the sequential program.
template <class Problem>
int run_application(const options& o, const program_form& form, const configuration& c, const char* program_name,
                    std::string_view name, serial_result (*solve)(const configuration&),
                    const openmp_program<Problem>& program) {
  if (o.mode == "loop" && o.init == "inside")
    refuse("--init inside needs --mode tasks: a loop waits for each of its ends");
  const Problem p(c);
  initialise(p, program, o);
  measurement m{.runtime = openmp_runtime, .kernel = name, .threads = omp_get_max_threads()};
  m.seconds = measure([&] { run_program(p, program, o); });
  if (o.verify) m.verified = p.verify(solve(c).value).passed;
  print(o, m, form);
  return close_output(program_name, m.verified.value_or(true) ? 0 : 1);
}

template <class Problem>
int run_application(int argc, char** argv, program_form form, std::string_view name,
                    serial_result (*solve)(const configuration&), const openmp_program<Problem>& program) {
  form.modes = std::span(application_modes).first(program.loop != nullptr ? 2 : 1);
  form.inits = application_inits;
  const options o = parse_options(argc, argv, form);
  return run_application(o, form, configuration_of(o, form), argv[0], name, solve, program);
}

}  // namespace weir::bench::peers
