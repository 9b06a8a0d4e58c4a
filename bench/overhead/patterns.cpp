// The patterns: names, and who depends on whom.
#include <bench/overhead/patterns.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace weir::bench::overhead {
namespace {

// Rows of random columns before they repeat: enough that no runtime can get used to them, few enough to stay in cache.
constexpr std::size_t random_rows = 64;

// Columns where each has only a few numbers of its own: beyond that the table of who reads whom takes gigabytes.
constexpr std::uint32_t many_columns = 1 << 24;

constexpr pattern table[] = {
    {.name = "independent", .description = "tasks without data", .shape = form::independent},
    {.name = "chains", .description = "16 chains, each task updates its chain's datum", .in_place = true, .width = 16},
    {.name = "stencil", .description = "columns i-1, i, i+1 of the step before"},
    {.name = "replay-stencil", .description = "stencil, built once and replayed", .replay = true},
    {.name = "fib", .description = "each call spawns two and waits for them", .shape = form::fib},
    {.name = "reduction-tree", .description = "binary trees, one after the other"},
    {.name = "fft", .description = "columns i, i-2^k, i+2^k, k in turn"},
    {.name = "all-to-all", .description = "all columns of the step before", .width = 16},
    {.name = "random-graph", .description = "0 to 4 random columns", .random = true},
    {.name = "dependences", .description = "the nearest D columns", .dependences = true},
    {.name = "creators",
     .description = "as chains, created by --creators tasks",
     .in_place = true,
     .creators = true,
     .width = 16},
    {.name = "commutative",
     .description = "8 tasks update a datum in any order, one at a time; then one alone",
     .in_place = true,
     .updates = group::commutative},
    {.name = "concurrent",
     .description = "8 tasks update a datum at the same time; then one alone",
     .in_place = true,
     .updates = group::concurrent},
    {.name = "ref-chains",
     .description = "as chains, on own memory: a number a column",
     .in_place = true,
     .values = memory::cells,
     .width = 16,
     .most_width = many_columns},
    {.name = "ref-creators",
     .description = "as ref-chains, created by --creators tasks",
     .in_place = true,
     .creators = true,
     .values = memory::cells,
     .width = 16,
     .most_width = many_columns},
    {.name = "ref-commutative",
     .description = "as commutative, on own memory: a number for eight columns",
     .in_place = true,
     .values = memory::cells,
     .updates = group::commutative},
    {.name = "ref-concurrent",
     .description = "as concurrent, on own memory: a number for eight columns",
     .in_place = true,
     .values = memory::cells,
     .updates = group::concurrent},
    {.name = "ref-stencil",
     .description = "as stencil, on own memory: a number a column",
     .values = memory::cells,
     .most_width = many_columns},
    {.name = "ref-blocks", .description = "as ref-stencil, 4 KiB a column", .values = memory::blocks},
    {.name = "ref-tiles",
     .description = "as ref-blocks, a column is a tile of 16 rows of a matrix",
     .values = memory::tiles},
    {.name = "ref-halo",
     .description = "as ref-blocks, reads its column and a number on either side as one range",
     .values = memory::strips},
    {.name = "ref-fresh",
     .description = "each task names own memory that none has named",
     .shape = form::independent,
     .values = memory::fresh},
    {.name = "trivial", .description = "no dependences"},
    {.name = "stencil_1d", .description = "as stencil"},
    {.name = "tree", .description = "column i/2; the width doubles from step to step"},
    {.name = "random_nearest", .description = "each of the columns i-2 to i+2 with probability 1/2", .random = true},
};

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(next() % n); }

 private:
  std::uint64_t state_;
};

// A row of `width` tasks; columns(i, add) calls add(j) for each column that task i reads.
template <class Columns>
row make_row(std::uint32_t width, const Columns& columns) {
  row r;
  for (std::uint32_t i = 0; i < width; i++) {
    columns(i, [&](std::uint32_t j) { r.add_column(j); });
    r.end_task();
  }
  return r;
}

row without_dependences(std::uint32_t width) {
  return make_row(width, [](std::uint32_t, const auto&) {});
}

// The `count` columns nearest to i, shifted inwards at the sides if there must be that many, cut off otherwise.
row nearest(std::uint32_t width, std::uint32_t count, bool cut_off) {
  return make_row(width, [&](std::uint32_t i, const auto& add) {
    const std::int64_t last_start = static_cast<std::int64_t>(width) - count;
    std::int64_t first = static_cast<std::int64_t>(i) - count / 2;
    if (!cut_off) first = std::clamp<std::int64_t>(first, 0, last_start);
    for (std::int64_t j = std::max<std::int64_t>(first, 0); j < std::min<std::int64_t>(first + count, width); j++) add(static_cast<std::uint32_t>(j));
  });
}

row butterfly(std::uint32_t width, std::uint32_t distance) {
  return make_row(width, [&](std::uint32_t i, const auto& add) {
    if (i >= distance) add(i - distance);
    add(i);
    if (i + distance < width) add(i + distance);
  });
}

row random_graph(std::uint32_t width, random_numbers& random) {
  return make_row(width, [&](std::uint32_t, const auto& add) {
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t n = random.below(std::min(width, 4u) + 1); chosen.size() < n;) {
      const std::uint32_t j = random.below(width);
      if (std::ranges::find(chosen, j) == chosen.end()) chosen.push_back(j);
    }
    std::ranges::sort(chosen);
    for (const std::uint32_t j : chosen) add(j);
  });
}

