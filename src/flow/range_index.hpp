// Ranges by address: a B+ tree of records that do not overlap, by their first address.
//
// Finding, adding and removing take O(log n), mostly without a look at more than a leaf that was used before: programs
// name neighbours one after the other, and a block's neighbours in a few places in turn, from several threads. Leaves
// are not merged when they get emptier, only removed when they are empty, so there are never more of them than
// records.
#pragma once

#include "flow/range_record.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::flow {

class range_index {
  struct node;
  struct leaf;
  struct branch;

 public:
  // A place among the records, valid until one is added or removed.
  class position {
   public:
    range_record* record() const;  // null: behind the last
    void advance();

   private:
    friend class range_index;
    position(const leaf* l, unsigned i) : leaf_(l), index_(i) {}
    const leaf* leaf_;
    unsigned index_;
  };

  range_index() = default;
  ~range_index();
  range_index(const range_index&) = delete;
  range_index& operator=(const range_index&) = delete;

  // The first record that ends behind the address.
  position find(std::uintptr_t address);
  // Memory for so many more, so that add() does not fail. Throws std::bad_alloc.
  void reserve(unsigned records);
  // It overlaps none that is there. Memory was reserved.
  void add(range_record*) noexcept;
  void remove(const range_record*) noexcept;
  std::size_t size() const { return size_; }
  // Records are in order, disjoint and not empty. O(records).
  bool is_valid();

 private:
  static constexpr unsigned fanout = 32, most_levels = 16;
  // Kept when leaves go. Fewer: what was reserved could go before it is used.
  static constexpr unsigned most_spares = 128;
  // A leaf, and which addresses belong there.
  struct place {
    leaf* at = nullptr;
    std::uintptr_t low = 0, high = 0;
    bool has(std::uintptr_t address) const { return at != nullptr && low <= address && address < high; }
  };
  // From the root down: which branches, and which child of each was taken.
  struct path {
    std::array<branch*, most_levels> branches;
    std::array<unsigned, most_levels> taken;
  };

  const place& place_of(std::uintptr_t address);
  void forget_place(const leaf*) noexcept;
  place descend(std::uintptr_t address, path&) const;
  void split(std::uintptr_t address) noexcept;
  void add_child(path&, node* added, std::uintptr_t lowest) noexcept;
  void remove_child(path&) noexcept;
  template <class Node> Node* make() noexcept;
  void give_back(node*) noexcept;
  void destroy(node*, unsigned levels_below) noexcept;

  node* root_ = nullptr;
  unsigned levels_ = 0;  // of branches
  // Leaves that were used last, by their addresses. A leaf's range changes only when it is split: then it is
  // forgotten, as when it goes. Fewer: threads that name memory in several places push each other's out. More: a split
  // looks at each of them.
  static constexpr unsigned recent_places = 4, recent_shift = 14;
  std::array<place, recent_places> recent_;
  std::size_t size_ = 0;
  node* spares_ = nullptr;
  unsigned spare_count_ = 0;
};

}  // namespace weir::flow
