// What a program may say about a task beyond its accesses. None of it changes a result.
#pragma once

#include <weir/data.hpp>
#include <weir/detail/frame.hpp>

#include <cstddef>
#include <span>

namespace weir {

// Where a task should run.
struct placement {
  int node = -1;          // index of a node of this machine (weir topo lists them); -1: the policy decides
  bool required = false;
  detail::datum* datum = nullptr;  // set by near(), which says `of_datum` instead of a node
  static constexpr int of_datum = -2;
  const void* memory = nullptr;  // likewise, of memory: `of_memory`
  std::size_t memory_bytes = 0;
  static constexpr int of_memory = -3;
  bool names_memory() const { return datum != nullptr || memory != nullptr || node == of_memory; }
};

// Where a task should run. Under `local` and `auto` it is also where tasks belong that it creates and that only write:
// what they write is near the other data of a creator that the program has placed.
// A wish: the task is offered to this node first, and may be stolen.
inline placement prefer(int node) { return {node, false}; }
// An order: only workers of this node run the task. spawn() throws usage_error if the node has no worker.
inline placement require(int node) { return {node, true}; }
// A wish, as prefer(): the node on which the datum's memory lies, without a dependence on it. spawn() finds out which
// one that is when it creates the task, so the handle has to live until then. It is the node of the newest version;
// where that has no memory yet, the one that its writer was wished to, or else the one where near() last found the
// datum.
// Where none of these is known, as of interleaved or empty data, the task is placed as if it had no affinity.
// Costs a look at two cache lines, and the datum's lock if several threads create tasks. Throws usage_error for an
// empty handle; spawn() does for a datum of another runtime, and for a node or `required` beside it. Not for tasks of
// graphs.
template <class T>
placement near(const data<T>& d) {
  return {placement::of_datum, false, detail::datum_of(d)};
}
// The same, of memory of the program's own: the node on which most of it lies, as far as that is known. Tasks that
// wrote it have told (weir::ref), and weir::move and weir::distribute; what else is there the system is asked about,
// some 100 ns a page, the first time. Where it has not been written yet the task is placed as if it had no affinity.
template <class T>
placement near(std::span<T> memory) {
  return {placement::of_memory, false, nullptr, memory.data(), memory.size_bytes()};
}

enum class priority : std::int8_t {
  normal = 0,
  high = 1,  // when it is on the critical path: run and stolen before any normal task that waits in the same worker's queue
};

struct task_options {
  const char* name = nullptr;  // for errors, statistics and traces; not copied: a literal, or a string that outlives the task
  weir::priority priority = weir::priority::normal;
  placement affinity = {};
};

}  // namespace weir
