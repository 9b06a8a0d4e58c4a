// A few long tasks without data, a barrier, and again.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class fork_join {
 public:
  static constexpr shape_info info = {.name = "fork-join",
                                      .description = "10 rounds of tasks 75 times as long, without data",
                                      .size = 8,
                                      .unit = "tasks a round",
                                      .has_data = false};

  fork_join(Runtime& rt, const problem& p) : rt_(rt), p_(p), counts_(p.size) {}

  void run() {
    constexpr std::uint64_t times = 75;
    for (std::size_t round = 0; round < 10; round++) {
      for (word& count : counts_)
        rt_.spawn([&count, iterations = times * p_.iterations, round] {
          compute_for(iterations);
          count = mixed(count + round);
        });
      rt_.wait();
    }
  }
  word result() const {
    word sum = 0;
    for (const word count : counts_) sum = mixed(sum + count);
    return sum;
  }

 private:
  Runtime& rt_;
  const problem p_;
  std::vector<word> counts_;
};

}  // namespace weir::bench::shapes
