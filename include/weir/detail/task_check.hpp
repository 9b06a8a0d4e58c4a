// What may be wrong with a call of spawn(), found by the compiler and said in one sentence. Internal.
//
// spawn() asks correct_task, which costs little, and creates nothing if that says no: then refuse_task() looks for what
// is wrong, from left to right, and nothing else is instantiated that could add errors of its own.
#pragma once

#include <weir/access.hpp>
#include <weir/detail/access_traits.hpp>
#include <weir/detail/wrong_call.hpp>
#include <weir/task.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weir::detail {

template <class... T>
struct types {};

// What a body gets for an access, behind what it gets already.
template <class Given, class Access>
struct extended;
template <class... Given, class Access>
struct extended<types<Given...>, Access> {
  using argument = typename access_traits<Access>::argument;
  using type = std::conditional_t<std::is_void_v<argument>, types<Given...>, types<Given..., argument>>;
};

template <class T>
concept names_access = requires { typename access_traits<std::remove_cvref_t<T>>::argument; };

// Accesses from left to right, and a callable that takes what they give; a task keeps a copy of it.
template <class Given, class... Args>
inline constexpr bool correct_arguments = false;
template <class... Given, class F>
inline constexpr bool correct_arguments<types<Given...>, F> =
    std::is_invocable_v<std::decay_t<F>&, Given...> && std::is_constructible_v<std::decay_t<F>, F>;
template <class Given, names_access Access, class Next, class... Rest>
inline constexpr bool correct_arguments<Given, Access, Next, Rest...> =
    correct_arguments<typename extended<Given, std::remove_cvref_t<Access>>::type, Next, Rest...>;

// So that options in a variable are never taken for an access.
template <class... Args>
inline constexpr bool starts_with_options = false;
template <class First, class... Rest>
inline constexpr bool starts_with_options<First, Rest...> = std::is_same_v<std::remove_cvref_t<First>, task_options>;

template <class... Args>
inline constexpr bool correct_task = correct_arguments<types<>, Args&&...>;

// ----------------------------------------------------------------------------------- only for calls that are wrong

enum class mistake : std::uint8_t {
  said_already, no_callable, callable_first, values, name, options, datum, stream, memory, no_access, not_callable,
  only_read, by_reference, argument_count, argument_types, copied, kept,
};

struct call_operator {
  void operator()() {}
};
template <class F>
struct with_call_operator : F, call_operator {};

// Also where the operator is a template or overloaded: then, too, there are two of this name in the derived class.
template <class F>
consteval bool can_be_called() {
  if constexpr (std::is_class_v<F> && !std::is_final_v<F>) return !requires { &with_call_operator<F>::operator(); };
  else if constexpr (std::is_class_v<F>) return requires { &F::operator(); };
  else return std::is_member_pointer_v<F> || std::is_function_v<std::remove_pointer_t<F>>;
}

template <class T> inline constexpr bool names_datum = false;
template <class T> inline constexpr bool names_datum<data<T>> = true;
template <class T> inline constexpr bool names_datum<slice<T>> = true;
template <class T> inline constexpr bool names_datum<std::vector<data<T>>> = true;
template <class T> inline constexpr bool names_datum<std::span<T>> = names_datum<std::remove_const_t<T>>;
template <class T> inline constexpr bool names_stream = false;
template <class T> inline constexpr bool names_stream<stream<T>> = true;
template <class T> inline constexpr bool names_stream<std::vector<stream<T>>> = true;
template <class T> inline constexpr bool names_memory = false;
template <class T> inline constexpr bool names_memory<memory_range<T>> = true;
template <class T> inline constexpr bool names_memory<std::vector<memory_range<T>>> = true;
template <class T> inline constexpr bool names_memory<memory_tile<T>> = true;
template <class T> inline constexpr bool names_memory<std::vector<memory_tile<T>>> = true;
template <class T> inline constexpr bool names_memory<std::span<T>> = names_memory<std::remove_const_t<T>>;

template <class T, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<T, Others> || ...);

// Of an argument that is no access, although a callable comes behind it.
template <class Argument, bool Accesses>
consteval mistake mistake_in() {
  using type = std::decay_t<Argument>;
  if (is_one_of<type, refused>) return mistake::said_already;
  if (std::is_convertible_v<type, std::string_view>) return mistake::name;
  if (is_one_of<type, task_options, priority, placement>) return mistake::options;
  if (names_datum<type>) return mistake::datum;
  if (names_stream<type>) return mistake::stream;
  if (names_memory<type>) return mistake::memory;
  if (!can_be_called<type>()) return mistake::no_access;
  return Accesses ? mistake::callable_first : mistake::values;
}

template <class R, class... Arguments>
consteval int argument_count(const std::function<R(Arguments...)>*) {
  return sizeof...(Arguments);
}
// -1: several, or a template.
template <class F>
consteval int argument_count() {
  if constexpr (requires(F f) { std::function(f); })
    return argument_count(static_cast<decltype(std::function(std::declval<F>()))*>(nullptr));
  else return -1;
}

