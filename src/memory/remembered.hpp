// Answers that were found once and hold for as long as no page that was known has another place: on which node all of
// a range lies, or of a tile. README.md says how long, and how many.
#pragma once

#include "base/base.hpp"
#include "memory/answers.hpp"
#include "os/os.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace weir::memory {

// A table that all threads read and write without a lock.
class remembered {
 public:
  // Of bytes that begin here; of a tile also from row to row, and of a row. Two that differ in one of these have
  // different names, all others but for a chance of 1 in 2^64.
  static std::uint64_t name(std::uintptr_t first, std::uint64_t bytes) { return spread(spread(first) ^ bytes); }
  static std::uint64_t name(std::uintptr_t first, std::uint64_t bytes, std::uint64_t stride, std::uint64_t width) {
    return spread(name(first, bytes) ^ stride ^ std::rotl(width, 32));
  }

  explicit remembered(os::memory_backend& backend) : os_(backend) {}
  ~remembered() {
    if (sets_ != nullptr) os_.unmap(sets_, bytes_of_all);
  }
  remembered(const remembered&) = delete;
  remembered& operator=(const remembered&) = delete;

  // The node that was kept under this name at this count of changes; place_unknown: none was.
  int find(std::uint64_t name, std::uint64_t count) const {
    const unsigned shift = shift_.load(std::memory_order_acquire);
    return shift == no_table ? place_unknown : sets_[name >> shift].find(name, count);
  }
  void keep(std::uint64_t name, int node, std::uint64_t count) {
    const unsigned shift = shift_.load(std::memory_order_acquire);
    if (shift != no_table) sets_[name >> shift].keep(name, node, count);
  }

  // There are so many chunks of memory now; by one thread at a time. Most names are looked for elsewhere then, and
  // their answers are found out and kept once more.
  void grow(std::size_t chunks);

 private:
  using set = answer_set<>;
  static_assert(sizeof(set) <= 64, "more than a line");
  // An answer for 8 KiB, which is a tile of 32 rows of 32 numbers; then they take one byte in 512. Fewer: what is
  // smaller is looked up again. More: they take as much more.
  static constexpr std::size_t sets_per_chunk = 64;
  // Of 2 GiB.
  static constexpr std::size_t most_sets = std::size_t{1} << 16;
  static constexpr std::size_t bytes_of_all = most_sets * sizeof(set);
  static constexpr unsigned no_table = 64;

  static std::uint64_t spread(std::uint64_t x) { return (x ^ x >> 32) * 0x9e37'79b9'7f4a'7c15; }

  os::memory_backend& os_;
  set* sets_ = nullptr;  // address space for all; those that names lead to are there
  std::size_t there_ = 0;
  atomic<unsigned> shift_{no_table};
};

}  // namespace weir::memory
