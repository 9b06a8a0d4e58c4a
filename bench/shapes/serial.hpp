// The shapes without a runtime: a task is executed where it is created. Its results are what the others must have.
#pragma once

#include <bench/shapes/plain.hpp>

#include <cstdint>

namespace weir::bench::shapes {

class serial {
 public:
  using block = shapes::block;
  using array = shapes::array;

  explicit serial(std::size_t words) : words_(words) {}

  std::vector<block> make(std::size_t count) {
    std::vector<block> blocks = make_empty(count);
    for (std::size_t i = 0; i < count; i++) fill(blocks[i].memory, i * words_);
    return blocks;
  }
  std::vector<block> make_empty(std::size_t count) {
    std::vector<block> blocks;
    const std::span<word> all = arrays_.emplace_back(count * words_).words();
    for (std::size_t i = 0; i < count; i++) blocks.push_back({all.subspan(i * words_, words_)});
    return blocks;
  }
  array memory(std::size_t words) {
    array result(words);
    fill(result.words(), 0);
    return result;
  }

  template <class... Arguments>
  void spawn(const Arguments&... arguments) {
    tasks_++;
    bind_task([](const auto& task, const auto&...) { task(); }, arguments...);
  }
  void wait() {}
  word checksum(const std::vector<block>& blocks) const { return checksum_of(blocks); }

  class group {
   public:
    explicit group(serial& s) : serial_(s) {}
    template <class Task>
    void spawn(const Task& task) {
      serial_.tasks_++;
      task();
    }
    void wait() {}

   private:
    serial& serial_;
  };

  std::uint64_t tasks() const { return tasks_; }

 private:
  std::size_t words_;
  std::vector<array> arrays_;
  std::uint64_t tasks_ = 0;
};

}  // namespace weir::bench::shapes
