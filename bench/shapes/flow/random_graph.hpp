// A random graph: a task reads what up to three of the tasks shortly before it wrote.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <random>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class random_graph {
 public:
  static constexpr shape_info info = {.name = "random-graph",
                                      .description = "a task reads 1 to 3 of the last 128 data, and writes its own",
                                      .size = 1024,
                                      .unit = "tasks"};

  random_graph(Runtime& rt, const problem& p)
      : rt_(rt), p_(p), first_(rt.make(window)), written_(rt.make_empty(p.size)), random_(p.seed) {}

  void run() {
    for (std::size_t i = 0; i < p_.size; i++) {
      const auto& a = earlier(i);
      const auto& b = earlier(i);
      const auto& c = earlier(i);
      switch (random_() % 3) {
        case 0: rt_.spawn(in(a), out(written_[i]), p_.produces(i)); break;
        case 1: rt_.spawn(in(a), in(b), out(written_[i]), p_.produces(i)); break;
        default: rt_.spawn(in(a), in(b), in(c), out(written_[i]), p_.produces(i));
      }
    }
  }
  word result() { return rt_.checksum(written_); }

 private:
  static constexpr std::size_t window = 128;

  const typename Runtime::block& earlier(std::size_t i) {
    const std::size_t at = i + random_() % window;
    return at < window ? first_[at] : written_[at - window];
  }

  Runtime& rt_;
  const problem p_;
  std::vector<typename Runtime::block> first_, written_;
  std::mt19937_64 random_;
};

}  // namespace weir::bench::shapes
