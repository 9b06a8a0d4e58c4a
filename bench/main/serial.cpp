// The rows' work as a sequential program does it, to compare with.
#include <bench/main/program.hpp>

#include <bench/common/compute.hpp>
#include <bench/main/recursion.hpp>
#include <bench/main/work.hpp>

namespace weir::bench::from_main {
namespace {

// Makes the compiler take memory for changed, so that it leaves out no repetition.
void keep() { asm volatile("" ::: "memory"); }

batch loop(const problem& p) {
  const auto v = std::make_shared<vectors>(p.size);
  return [v, n = p.size](std::uint64_t repetitions) {
    return seconds_of(repetitions, [x = v->x.data(), y = v->y.data(), n] {
      for (std::uint64_t i = 0; i < n; i++) y[i] += 0.5 * x[i];
      keep();
    });
  };
}

batch reduce(const problem& p) {
  const auto v = std::make_shared<numbers>(p.size);
  return [v](std::uint64_t repetitions) {
    return seconds_of(repetitions, [&] {
      keep();
      expect(std::accumulate(v->values.begin(), v->values.end(), 0.0) == v->sum);
    });
  };
}

batch loops(const problem& p) {
  return [p](std::uint64_t repetitions) {
    return seconds_of(repetitions, [&] {
      for (std::uint64_t i = 0; i < p.size * elements_of_loops; i++) compute(p.iterations);
    });
  };
}

batch triad(const problem& p) {
  const auto arrays = std::make_shared<triad_arrays>(p.size);
  return [arrays, n = p.size](std::uint64_t repetitions) {
    return seconds_of(repetitions, [&] {
      arrays->use([n](const triad_arrays::part& all) {
        for (std::uint64_t i = 0; i < n; i++) all.fill(i);
      }, [n](const triad_arrays::part& all) {
        for (int t = 0; t < triads; t++) {
          for (std::uint64_t i = 0; i < n; i++) all.compute(i);
          keep();
        }
      });
    });
  };
}

batch uneven(const problem& p, bool ascending) {
  const auto elements = std::make_shared<uneven_elements>(p.size, ascending);
  return [elements, p](std::uint64_t repetitions) {
    return seconds_of(repetitions, [&] {
      for (const std::uint64_t times : elements->times) uneven_elements::run(times, p.iterations);
    });
  };
}

batch recursive(const problem& p) {
  return [p, expected = expected_result(*p.what, p.size)](std::uint64_t repetitions) {
    nothing_shared none;
    return seconds_of(repetitions, [&] { expected.compare(result_of<called_tasks>(none, *p.what, p.size)); });
  };
}

batch pipeline(const problem& p) {
  return [p, line = std::make_shared<pipeline_work>(p.iterations, p.what->elements_a_stage)](std::uint64_t repetitions) {
    return seconds_of(repetitions, [&] {
      line->begin();
      for (std::uint64_t i = 0; i < p.size; i++) {
        std::uint64_t token = pipeline_work::token(i);
        for (std::size_t s = 0; s < pipeline_work::stages; s++) token = line->pass(s, token);
      }
      line->expect_all(p.size);
    });
  };
}

batch graph(const problem& p) {
  return [work = std::make_shared<grid_work>(p.size)](std::uint64_t repetitions) {
    return seconds_of(repetitions, [&] {
      work->begin();
      for (std::uint64_t i = 0; i < work->size(); i++) work->run(i);
      work->expect_all();
    });
  };
}

}  // namespace

batch serial_batch(const problem& p) {
  if (p.what->name == "loop") return loop(p);
  if (p.what->name == "reduce") return reduce(p);
  if (p.what->name == "loops") return loops(p);
  if (p.what->name == "triad") return triad(p);
  if (p.what->name == "uneven") return uneven(p, false);
  if (p.what->name == "sorted") return uneven(p, true);
  if (p.what->elements_a_stage != 0) return pipeline(p);
  if (p.what->name == "graph") return graph(p);
  if (p.what->what == kind::recursion) return recursive(p);
  return {};
}

}  // namespace weir::bench::from_main
