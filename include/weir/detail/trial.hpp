// Several ways to do the same, tried out against each other. Internal.
#pragma once

#include <weir/detail/loop_work.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace weir::detail {

template <class Run>
double seconds_of(const Run& run) {
  const std::uint64_t begin = now_ns();
  run();
  return static_cast<double>(now_ns() - begin) / 1e9;
}

// The median, of an even number the lower one: what disturbs only makes longer. Expects one or more; changes their
// order.
inline double usual(std::vector<double>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

// Numbered ways, timed in rounds, so that a disturbance hits none of them alone; in each in another order, because who
// comes after one that works on a single CPU finds the other CPUs' caches cold.
class trial {
 public:
  explicit trial(std::size_t ways) : seconds_(ways), left_(ways) {
    std::iota(left_.begin(), left_.end(), std::size_t{0});
  }

  std::size_t left() const noexcept { return left_.size(); }

  // Calls run(way) for each that is left. Returns how long they took together.
  template <class Run>
  double round(const Run& run) {
    double all = 0;
    std::ranges::shuffle(left_, random_);
    for (const std::size_t way : left_) all += seconds_[way].emplace_back(seconds_of([&] { run(way); }));
    return all;
  }

  // These expect that there was a round, unless there is only one way.
  double usual_seconds(std::size_t way) { return usual(seconds_[way]); }
  std::size_t fastest() {
    return *std::ranges::min_element(left_, {}, [&](std::size_t way) { return usual_seconds(way); });
  }
  // Who usually takes more than `factor` times as long as the fastest is left no longer, unless stays(way).
  template <class Stays>
  void drop_slower(double factor, const Stays& stays) {
    const double limit = factor * usual_seconds(fastest());
    std::erase_if(left_, [&](std::size_t way) { return usual_seconds(way) > limit && !stays(way); });
  }

 private:
  std::vector<std::vector<double>> seconds_;  // by way
  std::vector<std::size_t> left_;
  std::minstd_rand random_;
};

}  // namespace weir::detail
