// All shapes, in the order of --list.
#pragma once

#include <bench/shapes/flow/butterfly.hpp>
#include <bench/shapes/flow/chains.hpp>
#include <bench/shapes/flow/cholesky.hpp>
#include <bench/shapes/flow/copies.hpp>
#include <bench/shapes/flow/fork_join.hpp>
#include <bench/shapes/flow/hot_datum.hpp>
#include <bench/shapes/flow/long_chains.hpp>
#include <bench/shapes/flow/map_reduce.hpp>
#include <bench/shapes/flow/map_rounds.hpp>
#include <bench/shapes/flow/n_body.hpp>
#include <bench/shapes/flow/one_producer.hpp>
#include <bench/shapes/flow/pipeline.hpp>
#include <bench/shapes/flow/random_graph.hpp>
#include <bench/shapes/flow/reduction.hpp>
#include <bench/shapes/flow/sparse_lu.hpp>
#include <bench/shapes/flow/stencil.hpp>
#include <bench/shapes/flow/wavefront.hpp>
#include <bench/shapes/flow/wavefront_inout.hpp>
#include <bench/shapes/recursive/fib.hpp>
#include <bench/shapes/recursive/merge_sort.hpp>
#include <bench/shapes/recursive/strassen.hpp>
#include <bench/shapes/recursive/tree_search.hpp>

namespace weir::bench::shapes {

// Calls visit(name of the class template) for each: visit.template operator()<wavefront>().
template <class Visit>
void for_each_shape(const Visit& visit) {
  visit.template operator()<wavefront>();
  visit.template operator()<wavefront_inout>();
  visit.template operator()<chains>();
  visit.template operator()<long_chains>();
  visit.template operator()<stencil>();
  visit.template operator()<copies>();
  visit.template operator()<reduction>();
  visit.template operator()<pipeline>();
  visit.template operator()<fork_join>();
  visit.template operator()<map_rounds>();
  visit.template operator()<map_reduce>();
  visit.template operator()<n_body>();
  visit.template operator()<hot_datum>();
  visit.template operator()<one_producer>();
  visit.template operator()<random_graph>();
  visit.template operator()<cholesky>();
  visit.template operator()<sparse_lu>();
  visit.template operator()<butterfly>();
  visit.template operator()<fib>();
  visit.template operator()<merge_sort>();
  visit.template operator()<strassen>();
  visit.template operator()<tree_search>();
}

}  // namespace weir::bench::shapes