row random_nearest(std::uint32_t width, random_numbers& random) {
  return make_row(width, [&](std::uint32_t i, const auto& add) {
    for (std::uint32_t j = i < 2 ? 0 : i - 2; j <= i + 2; j++)
      if ((random.next() & 1) != 0 && j < width) add(j);
  });
}

// Leaves, then half as many tasks from step to step down to one; then the next tree's leaves.
std::vector<row> reduction(std::uint32_t width) {
  std::vector<row> rows = {without_dependences(width)};
  for (std::uint32_t above = width; above > 1; above = (above + 1) / 2)
    rows.push_back(make_row((above + 1) / 2, [&](std::uint32_t i, const auto& add) {
      add(2 * i);
      if (2 * i + 1 < above) add(2 * i + 1);
    }));
  return rows;
}

// Who updates a value alone, and after it those who update it in a group.
std::vector<row> groups_in_turn(std::uint32_t width) {
  const std::uint32_t values = (width + members_of_group - 1) / members_of_group;
  return {make_row(width, [](std::uint32_t i, const auto& add) { add(i / members_of_group); }),
          make_row(values, [&](std::uint32_t i, const auto& add) {
            for (std::uint32_t j = members_of_group * i; j < std::min(width, members_of_group * (i + 1)); j++) add(j);
          })};
}

}  // namespace

std::span<const pattern> patterns() { return table; }

const pattern* find_pattern(std::string_view name) {
  const auto found = std::ranges::find(table, name, &pattern::name);
  return found == std::end(table) ? nullptr : found;
}

grid::grid(const pattern& p, std::uint32_t width, std::uint32_t dependences, std::uint64_t seed) : width_(width) {
  random_numbers random(seed);
  rows_.push_back(without_dependences(width));
  if (p.in_place && !p.has_groups()) rows_.push_back(nearest(width, 1, true));
  if (p.name == "stencil" || p.name == "replay-stencil" || p.name == "stencil_1d" || (p.by_address() && !p.in_place))
    rows_.push_back(nearest(width, 3, true));
  if (p.name == "dependences") rows_.push_back(nearest(width, dependences, false));
  if (p.name == "all-to-all") rows_.push_back(nearest(width, width, false));
  if (p.name == "trivial") rows_.push_back(without_dependences(width));
  if (p.name == "fft")
    for (std::uint32_t k = 0; k == 0 || k + 1 < static_cast<std::uint32_t>(std::bit_width(width)); k++) rows_.push_back(butterfly(width, 1u << k));
  if (p.name == "random-graph")
    for (std::size_t r = 0; r < random_rows; r++) rows_.push_back(random_graph(width, random));
  if (p.name == "random_nearest")
    for (std::size_t r = 0; r < random_rows; r++) rows_.push_back(random_nearest(width, random));
  if (p.has_groups()) {
    std::vector<row> in_turn = groups_in_turn(width);
    rows_ = {without_dependences(in_turn[1].width()), std::move(in_turn[0]), std::move(in_turn[1])};
  }
  if (p.name == "reduction-tree") {
    rows_ = reduction(width);
    repeated_ = 0;
  }
  if (p.name == "tree") {
    const auto parent = [](std::uint32_t i, const auto& add) { add(i / 2); };
    rows_ = {without_dependences(1)};
    while (rows_.back().width() < width) rows_.push_back(make_row(std::min(width, 2 * rows_.back().width()), parent));
    rows_.push_back(make_row(width, parent));
    repeated_ = rows_.size() - 1;
  }
}

std::uint32_t grid::most_dependences() const {
  std::size_t most = 0;
  for (const row& r : rows_)
    for (std::uint32_t i = 0; i < r.width(); i++) most = std::max(most, r.before(i).size());
  return static_cast<std::uint32_t>(most);
}

std::uint64_t grid::tasks_in(std::uint64_t steps) const {
  std::uint64_t tasks = 0;
  for (std::uint64_t step = 0, r = 0; step < steps; step++) {
    tasks += rows_[r].width();
    if (++r == rows_.size()) r = repeated_;
  }
  return tasks;
}

// By rows, not by tasks: it is no part of what a task costs, for whoever counts instructions.
double grid::mean_dependences(std::uint64_t tasks) const {
  std::uint64_t sum = 0, left = tasks;
  for (std::size_t r = 0; left > 0;) {
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, rows_[r].width()));
    sum += rows_[r].dependences(count);
    left -= count;
    if (++r == rows_.size()) r = repeated_;
  }
  return tasks == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(tasks);
}

std::uint64_t fib_value(unsigned n) {
  std::uint64_t value = 0, next = 1;
  for (; n > 0; n--) value = std::exchange(next, value + next);
  return value;
}

// fib(n) is 2 fib_value(n+1) - 1 calls, and all but the first are tasks.
std::uint64_t fib_tasks(unsigned n) { return 2 * fib_value(n + 1) - 2; }

unsigned fib_within(std::uint64_t tasks) {
  unsigned n = 0;
  while (n < 80 && fib_tasks(n + 1) <= tasks) n++;
  return n;
}

}  // namespace weir::bench::overhead
