// Merging: always the log whose next record ended first.
#include "trace/merge.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <queue>

namespace weir::trace {
namespace {

// A place in one log, at a record that is no name.
class cursor {
 public:
  cursor(const spill_file& file, log& l) : file_(file), worker_(l.worker()), chunks_(l.finish()) { settle(); }

  bool at_end() const { return chunk_ == chunks_.size(); }
  std::uint64_t time() const { return time_; }
  std::size_t unreadable() const { return unreadable_; }
  void show(visitor& v) const {
    switch (kind_) {
      case kind::task:
      case kind::short_task:
        // Records are whole words in memory from new: aligned.
        v.task(worker_, names_[task_.head.name], task_, near_ ? edges_.data() : reinterpret_cast<const std::uint64_t*>(data_ + at_ + bytes_ - 8 * std::size_t{task_.edges}));
        break;
      case kind::sleep: v.sleep(worker_, read<sleep_record>()); break;
      case kind::buffers: v.buffers(read<buffers_record>()); break;
      case kind::name: break;  // settle() has passed it
    }
  }
  void next() {
    at_ += bytes_;
    settle();
  }

 private:
  template <class Record>
  Record read() const {
    Record r;
    std::memcpy(&r, data_ + at_, sizeof r);
    return r;
  }

  // Goes on to the next record that is no name, in this chunk or a later one.
  void settle() {
    while (!at_end()) {
      if (data_ == nullptr && !load()) continue;
      if (at_ == chunks_[chunk_].bytes) {
        leave_chunk();
        continue;
      }
      look();
      if (kind_ != kind::name) break;
      const auto n = read<name_record>();
      names_[n.head.name].assign(reinterpret_cast<const char*>(data_ + at_ + sizeof n), n.length);
      at_ += bytes_;
    }
  }
  // At a record: what it is, how long it is and when it ended.
  void look() {
    kind_ = read<kind>();
    near_ = false;
    if (kind_ == kind::short_task) {
      expand(read<short_task_record>());
      time_ = task_.end;
      return;
    }
    bytes_ = read<head>().bytes;
    if (kind_ == kind::task) task_ = read<task_record>();
    if (kind_ != kind::name) time_ = kind_ == kind::task ? task_.end : kind_ == kind::sleep ? read<sleep_record>().end : read<buffers_record>().time;
  }
  // task_ is still the task before.
  void expand(const short_task_record& s) {
    std::uint32_t local[2] = {}, remote[2] = {};
    bytes_ = sizeof s;
    const auto take = [&](auto& numbers) {
      std::memcpy(&numbers, data_ + at_ + bytes_, sizeof numbers);
      bytes_ += sizeof numbers;
    };
    if ((s.flags & short_task_record::has_local) != 0) take(local);
    if ((s.flags & short_task_record::has_remote) != 0) take(remote);
    const std::uint64_t end = task_.end + s.gap;
    task_ = {.head = {.kind = kind::task, .name = s.name}, .begin = end - s.duration, .end = end, .home = s.home, .node = s.node,
             .read_local = local[0], .read_remote = remote[0], .write_local = local[1], .write_remote = remote[1], .edges = s.edges};
    task_.of_graph = (s.flags & short_task_record::of_graph) != 0;
    task_.nested = (s.flags & short_task_record::nested) != 0;
    task_.required = (s.flags & short_task_record::required) != 0;
    near_ = (s.flags & short_task_record::near_edges) != 0;
    if (!near_) {
      bytes_ += 8 * std::size_t{s.edges};
      return;
    }
    edges_.clear();
    for (unsigned i = 0; i < s.edges; i++) {
      std::uint32_t later;
      take(later);
      edges_.push_back(make_id(worker_, task_.end) - later);
    }
    bytes_ = (bytes_ + 7) / 8 * 8;
  }
  bool load() {
    chunk& c = chunks_[chunk_];
    if (c.data != nullptr) {
      data_ = c.data.get();
      return true;
    }
    if (buffer_bytes_ < c.bytes) {
      buffer_ = std::make_unique_for_overwrite<std::byte[]>(c.bytes);
      buffer_bytes_ = c.bytes;
    }
    data_ = buffer_.get();
    if (file_.read(buffer_.get(), c.bytes, c.offset)) return true;
    unreadable_++;
    leave_chunk();
    return false;
  }
  void leave_chunk() {
    chunks_[chunk_].data.reset();
    chunk_++;
    at_ = 0;
    data_ = nullptr;
  }

  const spill_file& file_;
  const int worker_;
  std::vector<chunk>& chunks_;
  std::size_t chunk_ = 0, at_ = 0, buffer_bytes_ = 0, unreadable_ = 0;
  std::unique_ptr<std::byte[]> buffer_;
  const std::byte* data_ = nullptr;  // of the chunk, once it is loaded
  kind kind_ = kind::name;
  std::size_t bytes_ = 0;            // of the record
  task_record task_{};               // this one, or the last task before it
  bool near_ = false;                // its edges were near
  std::vector<std::uint64_t> edges_; // then these
  std::uint64_t time_ = 0;
  std::array<std::string, log::name_slots> names_;
};

}  // namespace

std::size_t merge(common& shared, const std::vector<log*>& logs, visitor& v) {
  std::vector<std::unique_ptr<cursor>> cursors;
  for (log* l : logs) cursors.push_back(std::make_unique<cursor>(shared.spill, *l));
  const auto later = [](const cursor* a, const cursor* b) { return a->time() > b->time(); };
  std::priority_queue<cursor*, std::vector<cursor*>, decltype(later)> next(later);
  for (const auto& c : cursors)
    if (!c->at_end()) next.push(c.get());
  while (!next.empty()) {
    cursor* const c = next.top();
    next.pop();
    const std::uint64_t until = next.empty() ? ~std::uint64_t{0} : next.top()->time();
    do {
      c->show(v);
      c->next();
    } while (!c->at_end() && c->time() <= until);
    if (!c->at_end()) next.push(c);
  }
  std::size_t unreadable = 0;
  for (const auto& c : cursors) unreadable += c->unreadable();
  return unreadable;
}

}  // namespace weir::trace
