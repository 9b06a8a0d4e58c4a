// Descriptions from hwloc, versions 2 and 3: this machine, an exported XML file, a synthetic string.
#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include "machine/detail.hpp"
#include "weir/error.hpp"

namespace weir::machine::detail {
namespace {

using topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

topology empty_topology(unsigned long flags) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw machine_error(std::string("hwloc: cannot start: ") + std::strerror(errno));
  topology t(raw, &hwloc_topology_destroy);
  hwloc_topology_set_flags(raw, flags);
  return t;
}

bool is_plain_memory(hwloc_obj_t node) { return node->subtype == nullptr || std::strcmp(node->subtype, "DRAM") == 0; }

// hwloc gives a node without CPUs the locality of its neighbours, so a CPU can be in several nodes' sets. Its own node
// is the closest fit, then plain memory before HBM or CXL, then the lower index (firmware numbers those with CPUs first).
bool is_better_home(hwloc_obj_t candidate, hwloc_obj_t best) {
  if (best == nullptr) return true;
  int weight = hwloc_bitmap_weight(candidate->cpuset), best_weight = hwloc_bitmap_weight(best->cpuset);
  if (weight != best_weight) return weight < best_weight;
  if (is_plain_memory(candidate) != is_plain_memory(best)) return is_plain_memory(candidate);
  return candidate->os_index < best->os_index;
}

int ancestor_index(hwloc_topology_t t, hwloc_obj_type_t type, hwloc_obj_t object, int otherwise) {
  hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(t, type, object);
  return found == nullptr ? otherwise : static_cast<int>(found->logical_index);
}

std::vector<hwloc_obj_t> objects_of(hwloc_topology_t t, hwloc_obj_type_t type) {
  std::vector<hwloc_obj_t> found;
  for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_obj_by_type(t, type, o)) != nullptr;) found.push_back(o);
  std::sort(found.begin(), found.end(), [](hwloc_obj_t a, hwloc_obj_t b) { return a->os_index < b->os_index; });
  return found;
}

void read_nodes_and_cpus(hwloc_topology_t t, description& m) {
  std::vector<hwloc_obj_t> nodes = objects_of(t, HWLOC_OBJ_NUMANODE), cpus = objects_of(t, HWLOC_OBJ_PU);
  for (hwloc_obj_t n : nodes) m.nodes.push_back({static_cast<int>(n->os_index), n->attr->numanode.local_memory, {}});
  for (hwloc_obj_t pu : cpus) {
    int home = 0;
    hwloc_obj_t best = nullptr;
    for (std::size_t n = 0; n < nodes.size(); n++)
      if (hwloc_bitmap_isset(nodes[n]->cpuset, pu->os_index) && is_better_home(nodes[n], best)) best = nodes[n], home = static_cast<int>(n);
    m.cpus.push_back({static_cast<int>(pu->os_index), home, ancestor_index(t, HWLOC_OBJ_CORE, pu, static_cast<int>(pu->logical_index)),
                      ancestor_index(t, HWLOC_OBJ_PACKAGE, pu, 0)});
  }
  index_cpus(m);
}

void read_caches(hwloc_topology_t t, description& m) {
  static constexpr hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};
  for (int level = 1; level <= 5; level++) {
    std::set<std::uint64_t> sizes;
    cache largest{level, 0, 1};
    for (hwloc_obj_t o : objects_of(t, types[level - 1])) {
      sizes.insert(o->attr->cache.size);
      if (o->attr->cache.size > largest.bytes) largest = {level, o->attr->cache.size, hwloc_bitmap_weight(o->cpuset)};
    }
    if (largest.bytes > 0) m.caches.push_back(largest);
    if (sizes.size() > 1) m.notes.push_back("The level " + std::to_string(level) + " caches differ in size, and only the largest size is used: working sets may be judged too small for the smaller caches.");
  }
}

// Scales each row so that local is 10: hwloc also carries raw latencies.
void normalise(std::vector<double>& distance, std::size_t n) {
  for (std::size_t i = 0; i < n; i++) {
    double local = distance[i * (n + 1)];
    if (local > 0 && local != local_distance)
      for (std::size_t j = 0; j < n; j++) distance[i * n + j] *= local_distance / local;
  }
}

// Copies hwloc's matrix if it covers all of our nodes.
bool copy_distances(const hwloc_distances_s& given, description& m) {
  std::size_t n = m.nodes.size();
  std::vector<std::size_t> position(given.nbobjs, n);
  for (unsigned i = 0; i < given.nbobjs; i++)
    for (std::size_t k = 0; k < n; k++)
      if (given.objs[i] != nullptr && static_cast<int>(given.objs[i]->os_index) == m.nodes[k].os_index) position[i] = k;
  m.distance.assign(n * n, 0);
  for (unsigned i = 0; i < given.nbobjs; i++)
    for (unsigned j = 0; j < given.nbobjs; j++)
      if (position[i] < n && position[j] < n) m.distance[position[i] * n + position[j]] = static_cast<double>(given.values[i * given.nbobjs + j]);
  return std::none_of(m.distance.begin(), m.distance.end(), [](double d) { return d == 0; });
}

void read_distances(hwloc_topology_t t, description& m) {
  if (m.nodes.size() == 1) return assume_distances(m, "one node");
  unsigned found = 1;
  hwloc_distances_s* given = nullptr;
  int failure = hwloc_distances_get_by_type(t, HWLOC_OBJ_NUMANODE, &found, &given, HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0);
  if (failure != 0 || found == 0 || given == nullptr) return assume_distances(m, "the firmware gives none");
  bool complete = copy_distances(*given, m);
  hwloc_distances_release(t, given);
  if (!complete) return assume_distances(m, "the firmware's table does not cover all nodes");
  normalise(m.distance, m.nodes.size());
  if (auto defect = distance_defect(m)) return assume_distances(m, "the firmware's table is wrong: " + *defect);
  if (!is_symmetric(m)) m.notes.push_back("The distances are not symmetric: from A to B can differ from B to A, and they are used as they are, [from CPU node][to memory node].");
}

