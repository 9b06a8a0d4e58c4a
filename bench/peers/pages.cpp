// Memory for the peer programs, from the system directly.
#include <bench/peers/pages.hpp>

#include <bench/peers/options.hpp>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace weir::bench::peers {
namespace {

// From linux/mempolicy.h, which numaif.h replaces where libnuma's headers are installed.
constexpr int interleave_policy = 3;        // MPOL_INTERLEAVE
constexpr unsigned allowed_nodes = 1 << 2;  // MPOL_F_MEMS_ALLOWED
constexpr unsigned long max_nodes = 1024;   // the kernel's largest CONFIG_NODES_SHIFT

bool set_interleaved(void* memory, std::size_t bytes) {
  unsigned long nodes[max_nodes / (8 * sizeof(unsigned long))] = {};
  if (::syscall(SYS_get_mempolicy, nullptr, nodes, max_nodes, nullptr, allowed_nodes) != 0) return false;
  return ::syscall(SYS_mbind, memory, bytes, interleave_policy, nodes, max_nodes + 1, 0) == 0;
}

}  // namespace

void interleave(void* memory, std::size_t bytes) {
  static bool said = false;
  if (set_interleaved(memory, bytes) || said) return;
  said = true;
  std::fprintf(stderr, "note: the system refuses to interleave pages (%s); they lie where they are first touched\n",
               std::strerror(errno));
}

pages::pages(std::size_t bytes, bool interleave) : bytes_(bytes) {
  memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) refuse("--size needs " + std::to_string(bytes) + " bytes an array: " + std::strerror(errno));
  if (interleave) peers::interleave(memory_, bytes);
}

pages::~pages() { ::munmap(memory_, bytes_); }

}  // namespace weir::bench::peers
