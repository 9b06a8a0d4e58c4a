// A set-associative cache with least-recently-used replacement. It holds which line, and which version of it: a copy of
// an older version is as good as none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::emulator {

class cache {
 public:
  static constexpr std::uint32_t ways = 16;

  // Rounded down to whole sets, at least one. A set holds `ways` lines of 64 bytes.
  explicit cache(std::uint64_t bytes) : sets_(static_cast<std::uint32_t>(std::max<std::uint64_t>(1, bytes / 64 / ways))), lines_(std::size_t{sets_} * ways) {}

  std::uint32_t sets() const { return sets_; }
  std::uint32_t set_of(std::uint32_t line) const { return line % sets_; }

  // Whether this version of the line is here; it is afterwards, as the most recently used of its set.
  // `set` must be set_of(line): a caller that walks along lines knows it without a division.
  bool use(std::uint32_t line, std::uint32_t set, std::uint32_t version) { return use(line, set, version, version); }

  // The same for a line that is `wanted` if here and becomes `next`, as by a write.
  bool use(std::uint32_t line, std::uint32_t set, std::uint32_t wanted, std::uint32_t next) {
    entry* const first = &lines_[std::size_t{set} * ways];
    const std::uint32_t tag = line + 1;
    if (first->tag == tag) return replace(*first, {tag, next}, wanted);
    entry* at = first + 1;
    while (at != first + ways - 1 && at->tag != tag) at++;   // ends at the least recently used one
    const bool hit = at->tag == tag && at->version == wanted;
    std::copy_backward(first, at, at + 1);
    *first = {tag, next};
    return hit;
  }

  void clear() { std::fill(lines_.begin(), lines_.end(), entry{}); }

 private:
  struct entry {
    std::uint32_t tag = 0;   // line + 1; 0: empty
    std::uint32_t version = 0;
  };

  static bool replace(entry& e, entry by, std::uint32_t wanted) {
    const bool hit = e.version == wanted;
    e = by;
    return hit;
  }

  std::uint32_t sets_;
  std::vector<entry> lines_;   // by set, most recently used first
};

}  // namespace weir::emulator
