// The machine the tests run on, and counts of pages by where they are. Nodes are the runtime's indices throughout.
#pragma once

#include "machine/machine.hpp"
#include "os/os.hpp"
#include "page_nodes.hpp"

#include <weir/weir.hpp>

#include <atomic>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace weir::guest_test {

inline const machine::description& host() {
  static const machine::description m = machine::host();
  return m;
}

inline int node_count() { return host().node_count(); }

inline std::vector<int> nodes_with_cpus() {
  std::vector<int> nodes;
  for (int n = 0; n < node_count(); n++)
    if (!host().nodes[static_cast<std::size_t>(n)].cpus.empty()) nodes.push_back(n);
  return nodes;
}

// node_unknown if the kernel's node is none of ours.
inline int index_of_os_node(int os_node) {
  for (int n = 0; n < node_count(); n++)
    if (host().nodes[static_cast<std::size_t>(n)].os_index == os_node) return n;
  return node_unknown;
}

// Node of the CPU the caller runs on at this moment.
inline int node_of_this_cpu() {
  const int os_cpu = os::current_cpu();
  for (const machine::cpu& c : host().cpus)
    if (c.os_index == os_cpu) return c.node;
  return node_unknown;
}

template <class T>
std::vector<int> nodes_of(std::span<T> memory) {
  std::vector<int> nodes = page_nodes(memory.data(), memory.size_bytes());
  for (int& n : nodes) n = index_of_os_node(n);
  return nodes;
}

inline bool may_bind_memory() {
  const std::size_t bytes = os::page_bytes();
  os::memory_backend& memory = os::host_memory();
  void* page = memory.map(bytes, bytes);
  const bool bound = page != nullptr && memory.prefer_node(page, bytes, host().nodes[0].os_index);
  if (page != nullptr) memory.unmap(page, bytes);
  return bound;
}

// Pages by whether they are where they should be. Counted from any thread.
class page_count {
 public:
  explicit page_count() : by_node_(static_cast<std::size_t>(node_count())) {}

  template <class T>
  void expect_on(int node, std::span<T> memory) {
    for (int n : nodes_of(memory)) {
      if (n == node_unknown) unknown_++;
      else by_node_[static_cast<std::size_t>(n)]++;
      if (n != node_unknown && n != node) misplaced_++;
    }
  }
  std::uint64_t misplaced() const { return misplaced_; }
  std::uint64_t unknown() const { return unknown_; }
  std::uint64_t on(int node) const { return by_node_[static_cast<std::size_t>(node)]; }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto& n : by_node_) sum += n;
    return sum;
  }

 private:
  std::vector<std::atomic<std::uint64_t>> by_node_;
  std::atomic<std::uint64_t> misplaced_{0}, unknown_{0};
};

inline std::ostream& operator<<(std::ostream& out, const page_count& p) {
  out << p.misplaced() << " of " << p.total() << " pages misplaced, " << p.unknown() << " unknown; by node:";
  for (int n = 0; n < node_count(); n++) out << ' ' << p.on(n);
  return out;
}

// "push-inputs" as part of a test's name: letters and digits only.
inline std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name;
  for (char c : info.param)
    if (c != '-') name += c;
  return name;
}

}  // namespace weir::guest_test
