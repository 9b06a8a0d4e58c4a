// Who may write a line without telling others, and how often it changed hands: the whole of coherence, as far as misses
// are concerned. A cached copy is valid while its version is the directory's.
#pragma once

#include "config.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace weir::emulator {

// One word a line: version in the upper 24 bits, owner in the lower 8. Two CPUs that write one line at the same time may
// both take the same version; the one whose word stays is the owner, the other finds out at its next write. No word is
// ever locked: this runs on every access of every CPU.
class directory {
 public:
  // What an access finds: the version before it, the version after it, and whether a copy of the former was enough.
  struct outcome {
    std::uint32_t before, after;
    bool owned;   // false: a write to a line that others may have copies of, which must be told
  };

  // Memory comes as lines are used. Throws std::bad_alloc.
  explicit directory(std::uint64_t lines) : words_(static_cast<std::atomic<std::uint32_t>*>(std::calloc(lines, sizeof(std::uint32_t)))), lines_(lines) {
    if (words_ == nullptr) throw std::bad_alloc();
  }

  std::uint64_t lines() const { return lines_; }

  // The owner's next write must know that there is another reader.
  outcome read(std::uint64_t line, std::uint32_t cpu) {
    std::atomic<std::uint32_t>& word = words_.get()[line];
    const std::uint32_t w = word.load(std::memory_order_relaxed), owner = w & owner_mask;
    if (owner != cpu && owner != shared) word.store(w | shared, std::memory_order_relaxed);
    return {w >> 8, w >> 8, true};
  }

  outcome write(std::uint64_t line, std::uint32_t cpu) {
    std::atomic<std::uint32_t>& word = words_.get()[line];
    const std::uint32_t w = word.load(std::memory_order_relaxed), version = w >> 8;
    if ((w & owner_mask) == cpu) return {version, version, true};
    const std::uint32_t next = (version + 1) & version_mask;
    word.store(next << 8 | cpu, std::memory_order_relaxed);
    return {version, next, false};
  }

 private:
  static constexpr std::uint32_t owner_mask = 0xff, shared = 0xff, version_mask = 0xffffff;
  static_assert(max_cpus <= shared, "an owner's number must differ from the mark of shared lines");

  struct release {
    void operator()(std::atomic<std::uint32_t>* words) const { std::free(words); }
  };

  std::unique_ptr<std::atomic<std::uint32_t>, release> words_;
  std::uint64_t lines_;
};

}  // namespace weir::emulator
