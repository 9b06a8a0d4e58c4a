// Producers and consumers that find each other through a stream: samples arrive in bursts of 3, are smoothed over a
// sliding window of 4, and summed in chunks of 5. Sizes need not divide each other.
#include <weir/weir.hpp>

#include <cstdio>
#include <numeric>
#include <span>

int main() {
  weir::runtime rt;
  auto samples = rt.make_stream<int>("samples");
  auto smooth = rt.make_stream<int>("smooth");
  auto total = rt.make_data<long>(std::vector<long>{0}, "total");

  // Consumers may be created before their producers.
  const int chunks = 12, windows = chunks * 5;
  for (int i = 0; i < chunks; i++)
    rt.spawn({.name = "sum"}, smooth.pop(5), weir::inout(total), [](std::span<const int> values, std::span<long> sum) { sum[0] = std::accumulate(values.begin(), values.end(), sum[0]); });
  for (int i = 0; i < windows; i++) {
    rt.spawn({.name = "smooth"}, samples.peek(4), smooth.push(1), [](std::span<const int> w, std::span<int> mean) { mean[0] = (w[0] + w[1] + w[2] + w[3]) / 4; });
    rt.spawn({.name = "advance"}, samples.tick(1), [] {});
  }
  for (int i = 0; i < (windows + 3) / 3; i++)
    rt.spawn({.name = "sample"}, samples.push(3), [i](std::span<int> burst) { std::iota(burst.begin(), burst.end(), 3 * i); });
  // The last samples are only ever peeked at.
  rt.spawn({.name = "rest"}, samples.tick(3), [] {});
  rt.wait();

  long expected = 0;
  for (int i = 0; i < windows; i++) expected += (4 * i + 6) / 4;
  std::printf("sum of the smoothed samples: %ld\n", total.read()[0]);
  return total.read()[0] == expected ? 0 : 1;
}
