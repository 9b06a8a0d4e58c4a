// What a program may load and unload: a library that uses weir, with a libweir of its own where that is static.
#include <weir/weir.hpp>

#include <atomic>

extern "C" int churn_use_a_runtime(int workers, int tasks) {
  std::atomic<int> ran{0};
  weir::runtime rt({.workers = workers});
  const auto d = rt.make_data(std::vector<int>{0});
  for (int i = 0; i < tasks; i++) rt.spawn(weir::inout(d), [&](auto v) { v[0]++, ran++; });
  rt.wait();
  return d.read()[0] == tasks ? ran.load() : -1;
}
