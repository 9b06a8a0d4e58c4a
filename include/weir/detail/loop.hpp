// How the chunks of a parallel loop reach the workers. Internal to parallel_for and parallel_reduce.
//
// Affinity scheduling (Markatos and LeBlanc, IEEE TPDS 5(4), 1994), with workers recruited while there is something to
// do. Three nouns: a chunk is what a body is called for at a time; a part is a run of chunks that belongs to one worker;
// a group is the parts of a node's workers, whose numbers are neighbours. A task of the loop, a server, runs the chunks of
// its worker's part, whoever created it and wherever it was stolen from, and then helps with other parts, nearest first.
// So where an element is worked on does not depend on which task is stolen by whom.
//
// Who takes a chunk: whoever moves the part's `next` over it, by fetch_add. The value before is the chunk; each occurs
// once, and what is at or beyond `end` is nobody's. Relaxed will do: nothing is handed over but the number, and the
// caller sees what bodies did because it waits for the tasks.
//
// Why all chunks are run: a server ends when it has seen all parts of the groups that have begun exhausted. The task that
// was sent for a group begins it before it looks, so when all of these have ended no chunk is left. If it finds that its
// worker is serving the loop already, further down on the stack, it leaves the rest to that: the same thread will see
// that the group has begun, for it looks again after each chunk. A body that throws ends it early, and so does the early
// end of the scope of the task that called it: that is then thrown, for not all chunks were run.
//
// Why a group has to begin: a node whose workers are still asleep would lose its parts, and with them what they touch
// first, to those who were awake. If the group's task cannot run on its node, a worker of another node steals it in the
// end (docs/decisions/0002), and begins the group there.
#pragma once

#include <weir/detail/atomic.hpp>
#include <weir/error.hpp>
#include <weir/runtime.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

namespace weir::detail {

// Chunks a worker, where the program names no grain. More: a chunk costs some 10 ns beside its body. Fewer: where the
// last chunks take longest, more workers wait for them.
inline constexpr std::uint64_t chunks_per_worker = 64;

// How a range is cut: a function of its length, the grain, and the number of workers.
struct loop_shape {
  std::uint64_t elements;
  std::uint64_t grain;
  std::uint64_t chunks;
  std::uint64_t workers;
  bool by_node;  // a group for each node that has workers; else all are one

  static loop_shape of(std::uint64_t elements, std::uint64_t grain, int workers, bool by_node) {
    const auto w = static_cast<std::uint64_t>(workers);
    if (grain == 0) grain = divided_up(elements, chunks_per_worker * w);
    return {elements, grain, divided_up(elements, grain), w, by_node};
  }

  // Where chunk `c` of `chunks`, or the last chunk, ends: in elements from the range's begin.
  std::uint64_t chunk_begin(std::uint64_t c) const { return c * grain; }
  std::uint64_t chunk_end(std::uint64_t c) const { return c + 1 == chunks ? elements : (c + 1) * grain; }
  // First chunk of worker `w`'s part; of `workers`: where the last one ends. Few chunks are spread over all workers.
  std::uint64_t part_begin(std::uint64_t w) const { return w * (chunks / workers) + w * (chunks % workers) / workers; }

 private:
  static std::uint64_t divided_up(std::uint64_t n, std::uint64_t by) { return n / by + (n % by != 0 ? 1 : 0); }
};

// Runs work(chunk) once for every chunk. Lives on the stack of who waits for the loop.
template <class Work>
class loop {
 public:
  loop(runtime& rt, const loop_shape& shape, const char* name, const Work& work)
      : shape_(shape), name_(name), work_(work), parts_(new part[shape.workers]), groups_(new group[most_groups(rt)]), scope_(rt) {
    for (std::uint64_t w = 0; w < shape_.workers; w++) {
      parts_[w].next.store(shape_.part_begin(w), std::memory_order_relaxed);
      parts_[w].end = shape_.part_begin(w + 1);
      add_to_group(w, shape_.by_node ? rt.node_of_worker(static_cast<int>(w)) : 0);
    }
  }

  // Sends a task to every group that has chunks. Throws what scope::wait() throws.
  void run() {
    for (std::uint64_t g = 0; g < group_count_; g++) {
      group& its = groups_[g];
      if (shape_.part_begin(its.first) == shape_.part_begin(its.first + its.workers)) continue;
      const placement where = group_count_ > 1 ? prefer(its.node) : placement{};
      scope_.spawn({.name = name_, .affinity = where}, [this, &its] {
        its.begun.store(1, std::memory_order_relaxed);
        serve();
      });
    }
    scope_.wait();
  }

