// How spawn() turns accesses and a callable into a frame, and how the frame calls it back. Internal.
#pragma once

#include <weir/access.hpp>
#include <weir/detail/frame.hpp>
#include <weir/task.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weir {

// The windows or blocks of a group of accesses, in the order of the group. Valid while the task's body runs.
template <class T>
class views {
 public:
  views(detail::frame* f, unsigned first, unsigned count) : frame_(f), first_(first), count_(count) {}
  std::size_t size() const noexcept { return count_; }
  std::span<T> operator[](std::size_t i) const noexcept;

 private:
  detail::frame* frame_;
  unsigned first_, count_;
};

namespace detail {

frame* create_frame(runtime_state&, scope_state*, const task_ops*, const task_options&, frame_size);
[[noreturn]] void throw_too_many_accesses(const task_options&, std::size_t accesses);
void discard_frame(runtime_state&, frame*) noexcept;  // the closure could not be built
void submit_frame(runtime_state&, frame*);            // matches the accesses; the frame belongs to the runtime now
// A task without accesses, by its creator, there and then: run(body). False: not now, nothing has happened.
bool run_at_once(runtime_state&, scope_state*, void (*run)(void* body), void* body);
[[noreturn]] void throw_null_access(const char* what);
[[noreturn]] void throw_window_error(const frame*, const stream_state*, std::size_t count);
inline constexpr std::size_t most_bytes = std::size_t{1} << 47;  // of a datum or window: more than any machine's address space
void* window_data(access&) noexcept;

// Where building or reading a frame has got to.
struct cursor {
  explicit cursor(frame* f) : cursor(f, f->versions) {}
  // As above, where the compiler knows how many versions the task has.
  cursor(frame* f, std::size_t versions) : task(f), version(f->version_at(0)), access(f->access_behind(static_cast<unsigned>(versions))) {}

  frame* task;
  detail::version* version;
  detail::access* access;

