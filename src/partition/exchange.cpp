// The graph of the parts is small: every exchange is tried.
#include "partition/exchange.hpp"

#include <algorithm>
#include <numeric>

namespace weir::partition {
namespace {

class exchange {
 public:
  exchange(const level& l, const frame& f, std::vector<int>& part)
      : f_(f), between_(f.parts * f.parts, 0), to_fixed_(f.parts * f.parts, 0), place_(f.parts) {
    std::iota(place_.begin(), place_.end(), std::size_t{0});
    for (vertex v = 0; v < l.vertices(); v++) {
      if (l.fixed[v] != anywhere) continue;
      for (std::uint32_t i = l.begin[v]; i < l.begin[v + 1]; i++) {
        const vertex n = l.neighbour[i];
        auto& row = l.fixed[n] == anywhere ? between_ : to_fixed_;
        row[index(static_cast<std::size_t>(part[v]), static_cast<std::size_t>(part[n]))] += l.bytes[i];
      }
    }
  }

  // place_[p]: where part p goes.
  const std::vector<std::size_t>& run() {
    for (std::size_t round = 0; round < f_.parts && improve(); round++) {
    }
    return place_;
  }

 private:
  std::size_t index(std::size_t a, std::size_t b) const { return a * f_.parts + b; }

  // What part p costs at this place, the others where they are; `other` is about to go where p was.
  amount cost_at(std::size_t p, std::size_t at, std::size_t other, std::size_t other_at) const {
    amount cost = 0;
    for (std::size_t q = 0; q < f_.parts; q++) {
      cost += to_fixed_[index(p, q)] * f_.between(at, q);
      if (q != p) cost += between_[index(p, q)] * f_.between(at, q == other ? other_at : place_[q]);
    }
    return cost;
  }
  bool may_exchange(std::size_t p, std::size_t q) const {
    const std::size_t a = place_[p], b = place_[q];
    if (f_.share[a] != f_.share[b] || f_.share[a] <= 0) return false;
    for (std::size_t i = 0; i < f_.bands; i++)  // nor is balance lost
      if (f_.placed[a * f_.bands + i] != f_.placed[b * f_.bands + i]) return false;
    return true;
  }
  bool improve() {
    bool any = false;
    for (std::size_t p = 0; p < f_.parts; p++)
      for (std::size_t q = 0; q < p; q++) {
        if (!may_exchange(p, q)) continue;
        const std::size_t a = place_[p], b = place_[q];
        const amount now = cost_at(p, a, q, b) + cost_at(q, b, p, a);
        if (cost_at(p, b, q, a) + cost_at(q, a, p, b) >= now) continue;
        std::swap(place_[p], place_[q]);
        any = true;
      }
    return any;
  }

  const frame& f_;
  std::vector<amount> between_, to_fixed_;
  std::vector<std::size_t> place_;
};

}  // namespace

void exchange_parts(const level& l, const frame& f, std::vector<int>& part) {
  const std::vector<std::size_t> place = exchange(l, f, part).run();
  for (vertex v = 0; v < l.vertices(); v++)
    if (l.fixed[v] == anywhere) part[v] = static_cast<int>(place[static_cast<std::size_t>(part[v])]);
}

}  // namespace weir::partition
