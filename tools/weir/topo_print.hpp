// A machine as text for people and as JSON for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "machine/machine.hpp"
#include "topo_probe.hpp"

namespace weir::tools {

// "8 GiB", "512 KiB": the largest unit that leaves at most one decimal.
std::string size_text(std::uint64_t bytes);

// Nodes, caches, distances, latencies: some lines, aligned.
std::string topo_text(const machine::description& machine);
// What is restricted, refused or unknown, and what that costs. Probes are empty for a machine that is not the host.
std::string explain_text(const machine::description& machine, const std::vector<probe>& probes);

nlohmann::ordered_json topo_json(const machine::description& machine);
nlohmann::ordered_json probes_json(const std::vector<probe>& probes);

}  // namespace weir::tools
