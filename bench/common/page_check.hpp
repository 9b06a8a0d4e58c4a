// Is every page of a buffer on the node it should be on? Asks the kernel (move_pages in query mode).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weir::bench {

// Counts pages, from any number of threads. Asking costs a system call per buffer: for checks, not for timing.
class page_checker {
 public:
  // os_nodes[i] is what the operating system calls the runtime's node i.
  explicit page_checker(std::vector<int> os_nodes) : os_nodes_(std::move(os_nodes)) {}

  // Compares the pages of [first, first + bytes) with the node of the calling task. Outside tasks: does nothing.
  void check(const void* first, std::size_t bytes);

  std::uint64_t checked() const { return checked_.load(std::memory_order_relaxed); }
  std::uint64_t misplaced() const { return misplaced_.load(std::memory_order_relaxed); }
  // Pages the operating system gave no answer for; all of them where move_pages is refused.
  std::uint64_t unknown() const { return unknown_.load(std::memory_order_relaxed); }

 private:
  std::vector<int> os_nodes_;
  std::atomic<std::uint64_t> checked_{0}, misplaced_{0}, unknown_{0};
};

// For the end of a task's body: checks what it has written, if anyone wants to know.
template <class T>
inline void written(page_checker* pages, std::span<T> output) {
  if (pages) [[unlikely]] pages->check(output.data(), output.size_bytes());
}

}  // namespace weir::bench
