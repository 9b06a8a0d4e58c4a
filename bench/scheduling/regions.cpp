// What it costs to know where memory of the program's own lies (src/memory/regions.hpp): nanoseconds a look-up, the
// least of five rounds. No argument.
#include "memory/memory.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

namespace {

using weir::memory::regions;
namespace os = weir::os;

constexpr int nodes = 8;
constexpr std::uint64_t gib = std::uint64_t{1} << 30;
constexpr std::uintptr_t base = std::uintptr_t{1} << 40;  // addresses will do, no memory is looked at

template <class F>
double ns_each(int times, F&& f) {
  double least = std::numeric_limits<double>::max();
  for (int round = 0; round < 5; round++) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < times; i++) f(static_cast<std::uintptr_t>(i));
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count() / times);
  }
  return least;
}

std::uint64_t sum = 0;  // printed, so that nothing is left out

void look_up(regions& r, std::uintptr_t memory, const char* how) {
  const auto add = [](std::uint64_t bytes, int node) { sum += bytes * static_cast<std::uint64_t>(node + 2); };
  const std::uint64_t page = r.page_bytes();
  std::printf(
      "%-22s %8.1f ns a page, %8.1f ns for 16 pages, %8.1f ns for 1 GiB; %.1f ns to see that 16 are known\n", how,
      ns_each(1'000'000, [&](std::uintptr_t i) { r.for_each_part(memory + i % (gib / page) * page, 64, add); }),
      ns_each(1'000'000,
              [&](std::uintptr_t i) { r.for_each_part(memory + i % (gib / page / 16) * 16 * page, 16 * page, add); }),
      ns_each(100, [&](std::uintptr_t) { r.for_each_part(memory, gib, add); }),
      ns_each(1'000'000, [&](std::uintptr_t i) { r.read({memory + i % (gib / page / 16) * 16 * page, 16 * page}); }));
}

// Of 16 x 16 tiles, whose tasks name their neighbours, too.
void remember(regions& r) {
  constexpr std::uint64_t tiles = 256, stride = 8192, width = 512, rows = 64;
  const auto name = [](std::uint64_t i) {
    return weir::memory::remembered::name(base + i / 16 * rows * stride + i % 16 * width, rows * width, stride, width);
  };
  for (std::uint64_t i = 0; i < tiles; i++) r.remember(name(i), 1, r.changes());
  const double ns = ns_each(1'000'000, [&](std::uintptr_t i) {
    sum += static_cast<std::uint64_t>(r.remembered_node(name(i % tiles)) + 2);
  });
  std::printf("a tile that is remembered: %.1f ns\n", ns);
}

void ask(std::size_t pages) {
  std::vector<char> memory((pages + 1) * os::page_bytes(), 1);
  std::vector<const void*> asked;
  for (std::size_t i = 0; i < pages; i++) asked.push_back(memory.data() + i * os::page_bytes());
  std::vector<int> told(pages);
  bool tells = true;
  const double ns = ns_each(1000, [&](std::uintptr_t) { tells &= os::host_memory().nodes_of(asked, told); });
  std::printf("the system asked for %zu: %.0f ns%s\n", pages, ns, tells ? "" : ", and it does not tell");
}

}  // namespace

int main() {
  std::vector<int> os_nodes;
  for (int n = 0; n < nodes; n++) os_nodes.push_back(n);
  regions r(os::pretended_memory(), os_nodes);
  const std::uint64_t page = r.page_bytes();
  r.placed(base, gib, 1);
  look_up(r, base, "on one node");
  remember(r);
  const std::array<std::uint64_t, 2> runs{16, 1};
  for (const std::uint64_t run : runs) {
    const std::uintptr_t memory = base + 2 * gib * run;
    for (std::uint64_t p = 0; p < gib / page; p += run)
      r.placed(memory + p * page, run * page, static_cast<int>(p / run % nodes));
    look_up(r, memory, run == 1 ? "page by page on 8" : "16 pages in turn on 8");
  }
  for (const std::size_t pages : {std::size_t{1}, regions::pages_looked_at}) ask(pages);
  std::printf("(%llu)\n", static_cast<unsigned long long>(sum));
}
