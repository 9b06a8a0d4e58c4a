// Where the workers of a runtime run, beside those of the process's other runtimes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace weir::machine {

struct description;

// Workers that runtimes of this process have, by the system's number of the CPU that each was given.
using cpu_load = std::map<int, int>;

// Workers of a runtime that asks for no number: one per CPU, and no more than the cgroup's quota, rounded up.
int default_worker_count(const description&);

// A CPU (index into the machine's) for each worker, in ascending order of node. No CPU is given twice before each is
// given once; then those with fewer workers of other runtimes come first; then the workers are spread over the nodes.
// Throws weir::machine_error if the machine has no CPU.
std::vector<int> spread_workers(const description&, int workers, const cpu_load& others = {});

// The CPUs (the system's numbers, ascending) that each worker is bound to. Where a node has a CPU for each of its
// workers and more, these are all CPUs of the node, so that the system can keep the workers away from whom it runs
// beside them; else it is the worker's own CPU. In both cases all are on one node.
std::vector<std::vector<int>> bindings(const description&, const std::vector<int>& worker_cpus);

// The CPUs of a runtime's workers, counted in this process as long as this lives. A forked child, which has none of
// these workers, counts from nothing.
class cpu_claim {
 public:
  cpu_claim() = default;
  // As spread_workers; with `counted`, beside what is counted and then counted itself.
  cpu_claim(const description&, int workers, bool counted);
  cpu_claim(cpu_claim&& other) noexcept;
  cpu_claim& operator=(cpu_claim&&) = delete;
  ~cpu_claim() { give_back(); }
  void give_back() noexcept;  // idempotent

  const std::vector<int>& worker_cpus() const { return worker_cpus_; }

 private:
  std::vector<int> worker_cpus_;
  std::vector<int> counted_;  // the system's numbers
  std::uint32_t fork_generation_ = 0;
};

// What is counted now.
cpu_load workers_of_this_process();

}  // namespace weir::machine
