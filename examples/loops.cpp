// Parallel loops over memory the program has: heat spreads from an edge of a field until it changes little. All loops are
// over the same rows, so each worker gets the same ones in every loop, and they are near who touched them first.
#include <weir/weir.hpp>

#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

int main() {
  weir::runtime rt;
  const int rows = 400, columns = 300;
  const auto row = [](double* field, int r) { return field + r * columns; };
  // Not initialised: who writes a page first decides on which node it lies.
  const std::unique_ptr<double[]> memory(new double[2 * rows * columns]);
  double *old = memory.get(), *next = old + rows * columns;

  weir::parallel_for(rt, 0, rows, [&](int r) {
    for (int c = 0; c < columns; c++) row(old, r)[c] = row(next, r)[c] = r == 0 ? 1.0 : 0.0;  // hot at one edge
  });
  double change = 1;
  int steps = 0;
  for (; steps < 2000 && change > 3e-5; steps++) {
    const auto relax = [&](int r) {  // returns how much the row changed
      if (r == 0 || r == rows - 1) return 0.0;
      const double *above = row(old, r - 1), *here = row(old, r), *below = row(old, r + 1);
      double changed = 0;
      for (int c = 1; c < columns - 1; c++) {
        row(next, r)[c] = (above[c] + below[c] + here[c - 1] + here[c + 1]) / 4;
        changed += std::abs(row(next, r)[c] - here[c]);
      }
      return changed;
    };
    // The same bits on every run with as many workers, so the last step is always the same one.
    change = weir::parallel_reduce(rt, 0, rows, 0.0, relax, std::plus(), {.name = "relax"}) / (rows * columns);
    std::swap(old, next);
  }
  const double near = row(old, 1)[columns / 2], far = row(old, rows - 2)[columns / 2];
  std::printf("%d steps: %.3f beside the hot edge, %.3f at the other one\n", steps, near, far);
  return steps < 2000 && near > 0.9 && far < 0.1 ? 0 : 1;
}
