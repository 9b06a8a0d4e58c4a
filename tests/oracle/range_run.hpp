// Programs over ranges being run, and what is watched meanwhile: who is at work on a byte.
#pragma once

#include "tests/oracle/range_program.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

namespace weir::test {

// Marks at each byte while a task's body runs. They order nothing, so that the thread sanitizer sees whether the
// runtime does.
class byte_marks {
 public:
  explicit byte_marks(std::size_t bytes) : marks_(bytes) {}
  // False if somebody is at work there who must not be.
  bool enter(const std::vector<touched>&);
  void leave(const std::vector<touched>&);

 private:
  static constexpr int writer = -1'000'000;  // else the number of readers
  std::vector<std::atomic<int>> marks_;
};

// Whether wait() threw task_failed. A second wait(), which does not throw, forgets which bytes were lost.
bool wait_and_forget(runtime&);

class range_run {
 public:
  // `memory` holds p.bytes() bytes. Both outlive this.
  range_run(runtime& rt, const range_program& p, std::span<byte> memory);
  // Creates the tasks and, unless the program's creator is a scope of its own, leaves waiting for the last of them to
  // others. By the calling thread, or in the calling task.
  void create(bool in_task);
  void note_wait(bool threw) { wait_threw_.push_back(threw); }
  // After all tasks are done. Empty, or what is wrong.
  std::string difference() const;

 private:
  void spawn(scope*, std::size_t index);
  void execute(std::size_t index, const std::vector<touched>&, const data_views*);
  void execute_children(const range_task&);
  datum_places places_of(const range_task&, const data_views*) const;
  void complain(std::string);

  runtime& rt_;
  const range_program& program_;
  range_memory memory_;
  byte_marks marks_;
  std::vector<data<word>> data_;
  std::vector<word> hash_;
  std::vector<bool> wait_threw_;
  mutable std::mutex mutex_;
  std::string wrong_;  // what tasks found
};

// Memory that no program of a runtime has had before, made before the runtime. In other memory the tiles of a program
// may meet those of one before it.
class fresh_memory {
 public:
  std::span<byte> next(std::size_t bytes) {
    if (bytes > all_bytes - used_) throw std::logic_error("fresh memory is used up");
    return {all_.get() + std::exchange(used_, used_ + bytes), bytes};
  }

 private:
  static constexpr std::size_t all_bytes = std::size_t{1} << 28;  // few of them are touched
  std::unique_ptr<byte[]> all_{new byte[all_bytes]};
  std::size_t used_ = 0;
};
// Runs all of it. Empty, or what is wrong.
std::string run_program(runtime&, const range_program&, fresh_memory&);

// What task `number` creates.
range_program program_of_children(std::size_t number, std::size_t children);

// Any policy, 1 to 8 workers, one node or several pretended ones, long and short backlogs.
runtime_options random_options(std::mt19937_64&);

// WEIR_TEST_PROGRAMS=N: so many instead of `usual`; WEIR_TEST_FIRST=N: from the Nth on. With WEIR_TEST_SEED one of
// them can be run alone.
struct program_numbers {
  std::size_t first, count;
};
program_numbers numbers_of_programs(std::size_t usual);

}  // namespace weir::test
