// A histogram, made twice from the same values. concurrent(): all tasks count in the same bins at the same time, with
// atomic additions. commutative(): each task counts in bins of its own, and then adds those to the result, in whatever
// order the tasks get there, never two at once. Whoever reads the bins later waits for all of them.
#include <weir/weir.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <vector>

using weir::commutative, weir::concurrent, weir::in, weir::out, weir::ref;

constexpr std::size_t bins = 16, parts = 64, values_of_part = 1 << 14;
using counts = std::span<long>;
using values = std::span<const unsigned>;

void make_values(std::span<unsigned> part, unsigned seed) {
  for (unsigned& v : part) v = (seed = seed * 1664525u + 1013904223u) >> 16;
}

int main() {
  weir::runtime rt;
  std::vector<weir::data<unsigned>> input;
  for (std::size_t i = 0; i < parts; i++) input.push_back(rt.make_data<unsigned>(values_of_part));
  for (std::size_t i = 0; i < parts; i++)
    rt.spawn(out(input[i]), [i](std::span<unsigned> part) { make_values(part, static_cast<unsigned>(i)); });

  const weir::data<long> together = rt.make_data(std::vector<long>(bins));
  for (const auto& part : input)
    rt.spawn(in(part), concurrent(together), [](values v, counts result) {
      for (const unsigned value : v) std::atomic_ref(result[value % bins]).fetch_add(1, std::memory_order_relaxed);
    });

  std::vector<long> one_by_one(bins);  // the program's own memory, for a change
  for (const auto& part : input)
    rt.spawn(in(part), commutative(ref(one_by_one)), [](values v, counts result) {
      std::array<long, bins> mine{};
      for (const unsigned value : v) mine[value % bins]++;
      for (std::size_t b = 0; b < bins; b++) result[b] += mine[b];
    });

  int wrong = 0;
  rt.spawn(in(together), in(ref(one_by_one)), [&wrong](std::span<const long> a, std::span<const long> b) {
    long sum = 0;
    for (std::size_t i = 0; i < bins; i++) {
      std::printf("%4zu %8ld\n", i, a[i]);
      wrong += a[i] != b[i];
      sum += a[i];
    }
    wrong += sum != static_cast<long>(parts * values_of_part);
  });
  rt.wait();
  std::printf("%s\n", wrong == 0 ? "both histograms are the same" : "the histograms differ");
  return wrong == 0 ? 0 : 1;
}
