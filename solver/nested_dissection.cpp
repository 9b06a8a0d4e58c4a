// Nested dissection by Scotch.
#include "adjacency.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include <scotch.h>

namespace weir::solver::detail {
namespace {

static_assert(sizeof(SCOTCH_Num) == sizeof(index), "nested dissection hands its arrays to a Scotch of 32-bit numbers");

void check_scotch(int status, const char* what) {
  if (status != 0) throw matrix_error(std::string("nested dissection: Scotch failed in ") + what);
}

class scotch_graph {
 public:
  explicit scotch_graph(const adjacency& g) {
    check_scotch(SCOTCH_graphInit(&graph_), "SCOTCH_graphInit");
    // Scotch takes pointers to what it does not change.
    auto* const begin = const_cast<SCOTCH_Num*>(g.begin.data());
    auto* const neighbours = const_cast<SCOTCH_Num*>(g.neighbours.data());
    check_scotch(SCOTCH_graphBuild(&graph_, 0, g.rows, begin, begin + 1, nullptr, nullptr, g.begin[g.rows], neighbours, nullptr), "SCOTCH_graphBuild");
  }
  ~scotch_graph() { SCOTCH_graphExit(&graph_); }
  scotch_graph(const scotch_graph&) = delete;
  scotch_graph& operator=(const scotch_graph&) = delete;
  SCOTCH_Graph* get() { return &graph_; }

 private:
  SCOTCH_Graph graph_;
};

// One thread, the caller's: Scotch would start a pool of its own and give another order each time.
class scotch_context {
 public:
  explicit scotch_context(scotch_graph& g) {
    check_scotch(SCOTCH_contextInit(&context_), "SCOTCH_contextInit");
    check_scotch(SCOTCH_contextRandomClone(&context_), "SCOTCH_contextRandomClone");
    SCOTCH_contextRandomReset(&context_);
    check_scotch(SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1), "SCOTCH_contextOptionSetNum");
    check_scotch(SCOTCH_contextThreadSpawn(&context_, 1, nullptr), "SCOTCH_contextThreadSpawn");
    check_scotch(SCOTCH_graphInit(&bound_), "SCOTCH_graphInit");
    check_scotch(SCOTCH_contextBindGraph(&context_, g.get(), &bound_), "SCOTCH_contextBindGraph");
  }
  ~scotch_context() {
    SCOTCH_graphExit(&bound_);
    SCOTCH_contextExit(&context_);
  }
  scotch_context(const scotch_context&) = delete;
  scotch_context& operator=(const scotch_context&) = delete;
  SCOTCH_Graph* graph() { return &bound_; }

 private:
  SCOTCH_Context context_;
  SCOTCH_Graph bound_;
};

// Parts are cut until they have no more rows than this, or a 64th of all, then they keep the order they came in. Complete factorisations are
// ordered otherwise, by minimum degree in smaller parts, for less fill; of that ILU(k) has little anyway, and rows next to each
// other in memory that do not depend on each other are of no use to it: they make it slower and can hardly be put together to
// larger tasks (a Laplacian of 60^3 points, ILU(1): half the time sequentially, a fifth of the tasks, and fewer iterations).
// Smaller parts have more rows in separators, which are done last and one after the other; larger ones are
// fewer to share among workers.
constexpr index largest_part = 4000;
constexpr index smallest_part = 100;

class scotch_strategy {
 public:
  explicit scotch_strategy(index rows) {
    const index part = std::clamp(rows / 64, smallest_part, largest_part);
    check_scotch(SCOTCH_stratInit(&strategy_), "SCOTCH_stratInit");
    // Separators by multilevel bisection, as in Scotch's own default; `s`: parts and separators in the order they came in.
    const std::string strategy = "n{sep=/(vert>" + std::to_string(part) + ")?m{rat=0.8,vert=100,low=h{pass=10},asc=b{width=3,bnd=f{bal=0.2},org=(|h{pass=10})f{bal=0.2}}}:;,ole=s,ose=s}";
    check_scotch(SCOTCH_stratGraphOrder(&strategy_, strategy.c_str()), "SCOTCH_stratGraphOrder");
  }
  ~scotch_strategy() { SCOTCH_stratExit(&strategy_); }
  scotch_strategy(const scotch_strategy&) = delete;
  scotch_strategy& operator=(const scotch_strategy&) = delete;
  SCOTCH_Strat* get() { return &strategy_; }

 private:
  SCOTCH_Strat strategy_;
};

}  // namespace

array<index> nested_dissection(const adjacency& g) {
  array<index> order(static_cast<std::size_t>(g.rows));
  scotch_graph graph(g);
  scotch_strategy strategy(g.rows);
  scotch_context context(graph);
  check_scotch(SCOTCH_graphOrder(context.graph(), strategy.get(), nullptr, order.data(), nullptr, nullptr, nullptr), "SCOTCH_graphOrder");
  return order;
}

}  // namespace weir::solver::detail
