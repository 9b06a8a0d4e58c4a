// One function a shape.
#include "scheduling/programs.hpp"

#include "base/base.hpp"

#include <functional>
#include <utility>

namespace weir::bench {
namespace {

using engine::sim::program;
using engine::sim::task;

// Collects a program; all tasks are created by the program's thread unless they are given to a parent.
class builder {
 public:
  builder(std::uint64_t task_ns, bool from_values) : task_ns_(task_ns) { made_.data_have_values = from_values; }

  int datum(std::uint64_t bytes) {
    made_.datum_bytes.push_back(bytes);
    const int index = static_cast<int>(made_.datum_bytes.size()) - 1;
    if (!made_.data_have_values) add({.ns = task_ns_ / 4, .out = {index}});
    return index;
  }
  std::vector<int> data(int n, std::uint64_t bytes) {
    std::vector<int> all;
    for (int i = 0; i < n; i++) all.push_back(datum(bytes));
    return all;
  }
  int add(task t, int parent = -1) {
    if (t.ns == 0) t.ns = task_ns_;
    const int index = static_cast<int>(made_.tasks.size());
    made_.tasks.push_back(std::move(t));
    (parent < 0 ? made_.creates : made_.tasks[static_cast<std::size_t>(parent)].creates).push_back(index);
    return index;
  }
  std::uint64_t task_ns() const { return task_ns_; }
  program take() { return std::move(made_); }

 private:
  const std::uint64_t task_ns_;
  program made_;
};

constexpr std::uint64_t kib = 1024;

void chains(builder& b, int workers) {
  for (const int d : b.data(2 * workers, 4 * kib))
    for (int i = 0; i < 20; i++) b.add({.inout = {d}});
}

void wavefront(builder& b, int workers) {
  const int n = workers < 64 ? 24 : 48;
  std::vector<std::vector<int>> d;
  for (int i = 0; i < n; i++) d.push_back(b.data(n, 4 * kib));
  const auto at = [&](int i, int j) { return d[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]; };
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      task t{.inout = {at(i, j)}};
      if (i > 0) t.in.push_back(at(i - 1, j));
      if (j > 0) t.in.push_back(at(i, j - 1));
      b.add(std::move(t));
    }
}

// A sweep over a line of blocks, new versions each time.
void stencil(builder& b, int workers) {
  const int n = 4 * workers;
  std::vector<int> now = b.data(n, 16 * kib), next = b.data(n, 16 * kib);
  for (int step = 0; step < 10; step++) {
    for (int i = 0; i < n; i++) {
      task t{.out = {next[static_cast<std::size_t>(i)]}};
      for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); j++)
        t.in.push_back(now[static_cast<std::size_t>(j)]);
      b.add(std::move(t));
    }
    std::swap(now, next);
  }
}

// Seidel's: updates in place, along wavefronts.
void sweep_in_place(builder& b, int workers) {
  const std::vector<int> d = b.data(4 * workers, 16 * kib);
  for (int step = 0; step < 10; step++)
    for (std::size_t i = 0; i < d.size(); i++) {
      task t{.inout = {d[i]}};
      if (i > 0) t.in.push_back(d[i - 1]);
      if (i + 1 < d.size()) t.in.push_back(d[i + 1]);
      b.add(std::move(t));
    }
}

void reduction(builder& b, int workers) {
  std::vector<int> level = b.data(16 * workers, 4 * kib);
  while (level.size() > 1) {
    std::vector<int> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
      const int d = b.datum(4 * kib);
      b.add({.in = {level[i], level[i + 1]}, .out = {}, .inout = {d}});
      next.push_back(d);
    }
    if (level.size() % 2 != 0) next.push_back(level.back());
    level = std::move(next);
  }
}

void pipeline(builder& b, int workers) {
  const int stages = 8, items = 8 * workers;
  const std::vector<int> state = b.data(stages, 8 * kib);
  for (int i = 0; i < items; i++) {
    const int item = b.datum(4 * kib);
    for (int s = 0; s < stages; s++)
      if (s % 4 == 0) b.add({.inout = {state[static_cast<std::size_t>(s)], item}});
      else b.add({.in = {state[static_cast<std::size_t>(s)]}, .inout = {item}});
  }
}

void hot_datum(builder& b, int workers) {
  const int hot = b.datum(64 * kib);
  const std::vector<int> own = b.data(4 * workers, 4 * kib);
  for (int round = 0; round < 5; round++) {
    for (const int d : own) b.add({.in = {hot}, .inout = {d}});
    b.add({.inout = {hot}});
  }
}

