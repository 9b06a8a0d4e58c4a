// What the readers of src/machine share. Not for other components: they include machine.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "machine/machine.hpp"
#include "os/os.hpp"

struct hwloc_topology;

namespace weir::machine::detail {

// "1 node", "3 nodes".
std::string count_of(std::size_t count, const std::string& noun);
// The shortest decimal text that reads back as the same number.
std::string number(double value);

// Groups equal distances into classes, nearest first, and names them "local", "distance 16", ...
// For machines whose description names no classes itself.
void derive_classes(description& machine);

// Fills in local 10 and remote 20 and says so in a note. `why` completes "distances between nodes are unknown (...)".
void assume_distances(description& machine, const std::string& why);

// One sentence of what is wrong with the distances, or nothing: they must be positive, and local the smallest of a row.
std::optional<std::string> distance_defect(const description& machine);
bool is_symmetric(const description& machine);

// Machine file in TOML, see machines/README.md.
description read_machine_file(const std::string& path);
// Our own synthetic string "nodes:N cpus:K distance:D".
bool is_node_list(const std::string& specification);
description parse_node_list(const std::string& specification);

// A name without folder, ending or numbers of nodes: a machine file that comes with weir. Throws weir::machine_error
// that lists those that are there.
bool is_bare_name(const std::string& specification);
std::string file_of_known_machine(const std::string& name);

// hwloc's views: an exported file, a synthetic string, or the machine itself with everything disallowed included.
description read_hwloc_xml(const std::string& path);
description read_hwloc_synthetic(const std::string& text);
description read_hwloc_host();

// Corrects the node of each CPU by /sys/devices/system/node/node*/cpulist below root, where hwloc has to guess because
// a node without CPUs stands beside one with them. Keeps hwloc's answer where there is no such file.
void assign_nodes_from_sysfs(description& machine, const std::string& root);

// read_hwloc_host() with the nodes corrected; or what it said before, if the hardware and hwloc's environment are what
// they were then. Called under an os::fork_shield.
description unrestricted_host();

// Drops what the limits forbid and notes what that costs: CPUs outside of the set, memory nodes outside of theirs
// (their CPUs move to the nearest node left). Throws weir::machine_error if no CPU remains.
void restrict_to(description& machine, const os::limits& limits);

// Rebuilds node::cpus from cpu::node.
void index_cpus(description& machine);
// Refuses machines beyond max_nodes and max_cpus, and those without nodes or CPUs. `what` opens the sentence.
void require_sane_size(const description& machine, const std::string& what);

}  // namespace weir::machine::detail
