// A program outside the repository, built with the installed library: one task writes a datum, another adds it up.
#include <weir/weir.hpp>

#include <cstdio>
#include <numeric>
#include <span>

int main() {
  weir::runtime rt;
  auto numbers = rt.make_data<int>(1000);
  long sum = 0;
  rt.spawn(weir::out(numbers), [](std::span<int> n) { std::iota(n.begin(), n.end(), 0); });
  rt.spawn(weir::in(numbers), [&sum](std::span<const int> n) { sum = std::accumulate(n.begin(), n.end(), 0L); });
  rt.wait();
  std::printf("sum %ld\n", sum);
  return sum == 499500 ? 0 : 1;
}
