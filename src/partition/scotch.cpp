// Scotch (Pellegrini and Roman, HPCN 1996): maps a graph onto a machine with distances, and knows fixed vertices. It
// knows one constraint; bands are put right by weir's own moves.
#include "partition/implementations.hpp"
#include "partition/narrow.hpp"
#include "partition/scotch_errors.hpp"

#include <weir/error.hpp>

#include <scotch.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string>

namespace weir::partition {
namespace {

static_assert(sizeof(SCOTCH_Num) == sizeof(std::int32_t), "arrays are handed to a Scotch of 32-bit numbers");

// It adds up weights in 32 bits, and bytes times distances.
constexpr std::int64_t most_in_scotch = std::int64_t{1} << 30;
constexpr double distance_of_nearest = 4, most_distance_in_scotch = 256;

std::mutex one_scotch_at_a_time;  // it reads strategies with tables of the process's

void check_scotch(int status, const char* function, const scotch_messages& said) {
  if (status == 0) return;
  const std::string why = said.last();
  throw error(std::string(function) + (why.empty() ? "" : ": " + why));
}

// A thing of Scotch's that is made by one function and taken apart by another.
template <class T, int (*init)(T*), void (*exit)(T*)>
class owned {
 public:
  owned(const char* function, const scotch_messages& said) { check_scotch(init(&it_), function, said); }
  ~owned() { exit(&it_); }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  T* get() { return &it_; }

 private:
  T it_;
};
using scotch_graph = owned<SCOTCH_Graph, SCOTCH_graphInit, SCOTCH_graphExit>;
using scotch_machine = owned<SCOTCH_Arch, SCOTCH_archInit, SCOTCH_archExit>;
using scotch_strategy = owned<SCOTCH_Strat, SCOTCH_stratInit, SCOTCH_stratExit>;
using scotch_context = owned<SCOTCH_Context, SCOTCH_contextInit, SCOTCH_contextExit>;

// The parts as a graph in which each is next to each other one, as far as they are.
struct machine_graph {
  std::vector<SCOTCH_Num> begin{0}, neighbour, distance, capacity;

