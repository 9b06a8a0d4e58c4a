// Recursive bisection.
#include "partition/bisect.hpp"

#include "base/base.hpp"
#include "partition/refine.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

namespace weir::partition {
namespace {

using part_list = std::vector<int>;

// Two lists of about the same length: around the two parts that are farthest apart.
std::pair<part_list, part_list> halves(const part_list& parts, const frame& f) {
  int a = parts.front(), b = parts.back();
  const auto apart = [&](int x, int y) { return f.between(static_cast<std::size_t>(x), static_cast<std::size_t>(y)); };
  for (const int x : parts)
    for (const int y : parts)
      if (apart(x, y) > apart(a, b)) a = x, b = y;
  part_list order = parts;
  std::stable_sort(order.begin(), order.end(),
                   [&](int x, int y) { return apart(x, a) - apart(x, b) < apart(y, a) - apart(y, b); });
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  part_list first(order.begin(), middle), second(middle, order.end());
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  return {first, second};
}

// Side 0 and side 1 as the two parts of a frame.
frame frame_of_halves(const frame& f, const level& l, const part_list& first, const part_list& second) {
  frame two;
  two.parts = 2;
  two.bands = f.bands;
  two.distance = {0, 1, 1, 0};
  two.uniform = true;
  two.placed.assign(2 * f.bands, 0);
  double share[2] = {0, 0};
  for (const int side : {0, 1})
    for (const int p : side == 0 ? first : second) {
      share[side] += f.share[static_cast<std::size_t>(p)];
      for (std::size_t b = 0; b < f.bands; b++)
        two.placed[static_cast<std::size_t>(side) * f.bands + b] +=
            f.placed[static_cast<std::size_t>(p) * f.bands + b];
    }
  const double both = share[0] + share[1];
  two.share = {both > 0 ? share[0] / both : 0.5, both > 0 ? share[1] / both : 0.5};
  std::vector<amount> all(f.bands, 0), heaviest(f.bands, 0);
  for (std::size_t i = 0; i < two.placed.size(); i++) all[i % f.bands] += two.placed[i];
  for (const load& x : l.loads) all[x.band] += x.weight, heaviest[x.band] = std::max(heaviest[x.band], x.weight);
  // Half of the usual slack: what is lost at one cut is lost for all that follow.
  for (std::size_t i = 0; i < two.placed.size(); i++) {
    const double due = static_cast<double>(all[i % f.bands]) * two.share[i / f.bands];
    two.due.push_back(static_cast<amount>(due));
    two.limit.push_back(static_cast<amount>(due * 1.02) + heaviest[i % f.bands]);
  }
  return two;
}

class growing {
 public:
  growing(const level& l, const frame& two, std::uint64_t seed)
      : l_(l), two_(two), random_(seed), side_(l.vertices(), 1), gain_(l.vertices(), 0), has_(two.placed),
        begins_(random_.below(static_cast<std::uint32_t>(l.vertices()))) {}

  // Side 0 grows from what is fixed there, or else from a vertex, until it has its share.
  std::vector<int> run() {
    const amount wanted =
        std::accumulate(two_.due.begin(), two_.due.begin() + static_cast<std::ptrdiff_t>(two_.bands), amount{0});
    for (std::size_t b = 0; b < two_.bands; b++) taken_ += has_[b];
    for (vertex v = 0; v < l_.vertices(); v++)
      if (l_.fixed[v] == 1) keep_away_from(v);
    for (vertex v = 0; v < l_.vertices(); v++)
      if (l_.fixed[v] == 0) take(v);
    while (taken_ < wanted) {
      const vertex v = next();
      if (v == nobody) break;
      take(v);
    }
    return std::move(side_);
  }

 private:
  static constexpr vertex nobody = ~vertex{0};

  struct candidate {
    amount gain;
    std::uint32_t turn;
    vertex v;
    bool operator<(const candidate& b) const { return gain != b.gain ? gain < b.gain : turn < b.turn; }
  };

  bool may_take(vertex v) const {
    if (side_[v] == 0 || l_.fixed[v] != anywhere) return false;
    for (const load& x : l_.loads_of(v))
      if (has_[x.band] + x.weight > two_.limit[x.band]) return false;
    return true;
  }
  vertex next() {
    while (!queue_.empty()) {
      const candidate c = queue_.top();
      queue_.pop();
      if (c.gain == gain_[c.v] && may_take(c.v)) return c.v;
    }
    return any();
  }
  // One that may be taken, from a place at random on. What may not be taken never may: side 0 only gets fuller.
  vertex any() {
    const auto n = static_cast<std::uint32_t>(l_.vertices());
    for (; looked_at_ < n; looked_at_++)
      if (const vertex v = (begins_ + looked_at_) % n; may_take(v)) return v;
    return nobody;
  }
  void keep_away_from(vertex v) {
    for (std::uint32_t i = l_.begin[v]; i < l_.begin[v + 1]; i++) gain_[l_.neighbour[i]] -= l_.bytes[i];
  }
  void take(vertex v) {
    side_[v] = 0;
    for (const load& x : l_.loads_of(v)) has_[x.band] += x.weight;
    taken_ += l_.weight[v];
    for (std::uint32_t i = l_.begin[v]; i < l_.begin[v + 1]; i++) {
      const vertex n = l_.neighbour[i];
      if (side_[n] == 0) continue;
      gain_[n] += l_.bytes[i];
      queue_.push({gain_[n], static_cast<std::uint32_t>(random_.next() >> 32), n});
    }
  }

