// METIS (Karypis and Kumar, SIAM J. Sci. Comput. 1998; several constraints: Supercomputing 1998).
//
// It knows neither fixed vertices nor distances. Anchors get a constraint of their own, one for each part, so that
// METIS finds parts around them; parts are then named after their anchors, and what is left wrong is put right by
// weir's own moves. README.md says what METIS does to the process.
#include "base/base.hpp"
#include "partition/implementations.hpp"
#include "partition/narrow.hpp"

#include <weir/error.hpp>

#include <metis.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <string>

namespace weir::partition {
namespace {

static_assert(sizeof(idx_t) == sizeof(std::int32_t), "arrays are handed to a METIS of 32-bit numbers");

// It adds up weights in 32 bits.
constexpr std::int64_t most_in_metis = std::int64_t{1} << 30;
// Where it comes upon a piece without vertices, METIS says so on standard output. So it does not see graphs with fewer
// vertices a part, nor those of which one vertex is heavier than a part may be.
constexpr std::size_t least_vertices_per_part = 8;

// METIS calls srand() and rand(), whose numbers the program may want for itself: as long as this exists they come from
// elsewhere.
class own_random_numbers {
 public:
  own_random_numbers() : before_(initstate(1, state_.data(), state_.size())) {}
  ~own_random_numbers() { setstate(before_); }
  own_random_numbers(const own_random_numbers&) = delete;
  own_random_numbers& operator=(const own_random_numbers&) = delete;

 private:
  std::array<char, 128> state_{};
  char* const before_;
};

// METIS takes 2 to 10 times as long for 4 constraints as for one, 7 to 70 times for 16, and its cuts get worse.
constexpr std::size_t most_constraints = 4;

std::mutex one_metis_at_a_time;  // the numbers above are the process's

// The constraint of each band: bands next to each other are put together until they are few, and each has several
// vertices for each part, without which METIS fails, or says so on standard output.
std::vector<std::size_t> constraints_of(const problem& p, std::size_t parts, std::size_t& count) {
  const graph& g = *p.of;
  std::vector<std::size_t> vertices(g.bands, 0), constraint(g.bands, 0);
  for (vertex v = 0; v < p.free; v++) vertices[g.band_of(v)]++;
  const std::size_t each = std::max(least_vertices_per_part * parts, p.free / most_constraints);
  std::size_t now = 0, has = 0, left = p.free;
  for (std::size_t b = 0; b < g.bands; b++) {
    if (has >= each && left >= each) now++, has = 0;
    constraint[b] = now;
    has += vertices[b];
    left -= vertices[b];
  }
  count = now + 1;
  return constraint;
}

// What METIS wants to know of balance: vertices x columns, parts x columns, columns. With anchors there is one column
// more, in which each of them has 1, so that each part gets one.
struct constraints {
  constraints(const problem& p, const narrow_problem& n) {
    const std::vector<std::size_t> column = constraints_of(p, n.part.size(), columns);
    const bool has_anchors = std::any_of(n.anchor.begin(), n.anchor.end(), [](auto a) { return a >= 0; });
    if (has_anchors) columns++;
    take_weights(n, column);
    slack.assign(columns, static_cast<real_t>(1 + std::max(p.imbalance, 0.001)));
    if (has_anchors) slack.back() = 1.5F;
    for (const int q : n.part)
      for (std::size_t c = 0; c < columns; c++)
        share.push_back(static_cast<real_t>(has_anchors && c + 1 == columns
                                                ? 1.0 / static_cast<double>(n.part.size())
                                                : p.onto.capacity[static_cast<std::size_t>(q)] / p.capacity()));
  }

  bool has_a_giant(const problem& p, const narrow_problem& n) const {
    double least = p.capacity();
    for (const int q : n.part) least = std::min(least, p.onto.capacity[static_cast<std::size_t>(q)]);
    std::vector<double> all(columns, 0.0), heaviest(columns, 0.0);
    for (std::size_t i = 0; i < weight.size(); i++) {
      if (n.anchor[i / columns] >= 0) continue;
      all[i % columns] += weight[i];
      heaviest[i % columns] = std::max(heaviest[i % columns], static_cast<double>(weight[i]));
    }
    for (std::size_t c = 0; c < columns; c++)
      if (heaviest[c] > all[c] * least / p.capacity() / 2) return true;
    return false;
  }