  detail::version& next_version() { return *version++; }
  detail::access& next_access() { return *access++; }
  unsigned version_index() const { return static_cast<unsigned>(version - task->version_at(0)); }
  unsigned access_index() const { return static_cast<unsigned>(access - task->access_at(0)); }
};

inline access& put_access(cursor& c, waiter_kind kind) {
  access& a = *new (&c.next_access()) access();
  a.target = reinterpret_cast<std::uintptr_t>(c.task) | static_cast<std::uintptr_t>(kind);
  return a;
}

inline version& put_version(cursor& c, version_kind kind, resource* owner, std::uint64_t bytes) {
  version& v = *new (&c.next_version()) version();
  v.kind = kind;
  v.owner = owner;
  v.bytes = bytes;
  v.frame_offset = static_cast<std::uint32_t>(reinterpret_cast<char*>(&v) - reinterpret_cast<char*>(c.task));
  return v;
}

template <class T>
[[gnu::always_inline]] inline void put_datum(cursor& c, const slice<T>& part, access_mode mode) {
  if (part.datum == nullptr) [[unlikely]] throw_null_access("a weir::data handle");
  if (mode != access_mode::out) {
    access& a = put_access(c, mode == access_mode::in ? waiter_kind::read : waiter_kind::update);
    a.wanted = part.datum;
    a.set_place(part.offset * sizeof(T), mode == access_mode::in ? 0 : c.version_index());
    a.bytes = part.count * sizeof(T);
  }
  if (mode == access_mode::out) put_version(c, version_kind::replace, part.datum, part.count * sizeof(T));
  if (mode == access_mode::inout) {
    put_version(c, version_kind::update, part.datum, part.datum->bytes);
    c.task->unusual |= frame::has_updates;
  }
}

template <class T>
void put_stream(cursor& c, stream_state* s, std::size_t count, stream_mode mode) {
  if (s == nullptr) throw_null_access("a weir::stream handle");
  if (count > most_bytes / sizeof(T)) throw_window_error(c.task, s, count);
  auto* r = reinterpret_cast<resource*>(s);
  c.task->unusual |= frame::has_streams;
  if (mode == stream_mode::push) {
    put_version(c, version_kind::push, r, count * sizeof(T));
    return;
  }
  access& a = put_access(c, mode == stream_mode::tick ? waiter_kind::skip : waiter_kind::window);
  a.stream = r;
  a.bytes = count * sizeof(T);
  a.set_place(mode == stream_mode::peek ? 0 : count * sizeof(T), 0);  // how far the read position moves on
}

template <class T>
std::span<T> take_version(cursor& c) {
  version& v = c.next_version();
  return {static_cast<T*>(v.buffer), v.bytes / sizeof(T)};
}

template <class T>
std::span<const T> take_access(access& a) {
  const void* p = a.kind() == waiter_kind::window ? window_data(a) : static_cast<const char*>(a.source->buffer) + a.offset();
  return {static_cast<const T*>(p), a.bytes / sizeof(T)};
}

// One specialisation per kind of access: how many records it needs, how it fills them, what the body gets.
template <class A> struct access_traits;

template <class T, access_mode Mode>
struct access_traits<datum_access<T, Mode>> {
  static constexpr bool has_argument = true, is_group = false;
  static std::size_t versions(const datum_access<T, Mode>&) { return Mode == access_mode::in ? 0 : 1; }
  static std::size_t accesses(const datum_access<T, Mode>&) { return Mode == access_mode::out ? 0 : 1; }
  [[gnu::always_inline]] static void put(cursor& c, const datum_access<T, Mode>& a) { put_datum(c, a.part, Mode); }
  static auto take(cursor& c, std::uint32_t) {
    if constexpr (Mode == access_mode::in) return take_access<T>(c.next_access());
    if constexpr (Mode == access_mode::out) return take_version<T>(c);
    if constexpr (Mode == access_mode::inout) {
      access& a = c.next_access();
      std::span<T> whole = take_version<T>(c);
      return whole.subspan(a.offset() / sizeof(T), a.bytes / sizeof(T));
    }
  }
};

template <class T, access_mode Mode>
struct access_traits<group_access<T, Mode>> {
  static constexpr bool has_argument = true, is_group = true;
  using element = std::conditional_t<Mode == access_mode::in, const T, T>;
  static std::size_t versions(const group_access<T, Mode>& g) { return Mode == access_mode::in ? 0 : g.members.size(); }
  static std::size_t accesses(const group_access<T, Mode>& g) { return Mode == access_mode::out ? 0 : g.members.size(); }
  static std::size_t members(const group_access<T, Mode>& g) { return g.members.size(); }
  static void put(cursor& c, const group_access<T, Mode>& g) {
    for (const data<T>& d : g.members) put_datum(c, whole_of(d), Mode);
  }
  static views<element> take(cursor& c, std::uint32_t n) {
    views<element> v(c.task, Mode == access_mode::in ? c.access_index() : c.version_index(), n);
    if constexpr (Mode != access_mode::in) c.version += n;
    if constexpr (Mode != access_mode::out) c.access += n;
    return v;
  }
};

template <class T, access_mode Mode>
struct access_traits<address_access<T, Mode>> {
  static constexpr bool has_argument = true, is_group = false;
  static std::size_t versions(const address_access<T, Mode>&) { return 0; }
  static std::size_t accesses(const address_access<T, Mode>&) { return 1; }
  static void put(cursor& c, const address_access<T, Mode>& a) {
    access& r = put_access(c, waiter_kind::address);
    r.bytes = a.count * sizeof(T);
    r.set_place(reinterpret_cast<std::uintptr_t>(a.first), static_cast<std::uint64_t>(Mode));
    c.task->unusual |= frame::has_addresses;
  }
  static std::span<T> take(cursor& c, std::uint32_t) {
    access& r = c.next_access();
    return {reinterpret_cast<T*>(static_cast<std::uintptr_t>(r.offset())), r.bytes / sizeof(T)};
  }
};

template <class T, stream_mode Mode>
struct access_traits<stream_access<T, Mode>> {
  static constexpr bool has_argument = Mode != stream_mode::tick, is_group = false;
  static std::size_t versions(const stream_access<T, Mode>&) { return Mode == stream_mode::push ? 1 : 0; }
  static std::size_t accesses(const stream_access<T, Mode>&) { return Mode == stream_mode::push ? 0 : 1; }
  static void put(cursor& c, const stream_access<T, Mode>& a) { put_stream<T>(c, a.stream, a.count, Mode); }
  static auto take(cursor& c, std::uint32_t) {
    if constexpr (Mode == stream_mode::push) return take_version<T>(c);
    if constexpr (Mode == stream_mode::pop || Mode == stream_mode::peek) return take_access<T>(c.next_access());
    if constexpr (Mode == stream_mode::tick) c.next_access();
  }
};

template <class T, stream_mode Mode>
struct access_traits<stream_group_access<T, Mode>> {
  static constexpr bool has_argument = true, is_group = true;
  using element = std::conditional_t<Mode == stream_mode::push, T, const T>;
  static std::size_t versions(const stream_group_access<T, Mode>& g) { return Mode == stream_mode::push ? g.members.size() : 0; }
  static std::size_t accesses(const stream_group_access<T, Mode>& g) { return Mode == stream_mode::push ? 0 : g.members.size(); }
  static std::size_t members(const stream_group_access<T, Mode>& g) { return g.members.size(); }
  static void put(cursor& c, const stream_group_access<T, Mode>& g) {
    for (const stream<T>& s : g.members) put_stream<T>(c, state_of(s), g.count, Mode);
  }
  static views<element> take(cursor& c, std::uint32_t n) {
    views<element> v(c.task, Mode == stream_mode::push ? c.version_index() : c.access_index(), n);
    if constexpr (Mode == stream_mode::push) c.version += n;
    else c.access += n;
    return v;
  }
};

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

