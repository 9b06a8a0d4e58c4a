// An unbalanced tree, as in UTS (Olivier et al., UTS: An Unbalanced Tree Search Benchmark, LCPC 2006): how many
// children a node has is known when a task comes to it. Each node's task waits for those of its children.
#pragma once

#include <bench/shapes/shape.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class tree_search {
 public:
  static constexpr shape_info info = {.name = "tree-search",
                                      .description = "a task a node of a random tree; few nodes have children",
                                      .size = 128,
                                      .unit = "children of the root",
                                      .has_data = false,
                                      .recursive = true};

  tree_search(Runtime& rt, const problem& p) : rt_(rt), p_(p) {}

  void run() {
    typename Runtime::group subtrees(rt_);
    std::vector<word> nodes(p_.size);
    for (word i = 0; i < p_.size; i++) subtrees.spawn([this, i, &nodes] { nodes[i] = below(mixed(p_.seed + i)); });
    subtrees.wait();
    for (const word n : nodes) nodes_ += n;
  }
  word result() const { return nodes_; }

 private:
  static constexpr std::size_t children = 8;  // of a node that has any: one of nine, so that the tree ends

  word below(word node) {
    compute_for(p_.iterations);
    if (mixed(mixed(node)) % 9 != 0) return 1;
    std::array<word, children> nodes{};
    typename Runtime::group subtrees(rt_);
    for (word i = 0; i < children; i++)
      subtrees.spawn([this, i, node, &nodes] { nodes[i] = below(mixed(node * children + i + 1)); });
    subtrees.wait();
    word sum = 1;
    for (const word n : nodes) sum += n;
    return sum;
  }

  Runtime& rt_;
  const problem p_;
  word nodes_ = 0;
};

}  // namespace weir::bench::shapes
