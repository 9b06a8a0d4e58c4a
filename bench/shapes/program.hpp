// The main() of every program: runs the shapes that are asked for, and prints a line of JSON a run.
#pragma once

#include <bench/common/output.hpp>
#include <bench/common/region.hpp>
#include <bench/shapes/all.hpp>
#include <bench/shapes/options.hpp>
#include <bench/shapes/serial.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace weir::bench::shapes {

struct reference {
  word result = 0;
  std::uint64_t tasks = 0;
};

template <template <class> class Shape>
reference reference_of(const options& o, problem p) {
  p.iterations = 0;  // its length changes no result
  serial runtime(o.words);
  Shape<serial> shape(runtime, p);
  shape.run();
  return {shape.result(), runtime.tasks()};
}

void print_run(const options&, std::string_view runtime, std::string_view policy, int workers, const shape_info&,
               std::uint64_t size, std::uint64_t run, std::uint64_t tasks, double seconds, bool verified);

// Runtime: what shape.hpp names; settle(), which waits until first versions are there; execute(shape), which returns
// when all tasks are done; and what it says of itself. It lives as long as the runs of a shape do; data are made anew
// for each of them. The first run warms up.
template <class Runtime, template <class> class Shape>
bool run_shape(const options& o) {
  const shape_info& info = Shape<Runtime>::info;
  const problem p{
      .size = o.size != 0 ? o.size : info.size, .iterations = o.task_us * iterations_of_us, .seed = o.seed};
  const reference expected = reference_of<Shape>(o, p);
  Runtime runtime(o);
  bool right = true;
  for (std::uint64_t run = 0; run < o.runs; run++) {
    Shape<Runtime> shape(runtime, p);
    runtime.settle();
    const auto start = std::chrono::steady_clock::now();
    {
      const measured_region region;
      runtime.execute(shape);
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const bool verified = shape.result() == expected.result;
    print_run(o, Runtime::name, runtime.policy(), runtime.workers(), info, p.size, run, expected.tasks, taken.count(),
              verified);
    right &= verified;
  }
  return right;
}

template <class Runtime>
bool run_shapes(const options& o) {
  bool right = true;
  for (const std::string& name : o.shapes)
    for_each_shape([&]<template <class> class Shape> {
      if (Shape<Runtime>::info.name == name) right &= run_shape<Runtime, Shape>(o);
    });
  return right;
}

// The returned value is main()'s: 1 if a result was wrong or something failed, after one line on standard error.
template <class Runtime>
int program_main(int argc, char** argv) {
  std::vector<shape_info> known;
  for_each_shape([&]<template <class> class Shape> { known.push_back(Shape<Runtime>::info); });
  const options o = parse_options(argc, argv, known, Runtime::has_policies);
  try {
    const bool right = run_shapes<Runtime>(o);
    if (!right) std::fprintf(stderr, "%s: a result is wrong\n", argv[0]);
    return close_output(argv[0], right ? 0 : 1);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
}

}  // namespace weir::bench::shapes
