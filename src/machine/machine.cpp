// host() and load(): which reader a specification is for.
#include "machine/machine.hpp"

#include "machine/detail.hpp"
#include "weir/error.hpp"

namespace weir::machine {
namespace {

// This machine with the classes and figures of a machine file, as `weir topo --measure --write` leaves it.
description host_with_figures(const std::string& path) {
  description m = host(), file = detail::read_machine_file(path);
  if (file.node_count() != m.node_count())
    throw machine_error(path + ": expected the figures of this machine, which has " + detail::count_of(m.nodes.size(), "node") + " that may be used, got those of " + detail::count_of(file.nodes.size(), "node"));
  m.source = file.source;
  m.class_names = file.class_names;
  m.distance_class = file.distance_class;
  m.distance = file.distance;
  m.read_ns = file.read_ns;
  m.write_ns = file.write_ns;
  m.read_gb_s = file.read_gb_s;
  m.write_gb_s = file.write_gb_s;
  return m;
}

}  // namespace

description host() {
  const os::fork_shield shield;
  description m = detail::unrestricted_host();
  if (m.is_host) detail::restrict_to(m, os::read_limits());
  return m;
}

// hwloc has locks of its own, and the readers make values on first use.
description load(const std::string& specification) {
  const os::fork_shield shield;
  if (specification.empty() || specification == "host") return host();
  if (specification.starts_with("host+")) return host_with_figures(specification.substr(5));
  if (detail::is_bare_name(specification))
    return detail::read_machine_file(detail::file_of_known_machine(specification));
  if (specification.ends_with(".toml")) return detail::read_machine_file(specification);
  description m;
  if (specification.ends_with(".xml"))
    m = detail::read_hwloc_xml(specification);
  else if (detail::is_node_list(specification))
    m = detail::parse_node_list(specification);
  else
    m = detail::read_hwloc_synthetic(specification);
  m.is_host = false;
  return m;
}

std::string index_ranges(const std::vector<int>& ascending) { return os::format_index_list(ascending); }

}  // namespace weir::machine
