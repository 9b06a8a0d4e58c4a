// The ranges of user memory that tasks have named: records that do not overlap, found by their exact bytes with one
// look-up, or by address; and for ranges that cover several records the list of these.
//
// Used by who has the right to match (README.md). New records overwrite those at rest, so the table is as large as the
// backlog of tasks needs, or what is named again and again.
#pragma once

#include "flow/evictions.hpp"
#include "flow/range_index.hpp"
#include "flow/range_record.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weir::flow {

// The records that make up a range, by address. Out of date once one of them is another (its generation says so).
struct range_parts {
  struct part {
    range_record* record;
    std::uint32_t generation;
    bool is_there() const { return record->generation == generation; }
  };
  range_parts(std::uintptr_t address, std::uint64_t size) : first(address), bytes(size) {}
  const std::uintptr_t first;
  const std::uint64_t bytes;
  std::vector<part> all;
  atomic<std::uint64_t> checked_at{0};  // of a range's: how often a record of the table had gone when all were there

  bool is_up_to_date() const { return !all.empty() && std::ranges::all_of(all, &part::is_there); }
};

class range_table {
 public:
  // Of a runtime that is known later; `keeps_all` may change before the first range is named.
  range_table(const detail::runtime_state* const& runtime, const bool& keeps_all)
      : runtime_(runtime), keeps_all_(keeps_all) {}
  ~range_table();  // everything was forgotten
  range_table(const range_table&) = delete;
  range_table& operator=(const range_table&) = delete;

  // What exactly these bytes are: a record, the parts of a range, or nothing that is known. Some 3 ns.
  struct found {
    range_record* record = nullptr;
    range_parts* parts = nullptr;
  };
  found find(std::uintptr_t first, std::uint64_t bytes) const {
    for (const slot& s : window_in(slots_, shift_, first, bytes))
      if (s.holds(first, bytes)) return s.content();
    return {};
  }
  // Calls f(record) for each in these bytes, by address.
  template <class F>
  void for_each_part(std::uintptr_t first, std::uint64_t bytes, F&& f) {
    auto at = index_.find(first);
    for (range_record* r = at.record(); r != nullptr && r->first < first + bytes; r = at.record()) {
      at.advance();
      f(*r);
    }
  }

  // Makes sure that records begin and end where this range does, and that there is one for each of its bytes. Records
  // that reach across its ends are cut, or taken out if they are at rest and out of use. All in the range are named by
  // the task of this number then. Throws std::bad_alloc: what has changed until then matters to nobody.
  void cover(context&, std::uintptr_t first, std::uint64_t bytes, std::uint32_t task);
  // That a range has parts, for find(). If there is no memory it will not be found.
  void note_parts(context&, std::uintptr_t first, std::uint64_t bytes, std::uint32_t task) noexcept;
  // The same of a range's parts that this has found, mostly without a look at them.
  bool is_up_to_date(range_parts& parts) const {
    if (parts.checked_at.load(std::memory_order_relaxed) == removals_) return !parts.all.empty();
    if (!parts.is_up_to_date()) return false;
    parts.checked_at.store(removals_, std::memory_order_relaxed);
    return true;
  }
  // Whether nobody loses anything by it; the task of this number names it.
  bool may_go(const range_record& r, std::uint32_t task) const {
    return r.named_by != task && !keeps_all_ && r.is_forgettable();
  }
  void take_out(context&, range_record&) noexcept;
  // One more task names ranges. Records remember when that was.
  std::uint32_t tick() {
    const std::uint32_t later = now() + 1;
    now_.store(later, std::memory_order_relaxed);
    return later;
  }
  // The same by one of several at the same time, who each say so only now and then: all use the clock's line.
  void tick_among(context& c) {
    if (++c.unnoted_ticks % ticks_at_once == 0) now_.fetch_add(ticks_at_once, std::memory_order_relaxed);
  }
  std::uint32_t now() const { return now_.load(std::memory_order_relaxed); }
  bool keeps_all() const { return keeps_all_; }
  // Of so many records that it is among.
  bool is_out_of_use(const range_record& r, std::size_t records) const {
    return now() - r.named_at() > 2 * records + 16;
  }

