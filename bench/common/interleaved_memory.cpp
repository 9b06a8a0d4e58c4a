// The system calls by their numbers: libnuma is not needed for two calls.
#include <bench/common/interleaved_memory.hpp>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

namespace weir::bench {
namespace {

constexpr std::size_t max_nodes = 1024, max_cpus = 65536;
constexpr std::size_t bits_per_word = CHAR_BIT * sizeof(unsigned long);

template <std::size_t Bits>
using bit_words = std::array<unsigned long, Bits / bits_per_word>;

template <std::size_t Words>
bool has(const std::array<unsigned long, Words>& mask, std::size_t bit) {
  return (mask[bit / bits_per_word] >> (bit % bits_per_word)) & 1;
}

// As the kernel says where it lists a node's CPUs.
bool has_any(std::size_t node, const bit_words<max_cpus>& cpus) {
  const std::string folder = "/sys/devices/system/node/node" + std::to_string(node) + "/cpu";
  std::error_code unreadable;
  for (std::size_t c = 0; c < max_cpus; c++)
    if (has(cpus, c) && std::filesystem::exists(folder + std::to_string(c), unreadable)) return true;
  return false;
}

}  // namespace

bool interleave_memory() {
  bit_words<max_nodes> nodes{};
  bit_words<max_cpus> cpus{};
  int mode = 0;
  if (::syscall(SYS_get_mempolicy, &mode, nodes.data(), max_nodes, nullptr, MPOL_F_MEMS_ALLOWED) != 0) return false;
  if (::syscall(SYS_sched_getaffinity, 0, sizeof cpus, cpus.data()) < 0) return false;
  for (std::size_t n = 0; n < max_nodes; n++)
    if (has(nodes, n) && !has_any(n, cpus)) nodes[n / bits_per_word] &= ~(1ul << (n % bits_per_word));
  // The kernel takes one bit less than it is told.
  return ::syscall(SYS_set_mempolicy, MPOL_INTERLEAVE, nodes.data(), max_nodes + 1) == 0;
}

}  // namespace weir::bench
