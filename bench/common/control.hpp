// Control programs: who creates the tasks of an iterative kernel on a row of chunks, and in which order.
//
// A chunk is a run of neighbouring blocks. create(t, first, last) spawns the tasks of blocks [first, last) in iteration
// t. Tasks that name the same datum must be created in program order; that order is all that is kept here.
#pragma once

#include <weir/weir.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weir::bench {

// Blocks split into chunks of whole rows of blocks ("row": blocks with the same outermost coordinate).
struct chunking {
  std::size_t rows;            // rows of blocks
  std::size_t blocks_per_row;
  std::size_t chunks;

  // About two chunks a worker: one to run ahead with while the other's tasks are still being created.
  static chunking of(std::size_t rows, std::size_t blocks_per_row, int workers, std::size_t per_worker = 2) {
    return {rows, blocks_per_row, std::min(rows, per_worker * static_cast<std::size_t>(workers))};
  }
  std::size_t first_block(std::size_t chunk) const { return rows * chunk / chunks * blocks_per_row; }
};

// What the creation of chunk c in iteration t must come after.
enum class creation_order {
  old_neighbours,  // (t-1, c-1), (t-1, c), (t-1, c+1): every task reads the previous iteration only (Jacobi)
  sweep,           // (t, c-1), (t-1, c), (t-1, c+1): a task reads what was just written before it (Gauss-Seidel)
};

// One task creates everything, iteration by iteration, block by block. Waits for all tasks.
template <class Create>
void run_sequential_control(runtime& rt, int iterations, std::size_t blocks, const Create& create) {
  rt.run([&] {
    for (int t = 1; t <= iterations; t++) create(t, std::size_t{0}, blocks);
  });
  rt.wait();
}

// One control task per chunk and iteration. They are ordered among themselves by empty data, in the pattern of the
// tasks they create, so creation runs in parallel along the wavefront. Waits for all tasks.
template <class Create>
void run_parallel_control(runtime& rt, int iterations, const chunking& chunks, creation_order order, const Create& create) {
  std::vector<data<char>> created[2];
  for (auto& generation : created)
    for (std::size_t c = 0; c < chunks.chunks; c++) generation.push_back(rt.make_data<char>(std::span<const char>{}, "created"));

  const task_options control{.name = "control"};
  rt.run([&] {
    for (int t = 1; t <= iterations; t++) {
      auto& before = created[order == creation_order::sweep ? 0 : (t - 1) & 1];
      auto& now = created[order == creation_order::sweep ? 0 : t & 1];
      for (std::size_t c = 0; c < chunks.chunks; c++) {
        const std::size_t left = c == 0 ? c : c - 1, right = c + 1 == chunks.chunks ? c : c + 1;
        rt.spawn(control, in(before[left]), in(before[c]), in(before[right]), out(now[c]), [&, t, c](auto...) {
          create(t, chunks.first_block(c), chunks.first_block(c + 1));
        });
      }
    }
  });
  rt.wait();
}

// Creates the tasks that fill all blocks, chunk by chunk, in any order, and waits for them. Every chunk has a creator
// of its own, so that neighbouring blocks are first offered to the same worker.
template <class Create>
void fill_by_chunks(runtime& rt, const chunking& chunks, const Create& create) {
  const task_options control{.name = "control"};
  rt.run([&] {
    for (std::size_t c = 0; c < chunks.chunks; c++)
      rt.spawn(control, [&, c] { create(chunks.first_block(c), chunks.first_block(c + 1)); });
  });
  rt.wait();
}

}  // namespace weir::bench
