// set_mempolicy by its number: libnuma is not needed for one call.
#include "solve_memory.hpp"

#include <machine/machine.hpp>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace weir::tools {

bool interleave_memory() {
  constexpr std::size_t bits_per_word = 8 * sizeof(unsigned long);
  std::array<unsigned long, machine::max_nodes / bits_per_word> mask{};
  for (const machine::node& n : machine::host().nodes) {
    const auto os_index = static_cast<std::size_t>(n.os_index);
    if (n.memory_bytes == 0 || n.cpus.empty() || os_index >= machine::max_nodes) continue;
    mask[os_index / bits_per_word] |= 1ul << (os_index % bits_per_word);
  }
  return ::syscall(SYS_set_mempolicy, MPOL_INTERLEAVE, mask.data(), machine::max_nodes + 1) == 0;
}

}  // namespace weir::tools
