// Moves of single vertices.
#include "partition/refine.hpp"

#include "base/base.hpp"

#include <algorithm>
#include <queue>

namespace weir::partition {
namespace {

// What each part has, against what it may have.
class balance {
 public:
  balance(const level& l, const frame& f, std::span<const amount> limit, std::span<const int> part)
      : l_(l), bands_(f.bands), limit_(limit), has_(f.placed) {
    for (vertex v = 0; v < l.vertices(); v++)
      for (const load& x : l.loads_of(v)) has_[at(part[v], x.band)] += x.weight;
    for (std::size_t i = 0; i < has_.size(); i++) excess_ += over(has_[i], limit_[i]);
  }

  amount excess() const { return excess_; }
  // By how much the excess grows if v moves.
  amount change(vertex v, int from, int to) const {
    amount more = 0;
    for (const load& x : l_.loads_of(v)) {
      const std::size_t a = at(from, x.band), b = at(to, x.band);
      more += over(has_[a] - x.weight, limit_[a]) - over(has_[a], limit_[a]);
      more += over(has_[b] + x.weight, limit_[b]) - over(has_[b], limit_[b]);
    }
    return more;
  }
  void move(vertex v, int from, int to) {
    excess_ += change(v, from, to);
    for (const load& x : l_.loads_of(v)) {
      has_[at(from, x.band)] -= x.weight;
      has_[at(to, x.band)] += x.weight;
    }
  }
  bool is_in_excess(vertex v, int part) const {
    for (const load& x : l_.loads_of(v))
      if (has_[at(part, x.band)] > limit_[at(part, x.band)]) return true;
    return false;
  }

 private:
  static amount over(amount has, amount limit) { return std::max<amount>(0, has - limit); }
  std::size_t at(int part, std::uint32_t band) const { return static_cast<std::size_t>(part) * bands_ + band; }

  const level& l_;
  const std::size_t bands_;
  const std::span<const amount> limit_;
  std::vector<amount> has_;
  amount excess_ = 0;
};

struct move {
  amount excess = 0, cost = 0;  // by how much they grow
  int to = anywhere;
};

class refinement {
 public:
  refinement(const level& l, const frame& f, std::span<const amount> limit, std::uint64_t seed, std::vector<int>& part)
      : l_(l), f_(f), part_(part), balance_(l, f, limit, part), random_(seed), bytes_to_(f.parts, 0),
        version_(l.vertices(), 0), moved_(l.vertices(), 0),
        may_look_at_(least_looks + looks_per_edge * static_cast<std::int64_t>(l.neighbour.size())) {}

  void run(int passes) {
    for (int i = 0; i < passes && may_look_at_ > 0; i++)
      if (!pass()) return;
    for (int i = 0; i < sweeps && sweep(); i++) {
    }
  }

 private:
  // In the queue: a vertex, and what its best move was worth when it was put there.
  struct candidate {
    amount excess, cost;
    std::uint32_t turn;  // at random, among equals
    vertex v;
    std::uint32_t version;
    bool operator<(const candidate& b) const {  // std::priority_queue has the greatest first
      if (excess != b.excess) return excess > b.excess;
      if (cost != b.cost) return cost > b.cost;
      return turn > b.turn;
    }
  };
  struct done {
    vertex v;
    int from;
  };

  // Sweeps come first: in graphs without local structure nearly all moves gain, and need no order.
  static constexpr int sweeps = 4;
  // Edges that passes may look at, for each that there is. In such graphs they would look at each some hundred times,
  // for cuts that are 1 % smaller.
  static constexpr std::int64_t looks_per_edge = 2, least_looks = 500'000;
  // Moves without gain after which a pass ends. More find more, at a cost in time: 2 % smaller cuts for half as much.
  std::size_t patience() const { return 50 + std::min<std::size_t>(l_.vertices() / 20, 400); }
  // Neighbours of a vertex with more edges than this are not looked at again when it moves: in a clique that would
  // take the third power of its size.
  static constexpr std::uint32_t most_updated = 128;

  // Moves each vertex that gains by it, in their order. Whether more than a few did.
  bool sweep() {
    std::size_t moves = 0;
    for (vertex v = 0; v < l_.vertices(); v++) {
      if (l_.fixed[v] != anywhere || !(is_at_border(v) || balance_.is_in_excess(v, part_[v]))) continue;
      const move m = best_move(v);
      if (m.to == anywhere || m.excess > 0 || (m.excess == 0 && m.cost >= 0)) continue;
      balance_.move(v, part_[v], m.to);
      part_[v] = m.to;
      moves++;
    }
    return moves > l_.vertices() / 200;
  }

  bool pass() {
    fill();
    std::vector<done> log;
    amount cost = 0, best_cost = 0, best_excess = balance_.excess();
    std::size_t best = 0;
    while (!queue_.empty() && log.size() - best < patience() && may_look_at_ > 0) {
      const candidate c = queue_.top();
      queue_.pop();
      if (c.version != version_[c.v]) continue;
      const move m = best_move(c.v);
      if (m.to == anywhere) continue;
      if (m.excess > c.excess || (m.excess == c.excess && m.cost > c.cost)) {
        put(c.v, m);
        continue;
      }
      if (m.excess > 0) continue;
      log.push_back({c.v, part_[c.v]});
      apply(c.v, m.to);
      cost += m.cost;
      if (balance_.excess() < best_excess || (balance_.excess() == best_excess && cost < best_cost)) {
        best_excess = balance_.excess(), best_cost = cost;
        best = log.size();
      }
    }
    undo(log, best);
    return best > 0;
  }

