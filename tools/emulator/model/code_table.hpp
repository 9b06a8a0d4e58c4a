// One CPU's counts by the address of the code. Its own thread counts, any thread adds them up meanwhile.
#pragma once

#include "code_profile.hpp"
#include "count.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weir::emulator {

struct code_counters {
  std::uint64_t address = 0;
  count instructions, read_lines, write_lines, own_lines, wait_ps;
};

// Entries stay where they are, in the order in which their addresses came, so that readers need no more than their
// number. A hash table of the counting thread's own finds them: open addressing, half of it empty at least.
class code_table {
 public:
  // 65 536 entries take 1 MiB, and 3 more once all are used. Fewer: the code of large programs ends up elsewhere. More:
  // with 255 CPUs it is gigabytes.
  static constexpr std::size_t usual_entries = 1 << 16;

  // `entries`: a power of two.
  explicit code_table(std::size_t entries = usual_entries)
      : most_(entries), slots_(2 * entries), chunks_((entries + chunk_entries - 1) / chunk_entries) {
    elsewhere_.address = elsewhere_code;
  }

  // The CPU's own thread alone.
  code_counters& at(std::uint64_t address) {
    std::size_t slot = hash(address) & (slots_.size() - 1);
    while (slots_[slot] != nullptr && slots_[slot]->address != address) slot = (slot + 1) & (slots_.size() - 1);
    if (slots_[slot] != nullptr) return *slots_[slot];
    if (size_.load(std::memory_order_relaxed) == most_) return elsewhere_;
    return *(slots_[slot] = &append(address));
  }

  // Any thread.
  void add_to(code_profile& sum) const {
    const std::size_t size = size_.load(std::memory_order_acquire);
    for (std::size_t k = 0; k < size; k++) add(sum, (*chunks_[k / chunk_entries])[k % chunk_entries]);
    add(sum, elsewhere_);
  }

 private:
  static constexpr std::size_t chunk_entries = 1024;
  using chunk = std::array<code_counters, chunk_entries>;

  // Fibonacci hashing: the upper half of the product depends on all bits of the address.
  static std::size_t hash(std::uint64_t address) { return address * 0x9e3779b97f4a7c15 >> 32; }

  static void add(code_profile& sum, const code_counters& c) {
    sum[c.address] += {c.instructions.get(), c.read_lines.get(), c.write_lines.get(), c.own_lines.get(),
                       c.wait_ps.get()};
  }

  // Readers see an entry, and its chunk, once they see the size that counts it.
  code_counters& append(std::uint64_t address) {
    const std::size_t k = size_.load(std::memory_order_relaxed);
    if (k % chunk_entries == 0) chunks_[k / chunk_entries] = std::make_unique<chunk>();
    code_counters& entry = (*chunks_[k / chunk_entries])[k % chunk_entries];
    entry.address = address;
    size_.store(k + 1, std::memory_order_release);
    return entry;
  }

  std::size_t most_;
  std::vector<code_counters*> slots_;
  std::vector<std::unique_ptr<chunk>> chunks_;
  std::atomic<std::size_t> size_{0};
  code_counters elsewhere_;
};

}  // namespace weir::emulator
