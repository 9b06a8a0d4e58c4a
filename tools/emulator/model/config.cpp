// The configuration as text, on its way from the command to the plugin; and the check that it makes sense.
#include "config.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>

namespace weir::emulator {
namespace {

// One list of the fields for both directions.
template <class Config, class Visit>
void each_field(Config& c, Visit visit) {
  visit("node_of_cpu", c.node_of_cpu);
  visit("node_bytes", c.node_bytes);
  visit("read_ns", c.read_ns);
  visit("write_ns", c.write_ns);
  visit("service_ns", c.service_ns);
  visit("cache_bytes", c.cache_bytes);
  visit("shared_cache_bytes", c.shared_cache_bytes);
  visit("shared_cache_ns", c.shared_cache_ns);
  visit("instruction_ns", c.instruction_ns);
  visit("kernel_instruction_ns", c.kernel_instruction_ns);
  visit("page_fault_ns", c.page_fault_ns);
  visit("system_call_ns", c.system_call_ns);
  visit("wake_ns", c.wake_ns);
  visit("quantum_ns", c.quantum_ns);
  visit("profiled_cpus", c.profiled_cpus);
}

void check(bool holds, const char* expected) {
  if (!holds) throw std::runtime_error(std::string("the model's configuration: expected ") + expected);
}

void check_sizes(const model_config& c) {
  const auto nodes = static_cast<int>(c.nodes());
  check(c.cpus() >= 1 && c.cpus() <= max_cpus, "1 to 255 CPUs");
  check(nodes >= 1 && nodes <= max_nodes, "1 to 64 nodes");
  check(std::all_of(c.node_of_cpu.begin(), c.node_of_cpu.end(), [&](int n) { return n >= 0 && n < nodes; }), "each CPU on one of the nodes");
  check(c.read_ns.size() == c.nodes() * c.nodes() && c.write_ns.size() == c.read_ns.size(), "a latency for each pair of nodes");
  check(c.service_ns.size() == c.nodes(), "a service time for each node");
  check(std::all_of(c.node_bytes.begin(), c.node_bytes.end(), [](std::uint64_t b) { return b > 0 && b % (1 << 20) == 0; }), "whole MiB of memory on each node");
  const auto is_there = [&](int cpu) { return cpu >= 0 && cpu < static_cast<int>(c.cpus()); };
  check(std::all_of(c.profiled_cpus.begin(), c.profiled_cpus.end(), is_there), "profiled CPUs that there are");
  check(c.cache_bytes >= 1024, "a cache of 1 KiB or more");
}

}  // namespace

std::string to_text(const model_config& config) {
  nlohmann::json json;
  each_field(config, [&](const char* name, const auto& value) { json[name] = value; });
  return json.dump();
}

model_config config_from_text(const std::string& text) {
  model_config config;
  const auto json = nlohmann::json::parse(text);
  each_field(config, [&](const char* name, auto& value) { json.at(name).get_to(value); });
  check_sizes(config);
  return config;
}

}  // namespace weir::emulator
