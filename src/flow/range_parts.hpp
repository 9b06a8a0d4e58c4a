// A task's accesses to ranges that several records make up. Their records, and the versions that the task will leave
// behind there, lie in frames of their own that never run, for how many there are is not known before the table was
// asked. Most tasks have none.
#pragma once

#include "flow/range_record.hpp"

namespace weir::flow {

// What a task does with a part; overwrite: it does not read what was there.
enum class part_use : std::uint8_t { read, update, overwrite, commutative, concurrent };
inline bool has_version(part_use u) { return u == part_use::update || u == part_use::overwrite; }

// Of a frame of parts: its reads, and accesses of groups, which wait as reads do, as many as this, are its first
// accesses; access reads + i leaves version i behind.
inline unsigned part_reads(const frame& parts) { return parts.accesses - unsigned{parts.versions}; }

void free_parts(context&, frame* parts) noexcept;

// Chain of frames for so many parts that a task reads and writes, which are then added in any order. Before they are
// taken they are given back when this goes.
class parts_builder {
 public:
  // Throws std::bad_alloc.
  parts_builder(context&, frame* task, std::size_t reads, std::size_t writes);
  ~parts_builder() {
    if (first_ != nullptr) free_parts(context_, first_);
  }
  parts_builder(const parts_builder&) = delete;
  parts_builder& operator=(const parts_builder&) = delete;

  void add(range_record& r, part_use use) { has_version(use) ? add_write(r, use) : add_read(r, use); }
  frame* take() { return std::exchange(first_, nullptr); }

 private:
  static unsigned extra_of(part_use use) {
    if (use == part_use::commutative) return access::in_group | access::exclusive;
    return use == part_use::concurrent ? access::in_group : 0;
  }
  void add_read(range_record& r, part_use use) {
    if (read_ == reads_end_) [[unlikely]] read_from(reading_->next);
    access& a = put(read_++, r, waiter_kind::part_read);
    a.set_place(static_cast<std::uint64_t>(reinterpret_cast<char*>(&a) - reinterpret_cast<char*>(reading_)),
                extra_of(use));
  }
  void add_write(range_record& r, part_use use) {
    if (version_ == versions_end_) [[unlikely]] write_from(writing_->next);
    put(write_++, r, use == part_use::update ? waiter_kind::update : waiter_kind::overwrite);
    version& v = *new (version_++) version();
    v.kind = detail::version_kind::range;
    v.frame_offset = static_cast<std::uint32_t>(reinterpret_cast<char*>(&v) - reinterpret_cast<char*>(writing_));
  }
  frame* add_frame(std::size_t reads, std::size_t writes);
  void add_frames(std::size_t reads, std::size_t writes);
  void read_from(frame* f) {
    reading_ = f;
    read_ = f->access_at(0);
    reads_end_ = read_ + part_reads(*f);
  }
  void write_from(frame* f) {
    writing_ = f;
    write_ = f->access_at(part_reads(*f));
    version_ = f->version_at(0);
    versions_end_ = version_ + f->versions;
  }
  access& put(access* at, range_record& r, waiter_kind kind) {
    access& a = *new (at) access();
    a.target = reinterpret_cast<std::uintptr_t>(task_) | static_cast<std::uintptr_t>(kind);
    a.wanted = &r.state;
    a.bytes = r.state.bytes;
    return a;
  }

  context& context_;
  frame* const task_;
  frame* first_ = nullptr;
  // The next of each kind, and where its frame has no more.
  frame *reading_ = nullptr, *writing_ = nullptr;
  access *read_ = nullptr, *reads_end_ = nullptr, *write_ = nullptr;
  version *version_ = nullptr, *versions_end_ = nullptr;
};

// What matching found out about the parts that a task reads.
struct part_inputs {
  std::uint32_t depth = 0;  // longest path of tasks up to one that wrote a part
  std::uint32_t writes = 0;
  bool there = true;        // all that is read, and well
  // What a task waits for: all reads together, and each write.
  std::uint32_t awaited() const { return writes + (there ? 0 : 1); }
};
// The parts of a task that is being matched, after the rest of it: what is read; then what is written, which it will
// leave behind with this depth, and returns how many of that it need not wait for; then it waits for what is read, one
// after the other, and if it need not it is true.
part_inputs match_part_reads(frame* parts);
std::uint32_t match_part_writes(context&, frame* parts, frame* task, std::uint32_t depth);
bool await_part_reads(context&, frame* parts);

// The task is done: lets go of what it read, and publishes what it wrote.
void complete_parts(context&, frame* parts, const frame* task, const char* cause);

// Calls f(access) for every access of the parts.
template <class F>
void for_each_part(frame* parts, F&& f) {
  for (; parts != nullptr; parts = parts->next)
    for (unsigned i = 0; i < parts->accesses; i++) f(*parts->access_at(i));
}
// Of a task, null if it has none.
inline frame* parts_of(frame& task) {
  if ((task.unusual & frame::has_ranges) == 0) return nullptr;
  for (unsigned i = 0; i < task.accesses; i++)
    if (const access& a = *task.access_at(i); detail::is_covered(a.kind()) && a.parts != nullptr) return a.parts;
  return nullptr;
}

}  // namespace weir::flow