void map_rounds(builder& b, int workers) {
  const std::vector<int> d = b.data(8 * workers, 8 * kib);
  for (int round = 0; round < 8; round++)
    for (const int i : d) b.add({.inout = {i}});
}

// Tiles of the lower triangle: factorise, solve, update.
void cholesky(builder& b, int workers) {
  const int n = workers < 64 ? 10 : 18;
  std::vector<std::vector<int>> d;
  for (int i = 0; i < n; i++) d.push_back(b.data(i + 1, 32 * kib));
  const auto at = [&](int i, int j) { return d[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]; };
  for (int k = 0; k < n; k++) {
    b.add({.ns = b.task_ns() / 2, .inout = {at(k, k)}});
    for (int i = k + 1; i < n; i++) b.add({.in = {at(k, k)}, .inout = {at(i, k)}});
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j <= i; j++) {
        task t{.ns = 2 * b.task_ns(), .in = {at(i, k)}, .inout = {at(i, j)}};
        if (j != i) t.in.push_back(at(j, k));
        b.add(std::move(t));
      }
  }
}

// Bitonic: each task reads and writes two blocks whose distance changes.
void butterfly(builder& b, int workers) {
  int n = 1;
  while (n < 4 * workers) n *= 2;
  const std::vector<int> d = b.data(n, 16 * kib);
  for (int distance = 1; distance < n; distance *= 2)
    for (int i = 0; i < n; i++)
      if ((i & distance) == 0)
        b.add({.inout = {d[static_cast<std::size_t>(i)], d[static_cast<std::size_t>(i + distance)]}});
}

void random_graph(builder& b, int workers) {
  rng random(17);
  const std::vector<int> d = b.data(6 * workers, 8 * kib);
  const auto any = [&] { return static_cast<int>(random.below(static_cast<std::uint32_t>(d.size()))); };
  for (int i = 0; i < 60 * workers; i++) {
    const int x = any(), y = any();
    task t{.ns = b.task_ns() / 2 + random.below(static_cast<std::uint32_t>(b.task_ns())),
           .inout = {d[static_cast<std::size_t>(x)]}};
    if (x != y) t.in.push_back(d[static_cast<std::size_t>(y)]);
    b.add(std::move(t));
  }
}

// One long task among short ones, again and again.
void uneven(builder& b, int workers) {
  const std::vector<int> d = b.data(8 * workers, 8 * kib);
  for (int round = 0; round < 4; round++)
    for (std::size_t i = 0; i < d.size(); i++)
      b.add({.ns = i % 32 == 0 ? 20 * b.task_ns() : b.task_ns(), .inout = {d[i]}});
}

// Without data: a tree of tasks, and many that one creates.
void tree(builder& b, int workers) {
  const std::function<void(int, int)> grow = [&](int parent, int depth) {
    const int me = b.add({.ns = b.task_ns() / 2}, parent);
    for (int c = 0; c < 2 && depth > 0; c++) grow(me, depth - 1);
  };
  grow(-1, workers < 64 ? 9 : 12);
}

void fork_join(builder& b, int workers) {
  const int token = b.datum(8);
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < workers; i++) b.add({.ns = 4 * b.task_ns(), .in = {token}});
    b.add({.ns = 1000, .inout = {token}});
  }
}

void one_creator(builder& b, int workers) {
  const int creator = b.add({.ns = 1000});
  for (int i = 0; i < 40 * workers; i++) b.add({}, creator);
}

}  // namespace

std::vector<named_program> simulated_programs(int workers, std::uint64_t task_ns) {
  const std::pair<const char*, void (*)(builder&, int)> shapes[] = {{"chains", chains},
                                                                    {"wavefront", wavefront},
                                                                    {"stencil", stencil},
                                                                    {"sweep-in-place", sweep_in_place},
                                                                    {"reduction", reduction},
                                                                    {"pipeline", pipeline},
                                                                    {"hot-datum", hot_datum},
                                                                    {"map-rounds", map_rounds},
                                                                    {"cholesky", cholesky},
                                                                    {"butterfly", butterfly},
                                                                    {"random-graph", random_graph},
                                                                    {"uneven", uneven},
                                                                    {"tree", tree},
                                                                    {"fork-join", fork_join},
                                                                    {"one-creator", one_creator}};
  std::vector<named_program> all;
  for (const auto& [name, build] : shapes)
    for (const bool from_values : {true, false}) {
      builder b(task_ns, from_values);
      build(b, workers);
      all.push_back({std::string(name) + (from_values ? "" : ", spread"), b.take()});
    }
  return all;
}

}  // namespace weir::bench
