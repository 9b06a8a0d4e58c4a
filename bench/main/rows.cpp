// The rows, in the order of the table.
#include <bench/main/rows.hpp>

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
    {"start-stop", "runtime started and ended", "ms", ms, kind::once, 0, 0},
    {"start-loop-stop", "runtime started, a loop, and ended", "ms", ms, kind::once, 0, 0},
    {"tree-2", "tree, 2 children a task, {} leaves", "ms", ms, kind::tree, 20, 10, 2},
    {"tree-4", "tree, 4 children a task, {} leaves", "ms", ms, kind::tree, 10, 5, 4},
    {"tree-10", "tree, 10 children a task, {} leaves", "ms", ms, kind::tree, 6, 3, 10},
};

}  // namespace

std::span<const row> rows() { return all; }

std::string_view name_of(place p) { return p == place::main ? "main" : "task"; }

std::uint64_t leaves_of(std::uint64_t children, std::uint64_t levels) {
  std::uint64_t leaves = 1;
  for (; levels > 0; levels--) leaves *= children;
  return leaves;
}

}  // namespace weir::bench::from_main
