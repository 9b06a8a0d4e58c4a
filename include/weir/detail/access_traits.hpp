// What each kind of access adds to a frame, and what the body gets for it. Internal.
#pragma once

#include <weir/access.hpp>
#include <weir/detail/frame.hpp>
#include <weir/views.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>

namespace weir {

namespace detail {

[[noreturn]] void throw_null_access(const char* what);
[[noreturn]] void throw_window_error(const frame*, const stream_state*, std::size_t count);
[[noreturn]] void throw_range_error(const frame*, std::uintptr_t first, std::size_t count, std::size_t element_bytes);
void* window_data(access&) noexcept;

// Where building or reading a frame has got to.
struct cursor {
  explicit cursor(frame* f) : cursor(f, f->versions) {}
  // As above, where the compiler knows how many versions the task has.
  cursor(frame* f, std::size_t versions)
      : task(f), version(f->version_at(0)), access(f->access_behind(static_cast<unsigned>(versions))) {}

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

// Accesses of a group wait as readers do.
constexpr unsigned extra_of_read(access_mode mode) {
  return (is_of_group(mode) ? access::in_group : 0) | (mode == access_mode::commutative ? access::exclusive : 0);
}
constexpr std::uint8_t unusual_about(access_mode mode) {
  return static_cast<std::uint8_t>((is_of_group(mode) ? frame::has_groups : 0) |
                                   (mode == access_mode::commutative ? frame::has_tokens : 0));
}

template <class T>
[[gnu::always_inline]] inline void put_datum(cursor& c, const slice<T>& part, access_mode mode) {
  if (part.datum == nullptr) [[unlikely]] throw_null_access("a weir::data handle");
  if (mode != access_mode::out) {
    access& a = put_access(c, mode == access_mode::inout ? waiter_kind::update : waiter_kind::read);
    a.wanted = part.datum;
    a.set_place(part.offset * sizeof(T), mode == access_mode::inout ? c.version_index() : extra_of_read(mode));
    a.bytes = part.count * sizeof(T);
  }
  if (mode == access_mode::out) put_version(c, version_kind::replace, part.datum, part.count * sizeof(T));
  if (mode == access_mode::inout) {
    put_version(c, version_kind::update, part.datum, part.datum->bytes);
    c.task->unusual |= frame::has_updates;
  }
  c.task->unusual |= unusual_about(mode);
}

constexpr waiter_kind kind_of_range(access_mode mode) {
  if (mode == access_mode::out) return waiter_kind::overwrite;
  return mode == access_mode::inout ? waiter_kind::update : waiter_kind::read;
}

// Which datum it is, and what it waits for, is found when the task is submitted.
[[gnu::always_inline]] inline void put_range(cursor& c, std::uintptr_t first, std::size_t count,
                                             std::size_t element_bytes, access_mode mode) {
  if (first > most_bytes || count > (most_bytes - first) / element_bytes) [[unlikely]]
    throw_range_error(c.task, first, count, element_bytes);
  access& a = put_access(c, kind_of_range(mode));
  a.bytes = count * element_bytes;
  a.set_place(first, has_version(mode) ? c.version_index() : access::reads_range | extra_of_read(mode));
  if (has_version(mode)) put_version(c, version_kind::range, nullptr, 0);
  c.task->unusual |= frame::has_ranges | unusual_about(mode);
}

// As a range of as many bytes, whose shape comes behind it.
inline constexpr unsigned accesses_per_tile = 2;
template <class T>
[[gnu::always_inline]] inline void put_tile(cursor& c, const tile<T>& t, access_mode mode) {
  const std::size_t width = t.columns() * sizeof(T);
  access& a = put_access(c, kind_of_range(mode));
  a.bytes = t.rows() * width;
  a.set_place(reinterpret_cast<std::uintptr_t>(t.data()),
              has_version(mode) ? c.version_index() : access::reads_range | extra_of_read(mode));
  put_access(c, waiter_kind::shape)
      .set_shape(reinterpret_cast<std::uintptr_t>(t.matrix()), t.stride() * sizeof(T), width);
  if (has_version(mode)) put_version(c, version_kind::range, nullptr, 0);
  c.task->unusual |= frame::has_ranges | frame::has_tiles | unusual_about(mode);
}

template <class T>
[[gnu::always_inline]] inline void put_stream(cursor& c, stream_state* s, std::size_t count, stream_mode mode) {
  if (s == nullptr) [[unlikely]] throw_null_access("a weir::stream handle");
  if (count > most_bytes / sizeof(T)) [[unlikely]] throw_window_error(c.task, s, count);
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
  const void* p =
      a.kind() == waiter_kind::window ? window_data(a) : static_cast<const char*>(a.source->buffer) + a.offset();
  return {static_cast<const T*>(p), a.bytes / sizeof(T)};
}

// What other tasks update, too: the buffer is that of the group.
template <class T>
std::span<T> take_shared(const access& a) {
  char* const p = static_cast<char*>(a.source->buffer) + a.offset();
  return {reinterpret_cast<T*>(p), a.bytes / sizeof(T)};
}

template <class T>
std::span<T> own_memory_of(const access& a) {
  return {reinterpret_cast<T*>(static_cast<std::uintptr_t>(a.offset())), a.bytes / sizeof(T)};
}

// From the access, behind which its shape comes.
template <class T>
tile<T> tile_of(frame* f, unsigned index) {
  const access &all = *f->access_at(index), &shape = *f->access_at(index + 1);
  return tile_at<T>(all.offset(), shape.matrix(), shape.stride(), all.bytes / shape.width(), shape.width());
}

// One specialisation per kind of access: how many records it needs, how it fills them, what the body gets (void:
// nothing).
template <class A> struct access_traits;

template <class T, access_mode Mode>
struct access_traits<datum_access<T, Mode>> {
  using argument = std::span<std::conditional_t<Mode == access_mode::in, const T, T>>;
  static constexpr bool is_group = false;
  static std::size_t versions(const datum_access<T, Mode>&) { return has_version(Mode) ? 1 : 0; }
  static std::size_t accesses(const datum_access<T, Mode>&) { return Mode == access_mode::out ? 0 : 1; }
  [[gnu::always_inline]] static void put(cursor& c, const datum_access<T, Mode>& a) { put_datum(c, a.part, Mode); }
  static argument take(cursor& c, std::uint32_t) {
    if constexpr (Mode == access_mode::in) return take_access<T>(c.next_access());
    if constexpr (Mode == access_mode::out) return take_version<T>(c);
    if constexpr (is_of_group(Mode)) return take_shared<T>(c.next_access());
    if constexpr (Mode == access_mode::inout) {
      access& a = c.next_access();
      std::span<T> whole = take_version<T>(c);
      return whole.subspan(a.offset() / sizeof(T), a.bytes / sizeof(T));
    }
  }
};

template <class T, access_mode Mode>
struct access_traits<group_access<T, Mode>> {
  using argument = views<std::conditional_t<Mode == access_mode::in, const T, T>>;
  static constexpr bool is_group = true;
  static std::size_t versions(const group_access<T, Mode>& g) { return has_version(Mode) ? g.members.size() : 0; }
  static std::size_t accesses(const group_access<T, Mode>& g) {
    return Mode == access_mode::out ? 0 : g.members.size();
  }
  static std::size_t members(const group_access<T, Mode>& g) { return g.members.size(); }
  static void put(cursor& c, const group_access<T, Mode>& g) {
    for (const data<T>& d : g.members) put_datum(c, whole_of(d), Mode);
  }
  static argument take(cursor& c, std::uint32_t n) {
    constexpr group_of what = is_of_group(Mode) ? group_of::shared_data : group_of::data_or_windows;
    argument v(c.task, has_version(Mode) ? c.version_index() : c.access_index(), n, what);
    if constexpr (has_version(Mode)) c.version += n;
    if constexpr (Mode != access_mode::out) c.access += n;
    return v;
  }
};

template <class T, access_mode Mode>
struct access_traits<address_access<T, Mode>> {
  using argument = std::span<T>;
  static constexpr bool is_group = false;
  static std::size_t versions(const address_access<T, Mode>&) { return has_version(Mode) ? 1 : 0; }
  static std::size_t accesses(const address_access<T, Mode>&) { return 1; }
  [[gnu::always_inline]] static void put(cursor& c, const address_access<T, Mode>& a) {
    put_range(c, reinterpret_cast<std::uintptr_t>(a.first), a.count, sizeof(T), Mode);
  }
  static argument take(cursor& c, std::uint32_t) {
    if constexpr (has_version(Mode)) c.next_version();
    return own_memory_of<T>(c.next_access());
  }
};

template <class T, access_mode Mode>
struct access_traits<address_group_access<T, Mode>> {
  using argument = views<std::conditional_t<Mode == access_mode::in, const T, T>>;
  static constexpr bool is_group = true;
  static std::size_t versions(const address_group_access<T, Mode>& g) {
    return has_version(Mode) ? g.members.size() : 0;
  }
  static std::size_t accesses(const address_group_access<T, Mode>& g) { return g.members.size(); }
  static std::size_t members(const address_group_access<T, Mode>& g) { return g.members.size(); }
  static void put(cursor& c, const address_group_access<T, Mode>& g) {
    for (const memory_range<T>& r : g.members)
      put_range(c, reinterpret_cast<std::uintptr_t>(r.memory.data()), r.memory.size(), sizeof(T), Mode);
  }
  static argument take(cursor& c, std::uint32_t n) {
    argument v(c.task, c.access_index(), n, group_of::own_memory);
    if constexpr (has_version(Mode)) c.version += n;
    c.access += n;
    return v;
  }
};

template <class T, access_mode Mode>
struct access_traits<tile_access<T, Mode>> {
  using argument = tile<T>;
  static constexpr bool is_group = false;
  static std::size_t versions(const tile_access<T, Mode>&) { return has_version(Mode) ? 1 : 0; }
  static std::size_t accesses(const tile_access<T, Mode>&) { return accesses_per_tile; }
  [[gnu::always_inline]] static void put(cursor& c, const tile_access<T, Mode>& a) {
    put_tile(c, a.named, Mode);
  }
  static argument take(cursor& c, std::uint32_t) {
    if constexpr (has_version(Mode)) c.next_version();
    const unsigned index = c.access_index();
    c.access += accesses_per_tile;
    return tile_of<T>(c.task, index);
  }
};

template <class T, access_mode Mode>
struct access_traits<tile_group_access<T, Mode>> {
  using argument = views<tile<std::conditional_t<Mode == access_mode::in, const T, T>>>;
  static constexpr bool is_group = true;
  static std::size_t versions(const tile_group_access<T, Mode>& g) {
    return has_version(Mode) ? g.members.size() : 0;
  }
  static std::size_t accesses(const tile_group_access<T, Mode>& g) { return accesses_per_tile * g.members.size(); }
  static std::size_t members(const tile_group_access<T, Mode>& g) { return g.members.size(); }
  static void put(cursor& c, const tile_group_access<T, Mode>& g) {
    for (const memory_tile<T>& t : g.members) put_tile(c, t.memory, Mode);
  }
  static argument take(cursor& c, std::uint32_t n) {
    argument v(c.task, c.access_index(), n, group_of::own_memory);
    if constexpr (has_version(Mode)) c.version += n;
    c.access += accesses_per_tile * n;
    return v;
  }
};

template <stream_mode Mode>
inline constexpr bool has_windows = Mode == stream_mode::pop || Mode == stream_mode::peek;

template <class T, stream_mode Mode>
struct access_traits<stream_access<T, Mode>> {
  using window = std::span<std::conditional_t<Mode == stream_mode::push, T, const T>>;
  using argument = std::conditional_t<Mode == stream_mode::tick, void, window>;
  static constexpr bool is_group = false;
  static std::size_t versions(const stream_access<T, Mode>&) { return Mode == stream_mode::push ? 1 : 0; }
  static std::size_t accesses(const stream_access<T, Mode>&) { return Mode == stream_mode::push ? 0 : 1; }
  static std::size_t windows(const stream_access<T, Mode>&) { return has_windows<Mode> ? 1 : 0; }
  [[gnu::always_inline]] static void put(cursor& c, const stream_access<T, Mode>& a) { put_stream<T>(c, a.stream, a.count, Mode); }
  static argument take(cursor& c, std::uint32_t) {
    if constexpr (Mode == stream_mode::push) return take_version<T>(c);
    if constexpr (Mode == stream_mode::pop || Mode == stream_mode::peek) return take_access<T>(c.next_access());
    if constexpr (Mode == stream_mode::tick) c.next_access();
  }
};

template <class T, stream_mode Mode>
struct access_traits<stream_group_access<T, Mode>> {
  using argument = views<std::conditional_t<Mode == stream_mode::push, T, const T>>;
  static constexpr bool is_group = true;
  static std::size_t versions(const stream_group_access<T, Mode>& g) {
    return Mode == stream_mode::push ? g.members.size() : 0;
  }
  static std::size_t accesses(const stream_group_access<T, Mode>& g) {
    return Mode == stream_mode::push ? 0 : g.members.size();
  }
  static std::size_t windows(const stream_group_access<T, Mode>& g) { return has_windows<Mode> ? g.members.size() : 0; }
  static std::size_t members(const stream_group_access<T, Mode>& g) { return g.members.size(); }
  static void put(cursor& c, const stream_group_access<T, Mode>& g) {
    for (const stream<T>& s : g.members) put_stream<T>(c, state_of(s), g.count, Mode);
  }
  static argument take(cursor& c, std::uint32_t n) {
    argument v(c.task, Mode == stream_mode::push ? c.version_index() : c.access_index(), n);
    if constexpr (Mode == stream_mode::push) c.version += n;
    else c.access += n;
    return v;
  }
};

// Of the windows in an access; most have none.
template <class Access>
std::size_t windows_of(const Access& a) {
  if constexpr (requires { access_traits<Access>::windows(a); }) return access_traits<Access>::windows(a);
  else return 0;
}

}  // namespace detail

template <class T>
auto views<T>::operator[](std::size_t i) const noexcept -> member {
  if constexpr (detail::is_tile<T>) {
    const auto index = first_ + detail::accesses_per_tile * static_cast<unsigned>(i);
    return detail::tile_of<typename T::element_type>(frame_, index);
  } else {
    return span_at(first_ + static_cast<unsigned>(i));
  }
}

template <class T>
std::span<T> views<T>::span_at(unsigned index) const noexcept {
  if (what_ == detail::group_of::own_memory) return detail::own_memory_of<T>(*frame_->access_at(index));
  if constexpr (std::is_const_v<T>) {
    return detail::take_access<std::remove_const_t<T>>(*frame_->access_at(index));
  } else if (what_ == detail::group_of::shared_data) {
    return detail::take_shared<T>(*frame_->access_at(index));
  } else {
    detail::version& v = *frame_->version_at(index);
    return {static_cast<T*>(v.buffer), v.bytes / sizeof(T)};
  }
}

}  // namespace weir
