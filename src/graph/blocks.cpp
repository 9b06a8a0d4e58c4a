// Where the memory of recorded graphs comes from.
#include "graph/blocks.hpp"

#include "os/os.hpp"

#include <sys/mman.h>

namespace weir::graphs {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
// Of a huge page, from where on it costs less than its small ones: clearing it takes as long as some 250 page faults.
constexpr std::size_t mapped_from_bytes = huge_page_bytes / 2;

std::size_t whole_huge_pages(std::size_t bytes) { return (bytes + huge_page_bytes - 1) & ~(huge_page_bytes - 1); }

}  // namespace

void* new_block(std::size_t bytes) {
  if (bytes < mapped_from_bytes) return ::operator new(bytes, std::align_val_t{64});
  const std::size_t whole = whole_huge_pages(bytes);
  void* const p = os::host_memory().map(whole, huge_page_bytes);
  if (p == nullptr) throw std::bad_alloc();
  madvise(p, whole, MADV_HUGEPAGE);
  return p;
}

void free_block(void* p, std::size_t bytes) noexcept {
  if (p == nullptr) return;
  if (bytes < mapped_from_bytes) ::operator delete(p, std::align_val_t{64});
  else os::host_memory().unmap(p, whole_huge_pages(bytes));
}

}  // namespace weir::graphs
