// Gauss-Seidel relaxation of a row of blocks. The loop looks sequential; tasks run as soon as their inputs are there, and
// every block lives on the node of the worker that wrote it last.
#include <weir/weir.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

using block = std::span<const double>;

static void relax(block left, block old, block right, std::span<double> next) {
  for (std::size_t k = 0; k < old.size(); k++) {
    const double before = k == 0 ? left[0] : next[k - 1];
    const double after = k + 1 == old.size() ? right[0] : old[k + 1];
    next[k] = (before + old[k] + after) / 3;
  }
}

int main() {
  weir::runtime rt;  // a worker per allowed CPU; nothing to configure
  const int blocks = 64;
  std::vector<weir::data<double>> x;
  for (int i = 0; i < blocks; i++) x.push_back(rt.make_data<double>(1 << 12));  // no memory yet

  for (auto& b : x) rt.spawn(weir::out(b), [](std::span<double> values) { std::ranges::fill(values, 1.0); });
  for (int t = 0; t < 60; t++)
    for (int i = 1; i < blocks - 1; i++)  // in program order; no false dependences
      rt.spawn({.name = "relax"}, weir::in(x[i - 1].last(1)), weir::in(x[i]), weir::in(x[i + 1].first(1)), weir::out(x[i]), relax);
  rt.wait();

  const auto middle = x[blocks / 2].read();
  std::printf("%zu elements, x[%d][0] = %.3f\n", middle.size(), blocks / 2, middle[0]);
  return std::abs(middle[0] - 1.0) < 1e-12 ? 0 : 1;
}
