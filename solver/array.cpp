// Memory of arrays: from the system's heap, large ones aligned and marked for large pages.
#include <weir/solver/array.hpp>

#include <new>

#include <sys/mman.h>

namespace weir::solver::detail {
namespace {

constexpr std::size_t cache_line_bytes = 64;
constexpr std::size_t large_page_bytes = std::size_t{2} << 20;
std::align_val_t alignment(std::size_t bytes) { return std::align_val_t(has_large_pages(bytes) ? large_page_bytes : cache_line_bytes); }

}  // namespace

// Below two large pages the alignment would waste as much as the array has.
bool has_large_pages(std::size_t bytes) { return bytes >= 2 * large_page_bytes; }

// A hint, too: what has no large pages needs none of this.
void use_small_pages(void* p, std::size_t bytes) { (void)::madvise(p, bytes, MADV_NOHUGEPAGE); }

void* allocate(std::size_t bytes) {
  void* p = ::operator new(bytes, alignment(bytes));
  // A hint: where the system has no large pages the array is just slower.
  if (has_large_pages(bytes)) (void)::madvise(p, bytes, MADV_HUGEPAGE);
  return p;
}

void deallocate(void* p, std::size_t bytes) noexcept { ::operator delete(p, alignment(bytes)); }

}  // namespace weir::solver::detail
