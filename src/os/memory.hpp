// Memory with a place: mapping, binding to a node, asking where pages are.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::os {

// The operations pools need. The real one talks to Linux; the pretended one serves machine descriptions that are not
// the host: memory is ordinary, and placement is only what the pools write down. Node numbers are the system's.
class memory_backend {
 public:
  virtual ~memory_backend() = default;
  // Address space, zeroed when first touched, aligned to `alignment` (a power of two of at least a page). Null when
  // the system gives none.
  virtual void* map(std::size_t bytes, std::size_t alignment) = 0;
  virtual void unmap(void*, std::size_t bytes) = 0;
  // Pages not touched yet shall come from this node while it has any (preferred, not strict). False if refused.
  virtual bool prefer_node(void*, std::size_t bytes, int os_node) = 0;
  // Pages not touched yet shall come from these nodes in turn. False if refused.
  virtual bool interleave(void*, std::size_t bytes, std::span<const int> os_nodes) = 0;
  // Node of the page at this address (touching it if need be), or -1 if the system does not say.
  virtual int node_of(const void*) = 0;
  // By address of a page of this process, the number of the node it lies on; page_absent: nobody has touched it yet,
  // and this does not either. False: the system does not say. Some 100 ns a page.
  virtual bool nodes_of(std::span<const void* const> /*pages*/, std::span<int> /*os_nodes*/) { return false; }
  // How many pages from this one on, at most so many, nobody has touched, as far as the system says that in one call.
  // Some 200 ns where there are no page tables, else some nanoseconds a page.
  virtual std::size_t untouched(const void* /*first*/, std::size_t /*pages*/) { return 0; }
  // Moves pages of this process, each to a node. In `became` the node that a page is on then, or -errno if it was not
  // moved. Returns 0, or errno where the system moves none at all. Some 100 us a call, as the system has all CPUs give
  // back pages that they hold, and some microseconds a page. Of a huge page some may be told -EBUSY, and all are moved.
  virtual int move_pages(std::span<const void* const> /*pages*/, std::span<const int> /*os_nodes*/,
                         std::span<int> /*became*/) {
    return ENOSYS;
  }
  // Whether there are nodes only in what is written down.
  virtual bool pretends() const { return false; }

  static constexpr int page_absent = -1;
};

memory_backend& host_memory();
memory_backend& pretended_memory();

std::size_t page_bytes();

// What became of pages that were to be on a node.
struct page_moves {
  std::size_t moved = 0;
  std::size_t there = 0;     // already
  std::size_t promised = 0;  // not touched yet; they will come from that node while it has memory
  std::size_t refused = 0;
  int error = 0;             // errno of the last refusal
};

// Moves whole pages of this process; `first` is the first one's address. What the system does not move stays where it is.
// Some microseconds a page that is moved, some 100 ns for any other.
page_moves move_pages(void* first, std::size_t pages, int os_node);

}  // namespace weir::os
