// Which code the machine counts for what, and on which CPUs.
#include "machine_model.hpp"

#include <gtest/gtest.h>

namespace weir::emulator {
namespace {

constexpr std::uint64_t mib = 1 << 20, node1 = 8 * mib;   // where QEMU's numbers put it
constexpr std::uint64_t reader = 0x555555555000, writer = 0x7ffff7dd0000;

model_config two_cpus(std::vector<int> profiled) {
  model_config c;
  c.node_of_cpu = {0, 1};
  c.node_bytes = {4 * mib, 4 * mib};
  c.read_ns = {100, 200, 200, 100};
  c.write_ns = {130, 240, 240, 130};
  c.service_ns = {0, 0};
  c.profiled_cpus = std::move(profiled);
  return c;
}

class Profiled {
 public:
  explicit Profiled(const model_config& config)
      : machine_(config, [this](const region_report& r) { reports_.push_back(r); }) {}

  void access(unsigned cpu, std::uint64_t address, bool write, std::uint64_t code) {
    machine_.access(cpu, address, write, [&] { return address; }, code);
  }
  machine_model& machine() { return machine_; }
  const code_profile& last() const { return reports_.back().counted.code; }

 private:
  std::vector<region_report> reports_;
  machine_model machine_;
};

// The same on both CPUs: each reads a line of either node, and writes one of node 1.
void work(Profiled& p) {
  p.machine().begin(0, 0);
  for (unsigned cpu = 0; cpu < 2; cpu++) {
    const std::uint64_t page = cpu * 4096;
    p.machine().run_block(cpu, 10, reader);
    for (const std::uint64_t address : {page, node1 + page, page + 8}) p.access(cpu, address, false, reader + 4);
    p.machine().run_block(cpu, 20, writer);
    p.access(cpu, node1 + page + 64, true, writer + 8);
    p.machine().run_kernel_block(cpu, 30);
  }
  p.machine().end(0, 0);
}

TEST(Profile, CountsWhatEachInstructionWaitedFor) {
  Profiled p(two_cpus({0}));
  work(p);
  EXPECT_EQ(p.last(), (code_profile{{reader, {10, 0, 0, 0, 0}},
                                    {reader + 4, {0, 2, 0, 1, 300'000}},
                                    {writer, {20, 0, 0, 0, 0}},
                                    {writer + 8, {0, 0, 1, 0, 240'000}},
                                    {kernel_code, {30, 0, 0, 0, 0}}}));
}

TEST(Profile, AddsUpCpus) {
  Profiled p(two_cpus({0, 1}));
  work(p);
  EXPECT_EQ(p.last().at(reader), (code_counts{20, 0, 0, 0, 0}));
  EXPECT_EQ(p.last().at(reader + 4), (code_counts{0, 4, 0, 2, 600'000}));
  EXPECT_EQ(p.last().at(writer + 8), (code_counts{0, 0, 2, 1, 370'000}));
}

TEST(Profile, IsOfOneRunOfARegion) {
  Profiled p(two_cpus({0, 1}));
  work(p);
  p.machine().run_block(0, 1000, reader);   // in no region
  work(p);
  EXPECT_EQ(p.last().at(reader), (code_counts{20, 0, 0, 0, 0}));
  EXPECT_EQ(p.last().size(), 5u);
}

TEST(Profile, WaitsForLinesOfSharedCachesToo) {
  model_config config = two_cpus({0});
  config.node_of_cpu = {0, 0};
  config.shared_cache_bytes = 256 << 10;
  Profiled p(config);
  p.machine().begin(0, 0);
  p.access(1, 0, false, writer);
  p.access(0, 0, false, reader);
  p.machine().end(0, 0);
  EXPECT_EQ(p.last(), (code_profile{{reader, {0, 0, 0, 0, 20'000}}}));
}

TEST(Profile, IsEmptyWhereNobodyAsked) {
  Profiled p(two_cpus({}));
  work(p);
  EXPECT_TRUE(p.last().empty());
}

TEST(Profile, IsCarriedAsText) {
  region_report r;
  r.counted.code = {{reader, {1, 2, 3, 4, 5}}, {elsewhere_code, {6, 7, 8, 9, 10}}};
  EXPECT_EQ(report_from_text(to_text(r)).counted.code, r.counted.code);
  EXPECT_EQ(config_from_text(to_text(two_cpus({1}))).profiled_cpus, std::vector<int>{1});
  EXPECT_THROW(config_from_text(to_text(two_cpus({2}))), std::runtime_error);
}

}  // namespace
}  // namespace weir::emulator
