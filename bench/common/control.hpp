// Who fills blocks, and who creates the tasks of an iterative kernel when one task creates them all. parallel_control.hpp
// is the other way.
#pragma once

#include <weir/weir.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace weir::bench {

// Blocks split into chunks of whole rows of blocks ("row": blocks with the same outermost coordinate).
struct chunking {
  std::size_t rows;            // rows of blocks
  std::size_t blocks_per_row;
  std::size_t chunks;

  // A chunk a worker, as a static loop would split the rows; or more of them, where the work is uneven.
  static chunking of(std::size_t rows, std::size_t blocks_per_row, int workers, std::size_t per_worker = 1) {
    return {rows, blocks_per_row, std::min(rows, per_worker * static_cast<std::size_t>(workers))};
  }
  std::size_t first_block(std::size_t chunk) const { return rows * chunk / chunks * blocks_per_row; }
};

// One task creates everything, iteration by iteration, block by block. Waits for all tasks.
template <class Create>
void run_sequential_control(runtime& rt, int iterations, std::size_t blocks, const Create& create) {
  rt.run([&] {
    for (int t = 1; t <= iterations; t++) create(t, std::size_t{0}, blocks);
  });
  rt.wait();
}

// Spawns tasks that fill blocks, as few as possible: what a task names lies in its frame. fill(i, elements) writes
// blocks[i].
template <class T, class Fill>
void fill_by_parts(runtime& rt, std::span<const data<T>> blocks, const Fill& fill, placement where = {}) {
  constexpr std::size_t most = 1024;  // blocks per task
  const task_options named{.name = "fill", .affinity = where};
  for (std::size_t first = 0; first < blocks.size(); first += most)
    rt.spawn(named, out(blocks.subspan(first, std::min(most, blocks.size() - first))), [fill, first](views<T> part) {
      for (std::size_t i = 0; i < part.size(); i++) fill(first + i, part[i]);
    });
}

// Fills blocks in parallel, and waits: each worker's share, a run of neighbouring blocks, is one task, so that every
// worker gets one (parallel first touch).
template <class T, class Fill>
void fill_by_shares(runtime& rt, std::span<const data<T>> blocks, const Fill& fill) {
  const auto shares = static_cast<std::size_t>(rt.workers());
  rt.run([&] {
    for (std::size_t s = 0; s < shares; s++) {
      const std::size_t first = blocks.size() * s / shares, last = blocks.size() * (s + 1) / shares;
      fill_by_parts(rt, blocks.subspan(first, last - first), [&fill, first](std::size_t i, std::span<T> block) { fill(first + i, block); });
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
