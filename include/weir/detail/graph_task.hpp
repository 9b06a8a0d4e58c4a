// What one task of a recorded graph looks like in memory. Internal.
//
//   [frame 64 B][edges 16 B][callable 48 B]
//
// The frame is what queues and workers know; it is marked frame::of_graph and belongs to the graph.
#pragma once

#include <weir/detail/frame.hpp>

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace weir::detail {

struct graph_state;

struct graph_task : frame {
  static constexpr std::size_t body_bytes = 48;

  graph_task** after = nullptr;  // its successors, in an array of the graph's
  std::uint32_t after_count = 0;
  std::uint32_t before_count = 0;
  alignas(16) std::byte body[body_bytes];
};
static_assert(sizeof(graph_task) == 128);

template <class F>
F& body_of(frame* f) {
  std::byte* const at = static_cast<graph_task*>(f)->body;
  if constexpr (sizeof(F) <= graph_task::body_bytes && alignof(F) <= 16 && std::is_nothrow_move_constructible_v<F>) return *std::launder(reinterpret_cast<F*>(at));
  else return **std::launder(reinterpret_cast<F**>(at));
}

// Of a graph's task `destroy` ends the callable when the graph ends, not after a run.
template <class F>
struct graph_body {
  static constexpr bool fits = sizeof(F) <= graph_task::body_bytes && alignof(F) <= 16 && std::is_nothrow_move_constructible_v<F>;
  static void run(frame* f) { body_of<F>(f)(); }
  static void destroy(frame* f) noexcept {
    if constexpr (fits) body_of<F>(f).~F();
    else delete &body_of<F>(f);
  }
  static constinit inline const task_ops ops{&run, fits && std::is_trivially_destructible_v<F> ? nullptr : &destroy};
};

template <class F>
inline constexpr bool correct_graph_body =
    std::is_invocable_v<std::decay_t<F>&> && std::is_constructible_v<std::decay_t<F>, F>;

template <class F>
void refuse_graph_body() {
  using type = std::decay_t<F>;
  static_assert(std::is_invocable_v<type&>,
                "weir: a task of a graph is a callable without arguments; its data are in the callable's capture, "
                "its edges in precede(before, after)");
  if constexpr (std::is_invocable_v<type&>) {
    static_assert(!std::is_constructible_v<type, type>,
                  "weir: a graph keeps a copy of the callable, and this one cannot be copied; hand it over, as in "
                  "g.add(std::move(f))");
    static_assert(std::is_constructible_v<type, type>,
                  "weir: a graph keeps the callable, and this one can be neither copied nor moved; capture a "
                  "reference, as in g.add([&f] { f(); })");
  }
}

template <class F>
void set_body(graph_task& t, F&& body) {
  using type = std::decay_t<F>;
  if constexpr (graph_body<type>::fits) new (t.body) type(std::forward<F>(body));
  else new (t.body) type*(new type(std::forward<F>(body)));
  t.ops = &graph_body<type>::ops;
}

}  // namespace weir::detail
