// Columns of the program's own memory, and addresses without memory.
#include <bench/overhead/own_memory.hpp>

#include <sys/mman.h>

#include <new>

namespace weir::bench::overhead {
namespace {

// Enough for 268 million tasks before an address comes again; small beside the 128 TiB that a process has.
constexpr std::size_t most_bytes = std::size_t{16} << 30;
constexpr std::size_t least_bytes = 4096;

void* reserve_bytes(std::size_t bytes) {
  void* const p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

}  // namespace

void address_space::reserve() {
  if (first_ != nullptr) return;
  std::size_t bytes = most_bytes;
  void* p = reserve_bytes(bytes);
  while (p == nullptr && bytes > least_bytes) p = reserve_bytes(bytes /= 2);  // the process's addresses are limited
  if (p == nullptr) throw std::bad_alloc();
  first_ = static_cast<value*>(p);
  lines_ = bytes / line_bytes;
}

address_space::~address_space() {
  if (first_ != nullptr) ::munmap(first_, lines_ * line_bytes);
}

void own_memory::prepare(const workload& w) {
  if (w.what->values == memory::fresh) return fresh_.reserve();
  const std::size_t values = w.what->values == memory::cells ? 1 : block_values;
  const std::size_t rows = w.what->in_place ? 1 : 2;
  for (std::size_t r = 0; r < rows; r++) rows_[r].assign(w.graph->width() * values, 0);
}

}  // namespace weir::bench::overhead
