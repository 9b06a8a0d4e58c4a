// How spawn() turns accesses and a callable into a frame, and how the frame calls it back. Internal.
#pragma once

#include <weir/access.hpp>
#include <weir/detail/access_traits.hpp>
#include <weir/detail/frame.hpp>
#include <weir/detail/task_check.hpp>
#include <weir/task.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weir::detail {

frame* create_frame(runtime_state&, scope_state*, const task_ops*, const task_options&, frame_size);
[[noreturn]] void throw_too_many_accesses(const task_options&, std::size_t accesses);
void discard_frame(runtime_state&, frame*) noexcept;  // the closure could not be built
void submit_frame(runtime_state&, frame*);            // matches the accesses; the frame belongs to the runtime now
void submit_control_program(runtime_state&, frame*);  // of a task without accesses: runtime::run()'s, for a worker
// A task without accesses, by its creator, there and then: run(body). False: not now, nothing has happened.
bool run_at_once(runtime_state&, scope_state*, const task_ops&, void (*run)(void* body), void* body);

// How many members each group of a task has; nothing where there are no groups.
template <std::size_t Groups>
struct group_sizes {
  std::uint32_t of[Groups];
  void set(std::size_t i, std::size_t n) { of[i] = static_cast<std::uint32_t>(n); }
  std::uint32_t get(std::size_t i) const { return of[i]; }
};
template <>
struct group_sizes<0> {
  void set(std::size_t, std::size_t) {}
  std::uint32_t get(std::size_t) const { return 1; }
};

// The closure as it lies in the frame: the callable, and the sizes of its groups where it has any.
template <class F, class... Accesses>
struct closure {
  F body;
  [[no_unique_address]] group_sizes<(std::size_t{0} + ... + (access_traits<Accesses>::is_group ? 1 : 0))> sizes;

  static closure* of(frame* f) { return at(f, f->versions, f->accesses); }
  static closure* at(frame* f, std::size_t versions, std::size_t accesses) {
    return std::launder(reinterpret_cast<closure*>(reinterpret_cast<char*>(f) + closure_offset(static_cast<unsigned>(versions), static_cast<unsigned>(accesses), alignof(closure))));
  }

  // Which group access I is, of those that are groups.
  template <std::size_t I>
  static constexpr std::size_t group_index() {
    constexpr bool is_group[] = {access_traits<Accesses>::is_group...};
    std::size_t n = 0;
    for (std::size_t i = 0; i < I; i++) n += is_group[i] ? 1 : 0;
    return n;
  }
  template <std::size_t I, class Access>
  void note_size(const Access& a) {
    if constexpr (access_traits<Access>::is_group) sizes.set(group_index<I>(), access_traits<Access>::members(a));
  }

  static void run(frame* f) {
    closure* k = of(f);
    [[maybe_unused]] cursor c(f);
    call<0>(*k, c, types<Accesses...>());
  }
  static void destroy(frame* f) noexcept { of(f)->~closure(); }

  static constexpr task_length at_first = [] {
    if constexpr (requires { F::runs_apart; }) return F::runs_apart ? task_length::apart : task_length::unknown;
    else return task_length::unknown;
  }();
  static constinit inline const task_ops ops{&run, std::is_trivially_destructible_v<F> ? nullptr : &destroy,
                                             atomic<task_length>(at_first)};

 private:
  // Reads the arguments from the frame in the order of the accesses, and calls the body with them. `Groups`: how many
  // of the accesses that are read already are groups.
  template <std::size_t Groups, class... Given>
  [[gnu::always_inline]] static void call(closure& k, cursor&, types<>, Given&&... given) {
    std::invoke(k.body, std::forward<Given>(given)...);
  }
  template <std::size_t Groups, class Access, class... Rest, class... Given>
  [[gnu::always_inline]] static void call(closure& k, cursor& c, types<Access, Rest...>, Given&&... given) {
    using traits = access_traits<Access>;
    constexpr std::size_t groups = Groups + (traits::is_group ? 1 : 0);
    std::uint32_t members = 1;
    if constexpr (traits::is_group) members = k.sizes.get(Groups);
    if constexpr (std::is_void_v<typename traits::argument>) {
      traits::take(c, members);
      call<groups>(k, c, types<Rest...>(), std::forward<Given>(given)...);
    } else {
      call<groups>(k, c, types<Rest...>(), std::forward<Given>(given)..., traits::take(c, members));
    }
  }
};

