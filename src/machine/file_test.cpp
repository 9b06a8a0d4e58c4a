// Machine files: those that ship, those that are wrong, and those that save() writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <random>

#include "machine/detail.hpp"
#include "machine/temporary_folder.hpp"
#include "weir/error.hpp"

namespace weir::machine {
namespace {

namespace fs = std::filesystem;

const fs::path machines = WEIR_SOURCE_FOLDER "/machines";

const std::string good =
    "name = \"m\"\n"                                          // 1
    "source = \"a test\"\n"                                   // 2
    "[[nodes]]\n"                                             // 3
    "count = 2\n"                                             // 4
    "memory = \"1 GiB\"\n"                                    // 5
    "cpus = 2\n"                                              // 6
    "[[caches]]\n"                                            // 7
    "level = 1\n"                                             // 8
    "size = \"32 KiB\"\n"                                     // 9
    "[distances]\n"                                           // 10
    "classes = [\"local\", \"remote\"]\n"                     // 11
    "matrix = [[0, 1], [1, 0]]\n"                             // 12
    "slit = [10, 20]\n"                                       // 13
    "read_ns = [80, 140.5]\n";                                // 14

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

std::vector<fs::path> shipped() {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(machines))
    if (entry.path().extension() == ".toml") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void expect_same_machine(const description& a, const description& b) {
  EXPECT_EQ(a.name, b.name);
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  ASSERT_EQ(a.cpus.size(), b.cpus.size());
  for (std::size_t n = 0; n < a.nodes.size(); n++) {
    EXPECT_EQ(a.nodes[n].memory_bytes, b.nodes[n].memory_bytes);
    ASSERT_EQ(a.nodes[n].cpus.size(), b.nodes[n].cpus.size());
    for (std::size_t k = 0; k < a.nodes[n].cpus.size(); k++) {
      const cpu& x = a.cpus[static_cast<std::size_t>(a.nodes[n].cpus[k])];
      const cpu& y = b.cpus[static_cast<std::size_t>(b.nodes[n].cpus[k])];
      EXPECT_EQ(x.package, y.package);
      const cpu& x0 = a.cpus[static_cast<std::size_t>(a.nodes[n].cpus[0])];
      const cpu& y0 = b.cpus[static_cast<std::size_t>(b.nodes[n].cpus[0])];
      EXPECT_EQ(x.core == x0.core, y.core == y0.core);
    }
  }
  ASSERT_EQ(a.caches.size(), b.caches.size());
  for (std::size_t c = 0; c < a.caches.size(); c++) EXPECT_EQ(a.caches[c].bytes, b.caches[c].bytes);
  EXPECT_EQ(a.distance, b.distance);
  EXPECT_EQ(a.class_names, b.class_names);
  EXPECT_EQ(a.distance_class, b.distance_class);
  EXPECT_EQ(a.read_ns, b.read_ns);
  EXPECT_EQ(a.write_ns, b.write_ns);
  EXPECT_EQ(a.read_gb_s, b.read_gb_s);
  EXPECT_EQ(a.write_gb_s, b.write_gb_s);
}

TEST(shipped_machines, load_with_source_and_latencies) {
  ASSERT_GE(shipped().size(), 8u);
  for (const fs::path& path : shipped()) {
    description m = load(path.string());
    EXPECT_EQ(m.name, path.stem().string());
    EXPECT_FALSE(m.source.empty()) << path;
    EXPECT_FALSE(m.is_host);
    std::size_t n = m.nodes.size();
    EXPECT_EQ(m.read_ns.size(), n * n) << path;
    EXPECT_EQ(m.write_ns.size(), n * n) << path;
    EXPECT_TRUE(detail::is_symmetric(m)) << path;
    EXPECT_FALSE(detail::distance_defect(m)) << path;
  }
}

TEST(shipped_machines, are_found_by_their_bare_names) {
  for (const fs::path& path : shipped()) expect_same_machine(load(path.stem().string()), load(path.string()));
  for (const char* name : {"opteron", "opteron_64", "Opteron-64"}) {
    try {
      load(name);
      ADD_FAILURE() << name;
    } catch (const machine_error& e) {
      const std::string said = e.what();
      EXPECT_NE(said.find(std::string("machine \"") + name + "\": expected host, "), std::string::npos) << said;
      EXPECT_NE(said.find("altix-uv100, "), std::string::npos) << said;
      EXPECT_NE(said.find("did you mean opteron-64?"), std::string::npos) << said;
    }
  }
  EXPECT_EQ(load("numa:2 core:2").node_count(), 2);  // no bare name
}

TEST(shipped_machines, opteron_64_has_the_papers_hops_and_latencies) {
  description m = load((machines / "opteron-64.toml").string());
  EXPECT_EQ(m.node_count(), 8);
  EXPECT_EQ(m.cpus.size(), 64u);
  EXPECT_EQ(m.cpus[63].package, 3);
  for (int i = 0; i < 8; i++) {
    int hops[4] = {};
    for (int j = 0; j < 8; j++) hops[m.class_between(i, j)]++;
    EXPECT_EQ(hops[1] + hops[2], 4) << "4 neighbours at one hop";
    EXPECT_EQ(hops[3], 3) << "3 at two hops";
  }
  constexpr double lines = 1 << 24;
  EXPECT_NEAR(m.read_cost(0, 0), 1288.5e6 / lines, 0.05);
  EXPECT_NEAR(m.read_cost(0, 1), 2328.4e6 / lines, 0.05);
  EXPECT_NEAR(m.read_cost(0, 2), 2781.4e6 / lines, 0.05);
  EXPECT_NEAR(m.read_cost(0, 3), 5601.6e6 / lines, 0.05);
  EXPECT_NEAR(m.write_cost(0, 0), 2256.9e6 / lines, 0.05);
  EXPECT_NEAR(m.write_cost(0, 1), 2717.6e6 / lines, 0.05);
  EXPECT_NEAR(m.write_cost(0, 2), 3934.6e6 / lines, 0.05);
  EXPECT_NEAR(m.write_cost(0, 3), 5601.3e6 / lines, 0.05);
}

TEST(shipped_machines, sgi_192_has_the_papers_latencies) {
  description m = load((machines / "sgi-192.toml").string());
  EXPECT_EQ(m.cpus.size(), 192u);
  constexpr double lines = 1 << 24;
  EXPECT_NEAR(m.read_cost(0, 1), 4563.1e6 / lines, 0.05);
  EXPECT_NEAR(m.read_cost(0, 2), 5820.48e6 / lines, 0.05);
  EXPECT_NEAR(m.read_cost(0, 6), 6991.24e6 / lines, 0.05);
  EXPECT_NEAR(m.write_cost(23, 0), 7673.14e6 / lines, 0.05);
  EXPECT_NEAR(m.write_cost(5, 4), 5282.38e6 / lines, 0.05);
}

TEST(shipped_machines, nodes_without_cpus) {
  description hbm = load((machines / "xeon-snc-hbm.toml").string()), cxl = load((machines / "cxl.toml").string());
  for (std::size_t n = 8; n < 16; n++) EXPECT_TRUE(hbm.nodes[n].cpus.empty());
  EXPECT_LT(hbm.read_cost(0, 8), hbm.read_cost(0, 9)) << "the tile's own HBM is nearest";
  EXPECT_TRUE(cxl.nodes[2].cpus.empty());
  EXPECT_LT(cxl.distance_between(0, 2), cxl.distance_between(0, 1));
  EXPECT_GT(cxl.read_cost(0, 2), cxl.read_cost(0, 1)) << "the firmware's distances and the latencies disagree here";
}

TEST(machine_file, every_key) {
  temporary_folder folder;
  description m = load(folder.put("m.toml", R"(
name = "all"
source = "a test"
estimated = ["slit"]
[[nodes]]
count = 2
memory = 1048576
cpus = 4
threads_per_core = 2
nodes_per_package = 2
[[nodes]]
memory = "1.5 KiB"
cpus = 3
cores = [0, 0, 1]
packages = [1, 1, 2]
[[nodes]]
memory = 0
cpus = 1
package = 7
[[caches]]
level = 2
size = "1 MiB"
shared_by = 2
[distances]
slit = [[10, 11, 12, 13], [11, 10, 12, 13], [20, 12, 10, 13], [13, 13, 13, 10]]
read_gb_s = [[10, 1, 1, 1], [1, 10, 1, 1], [1, 1, 10, 1], [1, 1, 1, 10.5]]
)"));
  ASSERT_EQ(m.node_count(), 4);
  EXPECT_EQ(m.nodes[0].memory_bytes, 1048576u);
  EXPECT_EQ(m.nodes[2].memory_bytes, 1536u);
  EXPECT_EQ(m.cpus[0].core, m.cpus[2].core) << "CPUs 0 and 2 are threads of one core";
  EXPECT_NE(m.cpus[0].core, m.cpus[1].core);
  EXPECT_EQ(m.cpus[4].package, 0);
  EXPECT_EQ(m.cpus[8].core, m.cpus[9].core);
  EXPECT_NE(m.cpus[7].core, m.cpus[8].core) << "cores are counted within the node";
  EXPECT_EQ(m.cpus[10].package, 2);
  EXPECT_EQ(m.cpus[11].package, 7);
  EXPECT_EQ(m.caches[0].cpus_sharing, 2);
  EXPECT_EQ(m.read_gb_s[15], 10.5);
  EXPECT_TRUE(m.read_ns.empty());
  EXPECT_EQ(m.read_cost(2, 0), 20) << "distance stands in for latency";
  EXPECT_EQ(m.class_names, (std::vector<std::string>{"local", "distance 11", "distance 12", "distance 13", "distance 20"}));
  ASSERT_EQ(m.notes.size(), 2u);
  EXPECT_NE(m.notes[0].find("slit"), std::string::npos);
  EXPECT_NE(m.notes[1].find("not symmetric"), std::string::npos);
}

TEST(machine_file, one_node_needs_no_distances) {
  temporary_folder folder;
  description m = load(folder.put("m.toml", "name = \"one\"\nsource = \"x\"\n[[nodes]]\nmemory = \"1 GiB\"\ncpus = 1\n"));
  EXPECT_EQ(m.distance, std::vector<double>{10});
  EXPECT_TRUE(m.notes.empty());
}

struct bad {
  std::string what, by;  // edit of the good file
  int line;
  std::string key, expected;
};

TEST(machine_file, errors_name_file_line_key_and_what_was_expected) {
  const bad cases[] = {
      {"name = \"m\"\n", "\n", 1, "name", "is missing: expected a string"},
      {"\"m\"", "3", 1, "name", "expected a string, got 3"},
      {"\"m\"", "\"\"", 1, "name", "expected a string, got an empty one"},
      {"source = \"a test\"", "colour = 1", 2, "colour", "expected one of name, source"},
      {"count = 2", "count = -2", 4, "count", "expected a whole number from 1 to 1024, got -2"},
      {"count = 2", "count = 0", 4, "count", "got 0"},
      {"count = 2", "count = 2.5", 4, "count", "got 2.5"},
      {"count = 2", "count = 1000000000", 4, "count", "got 1000000000"},
      {"count = 2", "count = \"two\"", 4, "count", "got \"two\""},
      {"\"1 GiB\"", "\"1 GB\"", 5, "memory", "expected a size such as \"8 GiB\""},
      {"\"1 GiB\"", "-1", 5, "memory", "got -1"},
      {"\"1 GiB\"", "\"-1 GiB\"", 5, "memory", "got \"-1 GiB\""},
      {"\"1 GiB\"", "\"9999999 TiB\"", 5, "memory", "up to 1024 TiB"},
      {"\"1 GiB\"", "\"nan GiB\"", 5, "memory", "expected a size"},
      {"\"1 GiB\"", "[1]", 5, "memory", "got an array"},
      {"cpus = 2\n", "cpus = 65536\n", 6, "cpus", "at most 65536 CPUs in the machine"},
      {"cpus = 2\n", "cpus = true\n", 6, "cpus", "got true"},
      {"cpus = 2\n", "cpus = 3\nthreads_per_core = 2\n", 7, "threads_per_core", "a divisor of 3 CPUs, got 2"},
      {"cpus = 2\n", "cpus = 2\nnodes_per_package = 3\n", 7, "nodes_per_package", "from 1 to 2, got 3"},
      {"cpus = 2\n", "cpus = 2\ncores = [0]\n", 7, "cores", "one whole number for each of 2 CPUs, got 1"},
      {"cpus = 2\n", "cpus = 2\npackage = 1\npackages = [0, 1]\n", 8, "packages", "either this key or \"package\""},
      {"cpus = 2\n", "cpus = 0\n", 3, "nodes", "at least 1 CPU in the machine"},
      {"level = 1\n", "level = 9\n", 8, "level", "from 1 to 5, got 9"},
      {"\"32 KiB\"", "0", 9, "size", "more than 0 bytes"},
      {"[distances]", "[distance]", 10, "distance", "expected one of"},
      {"\"remote\"]", "\"\"]", 11, "classes", "an array of names"},
      {"\"remote\"]", "\"a\", \"b\"]\nx = 1", 12, "x", "expected one of classes, matrix"},
      {"[[0, 1], [1, 0]]", "[[0, 1]]", 12, "matrix", "expected 2 rows of 2 class indices, got 1 row"},
      {"[[0, 1], [1, 0]]", "[[0, 1], [1]]", 12, "matrix", "got a row of 1"},
      {"[[0, 1], [1, 0]]", "[[0, 1], 3]", 12, "matrix", "got 3"},
      {"[[0, 1], [1, 0]]", "[[0, 2], [1, 0]]", 12, "matrix", "from 0 to 1, got 2"},
      {"[[0, 1], [1, 0]]", "[[0, 0], [1, 0]]", 12, "matrix", "class 0 exactly where a node meets itself, got 0"},
      {"[[0, 1], [1, 0]]", "[[1, 1], [1, 0]]", 12, "matrix", "class 0 exactly where a node meets itself, got 1"},
      {"slit = [10, 20]\n", "\n", 10, "slit", "is missing: expected 2 numbers (one for each class) or 2 rows of 2 numbers"},
      {"[10, 20]", "[10, 20, 30]", 13, "slit", "expected 2 numbers, got 3"},
      {"[10, 20]", "[11, 20]", 13, "slit", "a local distance of 10, got 11"},
      {"[10, 20]", "[10, 9]", 13, "slit", "no distance smaller than the local one, got 9"},
      {"[10, 20]", "[10, -20]", 13, "slit", "positive numbers, got -20"},
      {"[10, 20]", "[10, inf]", 13, "slit", "positive numbers, got inf"},
      {"[10, 20]", "[[10, 20], [20, 10], [1, 2]]", 13, "slit", "got 3 rows"},
      {"[10, 20]", "[[10, 20], 7]", 13, "slit", "2 numbers in each row, got 7"},
      {"[10, 20]", "[]", 13, "slit", "expected 2 numbers, got 0"},
      {"[80, 140.5]", "[80, 140.5, 160]", 14, "read_ns", "expected 2 numbers, got 3"},
      {"[80, 140.5]", "[80, \"x\"]", 14, "read_ns", "positive numbers, got \"x\""},
      {"[80, 140.5]", "80", 14, "read_ns", "got 80"},
      {"name", "estimated = [\"weight\"]\nname", 1, "estimated", "expected one of memory, caches"},
  };
  temporary_folder folder;
  for (const bad& c : cases) {
    std::string path = folder.put("bad.toml", replaced(good, c.what, c.by));
    try {
      load(path);
      ADD_FAILURE() << "accepted: " << c.by;
    } catch (const machine_error& e) {
      std::string message = e.what(), start = path + ':' + std::to_string(c.line) + ": key \"" + c.key + "\"";
      EXPECT_EQ(message.substr(0, start.size()), start) << message;
      EXPECT_NE(message.find(c.expected), std::string::npos) << message << "\n  should say: " << c.expected;
    }
  }
}

TEST(machine_file, invalid_toml_names_the_line) {
  temporary_folder folder;
  std::string path = folder.put("bad.toml", "name = \"m\"\nsource = \n");
  try {
    load(path);
    FAIL();
  } catch (const machine_error& e) {
    EXPECT_EQ(std::string(e.what()).find(path + ":2: not valid TOML: "), 0u) << e.what();
  }
}

TEST(machine_file, too_many_nodes_in_several_entries) {
  temporary_folder folder;
  std::string entry = "[[nodes]]\ncount = 1000\nmemory = \"1 GiB\"\ncpus = 1\n";
  EXPECT_THROW(load(folder.put("m.toml", "name = \"m\"\nsource = \"x\"\n" + entry + entry)), machine_error);
}

TEST(machine_file, missing_or_not_a_file) {
  temporary_folder folder;
  EXPECT_THROW(load((folder.path() / "none.toml").string()), machine_error);
  fs::create_directory(folder.path() / "folder.toml");
  EXPECT_THROW(load((folder.path() / "folder.toml").string()), machine_error);
}

// Whatever is in a file: it loads or is refused with a sentence that starts with its name.
TEST(machine_file, mutations_never_crash) {
  auto seed = std::random_device{}();
  std::cout << "seed " << seed << '\n';
  std::mt19937 random(seed);
  std::vector<std::string> originals = {good};
  for (const fs::path& path : shipped()) originals.push_back(text_of(path));
  const std::string pieces[] = {"[", "]", "\"", "-", "0", "9999999999999999999", "1e308", "nan", "=", "\n", "[[nodes]]\n", "[distances]\n", "true", "{}", "\xff", "cpus = 0\n", "#"};
  temporary_folder folder;
  int refused = 0;
  for (int round = 0; round < 400; round++) {
    std::string text = originals[random() % originals.size()];
    for (unsigned edits = 1 + random() % 3; edits > 0; edits--) {
      std::size_t at = random() % text.size(), length = std::min<std::size_t>(random() % 8, text.size() - at);
      text.replace(at, length, pieces[random() % std::size(pieces)]);
    }
    std::string path = folder.put("mutant.toml", text);
    try {
      load(path);
    } catch (const machine_error& e) {
      refused++;
      ASSERT_EQ(std::string(e.what()).find(path + ':'), 0u) << "seed " << seed << ": " << e.what();
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(save, every_shipped_machine_reads_back) {
  temporary_folder folder;
  for (const fs::path& path : shipped()) {
    description m = load(path.string());
    std::string copy = (folder.path() / "copy.toml").string();
    save(m, copy);
    expect_same_machine(m, load(copy));
    EXPECT_EQ(load(copy).source, m.source);
  }
}

TEST(save, host_and_hwloc_machines_read_back) {
  temporary_folder folder;
  std::string copy = (folder.path() / "copy.toml").string();
  for (const std::string& specification : {std::string("host"), std::string(WEIR_SOURCE_FOLDER "/tests/topo/input/memory-only.xml"), std::string("pack:2 [numa] core:2 pu:2"), std::string("nodes:3 cpus:2")}) {
    description m = load(specification);
    save(m, copy);
    expect_same_machine(m, load(copy));
    EXPECT_FALSE(load(copy).is_host);
  }
}

TEST(load, host_takes_the_figures_of_a_file_written_here) {
  temporary_folder folder;
  description m = host();
  m.read_ns.assign(m.distance.size(), 77);
  m.class_names[0] = "home";
  std::string file = (folder.path() / "here.toml").string();
  save(m, file);
  description with = load("host+" + file);
  EXPECT_TRUE(with.is_host);
  EXPECT_EQ(with.cpus.size(), m.cpus.size());
  EXPECT_EQ(with.read_cost(0, 0), 77);
  EXPECT_EQ(with.class_names[0], "home");
  save(synthetic(m.node_count() + 1, 1), file);
  EXPECT_THROW(load("host+" + file), machine_error);
  EXPECT_THROW(load("host+" + file + ".none"), machine_error);
}

TEST(save, figures_that_differ_within_a_class_are_written_by_pair) {
  temporary_folder folder;
  description m = synthetic(3, 1);
  m.name = "odd \"name\"\n\\";
  m.read_ns = {80, 120, 121, 119, 81.5, 122, 118, 120, 80};
  std::string copy = (folder.path() / "copy.toml").string();
  save(m, copy);
  expect_same_machine(m, load(copy));
}

TEST(save, refused_leaves_nothing_behind) {
  temporary_folder folder;
  EXPECT_THROW(save(synthetic(1, 1), (folder.path() / "none" / "m.toml").string()), machine_error);
  fs::create_directory(folder.path() / "taken.toml");
  EXPECT_THROW(save(synthetic(1, 1), (folder.path() / "taken.toml").string()), machine_error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace weir::machine
