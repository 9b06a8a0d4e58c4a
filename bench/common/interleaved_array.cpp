// Interleaved memory by raw system calls: a refusal is an answer, and no library is needed.
#include <bench/common/interleaved_array.hpp>

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <map>
#include <mutex>

namespace weir::bench {
namespace detail {
namespace {

constexpr std::size_t max_nodes = 1024;
struct node_set {
  std::array<unsigned long, max_nodes / (8 * sizeof(unsigned long))> words{};

  int count() const {
    int n = 0;
    for (unsigned long w : words) n += std::popcount(w);
    return n;
  }
};

// The nodes this process may allocate from; none if the system does not say.
node_set allowed_nodes() {
  node_set nodes;
#ifdef SYS_get_mempolicy
  int mode = 0;
  if (syscall(SYS_get_mempolicy, &mode, nodes.words.data(), max_nodes, nullptr, MPOL_F_MEMS_ALLOWED) != 0) nodes = {};
#endif
  return nodes;
}

bool interleave(void* memory, std::size_t bytes, const node_set& nodes) {
#ifdef SYS_mbind
  return syscall(SYS_mbind, memory, bytes, MPOL_INTERLEAVE, nodes.words.data(), max_nodes + 1, 0u) == 0;
#else
  (void)memory, (void)bytes, (void)nodes;
  return false;
#endif
}

// One node, or an unknown number of them on a machine whose /sys shows only one.
bool only_one_node(const node_set& allowed) {
  if (allowed.count() > 0) return allowed.count() == 1;
  return access("/sys/devices/system/node/node1", F_OK) != 0;
}

// Every mapping there is, and its size.
std::mutex mappings_lock;
std::map<void*, std::size_t> mappings;

// Reads a byte of each page and writes it back: pages that are not there yet come to be, under the policy of the mapping.
void touch(void* memory, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t at = 0; at < bytes; at += page) {
    auto* const byte = static_cast<volatile char*>(memory) + at;
    *byte = *byte;
  }
}

bool forget_placement(void* memory, std::size_t bytes) {
#ifdef SYS_mbind
  return syscall(SYS_mbind, memory, bytes, MPOL_DEFAULT, nullptr, 0UL, 0u) == 0;
#else
  (void)memory, (void)bytes;
  return false;
#endif
}

void say_refused_once() {
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) std::fputs("weir: note: the system refuses to interleave pages over nodes; shared arrays lie where they are first touched\n", stderr);
}

}  // namespace

void* map_interleaved(std::size_t bytes) {
  if (bytes == 0) bytes = 1;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  static const node_set nodes = allowed_nodes();
  if (!only_one_node(nodes) && (nodes.count() == 0 || !interleave(memory, bytes, nodes))) say_refused_once();
  const std::lock_guard hold(mappings_lock);
  mappings[memory] = bytes;
  return memory;
}

void unmap_interleaved(void* memory, std::size_t bytes) noexcept {
  const std::lock_guard hold(mappings_lock);
  mappings.erase(memory);
  munmap(memory, bytes == 0 ? 1 : bytes);
}

}  // namespace detail

void let_interleaved_pages_move() {
  const std::lock_guard hold(detail::mappings_lock);
  bool done = true;
  for (const auto& [memory, bytes] : detail::mappings) {
    detail::touch(memory, bytes);
    done &= detail::forget_placement(memory, bytes);
  }
  static std::atomic<bool> said{false};
  if (!done && !said.exchange(true)) std::fputs("weir: note: the system does not let go of pages that were placed; numa_balancing will not move them\n", stderr);
}

}  // namespace weir::bench
