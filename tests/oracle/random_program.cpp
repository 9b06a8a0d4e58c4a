// Which programs over ranges are tried: mostly the same ranges again and again, as in real programs, and what is rare.
#include "tests/oracle/range_program.hpp"

#include <algorithm>

namespace weir::test {
namespace {

using generator = std::mt19937_64;

bool chance(generator& random, std::size_t percent) { return between(random, 1, 100) <= percent; }

std::size_t random_size(generator& random) {
  const std::size_t kind = between(random, 0, 99);
  if (kind < 10) return between(random, 1, 4);
  if (kind < 60) return between(random, 5, 40);
  if (kind < 95) return between(random, 41, 160);
  return between(random, 1000, 3000);
}

range_access random_range(generator& random, const std::vector<std::size_t>& sizes) {
  const std::size_t array = between(random, 0, sizes.size() - 1), size = sizes[array];
  const std::size_t first = between(random, 0, size - 1), most = size - first;
  switch (between(random, 0, 9)) {
    case 0: return {mode::in, array, first, 0};
    case 1: return {mode::in, array, 0, size};
    case 2: return {mode::in, array, first, 1};
    case 3: return {mode::in, array, first, between(random, 1, most)};
    default: return {mode::in, array, first, between(random, 1, std::min<std::size_t>(most, 9))};
  }
}

// Blocks of an array, each with its edges and with a halo around it.
void add_blocks(generator& random, std::size_t array, std::size_t size, std::vector<range_access>& all) {
  const std::size_t blocks = between(random, 1, std::min<std::size_t>(size, 6));
  const std::size_t halo = between(random, 1, 3);
  for (std::size_t b = 0; b < blocks; b++) {
    const std::size_t first = b * size / blocks, end = (b + 1) * size / blocks;
    const std::size_t wide_first = first - std::min(first, halo), wide_end = std::min(size, end + halo);
    const std::size_t edge = std::min(halo, end - first);
    all.push_back({mode::in, array, first, end - first});
    if (chance(random, 50)) all.push_back({mode::in, array, wide_first, wide_end - wide_first});
    if (chance(random, 50)) all.push_back({mode::in, array, first, edge});
    if (chance(random, 50)) all.push_back({mode::in, array, end - edge, edge});
  }
}

void add_nested(generator& random, std::size_t array, std::size_t size, std::vector<range_access>& all) {
  for (std::size_t i = 0; 2 * i < size; i += between(random, 1, 1 + size / 4))
    all.push_back({mode::in, array, i, size - 2 * i});
}

// Old and new by turns, or in place: sweeps over blocks that read their neighbours' edges.
void add_sweeps(generator& random, range_program& p, std::size_t most_tasks) {
  const std::size_t blocks = between(random, 2, 7), each = between(random, 1, 12), halo = between(random, 1, each);
  const bool in_place = chance(random, 50);
  p.sizes.assign(in_place ? 1 : 2, blocks * each);
  const auto add = [&](std::size_t step, std::size_t b) {
    const std::size_t from = in_place ? 0 : step % 2, to = in_place ? 0 : 1 - step % 2;
    range_task t;
    if (b > 0) t.accesses.push_back({mode::in, from, b * each - halo, halo});
    if (!in_place) t.accesses.push_back({mode::in, from, b * each, each});
    if (b + 1 < blocks) t.accesses.push_back({mode::in, from, (b + 1) * each, halo});
    t.accesses.push_back({in_place ? mode::inout : mode::out, to, b * each, each});
    p.tasks.push_back(std::move(t));
  };
  for (std::size_t step = 0; p.tasks.size() + blocks <= std::max(most_tasks, blocks); step++) {
    for (std::size_t b = 0; b < blocks; b++) add(step, b);
    // Somebody looks at all of it, or starts anew.
    if (chance(random, 20))
      p.tasks.push_back({.accesses = {{chance(random, 50) ? mode::in : mode::out, 0, 0, p.sizes[0]}}});
  }
}

std::size_t random_count(generator& random) {
  static constexpr std::size_t counts[] = {0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6};
  return counts[between(random, 0, std::size(counts) - 1)];
}

void add_any(generator& random, range_program& p, std::size_t most_tasks) {
  for (std::size_t n = between(random, 1, 3); n > 0; n--) p.sizes.push_back(random_size(random));
  const bool large = *std::max_element(p.sizes.begin(), p.sizes.end()) > 500;
  const std::size_t tasks = between(random, 1, large ? std::max<std::size_t>(1, most_tasks / 4) : most_tasks);
  const std::vector<range_access> usual = usual_ranges(random, p.sizes);
  static constexpr std::size_t shares[] = {60, 90, 100};
  static constexpr std::size_t reads[] = {25, 50, 80};
  const std::size_t percent_usual = shares[between(random, 0, 2)], percent_in = reads[between(random, 0, 2)];
  for (std::size_t t = 0; t < tasks; t++) {
    range_task task;
    for (std::size_t n = random_count(random); n > 0; n--) {
      range_access a = random_access(random, p.sizes, usual, percent_usual, percent_in);
      if (!task.accesses.empty() && chance(random, 12)) {  // the same range once more
        const mode how = a.how;
        a = task.accesses.back();
        a.how = how;
      }
      task.accesses.push_back(a);
    }
    p.tasks.push_back(std::move(task));
  }
}

// Whether a task that overwrites bytes and names them again to read them depends on who wrote them before is a
// question of its own (range_failures_test.cpp), and what it reads must not decide what is skipped here.
void read_before_overwriting(range_task& t) {
  std::vector<range_access> kept;
  for (const range_access& a : t.accesses) {
    const bool overwritten = does_read(a.how) && std::any_of(kept.begin(), kept.end(), [&](const range_access& k) {
      return k.how == mode::out && k.array == a.array && k.first < a.first + a.count && a.first < k.first + k.count;
    });
    if (!overwritten) kept.push_back(a);
  }
  t.accesses = std::move(kept);
}

void add_the_rest(generator& random, range_program& p, const range_limits& limits) {
  const bool failing = limits.failures && chance(random, 20);
  p.creator = failing ? creation::program : static_cast<creation>(between(random, 0, 3));
  p.data = limits.data && !failing && chance(random, 30) ? between(random, 1, most_data) : 0;
  const std::size_t percent_yields = chance(random, 50) ? 30 : 0;
  const std::size_t percent_waits = limits.waits && chance(random, 30) ? between(random, 1, 12) : 0;
  for (std::size_t t = 0; t < p.tasks.size(); t++) {
    range_task& task = p.tasks[t];
    task.number = t;
    task.yields = chance(random, percent_yields);
    task.waits_before = chance(random, percent_waits);
    if (limits.children && !failing && chance(random, 2)) task.children = between(random, 1, 8);
    for (std::size_t d = 0; d < p.data; d++)
      if (chance(random, 40)) task.data[d] = static_cast<datum_use>(between(random, 1, 4));
    if (task.accesses.size() > most_ranges_in_any_order)
      std::stable_sort(task.accesses.begin(), task.accesses.end(), [](auto& a, auto& b) { return a.how < b.how; });
    if (failing) {
      task.fails = chance(random, 8);
      read_before_overwriting(task);
    }
  }
}

}  // namespace

std::vector<range_access> usual_ranges(std::mt19937_64& random, const std::vector<std::size_t>& sizes) {
  std::vector<range_access> all;
  for (std::size_t array = 0; array < sizes.size(); array++) {
    const std::size_t size = sizes[array];
    if (chance(random, 60)) add_blocks(random, array, size, all);
    if (chance(random, 30)) add_nested(random, array, size, all);
    if (chance(random, 60)) all.push_back({mode::in, array, 0, size});
    if (chance(random, 20)) all.push_back({mode::in, array, between(random, 0, size), 0});
    if (chance(random, 30))
      for (std::size_t i = 0; i < std::min<std::size_t>(size, 5); i++) all.push_back({mode::in, array, i, 1});
  }
  for (std::size_t n = between(random, 1, 4); n > 0; n--) all.push_back(random_range(random, sizes));
  return all;
}

range_access random_access(std::mt19937_64& random, const std::vector<std::size_t>& sizes,
                           const std::vector<range_access>& usual, std::size_t percent_usual, std::size_t percent_in) {
  const bool again = chance(random, percent_usual);
  range_access a = again ? usual[between(random, 0, usual.size() - 1)] : random_range(random, sizes);
  a.how = chance(random, percent_in) ? mode::in : chance(random, 50) ? mode::out : mode::inout;
  return a;
}

range_program random_program(std::uint64_t seed, const range_limits& limits) {
  generator random(seed);
  range_program p;
  if (chance(random, 15)) add_sweeps(random, p, limits.most_tasks);
  else add_any(random, p, chance(random, 10) ? 4 * limits.most_tasks : limits.most_tasks);
  for (std::size_t i = 0; i < p.sizes.size(); i++) p.gaps.push_back(chance(random, 60) ? 0 : between(random, 1, 70));
  add_the_rest(random, p, limits);
  return p;
}

}  // namespace weir::test
