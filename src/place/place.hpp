// Umbrella header of src/place: policies. A policy composes three axes: where ready tasks wait, where they are placed,
// and when and where their outputs get memory.
//
// A placement rule is one function in one file of this folder. It reads the task and the machine, and returns a node;
// it never locks, wakes a worker or reads a clock. push_inputs.cpp is the tutorial.
#pragma once

#include "flow/flow.hpp"
#include "machine/machine.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::place {

// First axis: where ready tasks wait.
enum class queues : std::uint8_t {
  central,  // one queue for all, first in first out: a baseline
  deques,   // a deque per worker, stealing in order of distance
  inboxes,  // as deques, and a bounded inbox per worker through which tasks are pushed to it
  nodes,    // a container per node, shared by its workers: where tasks name the node of their data, or are much the same everywhere
};

// A rule's own memory, one per thread that places tasks.
struct scratch {
  std::uint32_t spread = 0;  // initial tasks sent so far
};

struct parameters {
  double weight_in = 1;                       // of a byte read, in node costs
  double weight_out = 2;                      // of a byte written
  std::uint64_t push_threshold_bytes = 1024;  // see push_inputs.cpp
  std::uint32_t stride = 1;                   // initial tasks in a row that go to one worker's node
};

inline constexpr int here = -1;  // the task stays with the worker that activated it

// What a placement rule wants: a node, or `here`. An initial task decides where everything after it lives, so workers
// of other nodes leave it alone for long.
struct wish {
  int node;
  bool initial = false;

  wish(int wished_node, bool is_initial = false) : node(wished_node), initial(is_initial) {}
  bool operator==(const wish&) const = default;
};

// What a placement rule may look at.
struct view {
  const machine::description& machine;
  const parameters& chosen;
  const std::vector<char>& node_has_worker;  // by node
  const std::vector<int>& node_of_worker;    // by worker
  int node;                                  // of the worker that activates the task
  flow::frame* running;                      // the task that worker is executing, or null
  scratch& own;
};

// Second axis.
using placement_rule = wish (*)(const view&, flow::frame*);

struct policy {
  std::string name;
  queues discipline = queues::deques;
  placement_rule rule = nullptr;  // null: always here
  flow::allocation outputs = flow::allocation::deferred;
  parameters chosen;
};

// From "NAME" or "NAME:parameter=value,...". Throws configuration_error that lists what is known.
policy parse(std::string_view specification);
// Names of all policies, in the order of the README's list.
std::vector<std::string> names();

// Rules; one file each.
wish push_inputs(const view&, flow::frame*);    // by where the inputs are
wish push_outputs(const view&, flow::frame*);   // by where the outputs are
wish push_weighted(const view&, flow::frame*);  // by both, reads and writes weighing differently

}  // namespace weir::place
