// One function a graph.
#include "partition/graphs.hpp"

#include "base/base.hpp"

#include <algorithm>

namespace weir::bench {

using partition::vertex;

namespace {

constexpr std::uint64_t own = 128, halo = 4;
constexpr std::uint64_t usual_ns = 10'000;

vertex at(std::size_t i) { return static_cast<vertex>(i); }

}  // namespace

task_graph stencil(std::size_t steps, std::size_t width, bool whole) {
  const std::string size = std::to_string(steps) + " x " + std::to_string(width);
  task_graph g{"stencil " + size + (whole ? ", whole blocks" : ""), {}, {}};
  const std::uint64_t side = whole ? own : halo;
  for (std::size_t s = 0; s < steps; s++)
    for (std::size_t i = 0; i < width; i++) {
      const vertex me = g.add();
      if (s == 0) continue;
      const std::size_t below = (s - 1) * width;
      g.read(me, at(below + i), own);
      if (i > 0) g.read(me, at(below + i - 1), side);
      if (i + 1 < width) g.read(me, at(below + i + 1), side);
    }
  return g;
}

task_graph square_stencil(std::size_t steps, std::size_t side) {
  task_graph g{"stencil " + std::to_string(steps) + " x " + std::to_string(side) + "^2", {}, {}};
  for (std::size_t s = 0; s < steps; s++)
    for (std::size_t y = 0; y < side; y++)
      for (std::size_t x = 0; x < side; x++) {
        const vertex me = g.add();
        if (s == 0) continue;
        const auto before = [&](std::size_t i, std::size_t j) { return at(((s - 1) * side + j) * side + i); };
        g.read(me, before(x, y), own);
        if (x > 0) g.read(me, before(x - 1, y), halo);
        if (x + 1 < side) g.read(me, before(x + 1, y), halo);
        if (y > 0) g.read(me, before(x, y - 1), halo);
        if (y + 1 < side) g.read(me, before(x, y + 1), halo);
      }
  return g;
}

task_graph gauss_seidel(std::size_t steps, std::size_t width) {
  task_graph g{"gauss-seidel " + std::to_string(steps) + " x " + std::to_string(width), {}, {}};
  for (std::size_t s = 0; s < steps; s++)
    for (std::size_t i = 0; i < width; i++) {
      const vertex me = g.add();
      if (i > 0) g.read(me, me - 1, halo);
      if (s == 0) continue;
      g.read(me, at((s - 1) * width + i), own);
      if (i + 1 < width) g.read(me, at((s - 1) * width + i + 1), halo);
    }
  return g;
}

task_graph red_black(std::size_t steps, std::size_t width) {
  task_graph g{"red-black " + std::to_string(steps) + " x " + std::to_string(width), {}, {}};
  std::vector<vertex> last(width, ~vertex{0});
  const auto reads = [&](vertex me, std::size_t i, std::uint64_t bytes) {
    if (last[i] != ~vertex{0}) g.read(me, last[i], bytes);
  };
  for (std::size_t s = 0; s < 2 * steps; s++)
    for (std::size_t i = s % 2; i < width; i += 2) {
      const vertex me = g.add();
      reads(me, i, own);
      if (i > 0) reads(me, i - 1, halo);
      if (i + 1 < width) reads(me, i + 1, halo);
      last[i] = me;
    }
  return g;
}

task_graph wavefront(std::size_t side) {
  task_graph g{"wavefront " + std::to_string(side) + "^2", {}, {}};
  for (std::size_t y = 0; y < side; y++)
    for (std::size_t x = 0; x < side; x++) {
      const vertex me = g.add();
      if (x > 0) g.read(me, me - 1, halo);
      if (y > 0) g.read(me, me - at(side), halo);
    }
  return g;
}

task_graph cholesky(std::size_t tiles) {
  task_graph g{"cholesky " + std::to_string(tiles) + " tiles", {}, {}};
  constexpr vertex nobody = ~vertex{0};
  std::vector<vertex> last(tiles * tiles, nobody);
  const auto touch = [&](vertex me, std::size_t i, std::size_t j, bool writes) {
    if (vertex& w = last[i * tiles + j]; w != nobody) g.read(me, w, own);
    if (writes) last[i * tiles + j] = me;
  };
  for (std::size_t k = 0; k < tiles; k++) {
    touch(g.add(usual_ns / 2), k, k, true);
    for (std::size_t i = k + 1; i < tiles; i++) {
      const vertex me = g.add();
      touch(me, k, k, false);
      touch(me, i, k, true);
    }
    for (std::size_t i = k + 1; i < tiles; i++)
      for (std::size_t j = k + 1; j <= i; j++) {
        const vertex me = g.add(2 * usual_ns);
        touch(me, i, k, false);
        if (j != i) touch(me, j, k, false);
        touch(me, i, j, true);
      }
  }
  return g;
}

task_graph chains(std::size_t count, std::size_t length) {
  task_graph g{"chains " + std::to_string(count) + " x " + std::to_string(length), {}, {}};
  for (std::size_t i = 0; i < length; i++)
    for (std::size_t c = 0; c < count; c++) {
      const vertex me = g.add();
      if (i > 0) g.read(me, me - at(count), own);
    }
  return g;
}

task_graph tree(std::size_t leaves) {
  task_graph g{"tree of " + std::to_string(leaves), {}, {}};
  std::vector<vertex> level;
  for (std::size_t i = 0; i < leaves; i++) level.push_back(g.add());
  while (level.size() > 1) {
    std::vector<vertex> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
      const vertex me = g.add();
      g.read(me, level[i], own);
      g.read(me, level[i + 1], own);
      next.push_back(me);
    }
    if (level.size() % 2 != 0) next.push_back(level.back());
    level = std::move(next);
  }
  return g;
}

