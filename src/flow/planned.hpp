// Tasks that a policy places before they are ready, with others of a window (place/windows.hpp): what a frame's
// affinity says of them. A task that its program has placed is never one.
#pragma once

#include "flow/context.hpp"

#include <atomic>
#include <cstdint>

namespace weir::flow {

// Below detail::node_unknown, which says that a task belongs nowhere in particular.
inline constexpr std::int16_t awaits_plan = -2;
inline constexpr std::int16_t first_planned = -3;  // on node 0, and every second one on the next

// `with_data`: because most of what it names was to be there by then.
constexpr std::int16_t planned_on(int node, bool with_data = false) {
  return static_cast<std::int16_t>(first_planned - 2 * node - (with_data ? 1 : 0));
}
// Negative: it is not planned, or not yet.
constexpr int node_of_plan(std::int16_t affinity) {
  return affinity <= first_planned ? (first_planned - affinity) / 2 : int{detail::node_unknown};
}
constexpr bool is_planned_with_data(std::int16_t affinity) {
  return affinity <= first_planned && (first_planned - affinity) % 2 != 0;
}
static_assert(node_of_plan(planned_on(7)) == 7 && node_of_plan(awaits_plan) < 0 && node_of_plan(3) < 0);
static_assert(node_of_plan(planned_on(7, true)) == 7 && is_planned_with_data(planned_on(7, true)));
static_assert(!is_planned_with_data(planned_on(7)) && !is_planned_with_data(awaits_plan));

// While it is planned others may look at it: those that make it ready, and those that name what it will write.
inline std::int16_t affinity_of(frame& f) {
  return std::atomic_ref<std::int16_t>(f.affinity).load(std::memory_order_acquire);
}
inline void set_affinity(frame& f, std::int16_t to) {
  std::atomic_ref<std::int16_t>(f.affinity).store(to, std::memory_order_release);
}

// The node that a task is placed on, by its program or by a plan; negative: on none.
inline int placed_node(frame& f) {
  const std::int16_t affinity = affinity_of(f);
  return affinity >= 0 ? affinity : node_of_plan(affinity);
}

}  // namespace weir::flow
