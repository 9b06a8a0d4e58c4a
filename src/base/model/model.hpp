// The model checker's face to tests: atomics, plain cells and threads that it drives. See README.md.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/model/check.hpp"
#include "base/model/engine.hpp"

namespace weir::model {

template <class T>
std::uint64_t to_bits(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

// As weir::atomic. Every operation is a scheduling point.
template <class T>
class atomic {
 public:
  atomic() : atomic(T{}) {}
  explicit atomic(T value) : location_(engine::running().create(to_bits(value))) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  ~atomic() { engine::running().destroy(location_); }

  T load(std::memory_order order, site where = site::current()) const { return from_bits<T>(engine::running().load(location_, order, where).read); }
  void store(T value, std::memory_order order, site where = site::current()) { engine::running().store(location_, to_bits(value), order, where); }
  T exchange(T value, std::memory_order order, site where = site::current()) { return modify(update::exchange, value, order, where); }
  T fetch_add(T n, std::memory_order order, site where = site::current()) { return modify(update::add, n, order, where); }
  T fetch_sub(T n, std::memory_order order, site where = site::current()) { return modify(update::subtract, n, order, where); }
  T fetch_or(T bits, std::memory_order order, site where = site::current()) { return modify(update::bit_or, bits, order, where); }
  T fetch_and(T bits, std::memory_order order, site where = site::current()) { return modify(update::bit_and, bits, order, where); }

  bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure, site where = site::current()) {
    return compare_exchange(expected, desired, success, failure, true, where);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure, site where = site::current()) {
    return compare_exchange(expected, desired, success, failure, false, where);
  }

  int location() const { return location_; }

 private:
  static constexpr std::uint64_t mask = sizeof(T) == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * sizeof(T) % 64)) - 1;

  T modify(update how, T operand, std::memory_order order, const site& where) {
    return from_bits<T>(engine::running().modify(location_, how, to_bits(operand), mask, order, where).read);
  }
  bool compare_exchange(T& expected, T desired, std::memory_order success, std::memory_order failure, bool weak, const site& where) {
    const memory::outcome o = engine::running().compare_exchange(location_, to_bits(expected), to_bits(desired), success, failure, weak, where);
    expected = o.stored ? expected : from_bits<T>(o.read);
    return o.stored;
  }

  int location_;
};

// As weir::plain_cell. Reports accesses that are not ordered by happens-before.
template <class T>
class plain {
 public:
  plain() : plain(T{}) {}
  explicit plain(T value) : value_(std::move(value)), location_(engine::running().create(0)) {}
  plain(const plain&) = delete;
  plain& operator=(const plain&) = delete;
  ~plain() { engine::running().destroy(location_); }

  T read(site where = site::current()) const {
    engine::running().read_plain(location_, where);
    return value_;
  }
  void write(T value, site where = site::current()) {
    engine::running().write_plain(location_, where);
    value_ = std::move(value);
  }

 private:
  T value_;
  int location_;
};

// The atomics policy to instantiate a protocol with in a model test; counterpart of weir::real_atomics.
struct model_atomics {
  template <class T>
  using atomic = model::atomic<T>;
  template <class T>
  using plain = model::plain<T>;

  static void fence(std::memory_order order, site where = site::current()) { engine::running().fence(order, where); }
  // To each other as two seq_cst fences; two light ones are nothing to each other.
  static void light_fence(site where = site::current()) { engine::running().light_fence(where); }
  static void heavy_fence(site where = site::current()) { engine::running().heavy_fence(where); }
  static void pause(site where = site::current()) { engine::running().pause(where); }
  static void wait(const atomic<std::uint32_t>& word, std::uint32_t expected, site where = site::current()) {
    engine::running().wait(word.location(), expected, where);
  }
  // The time may be up at any moment from now on, woken or not.
  static void wait_for(const atomic<std::uint32_t>&, std::uint32_t /*expected*/, std::uint32_t /*microseconds*/, site where = site::current()) { pause(where); }
  static void wake_one(const atomic<std::uint32_t>& word, site where = site::current()) { engine::running().wake(word.location(), false, where); }
  static void wake_all(const atomic<std::uint32_t>& word, site where = site::current()) { engine::running().wake(word.location(), true, where); }
};

// A thread of the test. The destructor joins.
class thread {
 public:
  explicit thread(std::function<void()> body, site where = site::current()) : where_(where), index_(engine::running().spawn(std::move(body), where)) {}
  thread(const thread&) = delete;
  thread& operator=(const thread&) = delete;
  ~thread() { join(where_); }

  void join(site where = site::current()) {
    if (!std::exchange(joined_, true)) engine::running().join(index_, where);
  }

 private:
  site where_;
  int index_;
  bool joined_ = false;
};

namespace detail {
inline void parallel(const site&) {}
template <class F, class... Rest>
void parallel(const site& where, F& first, Rest&... rest) {
  thread t([&first] { first(); }, where);
  parallel(where, rest...);
}
}  // namespace detail

// Runs each function as a thread of its own and waits for all.
template <class... F>
  requires(std::invocable<F&> && ...)
void parallel(F&&... bodies) {
  detail::parallel(site::current(), bodies...);
}

// Which of the test's threads calls; 0 is the one that runs the test itself.
inline int this_thread() { return engine::running().this_thread(); }

// Fails the run.
inline void require(bool condition, const char* what, site where = site::current()) {
  if (!condition) engine::running().fail(to_string(where) + ": " + what);
}

}  // namespace weir::model
