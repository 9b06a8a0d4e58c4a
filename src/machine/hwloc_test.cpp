// Machines through hwloc: exported files, with and without distances, and this one.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <thread>

#include "machine/detail.hpp"
#include "machine/machine.hpp"
#include "machine/temporary_folder.hpp"
#include "weir/error.hpp"

namespace weir::machine {
namespace {

const std::string inputs = WEIR_SOURCE_FOLDER "/tests/topo/input/";

std::vector<std::size_t> cpus_per_node(const description& m) {
  std::vector<std::size_t> counts;
  for (const node& n : m.nodes) counts.push_back(n.cpus.size());
  return counts;
}

TEST(hwloc_file, memory_only_nodes_have_no_cpus) {
  description m = load(inputs + "memory-only.xml");
  EXPECT_EQ(m.name, "memory-only");
  EXPECT_FALSE(m.is_host);
  EXPECT_EQ(cpus_per_node(m), (std::vector<std::size_t>{4, 0, 4, 0}));
  EXPECT_EQ(m.nodes[1].memory_bytes, std::uint64_t{4} << 30);
  EXPECT_EQ(m.cpus[0].core, m.cpus[1].core) << "two threads of a core";
  EXPECT_NE(m.cpus[1].core, m.cpus[2].core);
  EXPECT_EQ(m.cpus[7].package, 1);
}

TEST(hwloc_file, without_distances_says_so) {
  description m = load(inputs + "memory-only.xml");
  EXPECT_EQ(m.distance_between(2, 2), 10);
  EXPECT_EQ(m.distance_between(0, 3), 20);
  ASSERT_EQ(m.notes.size(), 1u);
  EXPECT_NE(m.notes[0].find("unknown"), std::string::npos);
}

TEST(hwloc_file, cpus_belong_to_plain_memory_rather_than_hbm) {
  description m = load(inputs + "hbm-distances.xml");
  EXPECT_EQ(cpus_per_node(m), (std::vector<std::size_t>{0, 2, 0, 2}));
}

TEST(hwloc_file, distances_are_kept_asymmetric_and_noted) {
  description m = load(inputs + "hbm-distances.xml");
  EXPECT_EQ(m.distance_between(1, 2), 23);
  EXPECT_EQ(m.distance_between(2, 1), 21);
  ASSERT_EQ(m.notes.size(), 1u);
  EXPECT_NE(m.notes[0].find("not symmetric"), std::string::npos);
  EXPECT_EQ(m.class_names.size(), 6u);
  EXPECT_EQ(m.class_names[static_cast<std::size_t>(m.class_between(1, 2))], "distance 23");
}

TEST(hwloc_file, node_without_memory_keeps_its_cpus) {
  description m = load(inputs + "hbm-distances.xml");
  EXPECT_EQ(m.nodes[3].memory_bytes, 0u);
  EXPECT_EQ(m.nodes[3].cpus.size(), 2u);
}

TEST(hwloc_file, raw_latencies_are_scaled_to_local_10) {
  temporary_folder folder;
  std::string text = text_of(inputs + "hbm-distances.xml");
  std::string old = "10 13 24 21 13 10 23 22 24 21 10 13 21 22 13 10";
  std::size_t at = text.find("<u64values length=\"47\">" + old);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 23 + old.size(), "<u64values length=\"63\">100 130 240 210 130 100 230 220 240 210 100 130 210 220 130 100");
  EXPECT_EQ(load(folder.put("raw.xml", text)).distance_between(1, 2), 23);
}

TEST(hwloc_file, senseless_distances_count_as_unknown) {
  temporary_folder folder;
  std::string text = text_of(inputs + "hbm-distances.xml");
  std::size_t at = text.find("10 13 24 21 13 10");
  text.replace(at, 5, "10 03");
  description m = load(folder.put("wrong.xml", text));
  EXPECT_EQ(m.distance_between(0, 1), 20);
  ASSERT_FALSE(m.notes.empty());
  EXPECT_NE(m.notes[0].find("smaller than the local one"), std::string::npos);
}

TEST(hwloc_file, refused_files_are_named) {
  temporary_folder folder;
  std::string whole = text_of(inputs + "memory-only.xml");
  for (const auto& [name, text] : {std::pair<std::string, std::string>{"empty.xml", ""}, {"text.xml", "hello"}, {"cut.xml", whole.substr(0, whole.size() / 2)}, {"other.xml", "<a><b/></a>"}}) {
    std::string path = folder.put(name, text);
    try {
      load(path);
      ADD_FAILURE() << name << " was accepted";
    } catch (const machine_error& e) {
      EXPECT_EQ(std::string(e.what()).find(path + ": expected"), 0u) << e.what();
    }
  }
  EXPECT_THROW(load((folder.path() / "missing.xml").string()), machine_error);
  EXPECT_THROW(load((folder.path() / "..xml").string()), machine_error);
}

void expect_consistent(const description& m) {
  std::size_t n = m.nodes.size(), listed = 0;
  ASSERT_GT(n, 0u);
  ASSERT_GT(m.cpus.size(), 0u);
  EXPECT_EQ(m.distance.size(), n * n);
  EXPECT_EQ(m.distance_class.size(), n * n);
  for (std::size_t i = 0; i < n; i++) {
    for (int c : m.nodes[i].cpus) EXPECT_EQ(m.cpus.at(static_cast<std::size_t>(c)).node, static_cast<int>(i));
    listed += m.nodes[i].cpus.size();
    EXPECT_EQ(m.distance_class[i * (n + 1)], 0);
  }
  EXPECT_EQ(listed, m.cpus.size());
  EXPECT_FALSE(detail::distance_defect(m)) << *detail::distance_defect(m);
}

TEST(host, is_consistent_and_within_the_allowed_cpus) {
  description m = host();
  EXPECT_TRUE(m.is_host);
  expect_consistent(m);
  os::limits limits = os::read_limits();
  if (limits.cpus) {
    EXPECT_EQ(m.cpus.size(), limits.cpus->size());
  }
  EXPECT_EQ(load("").cpus.size(), m.cpus.size());
  EXPECT_EQ(load("host").node_count(), m.node_count());
}

TEST(host, described_by_the_environment_is_not_bound) {
  ASSERT_EQ(setenv("HWLOC_SYNTHETIC", "numa:3 pu:2", 1), 0);
  description m = host();
  unsetenv("HWLOC_SYNTHETIC");
  EXPECT_FALSE(m.is_host);
  EXPECT_EQ(m.node_count(), 3);
  ASSERT_FALSE(m.notes.empty());
  EXPECT_NE(m.notes.back().find("another machine"), std::string::npos);
}

void expect_same(const description& a, const description& b) {
  ASSERT_EQ(a.cpus.size(), b.cpus.size());
  for (std::size_t c = 0; c < a.cpus.size(); c++) {
    EXPECT_EQ(a.cpus[c].os_index, b.cpus[c].os_index);
    EXPECT_EQ(a.cpus[c].node, b.cpus[c].node);
    EXPECT_EQ(a.cpus[c].core, b.cpus[c].core);
    EXPECT_EQ(a.cpus[c].package, b.cpus[c].package);
  }
  ASSERT_EQ(a.caches.size(), b.caches.size());
  for (std::size_t l = 0; l < a.caches.size(); l++) {
    EXPECT_EQ(a.caches[l].level, b.caches[l].level);
    EXPECT_EQ(a.caches[l].bytes, b.caches[l].bytes);
    EXPECT_EQ(a.caches[l].cpus_sharing, b.caches[l].cpus_sharing);
  }
  EXPECT_EQ(a.node_count(), b.node_count());
  EXPECT_EQ(a.distance, b.distance);
  EXPECT_EQ(a.notes, b.notes);
}

TEST(host, is_the_same_machine_when_it_is_read_again) { expect_same(host(), host()); }

TEST(host, is_itself_again_after_the_environment_described_another) {
  const description before = host();
  ASSERT_EQ(setenv("HWLOC_SYNTHETIC", "numa:3 pu:2", 1), 0);
  EXPECT_EQ(host().node_count(), 3);
  unsetenv("HWLOC_SYNTHETIC");
  const description after = host();
  EXPECT_TRUE(after.is_host);
  expect_same(before, after);
}

// Who names components gets all of hwloc's.
TEST(host, loses_nothing_without_the_x86_component) {
  const description without = host();
  ASSERT_EQ(setenv("HWLOC_COMPONENTS", "linux", 1), 0);
  const description with = host();
  unsetenv("HWLOC_COMPONENTS");
  EXPECT_TRUE(with.is_host);
  expect_same(without, with);
}

TEST(host, follows_the_affinity_from_one_call_to_the_next) {
  const description all = host();
  if (all.cpus.size() < 2) GTEST_SKIP() << "needs two CPUs that may be used";
  const int last = all.cpus.back().os_index;
  std::optional<description> narrow;
  std::thread([&] {
    if (os::set_affinity_of_this_thread({last})) narrow = host();
  }).join();
  if (!narrow) GTEST_SKIP() << "this system refuses to bind a thread";
  ASSERT_EQ(narrow->cpus.size(), 1u);
  EXPECT_EQ(narrow->cpus[0].os_index, last);
  expect_same(all, host());
}

}  // namespace
}  // namespace weir::machine
