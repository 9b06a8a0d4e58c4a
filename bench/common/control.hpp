// Control programs: who creates the tasks of an iterative kernel on a row of chunks, and in which order.
//
// A chunk is a run of neighbouring blocks. create(t, first, last) spawns the tasks of blocks [first, last) in iteration
// t. Tasks that name the same datum must be created in program order; that order is all that is kept here.
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

// Creates tasks in parallel: one control task per chunk and iteration. They are ordered among themselves by data of
// their own, in the pattern of the tasks they create, so creation runs along the wavefront.
//
// These data are never read. They are as large as the frames of the tasks a control task creates, because that is what
// it writes: a policy that follows inputs then runs a chunk's control tasks where the chunk was filled, and the frames
// lie there too.
class parallel_control {
 public:
  // home[c] is read when chunk c's first token is written, so that the token is placed where home[c] lies. May be empty.
  parallel_control(runtime& rt, const chunking& chunks, std::span<const data<double>> home) : chunks_(chunks) {
    const task_options named{.name = "control token"};
    for (std::size_t c = 0; c < chunks.chunks; c++) {
      const std::size_t blocks = chunks.first_block(c + 1) - chunks.first_block(c);
      for (auto& generation : tokens_) generation.push_back(rt.make_data<char>(blocks * frame_bytes, "control token"));
      if (home.empty())
        rt.spawn(named, out(tokens_[0][c]), [](auto) {});
      else
        rt.spawn(named, in(home[chunks.first_block(c)]), out(tokens_[0][c]), [](auto...) {});
    }
    rt.wait();
  }

  // Waits for all tasks.
  template <class Create>
  void run(runtime& rt, int iterations, creation_order order, const Create& create) const {
    const task_options control{.name = "control"};
    rt.run([&] {
      for (int t = 1; t <= iterations; t++) {
        const auto& before = tokens_[order == creation_order::sweep ? 0 : (t - 1) & 1];
        const auto& now = tokens_[order == creation_order::sweep ? 0 : t & 1];
        for (std::size_t c = 0; c < chunks_.chunks; c++) {
          const std::size_t left = c == 0 ? c : c - 1, right = c + 1 == chunks_.chunks ? c : c + 1;
          rt.spawn(control, in(before[left].first(0)), in(before[c]), in(before[right].first(0)), out(now[c]), [&, t, c](auto...) {
            create(t, chunks_.first_block(c), chunks_.first_block(c + 1));
          });
        }
      }
    });
    rt.wait();
  }

 private:
  static constexpr std::size_t frame_bytes = 384;  // of a task with about five inputs

  chunking chunks_;
  std::vector<data<char>> tokens_[2];
};

// Fills blocks in parallel, and waits: each worker's share, a run of neighbouring blocks, is one task, so that every
// worker gets one (parallel first touch). fill(b, elements) writes block b.
template <class T, class Fill>
void fill_by_shares(runtime& rt, std::span<const data<T>> blocks, const Fill& fill) {
  constexpr std::size_t most = 1024;  // blocks per task: what a task names lies in its frame
  const auto workers = static_cast<std::size_t>(rt.workers());
  const std::size_t rounds = (blocks.size() + workers * most - 1) / (workers * most), shares = workers * rounds;
  const task_options named{.name = "fill"};
  rt.run([&] {
    for (std::size_t s = 0; s < shares; s++) {
      const std::size_t first = blocks.size() * s / shares, last = blocks.size() * (s + 1) / shares;
      if (first == last) continue;
      rt.spawn(named, out(blocks.subspan(first, last - first)), [&, first](views<T> share) {
        for (std::size_t i = 0; i < share.size(); i++) fill(first + i, share[i]);
      });
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