task_graph random_dag(std::size_t tasks, std::size_t reach, std::uint64_t seed) {
  task_graph g{"random " + std::to_string(tasks) + ", reach " + std::to_string(reach), {}, {}};
  rng random(seed);
  for (std::size_t i = 0; i < tasks; i++) {
    const vertex me = g.add(usual_ns / 2 + random.below(static_cast<std::uint32_t>(usual_ns)));
    const auto far = static_cast<std::uint32_t>(std::min(i, reach));
    for (std::uint32_t n = far == 0 ? 0 : 1 + random.below(3); n > 0; n--)
      g.read(me, me - 1 - random.below(far), random.below(2) == 0 ? own : halo);
  }
  return g;
}

task_graph scattered(std::size_t tasks, std::size_t degree, std::uint64_t seed) {
  task_graph g{"scattered " + std::to_string(tasks), {}, {}};
  rng random(seed);
  for (std::size_t i = 0; i < tasks; i++) {
    const vertex me = g.add();
    for (std::size_t n = 0; n < degree && i > 0; n++) g.read(me, random.below(me), own);
  }
  return g;
}

task_graph butterfly(std::size_t width) {
  task_graph g{"butterfly " + std::to_string(width), {}, {}};
  std::vector<vertex> last;
  for (std::size_t i = 0; i < width; i++) last.push_back(g.add());
  for (std::size_t distance = 1; distance < width; distance *= 2)
    for (std::size_t i = 0; i < width; i++) {
      if ((i & distance) != 0) continue;
      const vertex me = g.add();
      g.read(me, last[i], own);
      g.read(me, last[i + distance], own);
      last[i] = last[i + distance] = me;
    }
  return g;
}

task_graph fork_join(std::size_t rounds, std::size_t width) {
  task_graph g{"fork-join " + std::to_string(rounds) + " x " + std::to_string(width), {}, {}};
  vertex joint = g.add(usual_ns / 10);
  std::vector<vertex> last;
  for (std::size_t r = 0; r < rounds; r++) {
    std::vector<vertex> now;
    for (std::size_t i = 0; i < width; i++) {
      const vertex me = g.add();
      g.read(me, joint, halo);
      if (r > 0) g.read(me, last[i], own);
      now.push_back(me);
    }
    joint = g.add(usual_ns / 10);
    for (const vertex v : now) g.read(joint, v, halo);
    last = std::move(now);
  }
  return g;
}

std::vector<task_graph> graphs_to_divide() {
  std::vector<task_graph> all;
  all.push_back(stencil(250, 400));
  all.push_back(stencil(1'000, 1'024));
  all.push_back(stencil(250, 400, true));
  all.push_back(stencil(1'000, 1'024, true));
  all.push_back(square_stencil(50, 32));
  all.push_back(gauss_seidel(50, 400));
  all.push_back(red_black(50, 400));
  all.push_back(wavefront(32));
  all.push_back(wavefront(128));
  all.push_back(cholesky(24));
  all.push_back(chains(24, 500));
  all.push_back(chains(400, 50));
  all.push_back(tree(8'192));
  all.push_back(random_dag(20'000, 200, 17));
  all.push_back(random_dag(20'000, 2'000, 18));
  all.push_back(scattered(100'000, 5, 19));
  all.push_back(butterfly(1'024));
  all.push_back(fork_join(50, 400));
  return all;
}

std::vector<task_graph> large_graphs() {
  std::vector<task_graph> all;
  for (const std::size_t times : {1, 10}) {
    all.push_back(square_stencil(100 * times, 32));
    all.push_back(random_dag(100'000 * times, 2'000, 20));
    all.push_back(scattered(100'000 * times, 5, 19));
  }
  return all;
}

}  // namespace weir::bench
