// A task's accesses to ranges that several records make up. Their records, and the versions that the task will leave
// behind there, lie in frames of their own that never run, for how many there are is not known before the table was
// asked. Most tasks have none.
#pragma once

#include "flow/range_record.hpp"

namespace weir::flow {

// What a task does with a part; overwrite: it does not read what was there.
enum class part_use : std::uint8_t { read, update, overwrite, commutative, concurrent };
inline bool has_version(part_use u) { return u == part_use::update || u == part_use::overwrite; }

// Chain of frames, in the order of adding. Before they are taken they are given back when this goes.
class parts_builder {
 public:
  // For `all` parts, of which the task writes so many. Throws std::bad_alloc.
  parts_builder(context&, frame* task, std::size_t all, std::size_t written);
  ~parts_builder();
  parts_builder(const parts_builder&) = delete;
  parts_builder& operator=(const parts_builder&) = delete;
  void add(range_record&, part_use);
  frame* take() { return std::exchange(first_, nullptr); }

 private:
  void open();
  context& context_;
  frame* const task_;
  std::size_t left_, written_left_;
  frame *first_ = nullptr, *last_ = nullptr;
  unsigned accesses_ = 0, versions_ = 0;  // of the last, in use
};

frame*& next_parts(frame* parts);
std::uint32_t count_parts(frame* parts);
void free_parts(context&, frame* parts) noexcept;

// The parts of a task that is being matched, after the rest of it. Returns the longest path of tasks up to one that is
// read; then announces what is written; then waits for what is read. The last returns how many are there.
std::uint32_t match_part_reads(frame* parts);
void announce_parts(frame* parts, std::uint32_t depth);
void match_part_writes(context&, frame* parts);
std::uint32_t await_parts(context&, frame* parts, frame* task);

// The task is done: lets go of what it read, and publishes what it wrote.
void complete_parts(context&, frame* parts, const frame* task, const char* cause);

// Calls f(access) for every access of the parts.
template <class F>
void for_each_part(frame* parts, F&& f) {
  for (; parts != nullptr; parts = next_parts(parts))
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
