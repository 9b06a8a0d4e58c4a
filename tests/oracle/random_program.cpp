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

// Of an array, if it has any: matrices there, by where they begin and how long their rows are.
struct matrix {
  std::size_t first, stride;
};
using matrices = std::vector<std::vector<matrix>>;

range_access random_tile(generator& random, std::size_t array, std::size_t size, const matrix& m) {
  const std::size_t rows = std::max<std::size_t>(1, (size - m.first) / m.stride);
  const std::size_t width = std::min(m.stride, size - m.first);
  const auto part = [&](std::size_t all, std::size_t& first, std::size_t& count) {
    first = chance(random, 30) ? 0 : between(random, 0, all - 1);
    count = chance(random, 30) ? all - first : between(random, 1, std::min<std::size_t>(all - first, 4));
  };
  std::size_t row = 0, row_count = 0, column = 0, column_count = 0;
  part(rows, row, row_count);
  part(width, column, column_count);
  return {mode::in, array, m.first + row * m.stride + column, column_count, row_count, m.stride, m.first};
}

// Blocks of a matrix, some with a halo around them, and panels.
void add_tiles(generator& random, std::size_t array, std::size_t size, const matrix& m,
               std::vector<range_access>& all) {
  const std::size_t rows = (size - m.first) / m.stride;
  if (rows == 0) return;
  const std::size_t height = between(random, 1, rows), width = between(random, 1, m.stride);
  const auto add = [&](std::size_t row, std::size_t end_row, std::size_t column, std::size_t end_column) {
    all.push_back({mode::in, array, m.first + row * m.stride + column, end_column - column, end_row - row, m.stride,
                   m.first});
  };
  for (std::size_t row = 0; row < rows && all.size() < 60; row += height)
    for (std::size_t column = 0; column < m.stride; column += width) {
      const std::size_t end_row = std::min(rows, row + height), end_column = std::min(m.stride, column + width);
      add(row, end_row, column, end_column);
      if (chance(random, 30))
        add(row - std::min<std::size_t>(row, 1), std::min(rows, end_row + 1),
            column - std::min<std::size_t>(column, 1), std::min(m.stride, end_column + 1));
      if (chance(random, 10)) add(row, rows, column, end_column);
      if (chance(random, 10)) add(row, end_row, column, m.stride);
    }
  for (std::size_t n = between(random, 0, 3); n > 0; n--) all.push_back(random_tile(random, array, size, m));
}

