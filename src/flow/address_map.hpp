// Dependences by address: user memory named with weir::ref. Ranges may overlap in any way; tasks are ordered as if
// they ran one after the other in creation order, as far as their ranges touch and one of them writes.
#pragma once

#include "flow/context.hpp"

#include <weir/access.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

namespace weir::detail {

// What a task waits for in the address map. `producer`: the earlier task in a trace, once it is done; 0 if untraced.
struct claim_wait : waiter {
  std::uint64_t producer = 0;
};

// Stands for one task in the address map; published when the task is done. Counted: the task and the map hold it.
struct address_claim {
  atomic<std::uint32_t> holders{1};
  atomic<waiter*> waiters{nullptr};               // version::published_mark() once the task is done
  atomic<const char*> cause{nullptr};             // set if the task failed
  std::uint64_t trace_id = 0;                     // of the task; written before `waiters` is published
  std::unique_ptr<claim_wait[]> waits;            // what the task itself waits for: the first `used` of them
  std::size_t used = 0;
};

}  // namespace weir::detail

namespace weir::flow {

using detail::address_claim;
using detail::claim_wait;

class address_map {
 public:
  ~address_map() {
    WEIR_ASSERT(is_valid());
    forget_all();
  }
  // Orders a task behind the earlier ones its ranges touch: O((k + log n) per range) for n ranges known and k of them
  // touched. The frame's pending count is raised for every task it must wait for. Throws std::bad_alloc, and then the
  // task waits for nothing and nobody for it.
  void claim(context&, frame*);
  // The task is done.
  static void finish(context&, address_claim*, const char* cause, std::uint64_t trace_id);
  // Ranges whose tasks are all done are forgotten.
  void forget_done();

 private:
  struct range {
    std::uintptr_t end = 0;
    address_claim* writer = nullptr;
    std::vector<address_claim*> readers;  // since `writer`
  };
  using ranges = std::map<std::uintptr_t, range>;  // by first address; disjoint

  // What needs memory: ranges are cut, and nothing else changes. Returns how many tasks there may be to wait for.
  std::size_t prepare(frame*, bool traced);
  void cut_out(std::uintptr_t first, std::uintptr_t end);
  void split_at(std::uintptr_t address);
  static void make_room_for_reader(range&);
  // What needs none.
  static void enter(context&, frame*, address_claim&, range&, detail::access_mode);
  void forget_all();
  // Ranges are disjoint and not empty. By who has the lock. O(ranges).
  bool is_valid() const;

  spin_lock lock_;
  ranges ranges_;
};

}  // namespace weir::flow
