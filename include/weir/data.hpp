// weir::data<T>: a logical array the runtime places. Tasks write versions of it; nobody manages its memory.
#pragma once

#include <weir/detail/frame.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace weir {

class runtime;
template <class T> class view;

namespace detail {

datum* create_datum(runtime_state&, std::size_t elements, std::size_t element_bytes, const char* name);
void fill_datum(datum*, const void* values);                     // gives a new datum its first version
void release_datum(datum*) noexcept;                             // one handle less
[[noreturn]] void throw_slice_error(const datum*, std::size_t offset, std::size_t count);
version* acquire_view(datum*);                                   // waits until the current version is published
void release_view(runtime_state&, version*) noexcept;

// A datum, or a part of it, named in an access.
template <class T>
struct slice {
  detail::datum* datum;
  std::size_t offset;  // elements
  std::size_t count;   // elements
  bool whole;
};

}  // namespace detail

// Handle to a datum of size() elements of T. Copies name the same datum; tasks keep what they need alive, so handles
// may die before their tasks do. T must be trivially copyable: buffers are raw memory.
template <class T>
class data {
 public:
  data() = default;
  data(const data& other) noexcept : datum_(other.datum_), size_(other.size_) {
    if (datum_) datum_->handles.fetch_add(1, std::memory_order_relaxed);
  }
  data(data&& other) noexcept : datum_(std::exchange(other.datum_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  data& operator=(data other) noexcept {
    std::swap(datum_, other.datum_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~data() {
    if (datum_) detail::release_datum(datum_);
  }

  std::size_t size() const noexcept { return size_; }

  // Parts, to declare the bytes really read: a halo of one element does not weigh like a block.
  // Throws usage_error if the part leaves the datum. The dependence is on the whole datum all the same.
  detail::slice<T> first(std::size_t n) const { return slice(0, n); }
  detail::slice<T> last(std::size_t n) const {
    if (n > size()) detail::throw_slice_error(datum_, 0, n);
    return slice(size() - n, n);
  }
  detail::slice<T> slice(std::size_t offset, std::size_t count) const {
    if (offset > size() || count > size() - offset) detail::throw_slice_error(datum_, offset, count);
    return {datum_, offset, count, false};
  }

  // The value as of now: waits until the version that was last announced by a spawned task is there, and keeps it
  // alive and unchanged while the view exists, whatever later tasks write. Inside a task, waiting helps to execute.
  // Throws usage_error if no task writes the datum, task_failed if the task that should have written it failed.
  weir::view<T> read() const;

  explicit operator bool() const noexcept { return datum_ != nullptr; }

 private:
  friend class runtime;
  template <class U> friend detail::slice<U> whole_of(const data<U>&) noexcept;
  explicit data(detail::datum* d) : datum_(d), size_(d->bytes / sizeof(T)) {}
  detail::datum* datum_ = nullptr;
  std::size_t size_ = 0;  // elements; here because the datum's own line is written by whoever creates tasks

  // Last: Clang knows no members behind an assertion that fails, and would miss them.
  static_assert(std::is_trivially_copyable_v<T>, "weir::data<T>: T must be trivially copyable");
  static_assert(!std::is_const_v<T>, "weir::data<T>: T must not be const; in() says that a task only reads");
};

template <class U>
detail::slice<U> whole_of(const data<U>& d) noexcept {
  return {d.datum_, 0, d.size(), true};
}

namespace detail {

// Throws usage_error if the handle is empty.
template <class T>
datum* datum_of(const data<T>& d) {
  datum* const named = whole_of(d).datum;
  if (named == nullptr) throw_slice_error(nullptr, 0, 0);
  return named;
}

}  // namespace detail

// Read access from outside tasks to one version of a datum. Move-only.
template <class T>
class view {
 public:
  view(view&& other) noexcept : runtime_(other.runtime_), version_(std::exchange(other.version_, nullptr)) {}
  view& operator=(view&& other) noexcept {
    std::swap(runtime_, other.runtime_);
    std::swap(version_, other.version_);
    return *this;
  }
  ~view() {
    if (version_) detail::release_view(*runtime_, version_);
  }

  std::size_t size() const noexcept { return version_->bytes / sizeof(T); }
  const T* data() const noexcept { return static_cast<const T*>(version_->buffer); }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size(); }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  operator std::span<const T>() const noexcept { return {data(), size()}; }
  // Node the version lives on, or -1 where that is unknown or several.
  int node() const noexcept { return version_->node; }

 private:
  friend class weir::data<T>;
  view(detail::runtime_state& rt, detail::version* v) : runtime_(&rt), version_(v) {}
  detail::runtime_state* runtime_;
  detail::version* version_;
};

template <class T>
weir::view<T> data<T>::read() const {
  if (!datum_) detail::throw_slice_error(nullptr, 0, 0);
  return weir::view<T>(*datum_->runtime, detail::acquire_view(datum_));
}

}  // namespace weir
