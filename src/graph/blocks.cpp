// Where the memory of recorded graphs comes from.
#include "graph/blocks.hpp"

#include "os/os.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <mutex>

namespace weir::graphs {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
// Of a huge page, from where on it costs less than its small ones: clearing it takes as long as some 250 page faults.
constexpr std::size_t mapped_from_bytes = huge_page_bytes / 2;
// Smaller ones the general allocator has at hand.
constexpr std::size_t kept_from_bytes = std::size_t{32} << 10;

bool is_mapped(std::size_t bytes) { return bytes >= mapped_from_bytes; }

std::size_t allocated_bytes(std::size_t bytes) {
  return is_mapped(bytes) ? (bytes + huge_page_bytes - 1) & ~(huge_page_bytes - 1) : bytes;
}

void* allocate(std::size_t bytes) {
  if (!is_mapped(bytes)) return ::operator new(bytes, std::align_val_t{64});
  void* const p = os::host_memory().map(bytes, huge_page_bytes);
  if (p == nullptr) throw std::bad_alloc();
  madvise(p, bytes, MADV_HUGEPAGE);
  return p;
}

void release(void* p, std::size_t bytes) noexcept {
  if (!is_mapped(bytes)) ::operator delete(p, std::align_val_t{64});
  else os::host_memory().unmap(p, bytes);
}

// The system's number of the node that the calling thread is on; -1: unknown. Some 20 ns.
int node_of_this_thread() {
  unsigned cpu = 0, node = 0;
  return getcpu(&cpu, &node) == 0 ? static_cast<int>(node) : -1;
}

// Blocks of graphs that have ended, for the next ones: the system would clear their pages again, which takes a third
// of the time in which a graph is built. Who finds the lock taken does without, also in a child process whose parent
// had it taken.
class spare_blocks {
 public:
  // One of this size that was given back on the calling thread's node; null: there is none.
  void* take(std::size_t bytes) noexcept {
    const std::unique_lock guard(lock_, std::try_to_lock);
    if (!guard.owns_lock() || count_ == 0) return nullptr;
    const int node = node_of_this_thread();
    for (std::size_t i = count_; i-- > 0;)
      if (all_[i].bytes == bytes && all_[i].node == node) return remove(i);
    return nullptr;
  }
  // The oldest ones go.
  void keep(void* p, std::size_t bytes) noexcept {
    const std::unique_lock guard(lock_, std::try_to_lock);
    if (!guard.owns_lock() || bytes > most_bytes) return release(p, bytes);
    while (count_ == all_.size() || bytes_ + bytes > most_bytes) {
      const std::size_t oldest_bytes = all_[0].bytes;
      release(remove(0), oldest_bytes);
    }
    all_[count_++] = {p, bytes, node_of_this_thread()};
    bytes_ += bytes;
  }

 private:
  struct spare {
    void* data;
    std::size_t bytes;
    int node;
  };
  // More: memory that perhaps nobody uses again. Less: a graph of 65,536 tasks with two edges each, which has 20 MiB,
  // finds too little.
  static constexpr std::size_t most_bytes = std::size_t{32} << 20, most_blocks = 32;

  void* remove(std::size_t i) noexcept {
    void* const p = all_[i].data;
    bytes_ -= all_[i].bytes;
    std::move(all_.begin() + i + 1, all_.begin() + count_, all_.begin() + i);
    count_--;
    return p;
  }

  std::mutex lock_;
  std::array<spare, most_blocks> all_{};  // the oldest first
  std::size_t count_ = 0, bytes_ = 0;
};
constinit spare_blocks spares;

}  // namespace

void* new_block(std::size_t bytes) {
  const std::size_t all = allocated_bytes(bytes);
  void* const p = all >= kept_from_bytes ? spares.take(all) : nullptr;
  return p != nullptr ? p : allocate(all);
}

void free_block(void* p, std::size_t bytes) noexcept {
  if (p == nullptr) return;
  const std::size_t all = allocated_bytes(bytes);
  if (all >= kept_from_bytes) spares.keep(p, all);
  else release(p, all);
}

}  // namespace weir::graphs
