// METIS (Karypis and Kumar, SIAM J. Sci. Comput. 1998; several constraints: Supercomputing 1998).
//
// It knows neither fixed vertices nor distances. Anchors get a constraint of their own, one for each part, so that METIS
// finds parts around them; parts are then named after their anchors, and what is left wrong is put right by weir's own
// moves. README.md says what METIS does to the process.
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
constexpr std::int64_t most = std::int64_t{1} << 30;
// With fewer vertices a part METIS says that it cannot cut them, on standard output, or leaves parts empty.
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

std::mutex one_at_a_time;  // the numbers above are the process's

// One column more: 1 for each anchor, so that each part gets one.
std::vector<idx_t> weights_with_anchors(const narrow_problem& n, std::size_t bands) {
  std::vector<idx_t> weight;
  weight.reserve(n.vertices() * (bands + 1));
  for (std::size_t v = 0; v < n.vertices(); v++) {
    weight.insert(weight.end(), n.weight.begin() + static_cast<std::ptrdiff_t>(v * bands),
                  n.weight.begin() + static_cast<std::ptrdiff_t>((v + 1) * bands));
    weight.push_back(n.anchor[v] >= 0 ? 1 : 0);
  }
  return weight;
}

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
    narrow_problem n = narrowed(p, most, most);
    if (p.free < least_vertices_per_part * n.part.size()) return divide_multilevel(p);
    const std::vector<idx_t> part = call(p, n);
    const std::vector<std::size_t> name = names_of(n, part);
    std::vector<int> of_free(p.free);
    for (std::size_t v = 0; v < p.free; v++) of_free[v] = n.part[name[static_cast<std::size_t>(part[v])]];
    return finished(p, std::move(of_free));
  }

  static std::vector<idx_t> call(const problem& p, narrow_problem& n) {
    const bool has_anchors = std::any_of(n.anchor.begin(), n.anchor.end(), [](auto a) { return a >= 0; });
    idx_t vertices = static_cast<idx_t>(n.vertices()), parts = static_cast<idx_t>(n.part.size()), cut = 0;
    idx_t constraints = static_cast<idx_t>(p.of->bands) + (has_anchors ? 1 : 0);
    std::vector<idx_t> weight = has_anchors ? weights_with_anchors(n, p.of->bands) : n.weight;
    std::vector<real_t> share, slack(static_cast<std::size_t>(constraints), static_cast<real_t>(1 + std::max(p.imbalance, 0.001)));
    if (has_anchors) slack.back() = 1.5F;
    for (const int q : n.part)
      for (idx_t c = 0; c < constraints; c++) {
        const bool of_anchors = has_anchors && c + 1 == constraints;
        share.push_back(static_cast<real_t>(of_anchors ? 1.0 / static_cast<double>(parts)
                                                       : p.onto.capacity[static_cast<std::size_t>(q)] / p.capacity()));
      }
    std::array<idx_t, METIS_NOPTIONS> how{};
    METIS_SetDefaultOptions(how.data());
    how[METIS_OPTION_SEED] = static_cast<idx_t>(p.seed & 0x7fffffff);
    std::vector<idx_t> part(n.vertices(), 0);
    const std::lock_guard lock(one_at_a_time);
    const own_random_numbers numbers;
    const int status =
        METIS_PartGraphKway(&vertices, &constraints, n.begin.data(), n.neighbour.data(), weight.data(), nullptr,
                            n.bytes.data(), &parts, share.data(), slack.data(), how.data(), &cut, part.data());
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