// All constants, unless there are groups.
inline frame_size size_of_frame(const task_options& options, std::size_t versions, std::size_t accesses,
                                std::size_t closure_bytes, std::size_t closure_alignment, std::size_t windows = 0) {
  constexpr std::size_t most = 65535;
  if (versions > most || accesses > most) [[unlikely]] throw_too_many_accesses(options, versions + accesses);
  std::size_t bytes = closure_bytes + closure_offset(static_cast<unsigned>(versions), static_cast<unsigned>(accesses),
                                                    closure_alignment);
  if (windows != 0) bytes = align_up(bytes, alignof(void*)) + windows * window_bytes;
  return {static_cast<std::uint32_t>(bytes), static_cast<std::uint16_t>(versions), static_cast<std::uint16_t>(accesses)};
}

template <void (*Submit)(runtime_state&, frame*) = &submit_frame, class Tuple, std::size_t... I>
void spawn_tuple(runtime_state& rt, scope_state* scope, const task_options& options, Tuple&& args, std::index_sequence<I...>) {
  using tuple = std::remove_cvref_t<Tuple>;
  constexpr std::size_t n = sizeof...(I);
  using body = std::decay_t<std::tuple_element_t<n, tuple>>;
  using closure_type = closure<body, std::remove_cvref_t<std::tuple_element_t<I, tuple>>...>;
  static_assert(alignof(closure_type) <= 64, "weir: a task's closure may be aligned to at most 64 bytes");
  static_assert(sizeof(closure_type) < std::size_t{1} << 31, "weir: a task's closure may have at most 2 GiB");

  std::size_t versions = (std::size_t{0} + ... + access_traits<std::remove_cvref_t<std::tuple_element_t<I, tuple>>>::versions(std::get<I>(args)));
  std::size_t accesses = (std::size_t{0} + ... + access_traits<std::remove_cvref_t<std::tuple_element_t<I, tuple>>>::accesses(std::get<I>(args)));
  const std::size_t windows = (std::size_t{0} + ... + windows_of(std::get<I>(args)));
  const frame_size size =
      size_of_frame(options, versions, accesses, sizeof(closure_type), alignof(closure_type), windows);
  frame* f = create_frame(rt, scope, &closure_type::ops, options, size);
  closure_type* k = closure_type::at(f, versions, accesses);
  try {
    new (k) closure_type{std::forward<std::tuple_element_t<n, tuple>>(std::get<n>(args)), {}};
  } catch (...) {
    discard_frame(rt, f);
    throw;
  }
  try {
    (k->template note_size<I>(std::get<I>(args)), ...);
    [[maybe_unused]] cursor c(f, versions);
    (access_traits<std::remove_cvref_t<std::tuple_element_t<I, tuple>>>::put(c, std::get<I>(args)), ...);
    Submit(rt, f);
  } catch (...) {
    closure_type::destroy(f);
    discard_frame(rt, f);
    throw;
  }
}

// Runs a callable's copy, as a task does.
template <class F, class Body>
void run_copy(void* body) {
  F copy(std::forward<Body>(*static_cast<std::remove_reference_t<Body>*>(body)));
  std::invoke(copy);
}

// Most tasks of fine fork-join programs have neither accesses nor options: what their creator runs at once needs no frame.
template <class First, class... Rest>
void spawn_without_options(runtime_state& rt, scope_state* scope, First&& first, Rest&&... rest) {
  using body = std::decay_t<First>;
  // A copy that throws is the caller's error, not the task's.
  if constexpr (sizeof...(Rest) == 0 && std::is_nothrow_constructible_v<body, First&&> &&
                !std::is_function_v<std::remove_reference_t<First>>)
    if (run_at_once(rt, scope, closure<body>::ops, &run_copy<body, First&&>, const_cast<void*>(static_cast<const void*>(std::addressof(first))))) return;
  static constexpr task_options none;
  spawn_tuple(rt, scope, none, std::forward_as_tuple(std::forward<First>(first), std::forward<Rest>(rest)...),
              std::make_index_sequence<sizeof...(Rest)>{});
}

template <class... Args>
void spawn(runtime_state& rt, scope_state* scope, const task_options& options, Args&&... args) {
  if constexpr (correct_task<Args...>)
    spawn_tuple(rt, scope, options, std::forward_as_tuple(std::forward<Args>(args)...),
                std::make_index_sequence<sizeof...(Args) - 1>{});
  else refuse_task<Args...>();
}

}  // namespace weir::detail
