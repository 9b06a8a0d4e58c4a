// Recording: one log a worker, written by that worker only, read when the workers are gone.
#pragma once

#include "base/base.hpp"
#include "flow/flow.hpp"
#include "memory/memory.hpp"
#include "os/os.hpp"
#include "trace/record.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace weir::trace {

using detail::frame;

// A piece of a log: in memory, or written to the spill file.
struct chunk {
  std::unique_ptr<std::byte[]> data;  // null: in the file
  std::uint64_t offset = 0;
  std::size_t bytes = 0;              // in use
};

// Where full chunks go when memory is used up: a file without a name, gone with the process whatever happens to it.
class spill_file {
 public:
  explicit spill_file(std::string folder) : folder_(std::move(folder)) {}
  ~spill_file();
  spill_file(const spill_file&) = delete;
  spill_file& operator=(const spill_file&) = delete;
  // False if the system refuses. Any thread.
  bool write(const std::byte* data, std::size_t bytes, std::uint64_t& offset);
  bool read(std::byte* data, std::size_t bytes, std::uint64_t offset) const;

 private:
  void open();
  const std::string folder_;
  std::once_flag opened_;
  int file_ = -1;
  atomic<std::uint64_t> end_{0};
};

// What all logs of a runtime share.
struct common {
  common(std::string folder, std::size_t most_chunks) : spill(std::move(folder)), chunks_left(static_cast<std::int64_t>(most_chunks)) {}
  os::tick_clock clock;
  spill_file spill;
  atomic<std::int64_t> chunks_left;  // that may be kept in memory
};

// Bytes accessed, by node of the worker and node of the memory: row-major, nodes x nodes.
struct traffic_matrix {
  explicit traffic_matrix(int nodes) : nodes_(static_cast<std::size_t>(nodes)), bytes(nodes_ * nodes_, 0) {}
  std::uint64_t* row(int worker_node) { return bytes.data() + static_cast<std::size_t>(worker_node) * nodes_; }

 private:
  std::size_t nodes_;

 public:
  std::vector<std::uint64_t> bytes;
};

class alignas(cache_line_bytes) log {
 public:
  // `places`: of which it samples the bytes in buffers now and then.
  log(common&, int worker, int nodes, const memory::pools& buffers, const memory::regions& user_memory,
      std::vector<int> places);

  // What has to be known before a task's body runs.
  struct start {
    std::uint64_t ticks;
    int stolen_from;  // a slot, -1: taken from the worker's own queues
    bool nested;      // it runs within another task of this worker, which waits
  };
  // `stolen_from` is taken, and -1 left.
  start begin(int& stolen_from, bool nested) const;
  // After the body, before the task's outputs are published. `here`: the node it ran on; `cause`: as in
  // flow::complete(). Some 330 instructions for most tasks with three inputs, beside the looks at the clock and the cache
  // misses it takes to see who wrote an input. What there is no memory for is not written down: lost().
  void task(frame*, start, int here, const char* cause) noexcept;
  void slept(std::uint64_t begin_ticks, bool nested) noexcept;
  std::uint64_t now() const { return common_.clock.now(); }

  // For who reads it, when nobody writes any more.
  int worker() const { return worker_; }
  std::vector<chunk>& finish();
  std::uint64_t tasks() const { return tasks_; }
  std::uint64_t lost() const { return lost_; }
  const traffic_matrix& reads() const { return reads_; }
  const traffic_matrix& writes() const { return writes_; }

  // Names of tasks in use at a time. More: the table leaves the first-level cache. Fewer: programs with more names than
  // that write them again and again.
  static constexpr std::size_t name_slots = 256;
  // Smaller: chunks are changed more often. Larger: more memory for a worker that does little.
  static constexpr std::size_t chunk_bytes = 256 * 1024;

 private:
  static constexpr std::uint64_t no_task = ~std::uint64_t{0};
  struct name_slot {
    const char* pointer = nullptr;
    std::string text;
  };
  std::uint64_t since_start(std::uint64_t ticks) const { return ticks - start_ticks_; }
  std::byte* append(std::size_t bytes) {
    if (static_cast<std::size_t>(end_ - at_) < bytes) [[unlikely]] change_chunk(bytes);
    std::byte* p = at_;
    at_ += bytes;
    return p;
  }
  void change_chunk(std::size_t bytes);
  void close_chunk();
  // Its name and itself lie in one chunk.
  void make_room(std::size_t record_bytes);
  std::uint8_t name_index(const char* name);
  bool append_usual(frame*, start, std::uint64_t end, int here);
  bool append_plain(frame*, std::uint64_t gap, std::uint64_t duration, bool nested, int here);
  void append_task_record(frame*, start, std::uint64_t end, int here, const char* cause);
  void append_unusual(frame*, start, std::uint64_t end, int here, int pushed_from, const char* cause);
  void append_task(const task_record&);
  bool append_short(const task_record&);
  void count_bytes(frame*, int here, task_record&);
  void collect_edges(frame*, task_record&);
  void sample_buffers(std::uint64_t ticks) noexcept;
  template <class Record> void append_if_possible(const Record&) noexcept;

  common& common_;
  const int worker_, nodes_;
  const std::uint64_t start_ticks_, sample_ticks_;
  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
  std::uint64_t tasks_ = 0, lost_ = 0, next_sample_ = 0;
  std::uint64_t last_end_ = no_task;  // of the task before in this chunk
  std::vector<std::uint64_t> edges_, by_node_;
  std::array<name_slot, name_slots> names_;
  traffic_matrix reads_, writes_;
  const memory::pools& buffers_;
  const memory::regions& user_memory_;
  const std::vector<int> places_;
  std::unique_ptr<std::byte[]> open_;
  std::size_t open_bytes_ = 0;
  std::uint64_t open_tasks_ = 0;  // of tasks_: when the open chunk was begun
  std::vector<chunk> chunks_;
};

// A worker's sleep, from when this is made to when it ends. Without a log it does nothing.
class sleep_slice {
 public:
  sleep_slice(log* l, bool nested) : log_(l), begin_(l != nullptr ? l->now() : 0), nested_(nested) {}
  ~sleep_slice() {
    if (log_ != nullptr) log_->slept(begin_, nested_);
  }
  sleep_slice(const sleep_slice&) = delete;
  sleep_slice& operator=(const sleep_slice&) = delete;

 private:
  log* const log_;
  const std::uint64_t begin_;
  const bool nested_;
};

}  // namespace weir::trace
