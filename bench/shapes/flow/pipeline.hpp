// A pipeline of eight stages, each with a state that it updates for every item.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class pipeline {
 public:
  static constexpr shape_info info = {.name = "pipeline",
                                      .description = "items go through 8 stages: inout item, inout state of the stage",
                                      .size = 128,
                                      .unit = "items"};

  pipeline(Runtime& rt, const problem& p) : rt_(rt), p_(p), items_(rt.make(p.size)), stages_(rt.make(8)) {}

  void run() {
    for (const auto& item : items_)
      for (std::size_t s = 0; s < stages_.size(); s++) rt_.spawn(inout(item), inout(stages_[s]), p_.updates(s));
  }
  word result() { return rt_.checksum(items_) + rt_.checksum(stages_); }

 private:
  Runtime& rt_;
  const problem p_;
  std::vector<typename Runtime::block> items_, stages_;
};

}  // namespace weir::bench::shapes