  // For maps of other forms of ranges, whose records come from here, too. Before so many are taken. Throws
  // std::bad_alloc.
  void reserve(std::size_t records);
  range_record& take_record(std::uintptr_t first, std::uintptr_t end, std::uint32_t task) noexcept;
  // What is known of it would have to go on in others.
  bool must_go_on(const range_record& r) const { return keeps_all_ || !r.is_forgettable(); }
  // Nobody joins its group any more: it is about to be cut.
  static void end_group(context&, range_record&) noexcept;
  // Of a record that no map has: its version has no more readers than those matched, or is that of a task.
  void drop(context&, range_record&) noexcept;
  // These, which lie in it, in place of this one, which is in no map then. Room for them was reserved.
  void replace(context&, range_record&, std::span<range_record* const> by, std::uint32_t task) noexcept;
  // How many of its records have an open group. These keep what tasks have read and written.
  std::uint32_t& open_groups() { return open_groups_; }

  // Of a record that was cut, by any thread: nobody looks at it any more.
  void give_back(range_record&) noexcept;
  // All that is at rest, or everything. O(size).
  void forget(context&, bool everything) noexcept;
  // It knows no range, and no record is still to be given back.
  bool is_unused() {
    collect_returned();
    return unused_.size() == records_;
  }
  // O(size).
  bool is_valid() { return index_.is_valid(); }

 private:
  // `entry`: a record, or parts with the lowest bit set, or zero.
  struct slot {
    std::uintptr_t first, entry;
    bool has_parts() const { return (entry & 1) != 0; }
    range_record* record() const { return reinterpret_cast<range_record*>(entry); }
    range_parts* parts() const { return reinterpret_cast<range_parts*>(entry & ~std::uintptr_t{1}); }
    std::uint64_t bytes() const { return has_parts() ? parts()->bytes : record()->state.bytes; }
    bool holds(std::uintptr_t address, std::uint64_t size) const {
      return first == address && entry != 0 && bytes() == size;
    }
    found content() const { return has_parts() ? found{nullptr, parts()} : found{record(), nullptr}; }
  };
  // A range is in one of so many slots that lie side by side, in two lines of a cache. Windows begin at every line.
  static constexpr std::size_t window = 8, line = 4, first_lines = 4;
  static constexpr std::uint32_t ticks_at_once = 64;
  static constexpr std::size_t first_records = 8, most_in_chunk = 512;

  static std::span<slot, window> window_in(slot* slots, unsigned shift, std::uintptr_t first, std::uint64_t bytes) {
    return std::span<slot, window>(slots + (mixed(first, bytes) >> shift) * line, window);
  }
  static std::uint64_t mixed(std::uintptr_t first, std::uint64_t bytes) {
    // Lengths go far apart, so that no two ranges of a program have all of it in common.
    return (first + bytes * 0xc2b2ae3d27d4eb4fu) * 0x9e3779b97f4a7c15u;
  }
  bool may_go(const slot&, std::uint32_t task) const;
  // It was not named while twice as many tasks came as there are records: who goes over all again and again is faster.
  bool is_out_of_use(const range_record& r) const { return is_out_of_use(r, index_.size()); }
  void clear(context&, slot&) noexcept;
  slot* slot_for(context&, std::uintptr_t first, std::uint64_t bytes, std::uint32_t task) noexcept;
  bool grow() noexcept;
  bool move_to(slot* wider, unsigned shift) const noexcept;
  std::span<slot> all_slots() const { return {slots_, lines_ == 0 ? 0 : (lines_ + 1) * line}; }

  void add(context&, range_record&, std::uint32_t task) noexcept;
  range_record* reaching_across(std::uintptr_t address);
  void clear_bound(context&, std::uintptr_t bound, std::uintptr_t first, std::uintptr_t end, std::uint32_t task);
  void cut(context&, range_record&, std::uintptr_t first, std::uintptr_t end, std::uint32_t task);
  void fill(context&, std::uintptr_t first, std::uintptr_t end, std::uint32_t task);
  void remove(range_record&) noexcept;
  void collect_returned();

  const detail::runtime_state* const& runtime_;
  const bool& keeps_all_;  // for traces: what is at rest still says who wrote it
  slot* slots_ = no_slots.data();
  unsigned shift_ = 63;
  std::unique_ptr<slot[]> memory_;
  evictions gone_;
  std::size_t lines_ = 0;
  range_index index_;
  atomic<std::uint32_t> now_{0};
  std::uint64_t removals_ = 0;
  std::uint32_t open_groups_ = 0;
  std::vector<std::unique_ptr<range_record[]>> chunks_;
  std::size_t records_ = 0;  // in all chunks
  std::vector<range_record*> unused_;  // has room for all records
  atomic<range_record*> returned_{nullptr};
  inline static std::array<slot, window + line> no_slots{};  // of a table that is empty
};

}  // namespace weir::flow
