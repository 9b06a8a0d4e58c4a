// Recursions that fork and join, written once for all runtimes whose tasks are callables.
//
// `Tasks` is made from a `Context&` in each call that has children: fork(f) runs f, perhaps at the same time; join()
// returns when all of them are done. In fib and integrals one of the two calls is forked and the other one called; a
// tree has a task a node, and queens one a queen. No call is inlined into another, so that a call is one.
#pragma once

#include <bench/main/rows.hpp>
#include <bench/main/work.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace weir::bench::from_main {

template <class Tasks, class Context>
[[gnu::noinline]] std::uint64_t leaves(Context& c, unsigned children, std::uint64_t levels) {
  if (levels == 0) return 1;
  leaf_counts below;
  Tasks tasks(c);
  for (unsigned i = 0; i < children; i++)
    tasks.fork([&c, &count = below.of[i], children, levels] { count = leaves<Tasks>(c, children, levels - 1); });
  tasks.join();
  return below.sum(children);
}

template <class Tasks, class Context>
[[gnu::noinline]] std::uint64_t fib(Context& c, std::uint64_t n) {
  if (n < 2) return n;
  std::uint64_t a = 0;
  Tasks tasks(c);
  tasks.fork([&c, &a, n] { a = fib<Tasks>(c, n - 1); });
  const std::uint64_t b = fib<Tasks>(c, n - 2);
  tasks.join();
  return a + b;
}

// The area below a cubic by trapezia, which are halved until that changes it by less than `close_enough`.
struct trapezium {
  static constexpr double close_enough = 1e-6;
  static double height(double x) { return (x * x + 1) * x; }
  static double exact_area(double end) { return end * end / 4 * (end * end + 2); }

  double begin, end, left, right;  // where, and how high there
  double area() const { return (left + right) / 2 * (end - begin); }
  double middle() const { return begin + (end - begin) / 2; }
  trapezium first_half(double at_middle) const { return {begin, middle(), left, at_middle}; }
  trapezium second_half(double at_middle) const { return {middle(), end, at_middle, right}; }
};
inline trapezium whole_area(std::uint64_t size) {
  const auto end = static_cast<double>(size);
  return {0, end, trapezium::height(0), trapezium::height(end)};
}

template <class Tasks, class Context>
[[gnu::noinline]] double integrate(Context& c, const trapezium& t) {
  const double at_middle = trapezium::height(t.middle());
  const trapezium first = t.first_half(at_middle), second = t.second_half(at_middle);
  const double area = first.area() + second.area();
  if (std::fabs(area - t.area()) < trapezium::close_enough) return area;
  double a = 0;
  Tasks tasks(c);
  tasks.fork([&c, &a, first] { a = integrate<Tasks>(c, first); });
  const double b = integrate<Tasks>(c, second);
  tasks.join();
  return a + b;
}

// In which column the queen of each row is that has one.
struct queens_board {
  static constexpr std::size_t most = 16;
  std::array<signed char, most> column{};

  // With one more in that row: does she attack none?
  bool may_be_put(unsigned row, unsigned where) const {
    for (unsigned r = 0; r < row; r++) {
      const int apart = static_cast<int>(where) - column[r];
      if (apart == 0 || std::abs(apart) == static_cast<int>(row - r)) return false;
    }
    return true;
  }
  queens_board with(unsigned row, unsigned where) const {
    queens_board b = *this;
    b.column[row] = static_cast<signed char>(where);
    return b;
  }
};

template <class Tasks, class Context>
[[gnu::noinline]] std::uint64_t queens(Context& c, const queens_board& board, unsigned size, unsigned row) {
  if (row == size) return 1;
  std::array<std::uint64_t, queens_board::most> found{};
  Tasks tasks(c);
  for (unsigned i = 0; i < size; i++)
    if (board.may_be_put(row, i))
      tasks.fork([&c, &here = found[i], next = board.with(row, i), size, row] {
        here = queens<Tasks>(c, next, size, row + 1);
      });
  tasks.join();
  return std::accumulate(found.begin(), found.end(), std::uint64_t{0});
}

// What a row computes.
template <class Tasks, class Context>
double result_of(Context& c, const row& what, std::uint64_t size) {
  switch (what.computes) {
    case recursion::none: break;
    case recursion::tree: return static_cast<double>(leaves<Tasks>(c, what.children, size));
    case recursion::fib: return static_cast<double>(fib<Tasks>(c, size));
    case recursion::integrate: return integrate<Tasks>(c, whole_area(size));
    case recursion::queens: return static_cast<double>(queens<Tasks>(c, {}, static_cast<unsigned>(size), 0));
  }
  return 0;
}

struct fork_count {
  std::uint64_t forks = 0;
};
struct counted_tasks {
  explicit counted_tasks(fork_count& c) : count(c) {}
  template <class F>
  void fork(const F& f) {
    count.forks++;
    f();
  }
  void join() {}
  fork_count& count;
};

// A recursion as a sequential program does it.
struct nothing_shared {};
struct called_tasks {
  explicit called_tasks(nothing_shared&) {}
  template <class F>
  void fork(const F& f) {
    f();
  }
  void join() {}
};

// The same in whatever order it is added up. Found once, before anything is measured.
class expected_result {
 public:
  expected_result(const row& what, std::uint64_t size) {
    fork_count forks;
    result_ = result_of<counted_tasks>(forks, what, size);
    if (what.computes != recursion::integrate) return;
    // Each of the areas, one more than there are forks, is about so good.
    const double error = std::fabs(trapezium::exact_area(static_cast<double>(size)) - result_);
    expect(error <= trapezium::close_enough * static_cast<double>(forks.forks + 1) + 1e-12 * result_);
  }
  void compare(double result) const { expect(std::fabs(result - result_) <= 1e-12 * std::fabs(result_)); }

 private:
  double result_;
};

}  // namespace weir::bench::from_main
