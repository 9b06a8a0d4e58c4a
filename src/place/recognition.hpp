// Tasks that come again: a program that iterates creates the same graph each time, and what was placed in a window
// once need not be placed again. README.md, "Tasks that come again".
#pragma once

#include "flow/flow.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weir::place {

// Of a task that is not matched yet: its function, and what it names, how: addresses of its own memory, and which
// data, whatever version these have. One multiplication for each. Never 0; the low bits are.
std::uint64_t signature_of(flow::frame&);

// The tasks of windows, in the order of their creation, with where they were placed, a number below 2^16. A creator
// that goes through the same tasks again finds each behind the one before.
class recognition {
 public:
  // Of each creator.
  struct reader {
    std::uint32_t next = 0;       // where the task should be that comes next
    std::uint64_t signature = 0;  // of the last one that was looked for
  };
  // Tasks that are kept, a power of two; 24 bytes each, and as much again for what it was before it grew. More: it
  // takes 12 MiB. Fewer: programs are not recognised that create so many between two that are the same.
  static constexpr std::size_t usual_most = std::size_t{1} << 18;
  explicit recognition(std::size_t most = usual_most) : most_(most) {}

  // By anybody, with a reader of its own: where the task of this signature was placed; -1: it is not known, or it was
  // in several places and is not where it was expected. Some ns.
  int place_of(std::uint64_t signature, reader& r) const {
    r.signature = signature;
    const record* const known = record_.load(std::memory_order_acquire);
    if (known == nullptr) return -1;
    const std::uint64_t expected = known->entry(r.next).load(std::memory_order_relaxed);
    if (!is_of(expected, signature)) return look_for(*known, signature, r);
    r.next++;
    return place_in(expected);
  }

  // By one thread at a time. A task was placed; returns its position, for amend(). Without memory it is not kept, or
  // in place of an old one.
  std::uint32_t add(std::uint64_t signature, int place);
  // The last one that was added there was placed again.
  void amend(std::uint32_t position, std::uint64_t signature, int place);

  static constexpr unsigned place_bits = 16;

 private:
  // A word holds both, so that whoever reads it while it is replaced has one task or the other. 0: none.
  static bool is_of(std::uint64_t entry, std::uint64_t signature) { return (entry ^ signature) >> place_bits == 0; }
  static int place_in(std::uint64_t entry) { return static_cast<int>(entry & ((std::uint64_t{1} << place_bits) - 1)); }

  struct record {
    explicit record(std::size_t size)
        : mask(size - 1), entries(std::make_unique<atomic<std::uint64_t>[]>(size)),
          firsts(std::make_unique<atomic<std::uint32_t>[]>(slots_per_task * size)) {}
    atomic<std::uint64_t>& entry(std::uint32_t position) const { return entries[position & mask]; }
    std::size_t slot_of(std::uint64_t signature) const { return (signature >> place_bits) & slot_mask(); }
    std::size_t slot_mask() const { return slots_per_task * (mask + 1) - 1; }
    void put(std::uint32_t position, std::uint64_t signature, int place);
    void note_first(std::uint32_t position, std::uint64_t signature, int place);

    const std::size_t mask;
    const std::unique_ptr<atomic<std::uint64_t>[]> entries;
    // By signature, open addressing: its first position + 1, and in_several_places. What points to an entry of another
    // task, which has replaced that one, is free.
    const std::unique_ptr<atomic<std::uint32_t>[]> firsts;
  };
  static constexpr std::size_t least = 4096;
  static constexpr std::size_t slots_per_task = 4;
  static constexpr std::size_t slots_looked_at = 32;
  static constexpr std::uint32_t in_several_places = std::uint32_t{1} << 31;

  static int look_for(const record&, std::uint64_t signature, reader&);
  void grow();

  std::size_t most_;  // less where there is no memory for more
  atomic<const record*> record_{nullptr};
  std::vector<std::unique_ptr<record>> all_;  // the last one is in use; the others may be read still
  std::uint32_t end_ = 0;                     // position of the next task
};

}  // namespace weir::place
