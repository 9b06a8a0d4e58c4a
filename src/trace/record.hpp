// What a worker writes down while tasks run: records of 8-byte words, one after the other, in order of their ends.
#pragma once

#include <cstdint>

namespace weir::trace {

// Which task a dependence comes from: the worker that ran it and when it ended, which no two tasks have in common.
// Kept in detail::frame::trace_id while the task's outputs live. 0: a task that was not traced, or no task.
using task_id = std::uint64_t;
inline constexpr int time_bits = 48;  // of ticks since the recorder was made: a day at 3 GHz
inline constexpr std::uint64_t time_mask = (std::uint64_t{1} << time_bits) - 1;
constexpr task_id make_id(int worker, std::uint64_t end) { return static_cast<std::uint64_t>(worker + 1) << time_bits | (end & time_mask); }
constexpr int worker_of(task_id id) { return static_cast<int>(id >> time_bits) - 1; }
constexpr std::uint64_t end_of(task_id id) { return id & time_mask; }

enum class kind : std::uint8_t { task, short_task, sleep, buffers, name };
enum class origin : std::uint8_t { own, stolen, pushed };
enum class outcome : std::uint8_t { done, failed, skipped };

// Every record but short_task begins with this.
struct head {
  trace::kind kind;
  std::uint8_t name = 0;        // task, name: index into the log's table of names
  trace::origin origin = origin::own;
  trace::outcome outcome = outcome::done;
  std::uint32_t bytes = 0;      // of the whole record, a multiple of 8
};
static_assert(sizeof(head) == 8);

// Ticks since the recorder was made. Behind it: task_ids of the tasks it read from; of a graph's task instead its own
// address and those of its successors, for it does not know who comes before it.
struct task_record {
  trace::head head;
  std::uint64_t begin = 0, end = 0;
  std::int32_t from = -1;           // slot it was stolen or pushed from; workers come first
  std::int16_t home = -1;           // node of most bytes it reads; its affinity; node of most bytes it writes; -1: none of these
  std::int16_t node = 0;            // where it ran
  std::uint64_t read_local = 0, read_remote = 0, write_local = 0, write_remote = 0;
  std::uint32_t edges = 0;
  std::uint16_t of_graph = 0;       // 1: edges are addresses
  std::uint8_t nested = 0;          // 1: within a task of the same worker that waits
  std::uint8_t required = 0;        // 1: it had to run on this node, of several
};
static_assert(sizeof(task_record) == 72);

// Most tasks, in a fraction of the space, for to touch new memory is what recording costs most: ended `gap` after the
// task before it in its chunk, was taken from the worker's own queues, and did not fail. Behind it, in 32 bits each:
// if has_local, the bytes read and written on its own node; if has_remote, those elsewhere; if near_edges, how much later
// than its end this task ended, for each task it read from, all of this worker. Then whole words again: the edges, if not
// near_edges.
struct short_task_record {
  static constexpr std::uint8_t has_local = 1, of_graph = 2, nested = 4, has_remote = 8, near_edges = 16,
                                required = 32;
  trace::kind kind = kind::short_task;
  std::uint8_t name = 0, flags = 0, edges = 0;
  std::uint32_t gap = 0, duration = 0;
  std::int16_t home = -1, node = 0;
};
static_assert(sizeof(short_task_record) == 16);

struct sleep_record {
  trace::head head;
  std::uint64_t begin = 0, end = 0;
  std::uint64_t nested = 0;         // 1: within a task that waits
};

// Bytes in version buffers that lie in one place: a node, or memory::place_interleaved, place_unknown.
struct buffers_record {
  trace::head head;
  std::uint64_t time = 0;
  std::int64_t place = 0, bytes = 0;
};

// From here on head.name means these characters, padded with zeros.
struct name_record {
  trace::head head;
  std::uint64_t length = 0;
};

}  // namespace weir::trace
