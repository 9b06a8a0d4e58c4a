// Which node's memory an address of the emulated machine is in.
#pragma once

#include "config.hpp"

#include <cstdint>
#include <vector>

namespace weir::emulator {

// The addresses are those qemu_plugin_hwaddr_phys_addr of QEMU 7.2 gives: offset in the block of memory, plus the
// block's place among all blocks, plus the block's place in the machine's memory. With one block a node, made in order,
// node k's memory begins at twice the sum of the sizes before it.
class address_map {
 public:
  struct place {
    int node = -1;            // -1: no node's memory
    std::uint64_t line = 0;   // lines are numbered through over all nodes
  };

  explicit address_map(const std::vector<std::uint64_t>& node_bytes);

  place find(std::uint64_t address) const {
    const std::uint64_t mib = address >> 20;
    if (mib >= by_mib_.size() || by_mib_[mib].node < 0) return {};
    return {by_mib_[mib].node, (address - by_mib_[mib].gap) / line_bytes};
  }
  std::uint64_t lines() const { return lines_; }

 private:
  struct part {
    int node = -1;
    std::uint64_t gap = 0;   // what to subtract, so that nodes follow one another without gaps
  };
  std::vector<part> by_mib_;
  std::uint64_t lines_ = 0;
};

inline address_map::address_map(const std::vector<std::uint64_t>& node_bytes) {
  std::uint64_t before = 0;
  for (std::size_t node = 0; node < node_bytes.size(); node++) {
    by_mib_.resize(2 * before >> 20);
    by_mib_.resize((2 * before + node_bytes[node]) >> 20, part{static_cast<int>(node), before});
    before += node_bytes[node];
  }
  lines_ = before / line_bytes;
}

}  // namespace weir::emulator
