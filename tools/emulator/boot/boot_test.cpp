// What is put together before anything boots: the guest's files, its first program's job, and its shape.
#include "archive.hpp"
#include "layout.hpp"

#include "../guest/job.hpp"

#include <weir/error.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <bit>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>

namespace weir::emulator {
namespace {

namespace fs = std::filesystem;

// ---------------------------------------------------------------- files

struct unpacked {
  unsigned mode;
  std::string content;
};

unsigned field(const std::string& bytes, std::size_t entry, unsigned number) {
  unsigned value = 0;
  const char* at = bytes.data() + entry + 6 + 8 * number;
  EXPECT_EQ(std::from_chars(at, at + 8, value, 16).ptr, at + 8);
  return value;
}

// Reads the format back, in order, up to its trailer.
std::vector<std::pair<std::string, unpacked>> unpack(const std::string& bytes) {
  std::vector<std::pair<std::string, unpacked>> entries;
  for (std::size_t at = 0;;) {
    EXPECT_EQ(bytes.substr(at, 6), "070701");
    const std::size_t name_bytes = field(bytes, at, 11), content_bytes = field(bytes, at, 6), name = at + 110;
    const std::size_t content = (name + name_bytes + 3) / 4 * 4;
    const std::string path = bytes.substr(name, name_bytes - 1);
    if (path == "TRAILER!!!") return entries;
    entries.push_back({path, {field(bytes, at, 1), bytes.substr(content, content_bytes)}});
    at = (content + content_bytes + 3) / 4 * 4;
  }
}

std::map<std::string, unpacked> unpack_all(const archive& a) {
  const auto entries = unpack(a.bytes());
  return {entries.begin(), entries.end()};
}

TEST(Archive, FoldersComeBeforeWhatIsInThem) {
  archive a;
  a.add_text("/one/two/three.txt", "content");
  std::vector<std::string> seen;
  for (const auto& [path, entry] : unpack(a.bytes())) {
    const std::string above = fs::path(path).parent_path();
    EXPECT_TRUE(above.empty() || std::find(seen.begin(), seen.end(), above) != seen.end()) << path;
    seen.push_back(path);
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), "one/two/three.txt"), 1);
}

TEST(Archive, KeepsContentsOfAnyLength) {
  archive a;
  std::string content;
  for (std::size_t bytes = 0; bytes < 9; bytes++) a.add_text("/" + std::to_string(bytes), content), content += '\0';
  const auto files = unpack_all(a);
  for (std::size_t bytes = 0; bytes < 9; bytes++) EXPECT_EQ(files.at(std::to_string(bytes)).content.size(), bytes);
}

TEST(Archive, WhatIsAddedLastCounts) {
  archive a;
  a.add_text("/x", "first");
  a.add_text("/y/../x", "second", true);
  EXPECT_EQ(unpack_all(a).at("x").content, "second");
  EXPECT_EQ(unpack_all(a).at("x").mode, 0100755u);
}

class ArchiveOfFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weir-archive.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(ArchiveOfFiles, TakesFoldersWithAllThatIsInThem) {
  fs::create_directories(folder_ / "a" / "empty");
  std::ofstream(folder_ / "a" / "text") << "hello";
  fs::create_symlink("text", folder_ / "a" / "link");
  archive a;
  a.add(folder_, "/there");
  const auto files = unpack_all(a);
  EXPECT_EQ(files.at("there/a/text").content, "hello");
  EXPECT_EQ(files.at("there/a/link").content, "hello");
  EXPECT_EQ(files.at("there/a/text").mode, 0100644u);
  EXPECT_EQ(files.at("there/a/empty").mode, 040755u);
}

TEST_F(ArchiveOfFiles, SaysWhatIsMissing) {
  archive a;
  EXPECT_THROW(a.add(folder_ / "none", "/x"), configuration_error);
  EXPECT_THROW(a.add("/dev/null", "/x"), configuration_error);
}

TEST_F(ArchiveOfFiles, AProgramBringsItsLibraries) {
  archive a;
  a.add_program(fs::read_symlink("/proc/self/exe"), "/self");
  const auto files = unpack_all(a);
  EXPECT_TRUE(files.contains("self"));
  EXPECT_TRUE(std::any_of(files.begin(), files.end(), [](const auto& f) { return f.first.find("libc.so") != std::string::npos; }));
}

// ---------------------------------------------------------------- the job

