// Asking the kernel where pages are.
#include <bench/common/page_check.hpp>

#include <weir/weir.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace weir::bench {

namespace {

constexpr std::size_t pages_per_call = 256;  // bounds the arrays on the stack to 3 KiB

// Node of each page, or a negative number. False if the system refuses to tell.
bool ask_nodes(std::size_t count, void** pages, int* nodes) {
#ifdef SYS_move_pages
  return syscall(SYS_move_pages, 0, count, pages, nullptr, nodes, 0) == 0;
#else
  (void)count, (void)pages, (void)nodes;
  return false;
#endif
}

}  // namespace

void page_checker::check(const void* first, std::size_t bytes) {
  const int node = this_task::node();
  if (node < 0 || bytes == 0) return;
  const int expected = os_nodes_.at(static_cast<std::size_t>(node));
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(first) / page * page;
  const std::size_t total = (reinterpret_cast<std::uintptr_t>(first) + bytes - begin + page - 1) / page;

  void* pages[pages_per_call];
  int nodes[pages_per_call];
  std::uint64_t misplaced = 0, unknown = 0;
  for (std::size_t done = 0; done < total; done += pages_per_call) {
    const std::size_t count = std::min(pages_per_call, total - done);
    for (std::size_t i = 0; i < count; i++) pages[i] = reinterpret_cast<void*>(begin + (done + i) * page);
    if (!ask_nodes(count, pages, nodes)) std::fill_n(nodes, count, -1);
    for (std::size_t i = 0; i < count; i++) (nodes[i] < 0 ? unknown : misplaced) += nodes[i] != expected;
  }
  checked_.fetch_add(total - unknown, std::memory_order_relaxed);
  misplaced_.fetch_add(misplaced, std::memory_order_relaxed);
  unknown_.fetch_add(unknown, std::memory_order_relaxed);
}

}  // namespace weir::bench
