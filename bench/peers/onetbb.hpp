// Runs one stencil kernel under oneTBB.
#pragma once

#include <bench/peers/stencil_peer.hpp>

#include <tbb/flow_graph.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <deque>

namespace weir::bench::peers {

// One node a block and iteration; connect(node, t, b) adds the edges from what block b in iteration t comes after.
// The nodes are part of what is measured, as task creation is elsewhere.
template <stencil::method Method, class Tile, class Connect>
void run_flow_graph(const stencil_problem<Method>& problem, const Tile& relax_tile, const Connect& connect) {
  using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
  tbb::flow::graph graph;
  tbb::flow::broadcast_node<tbb::flow::continue_msg> start(graph);
  std::deque<node> nodes;  // never moves a node
  const auto at = [&](int t, int b) -> node& { return nodes[static_cast<std::size_t>(t - 1) * problem.grid().count() + static_cast<std::size_t>(b)]; };
  for (int t = 1; t <= problem.iterations(); t++)
    for (int b = 0; b < problem.blocks(); b++) {
      node& n = nodes.emplace_back(graph, [&problem, &relax_tile, t, b](const tbb::flow::continue_msg&) { relax_tile(problem.tile(t, b)); });
      if (t == 1) tbb::flow::make_edge(start, n);  // one message each, whether or not it has other predecessors
      connect(t, b, [&](int before_t, int before_b) { tbb::flow::make_edge(at(before_t, before_b), n); });
    }
  start.try_put(tbb::flow::continue_msg());
  graph.wait_for_all();
}

// `flow` and `loop` run all iterations; without a loop (null) that mode does not exist.
template <stencil::method Method, class Tile>
int run_onetbb(int argc, char** argv, std::string_view kernel_name, const Tile& relax_tile, void (*flow)(const stencil_problem<Method>&), void (*loop)(const stencil_problem<Method>&, tbb::affinity_partitioner&)) {
  static constexpr std::string_view modes[] = {"flow", "loop"};
  const options o = parse_options(argc, argv, std::span(modes).first(loop != nullptr ? 2 : 1));
  const stencil_problem<Method> problem(o);
  tbb::affinity_partitioner partition;  // remembers which worker had which blocks
  if (o.mode == "flow")
    tbb::parallel_for(0, problem.blocks(), [&](int b) { problem.fill(b); }, tbb::static_partitioner());
  else
    tbb::parallel_for(0, problem.blocks(), [&](int b) { problem.fill(b); }, partition);

  measurement m{.runtime = "onetbb", .kernel = kernel_name, .threads = tbb::this_task_arena::max_concurrency()};
  m.seconds = measure([&] { o.mode == "flow" ? flow(problem) : loop(problem, partition); });
  if (o.verify) m.verified = problem.verify(relax_tile);
  print(o, m);
  return close_output(argv[0], m.verified.value_or(true) ? 0 : 1);
}

}  // namespace weir::bench::peers
