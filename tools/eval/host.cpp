// Nodes from the machine's description, and one file of the kernel's.
#include "host.hpp"

#include <machine/machine.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

namespace weir::tools {
namespace {

namespace fs = std::filesystem;

// Without the line's end; empty if it cannot be read.
std::string content(const fs::path& file) {
  std::string text;
  std::ifstream in(file);
  std::getline(in, text);
  return text;
}

bool write(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text << std::endl;
  return out.good();
}

// Bits: 1 moves pages to the nodes of those who use them, 2 between fast memory and slow.
bool is_on(const std::string& text) { return std::atoi(text.c_str()) & 1; }

std::string why_not(const std::string& now, bool wanted, bool writable) {
  if (now.empty()) return wanted ? "this kernel has no numa_balancing" : "";
  if (is_on(now) == wanted || writable) return "";
  return fmt::format("numa_balancing is {} and only root may switch it {} (sysctl kernel.numa_balancing={:d})",
                     is_on(now) ? "on" : "off", wanted ? "on" : "off", wanted);
}

}  // namespace

host_facts read_host(const fs::path& numa_balancing) {
  const machine::description m = machine::host();
  host_facts facts;
  facts.nodes = m.node_count();
  for (const machine::node& n : m.nodes) {
    std::vector<int> cpus;
    for (const int c : n.cpus) cpus.push_back(m.cpus[static_cast<std::size_t>(c)].os_index);
    if (!cpus.empty()) facts.node_cpus.push_back(std::move(cpus));
  }
  const std::string now = content(numa_balancing);
  const bool writable = !now.empty() && write(numa_balancing, now);
  facts.balancing_not_on = why_not(now, true, writable);
  facts.balancing_not_off = why_not(now, false, writable);
  return facts;
}

numa_balancing_setting::numa_balancing_setting(std::optional<bool> wanted, fs::path file) : file_(std::move(file)) {
  const std::string now = wanted ? content(file_) : "";
  if (!wanted || is_on(now) == *wanted) return;
  done_ = write(file_, *wanted ? "1" : "0");
  if (done_) before_ = now;
}

numa_balancing_setting::~numa_balancing_setting() {
  if (!before_.empty()) write(file_, before_);
}

}  // namespace weir::tools
