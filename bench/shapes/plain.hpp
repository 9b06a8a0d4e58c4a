// Data as plain memory, and accesses to them: for the runtimes that know no data, and for the program without any.
#pragma once

#include <bench/shapes/work.hpp>

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace weir::bench::shapes {

// Memory that nobody has touched: whole pages of the system's.
class array {
 public:
  explicit array(std::size_t words) : words_(words) {
    void* const memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<word*>(memory);
  }
  array(array&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)), words_(other.words_) {}
  array& operator=(array&&) = delete;
  ~array() {
    if (memory_ != nullptr) ::munmap(memory_, bytes());
  }

  std::span<word> words() const { return {memory_, words_}; }

 private:
  std::size_t bytes() const { return words_ == 0 ? 1 : words_ * sizeof(word); }

  word* memory_ = nullptr;
  std::size_t words_;
};

// What the first versions hold; word by word the same, whoever writes it.
inline void fill(std::span<word> memory, std::size_t first) {
  for (std::size_t i = 0; i < memory.size(); i++) memory[i] = mixed(first + i);
}

struct block {
  std::span<word> memory;
};

// Accesses. The group is the shape's, and lives as long as its tasks.
struct reads {
  std::span<const word> view;
};
struct writes {
  std::span<word> view;
};
template <bool Writes>
class group_view {
 public:
  explicit group_view(std::span<const block> blocks) : blocks_(blocks) {}
  std::size_t size() const { return blocks_.size(); }
  auto operator[](std::size_t i) const {
    if constexpr (Writes) return blocks_[i].memory;
    else return std::span<const word>(blocks_[i].memory);
  }
  word* first_of(std::size_t i) const { return blocks_[i].memory.data(); }

 private:
  std::span<const block> blocks_;
};
struct group_reads {
  group_view<false> view;
};
struct group_writes {
  group_view<true> view;
};

inline reads in(const block& b) { return {b.memory}; }
inline writes out(const block& b) { return {b.memory}; }
inline writes inout(const block& b) { return {b.memory}; }
inline group_reads in(const std::vector<block>& group) { return {group_view<false>(group)}; }
inline group_writes out(const std::vector<block>& group) { return {group_view<true>(group)}; }

// A body and what it gets.
template <class Body, class... Views>
struct bound_task {
  Body body;
  std::tuple<Views...> views;
  void operator()() const { std::apply(body, views); }
};

// Calls create(task, accesses...) with a task of accesses and the body behind them.
template <class Create, class... Arguments>
void bind_task(const Create& create, const Arguments&... arguments) {
  const auto all = std::tie(arguments...);
  constexpr std::size_t accesses = sizeof...(Arguments) - 1;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto& body = std::get<accesses>(all);
    create(bound_task{body, std::make_tuple(std::get<I>(all).view...)}, std::get<I>(all)...);
  }(std::make_index_sequence<accesses>());
}

inline word checksum_of(const std::vector<block>& blocks) {
  word sum = 0;
  for (const block& b : blocks) sum = reading(sum, std::span<const word>(b.memory));
  return sum;
}

}  // namespace weir::bench::shapes
