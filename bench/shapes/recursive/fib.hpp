// Recursive spawning and waiting: every node computes, and so does every leaf.
#pragma once

#include <bench/shapes/shape.hpp>

namespace weir::bench::shapes {

template <class Runtime>
class fib {
 public:
  static constexpr shape_info info = {.name = "fib",
                                      .description = "a task a call of fib(n)",
                                      .size = 14,
                                      .unit = "n",
                                      .has_data = false,
                                      .recursive = true};

  fib(Runtime& rt, const problem& p) : rt_(rt), p_(p) {}

  void run() { value_ = of(p_.size); }
  word result() const { return value_; }

 private:
  word of(std::uint64_t n) {
    compute_for(p_.iterations);
    if (n < 2) return n;
    word a = 0, b = 0;
    typename Runtime::group children(rt_);
    children.spawn([&a, this, n] { a = of(n - 1); });
    children.spawn([&b, this, n] { b = of(n - 2); });
    children.wait();
    return a + b;
  }

  Runtime& rt_;
  const problem p_;
  word value_ = 0;
};

}  // namespace weir::bench::shapes