description describe(hwloc_topology_t t, const std::string& name, const std::string& what) {
  description m;
  m.name = name;
  if (hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE) > max_nodes || hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU) > max_cpus)
    throw machine_error(what + ": expected at most " + std::to_string(max_nodes) + " nodes and " + std::to_string(max_cpus) + " CPUs");
  read_nodes_and_cpus(t, m);
  require_sane_size(m, what);
  read_caches(t, m);
  read_distances(t, m);
  derive_classes(m);
  return m;
}

// CPUs a synthetic string asks for: the product of its counts. hwloc would build the whole tree before we could refuse.
double cpus_asked_for(const std::string& text) {
  double product = 1;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); i++) {
    if (text[i] == '[' || text[i] == '(') depth++;
    if (text[i] == ']' || text[i] == ')') depth--;
    bool starts_count = depth == 0 && std::isdigit(static_cast<unsigned char>(text[i])) && (i == 0 || text[i - 1] == ':' || text[i - 1] == ' ');
    if (starts_count) product *= std::max(1.0, std::strtod(text.c_str() + i, nullptr));
  }
  return product;
}

bool is_told_of(hwloc_topology_t t, hwloc_obj_t cpu) {
  hwloc_obj_t above = cpu->parent;
  while (above != nullptr && !hwloc_obj_type_is_dcache(above->type)) above = above->parent;
  return above != nullptr && hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE, cpu) != nullptr &&
         hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_PACKAGE, cpu) != nullptr;
}

// Whether Linux tells the core, the package and the caches of each CPU.
bool is_told_of_all(hwloc_topology_t t) {
  const std::vector<hwloc_obj_t> cpus = objects_of(t, HWLOC_OBJ_PU);
  return std::all_of(cpus.begin(), cpus.end(), [t](hwloc_obj_t cpu) { return is_told_of(t, cpu); });
}

// hwloc's x86 component binds the calling thread to each CPU in turn to ask it about itself, which takes milliseconds
// where CPUs are busy, and does not end where the affinity is refused. On Linux it adds no node and no CPU.
enum class x86_component {
  never,      // the affinity is unknown
  if_needed,  // only where Linux does not tell enough, as in some virtual machines
  always,     // the user says which components hwloc is to use
};

// False where hwloc has no such component: on other processors.
bool leave_out_x86(hwloc_topology_t t) {
  return hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86") == 0;
}

topology loaded_host(x86_component wanted) {
  topology t = empty_topology(HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  const bool left_out = wanted != x86_component::always && leave_out_x86(t.get());
  if (hwloc_topology_load(t.get()) != 0)
    throw machine_error(std::string("host: hwloc cannot read the topology: ") + std::strerror(errno));
  if (left_out && wanted == x86_component::if_needed && !is_told_of_all(t.get()))
    return loaded_host(x86_component::always);
  return t;
}

x86_component wanted_x86_component(bool affinity_is_known) {
  if (!affinity_is_known) return x86_component::never;
  return std::getenv("HWLOC_COMPONENTS") != nullptr ? x86_component::always : x86_component::if_needed;
}

}  // namespace

description read_hwloc_xml(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) throw machine_error(path + ": expected an hwloc XML file, got " + (std::filesystem::exists(path, failure) ? "something that is not a file" : "no such file"));
  topology t = empty_topology(HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_set_xml(t.get(), path.c_str()) != 0 || hwloc_topology_load(t.get()) != 0)
    throw machine_error(path + ": expected a topology that hwloc " + std::to_string(HWLOC_API_VERSION >> 16) + '.' + std::to_string(HWLOC_API_VERSION >> 8 & 0xff) +
                        " can read, as `lstopo file.xml` writes it; it is malformed, or of a newer hwloc");
  return describe(t.get(), std::filesystem::path(path).stem().string(), path);
}

description read_hwloc_synthetic(const std::string& text) {
  std::string what = "machine \"" + text + '"';
  if (cpus_asked_for(text) > max_cpus) throw machine_error(what + ": expected at most " + std::to_string(max_cpus) + " CPUs");
  topology t = empty_topology(0);
  if (hwloc_topology_set_synthetic(t.get(), text.c_str()) != 0 || hwloc_topology_load(t.get()) != 0)
    throw machine_error(what + ": expected \"host\", \"host+FILE.toml\", a path ending in .toml or .xml, \"nodes:N cpus:K [distance:D]\", or an hwloc synthetic string such as \"numa:4 core:2 pu:1\"");
  return describe(t.get(), "synthetic", what);
}

description read_hwloc_host() {
  const bool affinity_is_known = os::affinity_of_this_thread().has_value();
  const std::string refusal = affinity_is_known ? "" : std::strerror(errno);
  topology t = loaded_host(wanted_x86_component(affinity_is_known));
  description m = describe(t.get(), "host", "host");
  m.is_host = hwloc_topology_is_thissystem(t.get()) != 0;
  if (!m.is_host) m.notes.push_back("The environment (HWLOC_XMLFILE, HWLOC_SYNTHETIC, HWLOC_FSROOT) makes hwloc describe another machine: nothing is bound and no page is placed.");
  if (!affinity_is_known)
    m.notes.push_back("The system does not say which CPUs a thread may use (sched_getaffinity: " + refusal +
                      "): those of /proc/self/status are used, and workers are not bound, so they wander between "
                      "nodes.");
  return m;
}

}  // namespace weir::machine::detail
