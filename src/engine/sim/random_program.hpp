// Programs at random, from a seed: graphs of all widths, tasks short and long, data of all sizes, some tasks created
// by others, urgent ones, and some that want or require a node.
#pragma once

#include "base/base.hpp"
#include "engine/sim/program.hpp"

#include <algorithm>

namespace weir::engine::sim {

class random_program {
 public:
  random_program(std::uint64_t seed, int nodes, int most_tasks) : random_(seed), nodes_(nodes) {
    const int data = 1 + below(48), tasks = 1 + below(most_tasks);
    const std::uint64_t typical_bytes = std::uint64_t{64} << below(13);
    for (int i = 0; i < data; i++) made_.datum_bytes.push_back(std::max<std::uint64_t>(8, typical_bytes << below(3)));
    typical_ns_ = std::uint64_t{3'000} << below(8);
    uneven_ = below(4) == 0;
    nests_ = below(3) == 0;
    made_.data_have_values = below(2) == 0;
    // Else one task each writes them first, created by the thread of the program before all others.
    for (int d = 0; d < data && !made_.data_have_values; d++) {
      made_.creates.push_back(static_cast<int>(made_.tasks.size()));
      made_.tasks.push_back({.ns = typical_ns_, .out = {d}});
    }
    first_ = static_cast<int>(made_.tasks.size());
    for (int i = 0; i < tasks; i++) add();
  }
  const program& made() const { return made_; }

 private:
  int below(int n) { return static_cast<int>(random_.below(static_cast<std::uint32_t>(n))); }

  void add() {
    const int index = static_cast<int>(made_.tasks.size());
    task t;
    t.ns = typical_ns_ + (uneven_ ? typical_ns_ * static_cast<std::uint64_t>(below(60)) / 4 : 0);
    for (int n = below(4); n > 0; n--) name_datum(t);
    if (below(16) == 0) t.priority = 1;
    if (below(12) == 0) t.affinity = below(nodes_);
    t.required = t.affinity >= 0 && below(2) == 0;
    const int parent = nests_ && index > first_ && below(2) == 0 ? first_ + below(index - first_) : -1;
    (parent < 0 ? made_.creates : made_.tasks[static_cast<std::size_t>(parent)].creates).push_back(index);
    made_.tasks.push_back(std::move(t));
  }

  void name_datum(task& t) {
    const int d = below(static_cast<int>(made_.datum_bytes.size()));
    const auto names = [d](const std::vector<int>& v) { return std::find(v.begin(), v.end(), d) != v.end(); };
    if (names(t.in) || names(t.out) || names(t.inout)) return;
    const int how = below(10);
    (how < 5 ? t.in : how < 7 ? t.out : t.inout).push_back(d);
  }

  rng random_;
  const int nodes_;
  std::uint64_t typical_ns_ = 0;
  bool uneven_ = false, nests_ = false;
  int first_ = 0;  // of those that may create others: when they run all data are written
  program made_;
};

// The same tasks created again and again; from the middle on some of them are left out, and what was created first
// comes last.
class iterated_program {
 public:
  iterated_program(const program& once, int times, std::uint64_t seed) : random_(seed), once_(once) {
    made_.datum_bytes = once.datum_bytes;
    made_.data_have_values = once.data_have_values;
    std::vector<int> creates = once.creates;
    for (int t = 0; t < times; t++) {
      if (t == (times + 1) / 2) change(creates);
      for (const int i : creates) {
        const int copied = copy(i);
        made_.creates.push_back(copied);
      }
    }
  }
  const program& made() const { return made_; }

 private:
  int copy(int i) {
    const int index = static_cast<int>(made_.tasks.size());
    made_.tasks.push_back(once_.tasks[static_cast<std::size_t>(i)]);
    std::vector<int> children;
    for (const int c : once_.tasks[static_cast<std::size_t>(i)].creates) children.push_back(copy(c));
    made_.tasks[static_cast<std::size_t>(index)].creates = children;
    return index;
  }
  void change(std::vector<int>& creates) {
    std::erase_if(creates, [&](int) { return random_.below(3) == 0; });
    std::rotate(creates.begin(), creates.begin() + static_cast<std::ptrdiff_t>(creates.size() / 3), creates.end());
  }

  rng random_;
  const program& once_;
  program made_;
};

}  // namespace weir::engine::sim
