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

}  // namespace

host_facts read_host() {
  const machine::description m = machine::host();
  host_facts facts;
  facts.nodes = m.node_count();
  for (const machine::node& n : m.nodes) {
    std::vector<int> cpus;
    for (const int c : n.cpus) cpus.push_back(m.cpus[static_cast<std::size_t>(c)].os_index);
    if (!cpus.empty()) facts.node_cpus.push_back(std::move(cpus));
  }
  return facts;
}

std::string why_no_numa_balancing(bool wanted, const fs::path& file) {
  const std::string now = content(file);
  if (now.empty()) return wanted ? "this kernel has no numa_balancing" : "";
  if (is_on(now) == wanted || write(file, now)) return "";
  return fmt::format("numa_balancing is {} and only root may switch it {} (sysctl kernel.numa_balancing={:d})",
                     is_on(now) ? "on" : "off", wanted ? "on" : "off", wanted);
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
