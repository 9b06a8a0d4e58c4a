// Linux memory policy through raw system calls: libnuma is not needed at run time, and a refusal is an answer.
#include "os/memory.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <vector>

namespace weir::os {
namespace {

constexpr std::size_t max_nodes = 1024;
constexpr std::size_t bits_per_word = 8 * sizeof(unsigned long);
using node_mask = std::array<unsigned long, max_nodes / bits_per_word>;

bool set(node_mask& mask, int os_node) {
  if (os_node < 0 || static_cast<std::size_t>(os_node) >= max_nodes) return false;
  mask[static_cast<std::size_t>(os_node) / bits_per_word] |= 1ul << (static_cast<std::size_t>(os_node) % bits_per_word);
  return true;
}

bool set_policy(void* p, std::size_t bytes, int mode, const node_mask& mask) {
  return syscall(SYS_mbind, p, bytes, mode, mask.data(), max_nodes + 1, 0u) == 0;
}

void* map_aligned(std::size_t bytes, std::size_t alignment) {
  const std::size_t total = bytes + alignment;
  void* raw = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = (start + alignment - 1) & ~(alignment - 1);
  if (aligned > start) munmap(raw, aligned - start);
  const std::uintptr_t end = start + total, used_end = aligned + bytes;
  if (end > used_end) munmap(reinterpret_cast<void*>(used_end), end - used_end);
  return reinterpret_cast<void*>(aligned);
}

class linux_memory : public memory_backend {
 public:
  void* map(std::size_t bytes, std::size_t alignment) override { return map_aligned(bytes, alignment); }
  void unmap(void* p, std::size_t bytes) override { munmap(p, bytes); }
  bool prefer_node(void* p, std::size_t bytes, int os_node) override {
    node_mask mask{};
    return set(mask, os_node) && set_policy(p, bytes, MPOL_PREFERRED, mask);
  }
  bool interleave(void* p, std::size_t bytes, std::span<const int> os_nodes) override {
    node_mask mask{};
    for (int n : os_nodes)
      if (!set(mask, n)) return false;
    return set_policy(p, bytes, MPOL_INTERLEAVE, mask);
  }
  int node_of(const void* p) override {
    int node = -1;
    if (syscall(SYS_get_mempolicy, &node, nullptr, 0ul, p, MPOL_F_NODE | MPOL_F_ADDR) != 0) return -1;
    return node;
  }
  // The page of zeros, which stands for what was only read, is none: -EFAULT.
  bool nodes_of(std::span<const void* const> pages, std::span<int> os_nodes) override {
    if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, os_nodes.data(), 0) != 0) return false;
    for (int& n : os_nodes) n = n >= 0 ? n : page_absent;
    return true;
  }
  // What the system does not come to, because nothing is mapped there, it does not tell.
  std::size_t untouched(const void* first, std::size_t pages) override {
    std::array<unsigned char, 512> resident;
    resident.fill(1);
    pages = std::min(pages, resident.size());
    static_cast<void>(mincore(const_cast<void*>(first), pages * page_bytes(), resident.data()));
    const auto end = resident.begin() + static_cast<std::ptrdiff_t>(pages);
    return static_cast<std::size_t>(std::find_if(resident.begin(), end, [](unsigned char r) { return (r & 1) != 0; }) -
                                    resident.begin());
  }
  int move_pages(std::span<const void* const> pages, std::span<const int> os_nodes, std::span<int> became) override {
    // What the system has not come to it does not tell.
    std::fill(became.begin(), became.end(), -EBUSY);
    const long rc =
        syscall(SYS_move_pages, 0, pages.size(), pages.data(), os_nodes.data(), became.data(), MPOL_MF_MOVE);
    return rc < 0 ? errno : 0;
  }
};

class ordinary_memory : public linux_memory {
 public:
  bool prefer_node(void*, std::size_t, int) override { return true; }
  bool interleave(void*, std::size_t, std::span<const int>) override { return true; }
  int node_of(const void*) override { return -1; }
  int move_pages(std::span<const void* const>, std::span<const int> os_nodes, std::span<int> became) override {
    std::copy(os_nodes.begin(), os_nodes.end(), became.begin());
    return 0;
  }
  bool pretends() const override { return true; }
};

// Consecutive pages on their way to a node.
class page_mover {
 public:
  page_mover(char* first, int os_node) : first_(first), node_(os_node) {}

  page_moves move(std::size_t pages) {
    for (std::size_t begin = 0; begin < pages; begin += at_a_time) part(begin, std::min(at_a_time, pages - begin));
    return result_;
  }

 private:
  static constexpr std::size_t at_a_time = 4096;

  char* page(std::size_t i) const { return first_ + i * page_bytes(); }

  void part(std::size_t begin, std::size_t count) {
    addresses_.clear();
    for (std::size_t i = 0; i < count; i++) addresses_.push_back(page(begin + i));
    states_.assign(count, -EFAULT);
    if (syscall(SYS_move_pages, 0, count, addresses_.data(), nullptr, states_.data(), 0) < 0) return refuse(count, errno);
    std::vector<void*> elsewhere;
    for (std::size_t i = 0; i < count;) {
      const std::size_t from = i;
      while (i < count && untouched(states_[i])) i++;
      if (i > from) promise(begin + from, i - from);
      if (i == count) break;
      if (states_[i] == node_) result_.there++;
      else elsewhere.push_back(addresses_[i]);
      i++;
    }
    move_there(elsewhere);
  }

  // Also the page of zeros that stands for what was only read.
  static bool untouched(int state) { return state == -ENOENT || state == -EFAULT; }

  void promise(std::size_t begin, std::size_t count) {
    node_mask mask{};
    if (set(mask, node_) && set_policy(page(begin), count * page_bytes(), MPOL_PREFERRED, mask)) result_.promised += count;
    else refuse(count, errno);
  }

  void move_there(std::vector<void*>& pages) {
    if (pages.empty()) return;
    const std::vector<int> nodes(pages.size(), node_);
    states_.assign(pages.size(), -EBUSY);
    if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nodes.data(), states_.data(), MPOL_MF_MOVE) < 0) return refuse(pages.size(), errno);
    for (int state : states_)
      if (state == node_) result_.moved++;
      else refuse(1, state < 0 ? -state : EBUSY);
  }

  void refuse(std::size_t pages, int why) {
    result_.refused += pages;
    result_.error = why;
  }

  char* const first_;
  const int node_;
  page_moves result_;
  std::vector<void*> addresses_;
  std::vector<int> states_;
};

}  // namespace

page_moves move_pages(void* first, std::size_t pages, int os_node) { return page_mover(static_cast<char*>(first), os_node).move(pages); }

// Never destroyed: pools of static objects give their memory back at the end of the process.
template <class Backend>
memory_backend& only_one() {
  alignas(Backend) static std::byte place[sizeof(Backend)];
  static memory_backend& made = *new (place) Backend;
  return made;
}

memory_backend& host_memory() { return only_one<linux_memory>(); }
memory_backend& pretended_memory() { return only_one<ordinary_memory>(); }

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace weir::os
