// Where those run who create tasks chunk by chunk, and where the first values of chunks are written.
#pragma once

#include <bench/common/control.hpp>
#include <bench/common/kernel.hpp>

#include <weir/weir.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::bench {

// Chunks are dealt out to the workers' nodes, the same under every policy. Their creators run there, and their first
// values are written there; or elsewhere, to see what that is worth: policies that leave memory with the creator depend
// on it, and policies that do not should not.
class creator_nodes {
 public:
  creator_nodes(const runtime&, std::size_t chunks, const configuration&);

  int node_of(std::size_t chunk) const { return nodes_[chunk]; }
  // Who writes the chunk's first values, before what is measured. An order, if creators are dealt or scattered.
  placement filled_on(std::size_t chunk) const { return of(chunk, 0, require(nodes_[chunk])); }
  // Who creates the chunk's tasks in an iteration, or in what else comes one after the other. `dealt`: where that is if
  // creators are dealt.
  placement of(std::size_t chunk, int iteration, placement dealt) const;
  placement of(std::size_t chunk, int iteration) const { return of(chunk, iteration, prefer(nodes_[chunk])); }

 private:
  // By the seed alone, so that all policies have the same: one of the chunks' nodes.
  int node_at_random(std::size_t chunk, int iteration) const;

  creators where_created_;
  std::uint64_t seed_;
  std::vector<int> nodes_;  // by chunk
};

// As fill_by_chunks(): create(first, last, where) creates the tasks that fill these blocks, there, where it runs itself.
template <class Create>
void fill_on_nodes(runtime& rt, const chunking& chunks, const creator_nodes& nodes, const Create& create) {
  rt.run([&] {
    for (std::size_t c = 0; c < chunks.chunks; c++) {
      const placement where = nodes.filled_on(c);
      rt.spawn({.name = "control", .affinity = where},
               [&, c, where] { create(chunks.first_block(c), chunks.first_block(c + 1), where); });
    }
  });
  rt.wait();
}

}  // namespace weir::bench