  const level& l_;
  const frame& two_;
  rng random_;
  std::vector<int> side_;
  std::vector<amount> gain_;  // bytes in common with side 0, less those with what is fixed on side 1
  std::vector<amount> has_;
  amount taken_ = 0;
  std::uint32_t looked_at_ = 0;
  const std::uint32_t begins_;
  std::priority_queue<candidate> queue_;
};

class bisection {
 public:
  bisection(const level& l, const frame& f, int tries, std::uint64_t seed)
      : f_(f), tries_(tries), random_(seed), part_(l.vertices(), 0) {
    part_list parts;
    for (std::size_t p = 0; p < f.parts; p++)
      if (f.share[p] > 0) parts.push_back(static_cast<int>(p));
    std::vector<vertex> all(l.vertices());
    std::iota(all.begin(), all.end(), vertex{0});
    cut(with_fixed_among(l, parts), all, parts);
    for (vertex v = 0; v < l.vertices(); v++)
      if (l.fixed[v] != anywhere) part_[v] = l.fixed[v];
  }
  std::vector<int> take() { return std::move(part_); }

 private:
  // What is fixed where nothing else may go counts as being in the nearest part where it may.
  level with_fixed_among(level l, const part_list& parts) const {
    for (int& p : l.fixed) {
      if (p == anywhere) continue;
      const auto distance = [&](int q) {
        return f_.between(static_cast<std::size_t>(p), static_cast<std::size_t>(q));
      };
      p = *std::min_element(parts.begin(), parts.end(), [&](int a, int b) { return distance(a) < distance(b); });
    }
    return l;
  }

  // `number`: of each vertex of this piece in the whole.
  void cut(const level& l, const std::vector<vertex>& number, const part_list& parts) {
    if (parts.size() == 1) {
      for (const vertex v : number) part_[v] = parts.front();
      return;
    }
    const auto [first, second] = halves(parts, f_);
    const std::vector<int> side = best_sides(l, first, second);
    for (const int s : {0, 1}) {
      std::vector<vertex> piece_number;
      const level piece = piece_of(l, side, s, number, piece_number);
      cut(piece, piece_number, s == 0 ? first : second);
    }
  }

  std::vector<int> best_sides(level l, const part_list& first, const part_list& second) {
    for (int& p : l.fixed)
      if (p != anywhere) p = std::find(first.begin(), first.end(), p) != first.end() ? 0 : 1;
    const frame two = frame_of_halves(f_, l, first, second);
    std::vector<int> best;
    quality least;
    for (int i = 0; i < tries_; i++) {
      std::vector<int> side = growing(l, two, random_.next()).run();
      refine(l, two, two.limit, 4, random_.next(), side);
      const quality q = quality_of(l, two, two.limit, side);
      if (best.empty() || q < least) least = q, best = std::move(side);
    }
    return best;
  }

  // Without the edges to the other side: parts are exchanged later, once all are there.
  static level piece_of(const level& l, const std::vector<int>& side, int wanted, const std::vector<vertex>& number,
                        std::vector<vertex>& piece_number) {
    std::vector<vertex> in_piece(l.vertices(), 0);
    for (vertex v = 0; v < l.vertices(); v++)
      if (side[v] == wanted) {
        in_piece[v] = static_cast<vertex>(piece_number.size());
        piece_number.push_back(number[v]);
      }
    level piece;
    for (vertex v = 0; v < l.vertices(); v++) {
      if (side[v] != wanted) continue;
      for (std::uint32_t i = l.begin[v]; i < l.begin[v + 1]; i++)
        if (side[l.neighbour[i]] == wanted) {
          piece.neighbour.push_back(in_piece[l.neighbour[i]]);
          piece.bytes.push_back(l.bytes[i]);
        }
      for (const load& x : l.loads_of(v)) piece.loads.push_back(x);
      piece.begin.push_back(static_cast<std::uint32_t>(piece.neighbour.size()));
      piece.loads_begin.push_back(static_cast<std::uint32_t>(piece.loads.size()));
      piece.weight.push_back(l.weight[v]);
      piece.fixed.push_back(l.fixed[v]);
    }
    return piece;
  }

  const frame& f_;
  const int tries_;
  rng random_;
  std::vector<int> part_;
};

}  // namespace

std::vector<int> bisect(const level& l, const frame& f, int tries, std::uint64_t seed) {
  return bisection(l, f, tries, seed).take();
}

}  // namespace weir::partition