  std::size_t columns = 0;
  std::vector<idx_t> weight;
  std::vector<real_t> share, slack;

 private:
  void take_weights(const narrow_problem& n, const std::vector<std::size_t>& column) {
    const std::size_t bands = column.size();
    weight.assign(n.vertices() * columns, 0);
    for (std::size_t v = 0; v < n.vertices(); v++) {
      for (std::size_t b = 0; b < bands; b++) weight[v * columns + column[b]] += n.weight[v * bands + b];
      if (n.anchor[v] >= 0) weight[(v + 1) * columns - 1] = 1;
    }
  }
};

// The library's part that each of METIS's becomes: that of its anchor, or one that is left.
std::vector<std::size_t> names_of(const narrow_problem& n, const std::vector<idx_t>& part) {
  constexpr std::size_t nobody = ~std::size_t{0};
  std::vector<std::size_t> name(n.part.size(), nobody);
  std::vector<char> is_taken(n.part.size(), 0);
  const auto give = [&](std::size_t of, std::size_t to) {
    if (name[of] != nobody || is_taken[to]) return;
    name[of] = to;
    is_taken[to] = 1;
  };
  for (std::size_t v = 0; v < n.vertices(); v++)
    if (n.anchor[v] >= 0) give(static_cast<std::size_t>(part[v]), static_cast<std::size_t>(n.anchor[v]));
  for (std::size_t p = 0; p < name.size(); p++) give(p, p);
  for (std::size_t p = 0; p < name.size(); p++)
    for (std::size_t q = 0; q < name.size() && name[p] == nobody; q++) give(p, q);
  return name;
}

class metis final : public partitioner {
 public:
  std::string_view name() const override { return "metis"; }

 private:
  std::vector<int> divide(const problem& p) const override {
    narrow_problem n = narrowed(p, most_in_metis, most_in_metis);
    if (p.free < least_vertices_per_part * n.part.size()) return divide_multilevel(p);
    const std::vector<idx_t> part = call(p, n);
    if (part.empty()) return divide_multilevel(p);
    const std::vector<std::size_t> name = names_of(n, part);
    std::vector<int> of_free(p.free);
    for (std::size_t v = 0; v < p.free; v++) of_free[v] = n.part[name[static_cast<std::size_t>(part[v])]];
    return finished(p, std::move(of_free));
  }

  // Nothing: it is not for METIS.
  static std::vector<idx_t> call(const problem& p, narrow_problem& n) {
    constraints c(p, n);
    if (c.has_a_giant(p, n)) return {};
    auto vertices = static_cast<idx_t>(n.vertices()), parts = static_cast<idx_t>(n.part.size());
    auto columns = static_cast<idx_t>(c.columns);
    idx_t cut = 0;
    std::array<idx_t, METIS_NOPTIONS> how{};
    METIS_SetDefaultOptions(how.data());
    how[METIS_OPTION_SEED] = static_cast<idx_t>(p.seed & 0x7fffffff);
    std::vector<idx_t> part(n.vertices(), 0);
    const std::lock_guard lock(one_metis_at_a_time);
    const own_random_numbers kept_apart;
    const int status =
        METIS_PartGraphKway(&vertices, &columns, n.begin.data(), n.neighbour.data(), c.weight.data(), nullptr,
                            n.bytes.data(), &parts, c.share.data(), c.slack.data(), how.data(), &cut, part.data());
    if (status != METIS_OK) throw error(what_is(status));
    return part;
  }
  static std::string what_is(int status) {
    if (status == METIS_ERROR_INPUT) return "METIS_ERROR_INPUT, it does not accept the graph";
    if (status == METIS_ERROR_MEMORY) return "METIS_ERROR_MEMORY, it did not get the memory that it needs";
    return "status " + std::to_string(status) + " of METIS_PartGraphKway";
  }
};

}  // namespace

std::unique_ptr<partitioner> make_metis() { return std::make_unique<metis>(); }

}  // namespace weir::partition