  void fill() {
    queue_ = {};
    std::fill(moved_.begin(), moved_.end(), 0);
    for (vertex v = 0; v < l_.vertices(); v++)
      if (l_.fixed[v] == anywhere && (is_at_border(v) || balance_.is_in_excess(v, part_[v]))) put(v, best_move(v));
  }
  bool is_at_border(vertex v) const {
    for (std::uint32_t i = l_.begin[v]; i < l_.begin[v + 1]; i++)
      if (part_[l_.neighbour[i]] != part_[v]) return true;
    return false;
  }
  void put(vertex v, const move& m) {
    version_[v]++;
    if (m.to != anywhere)
      queue_.push({m.excess, m.cost, static_cast<std::uint32_t>(random_.next() >> 32), v, version_[v]});
  }

  void apply(vertex v, int to) {
    balance_.move(v, part_[v], to);
    part_[v] = to;
    moved_[v] = 1;
    version_[v]++;
    if (l_.degree(v) > most_updated) return;
    for (std::uint32_t i = l_.begin[v]; i < l_.begin[v + 1]; i++)
      if (const vertex n = l_.neighbour[i]; may_be_better(n, to)) put(n, best_move(n));
  }
  // Where the new neighbour is, moves only got dearer, which is seen when their turn comes.
  bool may_be_better(vertex v, int neighbour_is_in) const {
    return part_[v] != neighbour_is_in && !moved_[v] && l_.fixed[v] == anywhere && l_.degree(v) <= most_updated;
  }
  void undo(const std::vector<done>& log, std::size_t keep) {
    for (std::size_t i = log.size(); i > keep; i--) {
      const done& d = log[i - 1];
      balance_.move(d.v, part_[d.v], d.from);
      part_[d.v] = d.from;
    }
  }

  // To a part with a neighbour; or, out of one that has too much, to any.
  move best_move(vertex v) {
    const int here = part_[v];
    near_.clear();
    may_look_at_ -= l_.degree(v);
    for (std::uint32_t i = l_.begin[v]; i < l_.begin[v + 1]; i++) {
      const int p = part_[l_.neighbour[i]];
      if (bytes_to_[static_cast<std::size_t>(p)] == 0) near_.push_back(p);
      bytes_to_[static_cast<std::size_t>(p)] += l_.bytes[i];
    }
    move best;
    const amount now = cost_in(here);
    const auto try_part = [&](int p) {
      if (p == here || f_.share[static_cast<std::size_t>(p)] <= 0) return;
      const move m{balance_.change(v, here, p), cost_in(p) - now, p};
      const bool better =
          best.to == anywhere || m.excess < best.excess || (m.excess == best.excess && m.cost < best.cost);
      if (better) best = m;
    };
    if (balance_.is_in_excess(v, here))
      for (std::size_t p = 0; p < f_.parts; p++) try_part(static_cast<int>(p));
    else for (const int p : near_) try_part(p);
    for (const int p : near_) bytes_to_[static_cast<std::size_t>(p)] = 0;
    return best;
  }
  amount cost_in(int part) const {
    const auto p = static_cast<std::size_t>(part);
    if (f_.uniform) return -bytes_to_[p] * f_.distance[1];
    amount cost = 0;
    for (const int q : near_)
      cost += bytes_to_[static_cast<std::size_t>(q)] * f_.between(p, static_cast<std::size_t>(q));
    return cost;
  }

  const level& l_;
  const frame& f_;
  std::vector<int>& part_;
  balance balance_;
  rng random_;
  std::vector<amount> bytes_to_;  // each part; 0 but in best_move
  std::vector<int> near_;
  std::vector<std::uint32_t> version_;
  std::vector<char> moved_;
  std::int64_t may_look_at_;
  std::priority_queue<candidate> queue_;
};

}  // namespace

quality quality_of(const level& l, const frame& f, std::span<const amount> limit, std::span<const int> part) {
  quality q{balance(l, f, limit, part).excess(), 0};
  for (vertex v = 0; v < l.vertices(); v++)
    for (std::uint32_t i = l.begin[v]; i < l.begin[v + 1]; i++)
      q.cost +=
          l.bytes[i] * f.between(static_cast<std::size_t>(part[v]), static_cast<std::size_t>(part[l.neighbour[i]]));
  q.cost /= 2;
  return q;
}

void refine(const level& l, const frame& f, std::span<const amount> limit, int passes, std::uint64_t seed,
            std::vector<int>& part) {
  refinement(l, f, limit, seed, part).run(passes);
}

void make_even(const level& l, const frame& f, std::uint64_t seed, std::vector<int>& part) {
  const quality before = quality_of(l, f, f.even, part);
  if (before.excess == 0) return;
  std::vector<int> even = part;
  refine(l, f, f.even, 1, seed, even);
  const quality after = quality_of(l, f, f.even, even);
  if (after.excess < before.excess && after.cost <= before.cost + before.cost / 100) part = std::move(even);
}

}  // namespace weir::partition