  template <std::size_t I>
  static auto argument(cursor& c, const closure& k) {
    using traits = access_traits<std::tuple_element_t<I, std::tuple<Accesses...>>>;
    std::uint32_t n = 1;
    if constexpr (traits::is_group) n = k.sizes.get(group_index<I>());
    if constexpr (traits::has_argument) {
      return std::make_tuple(traits::take(c, n));
    } else {
      traits::take(c, n);
      return std::make_tuple();
    }
  }

  static void run(frame* f) {
    closure* k = of(f);
    [[maybe_unused]] cursor c(f);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      // Braces: the arguments are read from the frame in the order of the accesses.
      std::tuple<decltype(argument<I>(c, *k))...> arguments{argument<I>(c, *k)...};
      std::apply([&](auto&&... parts) { std::apply(k->body, std::tuple_cat(std::move(parts)...)); }, std::move(arguments));
    }(std::index_sequence_for<Accesses...>{});
  }
  static void destroy(frame* f) noexcept { of(f)->~closure(); }

  static constexpr task_ops ops{&run, std::is_trivially_destructible_v<F> ? nullptr : &destroy};
};

// All constants, unless there are groups.
inline frame_size size_of_frame(const task_options& options, std::size_t versions, std::size_t accesses, std::size_t closure_bytes, std::size_t closure_alignment) {
  constexpr std::size_t most = 65535;
  if (versions > most || accesses > most) [[unlikely]] throw_too_many_accesses(options, versions + accesses);
  const std::size_t bytes = closure_offset(static_cast<unsigned>(versions), static_cast<unsigned>(accesses), closure_alignment) + closure_bytes;
  return {static_cast<std::uint32_t>(bytes), static_cast<std::uint16_t>(versions), static_cast<std::uint16_t>(accesses)};
}

template <class Tuple, std::size_t... I>
void spawn_tuple(runtime_state& rt, scope_state* scope, const task_options& options, Tuple&& args, std::index_sequence<I...>) {
  using tuple = std::remove_cvref_t<Tuple>;
  constexpr std::size_t n = sizeof...(I);
  using body = std::decay_t<std::tuple_element_t<n, tuple>>;
  using closure_type = closure<body, std::remove_cvref_t<std::tuple_element_t<I, tuple>>...>;
  static_assert(alignof(closure_type) <= 64, "weir: a task's closure may be aligned to at most 64 bytes");
  static_assert(sizeof(closure_type) < std::size_t{1} << 31, "weir: a task's closure may have at most 2 GiB");

  std::size_t versions = (std::size_t{0} + ... + access_traits<std::remove_cvref_t<std::tuple_element_t<I, tuple>>>::versions(std::get<I>(args)));
  std::size_t accesses = (std::size_t{0} + ... + access_traits<std::remove_cvref_t<std::tuple_element_t<I, tuple>>>::accesses(std::get<I>(args)));
  frame* f = create_frame(rt, scope, &closure_type::ops, options, size_of_frame(options, versions, accesses, sizeof(closure_type), alignof(closure_type)));
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
    submit_frame(rt, f);
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
  if constexpr (sizeof...(Rest) == 0 && std::is_nothrow_constructible_v<body, First&&>)
    if (run_at_once(rt, scope, &run_copy<body, First&&>, const_cast<void*>(static_cast<const void*>(std::addressof(first))))) return;
  spawn_tuple(rt, scope, task_options{}, std::forward_as_tuple(std::forward<First>(first), std::forward<Rest>(rest)...), std::make_index_sequence<sizeof...(Rest)>{});
}

// So that options passed as a temporary or a variable are never taken for an access.
template <class... Args>
inline constexpr bool starts_with_options = false;
template <class First, class... Rest>
inline constexpr bool starts_with_options<First, Rest...> = std::is_same_v<std::remove_cvref_t<First>, task_options>;

template <class... Args>
void spawn(runtime_state& rt, scope_state* scope, const task_options& options, Args&&... args) {
  static_assert(sizeof...(Args) >= 1, "weir: spawn() takes accesses and then a callable");
  spawn_tuple(rt, scope, options, std::forward_as_tuple(std::forward<Args>(args)...), std::make_index_sequence<sizeof...(Args) - 1>{});
}

}  // namespace detail

template <class T>
std::span<T> views<T>::operator[](std::size_t i) const noexcept {
  const auto index = first_ + static_cast<unsigned>(i);
  if constexpr (std::is_const_v<T>) {
    return detail::take_access<std::remove_const_t<T>>(*frame_->access_at(index));
  } else {
    detail::version& v = *frame_->version_at(index);
    return {static_cast<T*>(v.buffer), v.bytes / sizeof(T)};
  }
}

}  // namespace weir
