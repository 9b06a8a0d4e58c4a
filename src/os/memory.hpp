// Memory with a place: mapping, binding to a node, asking where pages are.
#pragma once

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
};

memory_backend& host_memory();
memory_backend& pretended_memory();

std::size_t page_bytes();

}  // namespace weir::os
