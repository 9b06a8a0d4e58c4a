// Makes of tasks what a policy sees of a window: what they cost, and what they have in common.
#pragma once

#include "place/place.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir::place {

// All that a task reads and writes, once.
std::uint64_t bytes_named(flow::frame&);

class window_builder {
 public:
  // Matched tasks, none of which runs. `nodes`: where the first ones were placed by the window before. O(accesses and
  // parts), some 20 ns each.
  window_builder(const policy_machine&, memory::regions* known, const std::vector<flow::frame*>& frames,
                 const std::vector<int>& nodes, bool cut);
  // For task_window::now_ns(); null: it stands still.
  void set_clock(std::uint64_t (*now_ns)()) { made_.clock_ = now_ns; }
  task_window take() { return std::move(made_); }

 private:
  void add_all_of(std::uint32_t task, flow::frame&);
  // Whether the version is still to be written.
  bool add_source(std::uint32_t task, flow::version&, std::uint64_t bytes);
  void add_places(std::uint32_t task, flow::frame&);
  std::uint64_t cost_of(flow::frame&) const;

  // Of frames, which must outlive it, by address: open addressing, half full at most.
  class numbers {
   public:
    explicit numbers(const std::vector<flow::frame*>& frames);
    int of(const flow::frame*) const;  // -1: it is none of them

   private:
    std::size_t slot_of(const flow::frame* f) const {
      return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(f) >> 6) * 0x9e3779b97f4a7c15u >> shift_);
    }
    const std::vector<flow::frame*>& frames_;
    unsigned shift_;
    std::vector<std::uint32_t> number_;  // + 1; 0: free
  };

  memory::regions* const known_;
  const double ns_per_byte_;  // to read it at home
  const numbers numbers_;
  std::unordered_map<const flow::frame*, std::uint32_t> first_of_group_;
  task_window made_;
};

}  // namespace weir::place