  explicit machine_graph(const problem& p, const narrow_problem& n) {
    for (const int a : n.part) {
      for (std::size_t q = 0; q < n.part.size(); q++) {
        if (n.part[q] == a) continue;
        neighbour.push_back(static_cast<SCOTCH_Num>(q));
        const double d = std::clamp(p.onto.between(a, n.part[q]) * distance_of_nearest, 1.0, most_distance_in_scotch);
        distance.push_back(static_cast<SCOTCH_Num>(std::lround(d)));
      }
      begin.push_back(static_cast<SCOTCH_Num>(neighbour.size()));
    }
    double largest = 0;
    for (const int a : n.part) largest = std::max(largest, p.onto.capacity[static_cast<std::size_t>(a)]);
    for (const int a : n.part)
      capacity.push_back(std::max<SCOTCH_Num>(
          1, static_cast<SCOTCH_Num>(std::lround(p.onto.capacity[static_cast<std::size_t>(a)] / largest * 10'000))));
  }
  bool is_uniform() const {
    return std::all_of(distance.begin(), distance.end(), [&](SCOTCH_Num d) { return d == distance.front(); });
  }
};

void build_machine(scotch_machine& to, machine_graph& m, const scotch_messages& said) {
  const auto parts = static_cast<SCOTCH_Num>(m.capacity.size());
  if (m.is_uniform())
    return check_scotch(SCOTCH_archCmpltw(to.get(), parts, m.capacity.data()), "SCOTCH_archCmpltw", said);
  scotch_graph g("SCOTCH_graphInit", said);
  check_scotch(SCOTCH_graphBuild(g.get(), 0, parts, m.begin.data(), nullptr, m.capacity.data(), nullptr,
                                 static_cast<SCOTCH_Num>(m.neighbour.size()), m.neighbour.data(), m.distance.data()),
               "SCOTCH_graphBuild", said);
  scotch_strategy usual("SCOTCH_stratInit", said);
  SCOTCH_randomReset();  // the parts are cut apart with the process's random numbers
  check_scotch(SCOTCH_archBuild(to.get(), g.get(), 0, nullptr, usual.get()), "SCOTCH_archBuild", said);
}

std::vector<SCOTCH_Num> all_bands(const narrow_problem& n, std::size_t bands) {
  std::vector<SCOTCH_Num> weight(n.vertices(), 0);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n.weight.size(); i++) weight[i / bands] += n.weight[i], sum += n.weight[i];
  if (sum == 0) std::fill(weight.begin(), weight.end(), 1);
  return weight;
}

// One thread, the caller's, and random numbers of its own.
void prepare(scotch_context& c, std::uint64_t seed, const scotch_messages& said) {
  check_scotch(SCOTCH_contextRandomClone(c.get()), "SCOTCH_contextRandomClone", said);
  SCOTCH_contextRandomSeed(c.get(), static_cast<SCOTCH_Num>(seed & 0x7fffffff));
  SCOTCH_contextRandomReset(c.get());
  check_scotch(SCOTCH_contextOptionSetNum(c.get(), SCOTCH_OPTIONNUMDETERMINISTIC, 1), "SCOTCH_contextOptionSetNum",
               said);
  check_scotch(SCOTCH_contextThreadSpawn(c.get(), 1, nullptr), "SCOTCH_contextThreadSpawn", said);
}

class scotch final : public partitioner {
 public:
  scotch(std::string_view name, SCOTCH_Num strategy) : name_(name), strategy_(strategy) {}
  std::string_view name() const override { return name_; }

 private:
  std::vector<int> divide(const problem& p) const override {
    constexpr std::int64_t most_bytes = most_in_scotch / static_cast<std::int64_t>(most_distance_in_scotch);
    narrow_problem n = narrowed(p, most_bytes, most_in_scotch);
    const std::vector<SCOTCH_Num> part = call(p, n);
    std::vector<int> of_free(p.free);
    for (std::size_t v = 0; v < p.free; v++) {
      if (part[v] < 0 || static_cast<std::size_t>(part[v]) >= n.part.size()) throw error("it left out a vertex");
      of_free[v] = n.part[static_cast<std::size_t>(part[v])];
    }
    return finished(p, std::move(of_free));
  }

  std::vector<SCOTCH_Num> call(const problem& p, narrow_problem& n) const {
    const std::lock_guard lock(one_scotch_at_a_time);
    const scotch_messages said;
    std::vector<SCOTCH_Num> weight = all_bands(n, p.of->bands);
    scotch_graph g("SCOTCH_graphInit", said), bound("SCOTCH_graphInit", said);
    check_scotch(
        SCOTCH_graphBuild(g.get(), 0, static_cast<SCOTCH_Num>(n.vertices()), n.begin.data(), nullptr, weight.data(),
                          nullptr, static_cast<SCOTCH_Num>(n.neighbour.size()), n.neighbour.data(), n.bytes.data()),
        "SCOTCH_graphBuild", said);
    scotch_machine machine("SCOTCH_archInit", said);
    machine_graph parts(p, n);
    build_machine(machine, parts, said);
    scotch_strategy strategy("SCOTCH_stratInit", said);
    check_scotch(SCOTCH_stratGraphMapBuild(strategy.get(), strategy_, static_cast<SCOTCH_Num>(n.part.size()),
                                           std::max(p.imbalance, 0.001)),
                 "SCOTCH_stratGraphMapBuild", said);
    scotch_context context("SCOTCH_contextInit", said);
    prepare(context, p.seed, said);
    check_scotch(SCOTCH_contextBindGraph(context.get(), g.get(), bound.get()), "SCOTCH_contextBindGraph", said);
    std::vector<SCOTCH_Num> part(n.anchor.begin(), n.anchor.end());
    if (p.anchors.empty())
      check_scotch(SCOTCH_graphMap(bound.get(), machine.get(), strategy.get(), part.data()), "SCOTCH_graphMap", said);
    else
      check_scotch(SCOTCH_graphMapFixed(bound.get(), machine.get(), strategy.get(), part.data()),
                   "SCOTCH_graphMapFixed", said);
    return part;
  }

  const std::string_view name_;
  const SCOTCH_Num strategy_;
};

}  // namespace

std::unique_ptr<partitioner> make_scotch() { return std::make_unique<scotch>("scotch", SCOTCH_STRATDEFAULT); }
std::unique_ptr<partitioner> make_slowest_scotch() {
  return std::make_unique<scotch>(slowest_scotch, SCOTCH_STRATQUALITY);
}

}  // namespace weir::partition
