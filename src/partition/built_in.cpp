// weir's own partitioner: multilevel, with several constraints, fixed vertices and distances.
#include "base/base.hpp"
#include "partition/bisect.hpp"
#include "partition/exchange.hpp"
#include "partition/implementations.hpp"
#include "partition/refine.hpp"

#include <algorithm>
#include <utility>

namespace weir::partition {
namespace {

// First parts are found in a graph of about so many vertices for each part. Fewer are too large to be balanced, more
// take longer than they gain.
constexpr std::size_t coarsest_per_part = 24;
// And at least so many for each part and band, up to this many in all.
constexpr std::size_t coarsest_per_part_and_band = 4, most_coarsest = 4096;
// Of each cut the best of several is taken: of many where that is quick, as cuts then are 5 % smaller. Where most
// edges are left nothing is local, one cut is like the other, and each takes long.
constexpr std::size_t most_tries = 16, edges_in_all_tries = 50'000;
constexpr int coarse_passes = 6, fine_passes = 3;
// From here on passes are few.
constexpr std::size_t fine_vertices = 20'000;

class multilevel {
 public:
  explicit multilevel(const problem& p) : p_(p), random_(p.seed) {
    levels_.push_back(finest_level(p, frame_));
    apart_ = p.initial;
    if (!apart_.empty()) apart_.resize(p.of->vertices(), anywhere);
  }

  std::vector<int> run() {
    coarsen();
    std::vector<int> part = first_parts();
    exchange_parts(levels_.back(), frame_, part);
    refine_at(levels_.size() - 1, part);
    for (std::size_t i = levels_.size() - 1; i > 0; i--) {
      part = projected(part, cluster_[i - 1]);
      refine_at(i - 1, part);
    }
    make_even(levels_.front(), frame_, random_.next(), part);
    part.resize(p_.free);
    return part;
  }

 private:
  void coarsen() {
    const std::size_t goal =
        std::max(coarsest_per_part * frame_.parts,
                 std::min(coarsest_per_part_and_band * frame_.parts * frame_.bands, most_coarsest));
    amount all = 0;
    for (const amount w : levels_.back().weight) all += w;
    const amount heaviest = std::max<amount>(1, all / static_cast<amount>(goal));
    while (levels_.back().vertices() > 2 * goal) {
      const level& fine = levels_.back();
      std::size_t clusters = 0;
      std::vector<vertex> of = cluster(fine, heaviest, random_.next(), apart_, clusters);
      if (clusters > fine.vertices() - fine.vertices() / 20) break;
      if (!apart_.empty()) apart_ = parts_of_clusters(of, clusters);
      level coarse = contract(fine, of, clusters);
      levels_.push_back(std::move(coarse));
      cluster_.push_back(std::move(of));
    }
  }
  std::vector<int> parts_of_clusters(const std::vector<vertex>& of, std::size_t clusters) const {
    std::vector<int> part(clusters, anywhere);
    for (std::size_t v = 0; v < of.size(); v++) part[of[v]] = apart_[v];
    return part;
  }

  std::vector<int> first_parts() {
    const level& l = levels_.back();
    level known = l;  // what had a part stays there for now
    for (vertex v = 0; v < l.vertices() && !apart_.empty(); v++)
      if (known.fixed[v] == anywhere && apart_[v] != anywhere && frame_.share[static_cast<std::size_t>(apart_[v])] > 0)
        known.fixed[v] = apart_[v];
    const std::size_t tries = std::clamp<std::size_t>(edges_in_all_tries / (l.neighbour.size() + 1), 1, most_tries);
    return bisect(known, frame_, static_cast<int>(tries), random_.next());
  }

  void refine_at(std::size_t i, std::vector<int>& part) {
    const level& l = levels_[i];
    const std::vector<amount> limit = i == 0 ? frame_.limit : limits_at(l, frame_);
    refine(l, frame_, limit, l.vertices() > fine_vertices ? fine_passes : coarse_passes, random_.next(), part);
  }
  static std::vector<int> projected(const std::vector<int>& coarse, const std::vector<vertex>& cluster) {
    std::vector<int> part(cluster.size());
    for (std::size_t v = 0; v < part.size(); v++) part[v] = coarse[cluster[v]];
    return part;
  }

  const problem& p_;
  rng random_;
  frame frame_;
  std::vector<level> levels_;
  std::vector<std::vector<vertex>> cluster_;  // of each vertex of a level, in the next one
  std::vector<int> apart_;
};

class built_in final : public partitioner {
 public:
  std::string_view name() const override { return "built-in"; }

 private:
  std::vector<int> divide(const problem& p) const override { return divide_multilevel(p); }
};

}  // namespace

std::vector<int> divide_multilevel(const problem& p) { return multilevel(p).run(); }

std::vector<int> finished(const problem& p, std::vector<int> part) {
  frame f;
  const level l = finest_level(p, f);
  part.insert(part.end(), p.anchors.begin(), p.anchors.end());
  exchange_parts(l, f, part);
  refine(l, f, f.limit, coarse_passes, p.seed, part);
  make_even(l, f, p.seed, part);
  part.resize(p.free);
  return part;
}

std::unique_ptr<partitioner> make_built_in() { return std::make_unique<built_in>(); }

}  // namespace weir::partition
