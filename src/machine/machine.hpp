// The machine weir runs on, or pretends to: nodes, CPUs, distances, caches. Umbrella header of src/machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/worker_places.hpp"

namespace weir::machine {

// Distance of a node to itself, in the firmware's (SLIT) unit.
inline constexpr double local_distance = 10;
// Larger machines are refused: their matrices would take gigabytes, and a number this large is a slip of the pen.
inline constexpr int max_nodes = 1024;
inline constexpr int max_cpus = 65536;

// A CPU weir may use. Immutable once the machine is built.
struct cpu {
  int os_index = 0;   // what sched_setaffinity calls it
  int node = 0;       // index into description::nodes
  int core = 0;       // CPUs with equal core share one physical core
  int package = 0;
};

// A NUMA node: memory, and possibly no CPU (CXL, HBM), or CPUs and no memory.
struct node {
  int os_index = 0;               // what mbind calls it
  std::uint64_t memory_bytes = 0; // 0: no memory
  std::vector<int> cpus;          // indices into description::cpus
};

// One level of data cache, as the hardware has it (CPUs the process may not use count as sharing).
struct cache {
  int level = 0;
  std::uint64_t bytes = 0;   // of one instance
  int cpus_sharing = 1;
};

// Everything the rest of weir knows about the machine. Node indices are dense (0..nodes.size()-1) whatever the
// operating system calls them. Matrices are row major, nodes x nodes, [from CPU node][to memory node].
struct description {
  std::string name;
  std::string source;                 // where the figures come from, a citation; empty: the operating system
  std::vector<node> nodes;
  std::vector<cpu> cpus;              // only those the process may use
  std::vector<cache> caches;          // one entry per level
  std::vector<double> distance;       // SLIT-like, local = 10
  std::vector<double> read_ns;        // measured latency per 64-byte line; empty: unknown
  std::vector<double> write_ns;
  std::vector<double> read_gb_s;      // measured bandwidth, 10^9 bytes/s, all CPUs of `from` together; empty: unknown
  std::vector<double> write_gb_s;
  std::vector<std::string> class_names;  // classes of distance, nearest first: "local", "on-package", "1 hop", ...
  std::vector<int> distance_class;       // which class a pair of nodes is in; 0: the node itself
  bool is_host = false;               // false: described or synthetic, so nothing is bound and no page is placed
  double cpu_quota = 0;               // CPUs' worth of time the cgroup grants; 0: unlimited
  std::uint64_t memory_limit_bytes = 0;  // what the cgroup grants, the page cache included; 0: unlimited
  std::vector<std::string> notes;     // what is restricted, refused or unknown, one sentence each

  int node_count() const { return static_cast<int>(nodes.size()); }
  double distance_between(int from, int to) const { return distance[static_cast<std::size_t>(from) * nodes.size() + static_cast<std::size_t>(to)]; }
  int class_between(int from, int to) const { return distance_class[static_cast<std::size_t>(from) * nodes.size() + static_cast<std::size_t>(to)]; }
  // Relative cost of reading (or writing) one line on node `to` from node `from`: the measured latency where it is
  // known, the firmware's distance otherwise.
  double read_cost(int from, int to) const { return read_ns.empty() ? distance_between(from, to) : read_ns[static_cast<std::size_t>(from) * nodes.size() + static_cast<std::size_t>(to)]; }
  double write_cost(int from, int to) const { return write_ns.empty() ? distance_between(from, to) : write_ns[static_cast<std::size_t>(from) * nodes.size() + static_cast<std::size_t>(to)]; }
};

// The machine this process runs on, restricted to the CPUs, memory nodes and quota it may use.
// Throws weir::machine_error if hwloc fails. The first call costs a millisecond or more, later ones some 100 us: they
// read what may be used, and the machine itself only if CPUs, nodes, memory or hwloc's environment have changed.
description host();

// From a specification: "" or "host"; "host+FILE.toml", this machine with the distances and latencies of a file that
// `weir topo --measure --write` wrote here; a path ending in .toml (see machines/) or .xml (hwloc); the bare name
// of a machine that comes with weir, such as "opteron-64", found in share/weir/machines above libweir or the program;
// or a synthetic description "nodes:N cpus:K" with optional "distance:D", or an hwloc synthetic string
// ("numa:4 core:2 pu:1"). Throws weir::machine_error naming file, line and key, or what was expected.
description load(const std::string& specification);

// Writes a machine file that load() reads back: the same nodes, CPUs per node, cores, packages, caches, classes and
// matrices. The operating system's indices and the notes are not kept. The file appears whole or not at all.
// Throws weir::machine_error if it cannot be written.
void save(const description& machine, const std::string& path);

// Nodes of equal CPUs, all remote distances equal. For tests and pretended machines.
description synthetic(int nodes, int cpus_per_node, double remote_distance = 20);

// {0,1,2,3,8} as "0-3,8". Expects ascending numbers.
std::string index_ranges(const std::vector<int>& ascending);

}  // namespace weir::machine
