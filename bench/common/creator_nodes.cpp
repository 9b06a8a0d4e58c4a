// Nodes of chunks, and of their creators.
#include <bench/common/creator_nodes.hpp>

#include <iterator>
#include <random>

namespace weir::bench {

creator_nodes::creator_nodes(const runtime& rt, std::size_t chunks, const configuration& problem)
    : where_created_(problem.where_created), seed_(problem.seed) {
  for (std::size_t c = 0; c < chunks; c++) {
    const std::size_t worker = c * static_cast<std::size_t>(rt.workers()) / chunks;
    nodes_.push_back(rt.node_of_worker(static_cast<int>(worker)));
  }
}

placement creator_nodes::of(std::size_t chunk, int iteration, placement dealt) const {
  switch (where_created_) {
    case creators::dealt: return dealt;
    case creators::stolen: return {};
    case creators::scattered: return require(node_at_random(chunk, iteration));
  }
  return {};
}

int creator_nodes::node_at_random(std::size_t chunk, int iteration) const {
  std::seed_seq mixed{seed_, std::uint64_t{chunk}, static_cast<std::uint64_t>(iteration)};
  std::uint32_t drawn[1];
  mixed.generate(std::begin(drawn), std::end(drawn));
  return nodes_[drawn[0] % nodes_.size()];
}

}  // namespace weir::bench
