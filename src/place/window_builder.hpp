// Makes of tasks what a policy sees of a window: what they cost, and what they have in common.
#pragma once

#include "place/place.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace weir::place {

// All that a task reads and writes, once.
std::uint64_t bytes_named(flow::frame&);

class window_builder {
 public:
  window_builder(const policy_machine&, memory::regions* known);
  // For task_window::now_ns(); null: it stands still.
  void set_clock(std::uint64_t (*now_ns)()) { made_.clock_ = now_ns; }

  struct member {
    flow::frame* frame;  // matched, and does not run
    int node = -1;       // where it was placed by the window before
  };
  // In the order of their creation. False: of some it may be known later where what they name lies: memory of the
  // program's own that nobody has written yet, or that a task is to write which has no place. O(accesses and parts),
  // some 20 ns each.
  bool add(std::span<const member>);
  std::size_t size() const { return made_.size(); }
  bool is(std::size_t task, const member& m) const {
    return &made_.task(task).frame() == m.frame && made_.node(task) == m.node;
  }
  // The first ones alone. No others can be added then.
  void end_at(std::size_t tasks);
  // `cut`: task_window::is_cut(). Once.
  task_window take(bool cut);

 private:
  void add_one(flow::frame&, int node);
  // Whether the version is still to be written.
  bool add_source(std::uint32_t task, flow::version&, std::uint64_t bytes);
  void add_places(std::uint32_t task, flow::frame&);

  // Of frames, which must outlive it, by address: open addressing, half full at most.
  class numbers {
   public:
    void add(const flow::frame*);
    int of(const flow::frame*) const;  // -1: it is none of them

   private:
    static constexpr std::size_t least_slots = 64;
    std::size_t slot_of(const flow::frame* f) const {
      return static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(f) >> 6) * 0x9e3779b97f4a7c15u >> shift_);
    }
    void put(std::uint32_t i);
    void grow();
    std::vector<const flow::frame*> frames_;
    unsigned shift_ = 64;
    std::vector<std::uint32_t> number_;  // + 1; 0: free
  };

  memory::regions* const known_;
  const double ns_per_byte_;  // to read it at home
  bool all_have_places_ = true;  // of those that are added at once
  std::vector<const detail::task_ops*> functions_;
  numbers numbers_;
  std::unordered_map<const flow::frame*, std::uint32_t> first_of_group_;
  task_window made_;
};

}  // namespace weir::place
