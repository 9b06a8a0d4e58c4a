// Which number of bands suits a graph cannot be seen before it is divided: few leave parts idle, many cut more than
// they gain. So numbers are tried, from the middle towards where it gets better. docs/decisions has figures.
#include "partition/in_time.hpp"

#include <array>
#include <utility>

namespace weir::partition {
namespace {

constexpr std::array<std::uint32_t, 5> numbers{1, 4, 16, 64, 256};
constexpr std::size_t first = 2;
// Within so much of the bound, beside the imbalance that is allowed, another division gains little, and takes as long
// again.
constexpr double good_enough = 0.03;

class search {
 public:
  search(const partitioner& with, std::span<const std::uint64_t> cost, std::span<const edge> edges, const options& o,
         double cost_of_byte, int most_divisions, std::span<const edge> ties)
      : with_(with), cost_(cost), options_(o), cost_of_byte_(cost_of_byte), tries_left_(most_divisions),
        after_(successors_of(cost.size(), edges)), order_(order_of(after_)), depth_(depth_of(after_, order_)),
        graph_(make_graph({cost.begin(), cost.end()}, joined(edges, ties))) {}

  timely_division run() {
    best_ = divide(first);
    best_.bound = bound();
    tries_left_--;
    // Towards more bands, and if that is not better, towards fewer.
    if (!go(+1)) go(-1);
    best_.tries = tried_;
    return std::move(best_);
  }

 private:
  static std::vector<edge> joined(std::span<const edge> a, std::span<const edge> b) {
    std::vector<edge> all(a.begin(), a.end());
    all.insert(all.end(), b.begin(), b.end());
    return all;
  }
  // For as long as it gets better. Whether it ever did.
  bool go(int direction) {
    bool gained = false;
    for (std::size_t i = first; tries_left_ > 0 && !is_good_enough();) {
      i += static_cast<std::size_t>(direction);
      if (i >= numbers.size() || (direction > 0 && is_deeper_than_graph(numbers[i - 1]))) break;
      timely_division d = divide(i);
      tries_left_--;
      if (d.expected.length >= best_.expected.length) break;
      d.bound = best_.bound;
      best_ = std::move(d);
      gained = true;
    }
    return gained;
  }
  bool is_good_enough() const {
    return best_.expected.length <= best_.bound * (1 + options_.imbalance + good_enough);
  }
  // More bands than that would be the same ones.
  bool is_deeper_than_graph(std::uint32_t bands) const { return graph_.bands < bands; }

  timely_division divide(std::size_t i) {
    graph_.bands = cut_into_bands(depth_, cost_, numbers[i], graph_.band);
    timely_division d;
    static_cast<division&>(d) = with_.partition(graph_, options_);
    d.bands = graph_.bands;
    d.expected = schedule(after_, order_, cost_, options_.onto, d.part, cost_of_byte_);
    tried_++;
    return d;
  }
  double bound() const {
    target one = equal_parts(1);
    one.capacity[0] = best_.expected.workers;
    const std::vector<int> all_in_one(cost_.size(), 0);
    return schedule(after_, order_, cost_, one, all_in_one, 0).length;
  }

  const partitioner& with_;
  const std::span<const std::uint64_t> cost_;
  const options& options_;
  const double cost_of_byte_;
  int tries_left_, tried_ = 0;
  const successors after_;
  const std::vector<vertex> order_;
  const std::vector<std::uint32_t> depth_;
  graph graph_;
  timely_division best_;
};

}  // namespace

timely_division divide_in_time(const partitioner& with, std::span<const std::uint64_t> cost,
                               std::span<const edge> edges, const options& o, double cost_of_byte, int most_divisions,
                               std::span<const edge> ties) {
  return search(with, cost, edges, o, cost_of_byte, most_divisions, ties).run();
}

}  // namespace weir::partition