 private:
  struct alignas(cache_line_bytes) part {
    atomic<std::uint64_t> next;  // chunk
    std::uint64_t end = 0;
    std::uint64_t group = 0;
    plain_cell<bool> served;     // its worker's own, like the next one: it runs chunks
    plain_cell<bool> called;     // it has called for others
  };
  struct alignas(cache_line_bytes) group {
    atomic<std::uint8_t> begun;
    int node = 0;
    std::uint64_t first = 0;     // worker
    std::uint64_t workers = 0;
  };
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  std::uint64_t most_groups(const runtime& rt) const { return shape_.by_node ? std::min(shape_.workers, static_cast<std::uint64_t>(rt.nodes())) : 1; }

  // The next worker, from 0 on.
  void add_to_group(std::uint64_t worker, int node) {
    if (group_count_ == 0 || groups_[group_count_ - 1].node != node) {
      groups_[group_count_].node = node;
      groups_[group_count_++].first = worker;
    }
    groups_[group_count_ - 1].workers++;
    parts_[worker].group = group_count_ - 1;
  }

  void serve() {
    const auto worker = static_cast<std::uint64_t>(this_task::worker());
    part& mine = parts_[worker];
    if (mine.served.read()) return;  // below us on this stack, where a body waits
    groups_[mine.group].begun.store(1, std::memory_order_relaxed);
    std::uint64_t from = worker;
    std::uint64_t chunk = next_chunk(worker, from);
    if (chunk == none) return;
    const presence present(*this, mine);
    recruit(mine);
    for (; chunk != none; chunk = next_chunk(worker, from)) {
      if (this_task::cancelled()) [[unlikely]] throw_left_early();
      work_(chunk);
    }
  }

  // If it was a body that threw, that came first and counts.
  [[noreturn, gnu::noinline]] void throw_left_early() const { throw task_cancelled(std::string(name_) + " was left early: the scope of the task that called it has ended early"); }

  // A worker serves the loop.
  struct presence {
    presence(loop& l, part& p) : whole(l), mine(p) {
      mine.served.write(true);
      whole.present_.fetch_add(1, std::memory_order_relaxed);
    }
    presence(const presence&) = delete;
    ~presence() {
      mine.served.write(false);
      whole.present_.fetch_sub(1, std::memory_order_relaxed);
    }
    loop& whole;
    part& mine;
  };

  // Every worker that comes and finds something to do calls for two more, so that k are there after log k steps. Where all
  // others are busy these tasks stay with their creator, and end at once.
  void recruit(part& mine) {
    if (mine.called.read()) return;
    mine.called.write(true);
    const std::uint64_t useful = std::min(shape_.workers, shape_.chunks), here = present_.load(std::memory_order_relaxed);
    for (std::uint64_t called = 0; called < 2 && here + called < useful; called++) scope_.spawn({.name = name_}, [this] { serve(); });
  }

  // `from`: the part the last one was taken from.
  std::uint64_t next_chunk(std::uint64_t worker, std::uint64_t& from) {
    if (const std::uint64_t chunk = take(from); chunk != none) return chunk;
    const std::uint64_t own = parts_[worker].group;
    for (std::uint64_t k = 0; k < group_count_; k++) {
      const group& its = groups_[(own + k) % group_count_];
      if (its.begun.load(std::memory_order_relaxed) == 0) continue;
      for (std::uint64_t i = 0; i < its.workers; i++) {  // beginning at another one for each worker
        from = its.first + (worker + i) % its.workers;
        if (const std::uint64_t chunk = take(from); chunk != none) return chunk;
      }
    }
    return none;
  }

  std::uint64_t take(std::uint64_t worker) {
    part& p = parts_[worker];
    if (p.next.load(std::memory_order_relaxed) >= p.end) return none;
    const std::uint64_t chunk = p.next.fetch_add(1, std::memory_order_relaxed);
    return chunk < p.end ? chunk : none;
  }

  const loop_shape shape_;
  const char* const name_;
  const Work& work_;
  const std::unique_ptr<part[]> parts_;    // by worker
  const std::unique_ptr<group[]> groups_;  // in the order of their workers
  std::uint64_t group_count_ = 0;
  atomic<std::uint64_t> present_;          // workers that run chunks
  scope scope_;                            // last: its destructor waits for who uses the others
};

}  // namespace weir::detail
