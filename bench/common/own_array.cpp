// Memory from the C library whose pages were not somebody else's before.
#include <bench/common/own_array.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace weir::bench::detail {

void* allocate_own(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (bytes > SIZE_MAX - page) throw std::bad_alloc();
  const std::size_t whole_pages = bytes == 0 ? page : (bytes + page - 1) / page * page;
  void* const memory = std::aligned_alloc(page, whole_pages);
  if (memory == nullptr) throw std::bad_alloc();
  // The C library keeps what was freed: after a run under another policy the pages would lie where that one wrote
  // them. If it is refused they do, and the values are right all the same.
  (void)::madvise(memory, whole_pages, MADV_DONTNEED);
  return memory;
}

}  // namespace weir::bench::detail
