// What recursions cost under libfork: coroutines that fork and join. It has nothing else.
//
// As its authors write them: where the calls are known the last one is not forked. Those of queens are found one by
// one.
#include <bench/main/program.hpp>

#include <bench/main/recursion.hpp>
#include <bench/main/work.hpp>

#include <libfork.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>

namespace {

using namespace weir::bench::from_main;

using count_task = lf::task<std::uint64_t>;

constexpr auto leaves_of_call = [](auto self, unsigned children, std::uint64_t levels) LF_STATIC_CALL -> count_task {
  if (levels == 0) co_return 1;
  leaf_counts below;
  for (unsigned i = 0; i + 1 < children; i++) co_await lf::fork(&below.of[i], self)(children, levels - 1);
  co_await lf::call(&below.of[children - 1], self)(children, levels - 1);
  co_await lf::join;
  co_return below.sum(children);
};

constexpr auto fib_of_call = [](auto self, std::uint64_t n) LF_STATIC_CALL -> count_task {
  if (n < 2) co_return n;
  std::uint64_t a = 0, b = 0;
  co_await lf::fork(&a, self)(n - 1);
  co_await lf::call(&b, self)(n - 2);
  co_await lf::join;
  co_return a + b;
};

constexpr auto integral_of_call = [](auto self, trapezium t) LF_STATIC_CALL -> lf::task<double> {
  const double at_middle = trapezium::height(t.middle());
  const trapezium first = t.first_half(at_middle), second = t.second_half(at_middle);
  const double area = first.area() + second.area();
  if (std::fabs(area - t.area()) < trapezium::close_enough) co_return area;
  double a = 0, b = 0;
  co_await lf::fork(&a, self)(first);
  co_await lf::call(&b, self)(second);
  co_await lf::join;
  co_return a + b;
};

constexpr auto queens_of_call = [](auto self, queens_board board, unsigned size, unsigned row) LF_STATIC_CALL
    -> count_task {
  if (row == size) co_return 1;
  std::array<std::uint64_t, queens_board::most> found{};
  for (unsigned i = 0; i < size; i++)
    if (board.may_be_put(row, i)) co_await lf::fork(&found[i], self)(board.with(row, i), size, row + 1);
  co_await lf::join;
  co_return std::accumulate(found.begin(), found.end(), std::uint64_t{0});
};

double result_under(lf::lazy_pool& pool, const row& what, std::uint64_t size) {
  switch (what.computes) {
    case recursion::none: break;
    case recursion::tree: return static_cast<double>(lf::sync_wait(pool, leaves_of_call, what.children, size));
    case recursion::fib: return static_cast<double>(lf::sync_wait(pool, fib_of_call, size));
    case recursion::integrate: return lf::sync_wait(pool, integral_of_call, whole_area(size));
    case recursion::queens: {
      const auto side = static_cast<unsigned>(size);
      return static_cast<double>(lf::sync_wait(pool, queens_of_call, queens_board(), side, 0u));
    }
  }
  return 0;
}

batch recursive(const problem& p) {
  const auto pool = std::make_shared<lf::lazy_pool>(static_cast<std::size_t>(p.workers));
  return [p, pool, expected = expected_result(*p.what, p.size)](std::uint64_t repetitions) {
    return seconds_of(repetitions, [&] { expected.compare(result_under(*pool, *p.what, p.size)); });
  };
}

constexpr entry entries[] = {
    {"tree-2", place::main, recursive}, {"tree-4", place::main, recursive},    {"tree-10", place::main, recursive},
    {"fib", place::main, recursive},    {"integrate", place::main, recursive}, {"queens", place::main, recursive},
};

}  // namespace

int main(int argc, char** argv) { return program_main(argc, argv, "libfork", entries); }
