// Creating the tasks of an iterative kernel in parallel: the blocks are split into rectangles ("chunks"), and every chunk
// and iteration has a control task that creates the chunk's tasks.
#pragma once

#include <bench/common/creator_nodes.hpp>
#include <bench/common/kernel.hpp>

#include <weir/weir.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace weir::bench {

// A plane of outer x inner cells, each of `unit` consecutive blocks; block (o, i) begins at (o * inner + i) * unit. Split
// into rows x columns chunks.
struct tiling {
  std::size_t outer, inner, unit;
  std::size_t rows = 1, columns = 1;

  // A chunk a worker where that is possible, of the shape in which chunks share least with their neighbours.
  // `outer_side`, `inner_side`: bytes of the sides between outer and between inner neighbours.
  static tiling compact(std::size_t outer, std::size_t inner, std::size_t unit, int workers, std::size_t outer_side, std::size_t inner_side);

  std::size_t chunks() const { return rows * columns; }
  std::size_t blocks() const { return outer * inner * unit; }
  std::size_t at(std::size_t row, std::size_t column) const { return row * columns + column; }
  // Calls f(first, last) for the runs of consecutive blocks of a chunk.
  template <class F>
  void for_each_run(std::size_t chunk, F&& f) const {
    const std::size_t r = chunk / columns, c = chunk % columns;
    const std::size_t first = inner * c / columns * unit, last = inner * (c + 1) / columns * unit;
    for (std::size_t o = outer * r / rows; o < outer * (r + 1) / rows; o++) f(o * inner * unit + first, o * inner * unit + last);
  }
  std::size_t first_block(std::size_t chunk) const;
  std::vector<std::size_t> neighbours(std::size_t chunk, bool also_at_corners) const;
};

// What the creation of a chunk's tasks in iteration t must come after, beside those of t - 1.
enum class creation_order {
  old_neighbours,  // the neighbours' in t - 1, also at corners: a task reads the previous iteration only (Jacobi)
  sweep,           // the neighbours' in t that come before it, and in t - 1 those after it: a task reads what was just
                   // written (Gauss-Seidel). Not at corners: the wavefront would advance at half the speed
};

// Control tasks are ordered among themselves by empty data ("tokens"), in the pattern of the tasks they create, so
// creation runs along the wavefront. Each runs near the memory of its chunk: so do the frames of the tasks it creates,
// and, where memory comes from the creator's node, what these write. Or elsewhere: creator_nodes.hpp.
class parallel_control {
 public:
  parallel_control(runtime&, const tiling&, const configuration&);

  // Calls make(chunk) in a task per chunk, on the chunk's node if creators are dealt. What it makes (data) lies there.
  // Waits for it, and for the tasks it spawns.
  template <class Make>
  void make_chunks(runtime& rt, const Make& make) const {
    for (std::size_t c = 0; c < tiling_.chunks(); c++)
      rt.spawn({.name = "control", .affinity = filled_on(c)}, [&, c] { make(c); });
    rt.wait();
  }

  // create(t, first, last) spawns the tasks of blocks [first, last) in iteration t; where(chunk): where those of a
  // chunk are created if creators are dealt, near() a block of it if it has any. Waits for all tasks.
  template <class Create, class Where>
  void run(runtime& rt, int iterations, creation_order order, const Create& create, const Where& where) const {
    // The last chunk of a sweep is the last to start: its node has the time to create the first control tasks.
    rt.spawn({.name = "control", .affinity = placed(tiling_.chunks() - 1, 0, where)},
             [&] { create_controls(rt, 1, iterations, order, create, where); });
    rt.wait();
  }

  const tiling& chunks() const { return tiling_; }
  placement filled_on(std::size_t chunk) const { return nodes_.filled_on(chunk); }
  int node_of(std::size_t chunk) const { return nodes_.node_of(chunk); }

 private:
  template <class Where>
  placement placed(std::size_t chunk, int iteration, const Where& where) const {
    return nodes_.of(chunk, iteration, where(chunk));
  }
  // Before the tasks they create: who is to create more only when he is through with his own keeps the others waiting.
  // In a sweep they would delay the tasks that the wavefront waits for; but not who creates the control tasks.
  static task_options control(creation_order order, placement where) {
    return {.name = "control",
            .priority = order == creation_order::sweep ? priority::normal : priority::high,
            .affinity = where};
  }

  // The control tasks of one iteration, and a task that goes on with the next one once this has begun: on another node
  // each time, because where many nodes have to be told it takes as long as some of the tasks.
  template <class Create, class Where>
  void create_controls(runtime& rt, int t, int iterations, creation_order order, const Create& create,
                       const Where& where) const {
    const auto now = [&](int iteration) -> const std::vector<data<char>>& { return turns_[order == creation_order::sweep ? 0 : iteration & 1]; };
    std::vector<data<char>> before;
    for (std::size_t c = 0; c < tiling_.chunks(); c++) {
      before.clear();
      for (std::size_t n : tiling_.neighbours(c, order != creation_order::sweep)) before.push_back(now(t - 1)[n]);
      before.push_back(now(t - 1)[c]);
      rt.spawn(control(order, placed(c, t, where)), in(before), out(now(t)[c]),
               [&, t, c](auto...) { tiling_.for_each_run(c, [&](std::size_t first, std::size_t last) { create(t, first, last); }); });
    }
    if (t == iterations) return;
    const std::size_t next = tiling_.chunks() - 1 - static_cast<std::size_t>(t) % tiling_.chunks();
    rt.spawn(control(creation_order::old_neighbours, placed(next, t, where)), in(now(t)[0]),
             [&, t, iterations, order](auto) { create_controls(rt, t + 1, iterations, order, create, where); });
  }

  tiling tiling_;
  creator_nodes nodes_;
  std::vector<data<char>> turns_[2];  // by chunk: one written per control task
};

}  // namespace weir::bench