// Of most programs none has any; in others most have one, and if they may meet, several.
matrices random_matrices(generator& random, const std::vector<std::size_t>& sizes, bool may_meet) {
  matrices all(sizes.size());
  if (chance(random, 40)) return all;
  const std::size_t stride = between(random, 1, 40);
  for (std::size_t array = 0; array < sizes.size(); array++) {
    if (chance(random, 20) || sizes[array] < 4) continue;
    if (sizes[array] >= stride) all[array].push_back({0, stride});
    while (may_meet && chance(random, 50)) {
      const std::size_t first = chance(random, 50) ? 0 : between(random, 0, sizes[array] / 2);
      all[array].push_back({first, chance(random, 40) ? stride : between(random, 1, sizes[array] - first)});
      if (sizes[array] - first < all[array].back().stride) all[array].pop_back();
    }
  }
  return all;
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

// Ranges that come again and again: blocks and their halos, nested ones, halves, single bytes, all of an array, tiles.
std::vector<range_access> usual_ranges(generator& random, const std::vector<std::size_t>& sizes, const matrices& of) {
  std::vector<range_access> all;
  for (std::size_t array = 0; array < sizes.size(); array++) {
    const std::size_t size = sizes[array];
    if (chance(random, 60)) add_blocks(random, array, size, all);
    if (chance(random, 30)) add_nested(random, array, size, all);
    if (chance(random, 60)) all.push_back({mode::in, array, 0, size});
    if (chance(random, 20)) all.push_back({mode::in, array, between(random, 0, size), 0});
    if (chance(random, 30))
      for (std::size_t i = 0; i < std::min<std::size_t>(size, 5); i++) all.push_back({mode::in, array, i, 1});
    for (const matrix& m : of[array]) add_tiles(random, array, size, m, all);
  }
  for (std::size_t n = between(random, 1, 4); n > 0; n--) all.push_back(random_range(random, sizes));
  return all;
}

// With any mode, of those given or a new one.
range_access random_access(generator& random, const std::vector<std::size_t>& sizes, const matrices& of,
                           const std::vector<range_access>& usual, std::size_t percent_usual, std::size_t percent_in) {
  const bool again = chance(random, percent_usual);
  range_access a = again ? usual[between(random, 0, usual.size() - 1)] : random_range(random, sizes);
  if (!again && !of[a.array].empty() && chance(random, 50)) {
    const std::vector<matrix>& there = of[a.array];
    a = random_tile(random, a.array, sizes[a.array], there[between(random, 0, there.size() - 1)]);
  }
  a.how = chance(random, percent_in) ? mode::in : chance(random, 50) ? mode::out : mode::inout;
  return a;
}

void add_any(generator& random, range_program& p, std::size_t most_tasks, bool may_meet) {
  for (std::size_t n = between(random, 1, 3); n > 0; n--) p.sizes.push_back(random_size(random));
  const bool large = *std::max_element(p.sizes.begin(), p.sizes.end()) > 500;
  const std::size_t tasks = between(random, 1, large ? std::max<std::size_t>(1, most_tasks / 4) : most_tasks);
  const matrices of = random_matrices(random, p.sizes, may_meet);
  const std::vector<range_access> usual = usual_ranges(random, p.sizes, of);
  static constexpr std::size_t shares[] = {60, 90, 100};
  static constexpr std::size_t reads[] = {25, 50, 80};
  const std::size_t percent_usual = shares[between(random, 0, 2)], percent_in = reads[between(random, 0, 2)];
  for (std::size_t t = 0; t < tasks; t++) {
    range_task task;
    for (std::size_t n = random_count(random); n > 0; n--) {
      range_access a = random_access(random, p.sizes, of, usual, percent_usual, percent_in);
      if (!task.accesses.empty() && chance(random, 12)) {  // the same range once more
        const mode how = a.how;
        a = task.accesses.back();
        a.how = how;
      }
      const auto tiles = std::ranges::count_if(task.accesses, &range_access::is_tile);
      if (!a.is_tile() || static_cast<std::size_t>(tiles) < most_tiles) task.accesses.push_back(a);
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
      return k.how == mode::out && overlap(k, a);
    });
    if (!overwritten) kept.push_back(a);
  }
  t.accesses = std::move(kept);
}

void add_the_rest(generator& random, range_program& p, const range_limits& limits, bool failing) {
  p.creator = failing ? creation::program : static_cast<creation>(between(random, 0, 3));
  p.data = limits.data && !failing && chance(random, 30) ? between(random, 1, most_data) : 0;
  const std::size_t percent_yields = chance(random, 50) ? 30 : 0;
  const std::size_t percent_waits = limits.waits && chance(random, 30) ? between(random, 1, 12) : 0;
  for (std::size_t t = 0; t < p.tasks.size(); t++) {
    range_task& task = p.tasks[t];
    task.number = t;
    task.in_groups = chance(random, 10);
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

range_program random_program(std::uint64_t seed, const range_limits& limits) {
  generator random(seed);
  range_program p;
  const bool failing = limits.failures && chance(random, 20);
  // Tiles that meet wait for more than they must, and are skipped if that is lost; so are those of arrays side by
  // side.
  const bool may_meet = limits.meeting_tiles && !failing;
  p.needs_fresh_memory = !may_meet;
  if (chance(random, 15)) add_sweeps(random, p, limits.most_tasks);
  else add_any(random, p, chance(random, 10) ? 4 * limits.most_tasks : limits.most_tasks, may_meet);
  constexpr std::size_t apart = 100;  // more than a row of a matrix
  for (std::size_t i = 0; i < p.sizes.size(); i++)
    p.gaps.push_back(!may_meet ? apart : chance(random, 60) ? 0 : between(random, 1, 70));
  add_the_rest(random, p, limits, failing);
  return p;
}

}  // namespace weir::test