TEST(Job, SurvivesTheWayIntoTheGuest) {
  job j;
  j.program = "/bin/x";
  j.arguments = {"x", "", "two words", "a\nline", "=,\""};
  j.environment = {"A=", "B=1\n2"};
  j.folder = "/somewhere else";
  j.cpus = "0-3";
  j.memory_nodes = "1";
  j.huge_pages = "never";
  j.numa_balancing = j.whole_program = true;
  const job back = job_from_text(to_text(j));
  EXPECT_EQ(back.program, j.program);
  EXPECT_EQ(back.arguments, j.arguments);
  EXPECT_EQ(back.environment, j.environment);
  EXPECT_EQ(std::tie(back.folder, back.cpus, back.memory_nodes, back.huge_pages), std::tie(j.folder, j.cpus, j.memory_nodes, j.huge_pages));
  EXPECT_TRUE(back.numa_balancing && back.whole_program && !back.refuse_memory_calls);
}

// ---------------------------------------------------------------- the shape

machine::description described(const std::string& name) { return machine::load(name); }

TEST(Layout, TakesNodesAndDistancesAndFewCpus) {
  const machine::description m = described("opteron-64");
  const layout shape = make_layout(m, {});
  EXPECT_EQ(shape.cpus, std::vector<int>(8, 1));
  EXPECT_EQ(shape.memory_mib, std::vector<int>(8, 256));
  for (int a = 0; a < 8; a++)
    for (int b = 0; b < 8; b++) EXPECT_EQ(shape.distance[static_cast<std::size_t>(8 * a + b)], m.distance_between(a, b));
  EXPECT_EQ(make_layout(m, {8, 100}).cpu_count(), 64);
  EXPECT_EQ(make_layout(m, {8, 100}).memory_total_mib(), 800u);
}

TEST(Layout, NodesWithoutCpusStaySo) { EXPECT_EQ(make_layout(described("cxl"), {4, 0}).cpus, (std::vector<int>{4, 4, 0})); }

TEST(Layout, EveryMachineThatComesWithWeirCanBeEmulated) {
  for (const auto& file : fs::directory_iterator(std::string(WEIR_SOURCE_DIR) + "/machines")) {
    if (file.path().extension() != ".toml") continue;
    const machine::description m = machine::load(file.path().string());
    layout shape = make_layout(m, {});
    const model_config config = make_config(m, shape, {});
    EXPECT_EQ(config.nodes(), m.nodes.size()) << file.path();
    EXPECT_NO_THROW(config_from_text(to_text(config))) << file.path();
  }
}

// Which pairs of nodes are near is not in the paper: the machine files and what was measured with them must agree.
TEST(Machines, OpteronsAreLinkedWithinPackagesAndByPosition) {
  const machine::description m = described("opteron-64");
  for (int a = 0; a < 8; a++)
    for (int b = 0; b < 8; b++) EXPECT_EQ(m.class_between(a, b), a == b ? 0 : a / 2 == b / 2 ? 1 : a % 2 == b % 2 ? 2 : 3);
}

TEST(Machines, SgiBladesAreCornersOfACube) {
  const machine::description m = described("sgi-192");
  for (int a = 0; a < 24; a++)
    for (int b = 0; b < 24; b++) EXPECT_EQ(m.class_between(a, b), a == b ? 0 : a / 2 == b / 2 ? 1 : std::popcount(static_cast<unsigned>(a / 2 ^ b / 2)) == 1 ? 2 : 3);
}

TEST(Config, TakesTheMachinesLatencies) {
  const machine::description m = described("sgi-192");
  layout shape = make_layout(m, {2, 0});
  const model_config c = make_config(m, shape, {});
  EXPECT_EQ(c.read_ns, m.read_ns);
  EXPECT_EQ(c.write_ns, m.write_ns);
  EXPECT_EQ(c.cpus(), 48u);
  EXPECT_EQ(c.node_of_cpu[3], 1);
  EXPECT_TRUE(shape.notes.empty());
}

TEST(Config, UnknownLatenciesFollowTheDistances) {
  const machine::description m = machine::load("nodes:2 cpus:2 distance:30");
  layout shape = make_layout(m, {});
  const model_config c = make_config(m, shape, {});
  EXPECT_EQ(c.read_ns, (std::vector<double>{80, 240, 240, 80}));
  EXPECT_EQ(c.write_ns, (std::vector<double>{100, 300, 300, 100}));
  EXPECT_EQ(shape.notes.size(), 1u);
}

TEST(Config, ControllersAreAsFastAsTheBandwidth) {
  machine::description m = machine::load("nodes:2 cpus:2");
  m.read_gb_s = {32, 16, 8, 16};
  layout shape = make_layout(m, {});
  EXPECT_EQ(make_config(m, shape, {}).service_ns, (std::vector<double>{2, 4}));
}

TEST(Memory, MoreThanThisMachineHasIsRefused) {
  layout shape = make_layout(machine::load("nodes:2 cpus:2"), {1, 1 << 20});
  shape.memory_mib = {1 << 30, 1 << 30};
  EXPECT_THROW(require_memory(shape, true), configuration_error);
  shape.memory_mib = {64, 64};
  EXPECT_NO_THROW(require_memory(shape, false));
}

}  // namespace
}  // namespace weir::emulator
