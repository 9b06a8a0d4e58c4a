// Strassen's product of two matrices: seven products of quarters, each a task with temporaries of its own. A matrix is
// stored quarter by quarter, down to a block; blocks are multiplied element by element.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

namespace weir::bench::shapes {

template <class Runtime>
class strassen {
 public:
  static constexpr shape_info info = {.name = "strassen",
                                      .description = "seven products of quarters, recursively; a task each",
                                      .size = 3,
                                      .unit = "levels",
                                      .recursive = true};

  strassen(Runtime& rt, const problem& p)
      : rt_(rt), p_(p), a_(rt.memory(words_of(p.size))), b_(rt.memory(words_of(p.size))),
        c_(rt.memory(words_of(p.size))) {}

  void run() { multiply(a_.words(), b_.words(), c_.words()); }
  word result() const { return reading(0, std::span<const word>(c_.words())); }

 private:
  using matrix = std::span<word>;
  using values = std::span<const word>;
  static constexpr std::size_t block = 512;

  static std::size_t words_of(std::uint64_t levels) { return block << 2 * levels; }

  // A temporary matrix, which nobody has touched.
  class temporary {
   public:
    explicit temporary(std::size_t words) : memory_(std::make_unique_for_overwrite<word[]>(words)), words_(words) {}
    operator matrix() const { return {memory_.get(), words_}; }
    operator values() const { return {memory_.get(), words_}; }
    word operator[](std::size_t i) const { return memory_[i]; }

   private:
    std::unique_ptr<word[]> memory_;
    std::size_t words_;
  };

  template <class Operation>
  static temporary combined(values a, values b, const Operation& operation) {
    temporary result(a.size());
    const matrix all = result;
    for (std::size_t i = 0; i < a.size(); i++) all[i] = operation(a[i], b[i]);
    return result;
  }
  static temporary sum(values a, values b) { return combined(a, b, std::plus<word>()); }
  static temporary difference(values a, values b) { return combined(a, b, std::minus<word>()); }

  void multiply(values a, values b, matrix c) {
    if (c.size() == block) return multiply_blocks(a, b, c);
    const std::size_t n = c.size() / 4;
    const auto a11 = a.first(n), a12 = a.subspan(n, n), a21 = a.subspan(2 * n, n), a22 = a.last(n);
    const auto b11 = b.first(n), b12 = b.subspan(n, n), b21 = b.subspan(2 * n, n), b22 = b.last(n);
    const temporary m1(n), m2(n), m3(n), m4(n), m5(n), m6(n), m7(n);
    typename Runtime::group products(rt_);
    products.spawn([&, this] { multiply(sum(a11, a22), sum(b11, b22), m1); });
    products.spawn([&, this] { multiply(sum(a21, a22), b11, m2); });
    products.spawn([&, this] { multiply(a11, difference(b12, b22), m3); });
    products.spawn([&, this] { multiply(a22, difference(b21, b11), m4); });
    products.spawn([&, this] { multiply(sum(a11, a12), b22, m5); });
    products.spawn([&, this] { multiply(difference(a21, a11), sum(b11, b12), m6); });
    products.spawn([&, this] { multiply(difference(a12, a22), sum(b21, b22), m7); });
    products.wait();
    for (std::size_t i = 0; i < n; i++) {
      c[i] = m1[i] + m4[i] - m5[i] + m7[i];
      c[n + i] = m3[i] + m5[i];
      c[2 * n + i] = m2[i] + m4[i];
      c[3 * n + i] = m1[i] - m2[i] + m3[i] + m6[i];
    }
  }
  void multiply_blocks(values a, values b, matrix c) const {
    compute_for(p_.iterations);
    for (std::size_t i = 0; i < c.size(); i++) c[i] = a[i] * b[i];
  }

  Runtime& rt_;
  const problem p_;
  typename Runtime::array a_, b_, c_;
};

}  // namespace weir::bench::shapes
