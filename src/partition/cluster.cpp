// Which vertices become one on the next level. Each joins the cluster with which it has most bytes in common, as in
// label propagation with a limit of size (Meyerhenke, Sanders and Schulz, "Partitioning complex networks via
// size-constrained clustering", SEA 2014). What finds none that is light enough joins others that would have liked the
// same one, so that stars and vertices without edges get fewer, too.
#include "base/base.hpp"
#include "partition/level.hpp"

#include <algorithm>
#include <numeric>

namespace weir::partition {
namespace {

class clustering {
 public:
  clustering(const level& l, amount heaviest, std::uint64_t seed, std::span<const int> apart)
      : l_(l), heaviest_(heaviest), apart_(apart), random_(seed), of_(l.vertices()), size_(l.vertices(), 1),
        weight_(l.weight), common_(l.vertices(), 0), favourite_(l.vertices(), nobody) {
    std::iota(of_.begin(), of_.end(), vertex{0});
  }

  std::vector<vertex> take(std::size_t& clusters) {
    for (vertex v = 0; v < l_.vertices(); v++)
      if (is_alone(v)) join_nearest(v);
    join_the_lonely();
    return numbered(clusters);
  }

 private:
  static constexpr vertex nobody = ~vertex{0};

  bool is_alone(vertex v) const { return of_[v] == v && size_[v] == 1 && l_.fixed[v] == anywhere; }
  bool fits(vertex v, vertex into) const { return weight_[into] + l_.weight[v] <= heaviest_; }

  void join_nearest(vertex v) {
    near_.clear();
    for (std::uint32_t i = l_.begin[v]; i < l_.begin[v + 1]; i++) {
      const vertex n = l_.neighbour[i];
      if (l_.fixed[n] != anywhere || (!apart_.empty() && apart_[n] != apart_[v])) continue;
      const vertex c = of_[n];
      if (common_[c] == 0) near_.push_back(c);
      common_[c] += l_.bytes[i];
    }
    vertex best = nobody;
    for (const vertex c : near_) {
      if (favourite_[v] == nobody || common_[c] > common_[favourite_[v]]) favourite_[v] = c;
      if (fits(v, c) && (best == nobody || is_nearer(c, best))) best = c;
    }
    for (const vertex c : near_) common_[c] = 0;
    if (best != nobody) join(v, best);
  }
  bool is_nearer(vertex a, vertex b) {
    const double to_a = static_cast<double>(common_[a]) * static_cast<double>(weight_[b]);
    const double to_b = static_cast<double>(common_[b]) * static_cast<double>(weight_[a]);
    return to_a != to_b ? to_a > to_b : random_.below(2) == 0;
  }
  void join(vertex v, vertex into) {
    of_[v] = into;
    size_[into]++;
    size_[v] = 0;
    weight_[into] += l_.weight[v];
  }

  // By the cluster that each would have liked; those without any neighbour, by their band.
  void join_the_lonely() {
    std::vector<vertex> waits(l_.vertices(), nobody), waits_in_band;
    for (vertex v = 0; v < l_.vertices(); v++) {
      if (!is_alone(v)) continue;
      vertex* w = favourite_[v] == nobody ? &in_band(v, waits_in_band) : &waits[favourite_[v]];
      const bool may = *w != nobody && fits(v, *w) && (apart_.empty() || apart_[v] == apart_[*w]);
      if (may) join(v, *w);
      else *w = v;
    }
  }
  vertex& in_band(vertex v, std::vector<vertex>& waits) const {
    const auto loads = l_.loads_of(v);
    const std::size_t band = loads.empty() ? 0 : loads.front().band + std::size_t{1};
    if (waits.size() <= band) waits.resize(band + 1, nobody);
    return waits[band];
  }

  std::vector<vertex> numbered(std::size_t& clusters) {
    std::vector<vertex> number(l_.vertices(), nobody);
    vertex next = 0;
    for (vertex& c : of_) {
      if (number[c] == nobody) number[c] = next++;
      c = number[c];
    }
    clusters = next;
    return std::move(of_);
  }

  const level& l_;
  const amount heaviest_;
  const std::span<const int> apart_;
  rng random_;
  std::vector<vertex> of_;  // a vertex whose cluster it is; that one is in it
  std::vector<std::uint32_t> size_;
  std::vector<amount> weight_, common_;
  std::vector<vertex> favourite_, near_;
};

}  // namespace

std::vector<vertex> cluster(const level& l, amount heaviest, std::uint64_t seed, std::span<const int> apart,
                            std::size_t& clusters) {
  return clustering(l, heaviest, seed, apart).take(clusters);
}

}  // namespace weir::partition
