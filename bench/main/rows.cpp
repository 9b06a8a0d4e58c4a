// The rows, in the order of the table.
#include <bench/main/rows.hpp>

#include <bench/main/recursion.hpp>

namespace weir::bench::from_main {
namespace {

constexpr double us = 1e3, ms = 1e6;

// 2^20, 4^10 and 10^6 leaves are about as many, so the trees differ by their inner nodes only.
constexpr row all[] = {
    {"one-task", "one empty task, and wait for it", "us", us, kind::once, 0, 0},
    {"loop", "loop of {} elements, a multiply-add each", "us", us, kind::overhead, 1000, 1000},
    {"reduce", "sum of {} numbers", "us", us, kind::overhead, 1000, 1000},
    {"empty-loop", "loop of an element a worker, empty body", "us", us, kind::once, 0, 0},
    {"tasks", "{} empty tasks, and wait for all; a task", "ns", 1, kind::element, 131072, 4096},
    {"read", "task that changes a datum, and read() it", "us", us, kind::once, 0, 0},
    {"loops", "{} loops of 1,000 elements of 10 ns", "ms", ms, kind::once, 1000, 20},
    {"triad", "8 triads of {} elements, first touched in a loop", "ms", ms, kind::once, 400000, 50000},
    {"uneven", "loop of {} elements of 0.1 to 10 us at random", "ms", ms, kind::once, 16384, 1024},
    {"sorted", "the same, the shortest elements first", "ms", ms, kind::once, 16384, 1024},
    {"pipeline", "pipeline, {} tokens, 8 stages of 0.5 us", "ms", ms, kind::once, 2048, 128, recursion::none, 0, 50},
    {"short-pipeline", "pipeline, {} tokens, 8 stages of 0.05 us", "ms", ms, kind::once, 2048, 128, recursion::none, 0, 5},
    {"graph", "graph of {} nodes, built and run once", "ms", ms, kind::once, 65536, 1024},
    {"start-stop", "runtime started and ended", "ms", ms, kind::once, 0, 0},
    {"start-loop-stop", "runtime started, a loop, and ended", "ms", ms, kind::once, 0, 0},
    {"tree-2", "tree, 2 children a task, {} leaves", "ms", ms, kind::recursion, 20, 10, recursion::tree, 2},
    {"tree-4", "tree, 4 children a task, {} leaves", "ms", ms, kind::recursion, 10, 5, recursion::tree, 4},
    {"tree-10", "tree, 10 children a task, {} leaves", "ms", ms, kind::recursion, 6, 3, recursion::tree, 10},
    {"fib", "fib({})", "ms", ms, kind::recursion, 30, 15, recursion::fib},
    {"integrate", "integral of a cubic from 0 to {}", "ms", ms, kind::recursion, 1000, 100, recursion::integrate},
    {"queens", "{} queens", "ms", ms, kind::recursion, 11, 6, recursion::queens},
};

}  // namespace

std::span<const row> rows() { return all; }

std::string_view name_of(place p) { return p == place::main ? "main" : "task"; }

std::uint64_t leaves_of(std::uint64_t children, std::uint64_t levels) {
  std::uint64_t leaves = 1;
  for (; levels > 0; levels--) leaves *= children;
  return leaves;
}

std::uint64_t calls_of(const row& what, std::uint64_t size) {
  fork_count count;
  static_cast<void>(result_of<counted_tasks>(count, what, size));
  const bool calls_one_of_two = what.computes == recursion::fib || what.computes == recursion::integrate;
  return 1 + count.forks * (calls_one_of_two ? 2 : 1);
}

}  // namespace weir::bench::from_main
