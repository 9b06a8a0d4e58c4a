// Tasks on memory the program already has: weir::ref orders them by address ranges, as OpenMP's depend clauses do by
// address. weir knows where such memory lies and places tasks by it, but does not move it: whoever writes it first
// decides. weir::data can lie anywhere; use them where you can.
#include <weir/weir.hpp>

#include <cstdio>
#include <span>
#include <vector>

int main() {
  weir::runtime rt;
  std::vector<int> v(1000, 1);
  const std::span<int> all(v);

  for (int i = 0; i < 10; i++)  // ten disjoint parts, in parallel
    rt.spawn(weir::inout(weir::ref(all.subspan(100 * i, 100))), [](std::span<int> part) {
      for (int& x : part) x += 1;
    });
  rt.spawn(weir::inout(weir::ref(all.subspan(50, 900))), [](std::span<int> middle) {  // overlaps all of them: after them
    for (int& x : middle) x *= 10;
  });
  long sum = 0;
  rt.spawn(weir::in(weir::ref(all)), weir::out(weir::ref(sum)), [](std::span<int const> values, std::span<long> s) {
    for (int x : values) s[0] += x;
  });
  rt.wait();
  std::printf("sum: %ld\n", sum);
  return sum == 900 * 20 + 100 * 2 ? 0 : 1;
}
