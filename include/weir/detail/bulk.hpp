// How one callable serves all tasks of a graph: a pointer to it, and a function that calls it with a list of tasks.
// Internal.
#pragma once

#include <weir/detail/wrong_call.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace weir::detail {

// Called by several threads at once; must outlive the run.
struct bulk_body {
  const void* callable;
  void (*call)(const void* callable, const std::uint32_t* tasks, std::size_t count);
};

template <class F>
inline constexpr bool takes_task = std::is_invocable_v<const F&, std::uint32_t>;
template <class F>
inline constexpr bool takes_list = std::is_invocable_v<const F&, std::span<const std::uint32_t>>;

template <class Call>
void refuse_graph_run() {
  static_assert(never<Call>,
                "weir: a graph runs as run(rt), with its own callables, or as run(rt, body) or run_transposed(rt, "
                "body), with one body for all tasks; `rt` is a weir::runtime");
}

// The worst overloads of what both kinds of graphs have.
struct refused_graph_runs {
  template <class Call = void>
  void run(anything, anything = 0, anything = 0) {
    refuse_graph_run<Call>();
  }
  template <class Call = void>
  void run_transposed(anything, anything = 0, anything = 0) {
    refuse_graph_run<Call>();
  }
};

template <class F>
bulk_body bulk_body_of(const F& f) noexcept {
  static_assert(takes_task<F> || takes_list<F>,
                "weir: the body takes a task's index, or a std::span<const weir::graph::task_id>; several threads "
                "call it, so it must be callable as const (no mutable lambda)");
  return {&f, [](const void* callable, const std::uint32_t* tasks, std::size_t count) {
            const F& body = *static_cast<const F*>(callable);
            if constexpr (takes_list<F>) {
              body(std::span<const std::uint32_t>(tasks, count));
            } else if constexpr (takes_task<F>) {
              for (std::size_t i = 0; i < count; i++) body(tasks[i]);
            }
          }};
}

}  // namespace weir::detail
