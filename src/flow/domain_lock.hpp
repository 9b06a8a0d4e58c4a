// Lock of a domain for several creators: shared by those whose ranges are all known, who change no more than records
// that they lock one by one; for one alone who changes the table. README.md, "Several creators".
#pragma once

#include "base/base.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::flow {

// Who shares it writes to a line that few others use, so creators do not slow each other down. Who wants it alone
// looks at all lines, and comes first: nobody begins to share it meanwhile.
class domain_lock {
 public:
  // `creator`: any number, best another one for each thread; the same again for unlock_shared().
  void lock_shared(std::uint32_t creator) {
    spin_wait wait;
    while (!try_lock_shared(creator))
      while (alone_.load(std::memory_order_relaxed) != 0) wait.once();  // writes nothing, so that one gets it
  }
  bool try_lock_shared(std::uint32_t creator) {
    atomic<std::uint32_t>& inside = line_of(creator).inside;
    inside.fetch_add(1, std::memory_order_relaxed);
    atomic_fence(std::memory_order_seq_cst);
    if (alone_.load(std::memory_order_acquire) == 0) [[likely]] return true;
    inside.fetch_sub(1, std::memory_order_relaxed);  // it has looked at nothing; others' releases go on through this
    return false;
  }
  void unlock_shared(std::uint32_t creator) { line_of(creator).inside.fetch_sub(1, std::memory_order_release); }

  void lock() {
    one_.lock();
    alone_.store(1, std::memory_order_relaxed);
    atomic_fence(std::memory_order_seq_cst);
    for (const line& l : lines_) {
      spin_wait wait;
      while (l.inside.load(std::memory_order_acquire) != 0) wait.once();
    }
  }
  void unlock() {
    alone_.store(0, std::memory_order_release);
    one_.unlock();
  }

 private:
  // More: who wants it alone looks at more. Fewer: more creators write to the same one.
  static constexpr std::size_t line_count = 16;
  struct alignas(64) line {
    atomic<std::uint32_t> inside{0};
  };
  line& line_of(std::uint32_t creator) { return lines_[creator % line_count]; }

  spin_lock one_;
  atomic<std::uint32_t> alone_{0};
  std::array<line, line_count> lines_;
};

}  // namespace weir::flow
