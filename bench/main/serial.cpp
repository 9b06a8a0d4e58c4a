// The rows' work as a sequential program does it, to compare with.
#include <bench/main/program.hpp>

#include <bench/common/compute.hpp>
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

__attribute__((noinline)) std::uint64_t leaves(unsigned children, std::uint64_t levels) {
  if (levels == 0) return 1;
  leaf_counts below;
  for (unsigned i = 0; i < children; i++) below.of[i] = leaves(children, levels - 1);
  return below.sum(children);
}

batch tree(const problem& p) {
  return [p, expected = leaves_of(p.what->children, p.size)](std::uint64_t repetitions) {
    return seconds_of(repetitions, [&] { expect(leaves(p.what->children, p.size) == expected); });
  };
}

}  // namespace

batch serial_batch(const problem& p) {
  if (p.what->name == "loop") return loop(p);
  if (p.what->name == "reduce") return reduce(p);
  if (p.what->name == "loops") return loops(p);
  if (p.what->what == kind::tree) return tree(p);
  return {};
}

}  // namespace weir::bench::from_main
