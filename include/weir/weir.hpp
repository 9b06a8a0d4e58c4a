// weir: data-flow tasks that run where their data lives. Everything a program needs.
//
//   data     a logical array the runtime places; a sequence of versions
//   version  the value one task wrote: written once, then read any number of times
//   access   what a task does with a datum, a stream window or user memory, and with how many of its bytes: in, out,
//            inout, commutative, concurrent
//   task     a callable and its accesses: created, waiting, ready, placed, running, done
//   stream   an unbounded FIFO through which concurrently created producers and consumers find each other
//   scope    the tasks spawned through it, waited for together
//   graph    tasks and edges recorded once, or given in bulk; aggregated; run many times
//   loop     parallel_for, parallel_reduce: a range cut into chunks that the workers share
//   pipeline what a source yields goes through stages, several tokens at a time
//   node     a NUMA node: memory, and possibly no CPU
//   worker   a thread bound to a CPU, or to all CPUs of a node; that node is its own
//   policy   where tasks run, and where and when their data get memory; a program may bring its own
#pragma once

#include <weir/access.hpp>
#include <weir/blocking.hpp>
#include <weir/coarse_graph.hpp>
#include <weir/data.hpp>
#include <weir/error.hpp>
#include <weir/graph.hpp>
#include <weir/group_access.hpp>
#include <weir/numa.hpp>
#include <weir/parallel.hpp>
#include <weir/pipeline.hpp>
#include <weir/policy.hpp>
#include <weir/runtime.hpp>
#include <weir/scope.hpp>
#include <weir/statistics.hpp>
#include <weir/stream.hpp>
#include <weir/task.hpp>
#include <weir/tile.hpp>
#include <weir/views.hpp>
