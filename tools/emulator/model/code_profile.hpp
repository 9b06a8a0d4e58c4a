// What was counted by the address of the code that did it.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace weir::emulator {

// In place of an address: the kernel, whichever code of it, and code that a full table had no entry for. No code of a
// program lies in the upper half.
inline constexpr std::uint64_t kernel_code = std::uint64_t{1} << 63, elsewhere_code = kernel_code + 1;

struct code_counts {
  std::uint64_t instructions = 0;                                  // of blocks that begin at the address
  std::uint64_t read_lines = 0, write_lines = 0, own_lines = 0;    // from memory; own: of both, from the CPU's own node
  std::uint64_t wait_ps = 0;                                       // for lines, those of shared caches included

  bool operator==(const code_counts&) const = default;
};

inline code_counts& operator+=(code_counts& to, const code_counts& more) {
  to.instructions += more.instructions;
  to.read_lines += more.read_lines;
  to.write_lines += more.write_lines;
  to.own_lines += more.own_lines;
  to.wait_ps += more.wait_ps;
  return to;
}

inline code_counts& operator-=(code_counts& from, const code_counts& before) {
  from.instructions -= before.instructions;
  from.read_lines -= before.read_lines;
  from.write_lines -= before.write_lines;
  from.own_lines -= before.own_lines;
  from.wait_ps -= before.wait_ps;
  return from;
}

using code_profile = std::unordered_map<std::uint64_t, code_counts>;   // by address

// What happened between two moments; addresses at which nothing did are left out.
inline code_profile operator-(code_profile after, const code_profile& before) {
  for (const auto& [address, counts] : before) after[address] -= counts;
  std::erase_if(after, [](const auto& entry) { return entry.second == code_counts(); });
  return after;
}

}  // namespace weir::emulator