template <class T> struct writable { using type = T; };
template <class T> struct writable<std::span<const T>> { using type = std::span<T>; };
template <class T> struct writable<views<const T>> { using type = views<T>; };
template <class T> struct writable<tile<const T>> { using type = tile<T>; };
template <class T> struct writable<views<tile<const T>>> { using type = views<tile<T>>; };

template <class Argument, class... Given>
consteval mistake mistake_in_callable(types<Given...>) {
  using body = std::decay_t<Argument>;
  constexpr int count = argument_count<body>();
  if constexpr (is_one_of<body, refused>) return mistake::said_already;
  else if constexpr (names_access<Argument>) return mistake::no_callable;
  else if constexpr (!can_be_called<body>()) return mistake::not_callable;
  else if constexpr (std::is_invocable_v<body&, Given...>)
    return std::is_constructible_v<body, body> ? mistake::copied : mistake::kept;
  else if constexpr (count >= 0 && count != sizeof...(Given)) return mistake::argument_count;
  else if constexpr (std::is_invocable_v<body&, typename writable<Given>::type...>) return mistake::only_read;
  else if constexpr (std::is_invocable_v<body&, Given&...>) return mistake::by_reference;
  else return mistake::argument_types;
}

// `Accesses`: there are some.
template <bool Accesses, class Given>
consteval mistake find_mistake() {
  return mistake::no_callable;
}
template <bool Accesses, class Given, class First, class... Rest>
consteval mistake find_mistake() {
  if constexpr (sizeof...(Rest) == 0) return mistake_in_callable<First>(Given());
  else if constexpr (names_access<First>)
    return find_mistake<Accesses, typename extended<Given, std::remove_cvref_t<First>>::type, Rest...>();
  else return mistake_in<First, Accesses>();
}

// The sentence for a call spawn(Args...) that is none.
template <class... Args>
void refuse_task() {
  constexpr mistake found = find_mistake<(names_access<Args> || ...), types<>, Args...>();
  static_assert(found != mistake::no_callable,
                "weir: the callable is missing: spawn() takes accesses and then a callable with an argument for "
                "each, as in spawn(in(x), out(y), [](auto x, auto y) { ... })");
  static_assert(found != mistake::callable_first,
                "weir: the callable comes last: spawn() takes accesses and then a callable, as in spawn(in(x), "
                "out(y), [](auto x, auto y) { ... })");
  static_assert(found != mistake::values,
                "weir: spawn() hands no values to the callable as std::thread does; capture them, as in spawn([=] { "
                "f(a, b); })");
  static_assert(found != mistake::name,
                "weir: the name of a task is an option, and options come first, as in spawn({.name = \"relax\"}, "
                "in(x), f)");
  static_assert(found != mistake::options,
                "weir: options come first and together, as in spawn({.name = \"relax\", .priority = "
                "weir::priority::high, .affinity = weir::prefer(1)}, in(x), f)");
  static_assert(found != mistake::datum,
                "weir: a weir::data does not say what the task does with it; expected in(x), out(x) or inout(x)");
  static_assert(found != mistake::stream,
                "weir: a weir::stream does not say what the task does with it; expected s.push(n), s.pop(n), "
                "s.peek(n) or s.tick(n), or push_each(streams, n), pop_each() or peek_each()");
  static_assert(found != mistake::memory,
                "weir: weir::ref(x) does not say what the task does with the memory; expected in(ref(x)), "
                "out(ref(x)) or inout(ref(x))");
  static_assert(found != mistake::no_access,
                "weir: an argument before the callable is no access; expected in(x), out(x) or inout(x) of a "
                "weir::data or of memory in weir::ref(x), or what a stream's push(n), pop(n), peek(n) or tick(n) "
                "return");
  static_assert(found != mistake::not_callable,
                "weir: the last argument cannot be called; spawn() takes accesses and then a callable with an "
                "argument for each");
  static_assert(found != mistake::only_read,
                "weir: the callable wants to write what the task only reads: in(), pop() and peek() give a "
                "std::span<const T>, of groups weir::views<const T>, of tiles weir::tile<const T>; take that, or "
                "declare an inout() or out()");
  static_assert(found != mistake::by_reference,
                "weir: the callable takes a std::span or weir::views by reference; take it by value");
  static_assert(found != mistake::argument_count,
                "weir: the callable takes more or fewer arguments than its accesses give; it gets one for each "
                "access, in their order, and none for tick()");
  static_assert(found != mistake::argument_types,
                "weir: the callable cannot be called with what its accesses give: std::span<const T> for in(), pop() "
                "and peek(), std::span<T> for out(), inout() and push(), weir::views of these for groups, weir::tile "
                "for tiles, nothing for tick()");
  static_assert(found != mistake::copied,
                "weir: a task keeps a copy of its callable, and this one cannot be copied; hand it over, as in "
                "spawn(in(x), std::move(f))");
  static_assert(found != mistake::kept,
                "weir: a task keeps its callable, and this one can be neither copied nor moved; capture a reference, "
                "as in spawn([&f] { f(); }), and keep it alive");
}

}  // namespace weir::detail
