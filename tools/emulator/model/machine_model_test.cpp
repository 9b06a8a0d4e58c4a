// The machine as a whole, its regions and marks, and both texts that go between command and plugin.
#include "machine_model.hpp"
#include "marks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace weir::emulator {
namespace {

constexpr std::uint64_t mib = 1 << 20;

model_config two_nodes() {
  model_config c;
  c.node_of_cpu = {0, 0, 1};
  c.node_bytes = {4 * mib, 4 * mib};
  c.read_ns = {100, 200, 210, 110};
  c.write_ns = {130, 240, 250, 140};
  c.service_ns = {5, 5};
  c.cache_bytes = 64 << 10;
  c.instruction_ns = 1;
  return c;
}

std::uint64_t sum(const std::vector<std::uint64_t>& v) { return std::accumulate(v.begin(), v.end(), std::uint64_t{0}); }

class MachineModel : public testing::Test {
 protected:
  // Virtual addresses are physical ones here.
  void access(unsigned cpu, std::uint64_t address, bool write = false) {
    machine_.access(cpu, address, write, [&] { return address; });
  }
  void read(unsigned cpu, std::uint64_t address) { access(cpu, address); }
  void write(unsigned cpu, std::uint64_t address) { access(cpu, address, true); }
  const region_report& last() const { return reports_.back(); }
  std::uint64_t nanoseconds() const { return (last().end_ps - last().begin_ps) / 1000; }

  static constexpr std::uint64_t node1 = 8 * mib;   // where QEMU's numbers put it
  std::vector<region_report> reports_;
  model_config config_ = two_nodes();
  machine_model machine_{config_, [this](const region_report& r) { reports_.push_back(r); }};
};

TEST_F(MachineModel, ChargesTheLatencyOfThePair) {
  machine_.begin(0, 0);
  read(0, 0), read(0, 8), read(0, node1);
  machine_.end(0, 0);
  EXPECT_EQ(nanoseconds(), 300u);
  machine_.begin(2, 0);
  write(2, 64), write(2, node1 + 64);
  machine_.end(2, 0);
  EXPECT_EQ(nanoseconds(), 390u);
  EXPECT_EQ(last().run, 1);
  EXPECT_EQ(reports_[0].counted.read_lines, (std::vector<std::uint64_t>{1, 1, 0, 0}));
  EXPECT_EQ(last().counted.write_lines, (std::vector<std::uint64_t>{0, 0, 1, 1}));
  EXPECT_EQ(last().counted.accesses, 2u);
}

TEST_F(MachineModel, ChargesInstructionsFaultsAndCalls) {
  machine_.begin(0, 0);
  machine_.run_block(0, 10);
  machine_.page_fault(0);
  machine_.system_call(0);
  machine_.page_moved(0);
  machine_.run_kernel_block(0, 1000);
  machine_.end(0, 0);
  EXPECT_EQ(nanoseconds(), 10u + 1000 + 150 + 16);
  const totals& t = last().counted;
  EXPECT_EQ(std::tuple(t.instructions, t.kernel_instructions, t.page_faults, t.system_calls, t.migrations), std::tuple(10u, 1000u, 1u, 1u, 1u));
}

TEST_F(MachineModel, LinesThatChangeHandsMiss) {
  machine_.begin(0, 0);
  for (int turn = 0; turn < 10; turn++) write(0, 0), write(1, 0);
  machine_.end(0, 0);
  EXPECT_EQ(sum(last().counted.write_lines), 20u);
}

TEST_F(MachineModel, ReadersShareALine) {
  machine_.begin(0, 0);
  for (int turn = 0; turn < 10; turn++) read(0, 0), read(1, 0);
  machine_.end(0, 0);
  EXPECT_EQ(sum(last().counted.read_lines), 2u);
}

TEST_F(MachineModel, ACacheHoldsWhatFits) {
  machine_.begin(0, 0);
  for (int pass = 0; pass < 2; pass++)
    for (std::uint64_t a = 0; a < 64 << 10; a += 64) read(0, a);
  machine_.end(0, 0);
  EXPECT_EQ(sum(last().counted.read_lines), 1024u);
  machine_.begin(0, 0);
  for (int pass = 0; pass < 2; pass++)
    for (std::uint64_t a = 0; a < 128 << 10; a += 64) read(0, a);
  machine_.end(0, 0);
  EXPECT_EQ(sum(last().counted.read_lines), 4096u);
}

TEST_F(MachineModel, BusyControllersLetWait) {
  config_.quantum_ns = 0;
  machine_model strict(config_, [this](const region_report& r) { reports_.push_back(r); });
  strict.begin(0, 0);
  strict.access(0, 0, false, [] { return std::uint64_t{0}; });
  strict.access(2, 4096, false, [] { return std::uint64_t{4096}; });
  strict.end(0, 0);
  EXPECT_EQ(last().counted.queue_ps, 5000u);
}

TEST_F(MachineModel, ARegionBeginsCold) {
  for (int run = 0; run < 3; run++) {
    machine_.begin(0, 0);
    for (std::uint64_t a = 0; a < 4096; a += 64) read(0, a);
    machine_.end(0, 0);
    EXPECT_EQ(nanoseconds(), 64 * 100u) << "run " << run;
  }
}

// The first word of each CPU's 64 bytes is what the guest reads.
TEST_F(MachineModel, TimePassesOutsideOfRegionsToo) {
  alignas(64) std::array<std::byte, clock_memory_bytes> memory{};
  machine_model machine(config_, [this](const region_report& r) { reports_.push_back(r); }, memory.data());
  const auto ns_of = [&](std::size_t cpu) {
    return *reinterpret_cast<const volatile std::uint64_t*>(memory.data() + 64 * cpu) / 1000;
  };
  EXPECT_FALSE(machine.running());
  EXPECT_EQ(ns_of(0), 0u);
  machine.begin_program(0);
  EXPECT_TRUE(machine.running());
  EXPECT_FALSE(machine.counting());
  const std::uint64_t begin = ns_of(0);
  EXPECT_GT(begin, 0u);
  machine.run_block(0, 10);
  EXPECT_EQ(ns_of(0), begin + 10);
  machine.run_block(1, 3);
  EXPECT_EQ(ns_of(1), begin + 3);
  machine.begin(1, 0);
  machine.run_block(0, 1);
  EXPECT_EQ(ns_of(0), begin + 11) << "no clock goes back where clocks become equal";
  machine.access(0, 0, false, [] { return std::uint64_t{0}; });
  EXPECT_EQ(ns_of(0), begin + 111);
  machine.end(1, 0);
  machine.run_block(0, 1);
  EXPECT_EQ(ns_of(0), begin + 112);
}

TEST_F(MachineModel, RegionsOverlap) {
  machine_.begin(0, 1);
  read(0, 0);
  machine_.begin(0, 2);
  read(0, 64);
  machine_.end(0, 1);
  EXPECT_TRUE(machine_.counting());
  read(0, 128);
  machine_.end(0, 2);
  EXPECT_FALSE(machine_.counting());
  ASSERT_EQ(reports_.size(), 2u);
  EXPECT_EQ(std::tuple(reports_[0].number, sum(reports_[0].counted.read_lines)), std::tuple(1, 2u));
  EXPECT_EQ(std::tuple(reports_[1].number, sum(reports_[1].counted.read_lines)), std::tuple(2, 2u));
}

TEST_F(MachineModel, MarksWithoutACounterpartDoNothing) {
  machine_.end(0, 7);
  machine_.begin(0, 7);
  machine_.begin(1, 7);
  machine_.end(0, 7);
  machine_.end(1, 7);
  EXPECT_EQ(reports_.size(), 1u);
  EXPECT_FALSE(machine_.counting());
}

TEST_F(MachineModel, TheEndOfTheProgramEndsRegions) {
  machine_.begin(0, 3);
  machine_.begin(0, 4);
  machine_.end_all(0);
  ASSERT_EQ(reports_.size(), 2u);
  EXPECT_FALSE(reports_[0].complete);
  EXPECT_FALSE(machine_.counting());
}

// A page is looked up once, until the kernel has run.
TEST_F(MachineModel, TheKernelMayMovePages) {
  machine_.begin(0, 0);
  int asked = 0;
  const auto at = [&](std::uint64_t physical) {
    return [&asked, physical] {
      asked++;
      return physical;
    };
  };
  machine_.access(0, 0x1000, false, at(0x1000));
  machine_.access(0, 0x1040, false, at(0x1040));
  EXPECT_EQ(asked, 1);
  machine_.run_kernel_block(0, 1);
  machine_.access(0, 0x1000, false, at(node1));
  EXPECT_EQ(asked, 2);
  machine_.end(0, 0);
  EXPECT_EQ(last().counted.read_lines, (std::vector<std::uint64_t>{2, 1, 0, 0}));
}

TEST_F(MachineModel, WhatIsNoNodesMemoryIsNotCounted) {
  machine_.begin(0, 0);
  machine_.access(0, 0x1000, false, [] { return std::uint64_t{UINT64_MAX}; });
  machine_.end(0, 0);
  EXPECT_EQ(last().counted.accesses, 0u);
}

TEST_F(MachineModel, ASharedCacheServesItsNode) {
  config_.shared_cache_bytes = 256 << 10;
  machine_model shared(config_, [this](const region_report& r) { reports_.push_back(r); });
  const auto read_line = [&](unsigned cpu, std::uint64_t address) { shared.access(cpu, address, false, [=] { return address; }); };
  shared.begin(0, 0);
  for (std::uint64_t a = 0; a < 128 << 10; a += 64) read_line(0, a);   // twice what a CPU's own holds
  for (std::uint64_t a = 0; a < 128 << 10; a += 64) read_line(1, a);
  shared.end(1, 0);
  EXPECT_EQ(sum(last().counted.read_lines), 2048u);
  EXPECT_EQ(last().counted.shared_cache_hits, 2048u);
  EXPECT_EQ(nanoseconds(), 2048u * 20);   // by the clock of the one who was served
}

// CPUs at once, as in QEMU: nothing counted is lost, and clocks end within a quantum of each other.
TEST_F(MachineModel, CountsAllCpusAtOnce) {
  constexpr std::uint64_t blocks = 2000, lines = 64;
  machine_.begin(0, 0);
  std::vector<std::thread> cpus;
  for (unsigned cpu = 0; cpu < 3; cpu++)
    cpus.emplace_back([&, cpu] {
      for (std::uint64_t b = 0; b < blocks; b++) {
        machine_.run_block(cpu, 10);
        for (std::uint64_t l = 0; l < lines; l++) access(cpu, (b * 7 + l) % 4096 * 64, b % 3 == 0);
      }
      machine_.idle(cpu);
    });
  for (std::thread& t : cpus) t.join();
  machine_.end(0, 0);
  EXPECT_EQ(last().counted.instructions, 3 * blocks * 10);
  EXPECT_EQ(last().counted.accesses, 3 * blocks * lines);
  EXPECT_GE(sum(last().counted.read_lines) + sum(last().counted.write_lines), 4096u);
}

TEST(Marks, AreNoOpsOfSevenBytes) {
  const std::uint8_t begin[] = {0x0f, 0x1f, 0x80, 0x01, 0x2a, 0x4d, 0x4e};
  const std::uint8_t other[] = {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00};
  const std::uint8_t unknown[] = {0x0f, 0x1f, 0x80, 0x08, 0x00, 0x4d, 0x4e};
  ASSERT_TRUE(mark_of(begin, sizeof begin));
  EXPECT_EQ(mark_of(begin, sizeof begin)->kind, mark_kind::region_begin);
  EXPECT_EQ(mark_of(begin, sizeof begin)->number, 42);
  EXPECT_FALSE(mark_of(other, sizeof other));
  EXPECT_FALSE(mark_of(unknown, sizeof unknown));
  EXPECT_FALSE(mark_of(begin, 6));
}

TEST(Text, CarriesTheConfiguration) {
  model_config c = two_nodes();
  c.shared_cache_bytes = 12345678;
  const model_config back = config_from_text(to_text(c));
  EXPECT_EQ(back.node_of_cpu, c.node_of_cpu);
  EXPECT_EQ(back.write_ns, c.write_ns);
  EXPECT_EQ(back.shared_cache_bytes, c.shared_cache_bytes);
  EXPECT_EQ(back.instruction_ns, c.instruction_ns);
}

TEST(Text, UnusableConfigurationsAreRefused) {
  const auto refused = [](auto change) {
    model_config c = two_nodes();
    change(c);
    EXPECT_THROW(config_from_text(to_text(c)), std::runtime_error);
  };
  refused([](model_config& c) { c.node_of_cpu[1] = 2; });
  refused([](model_config& c) { c.node_of_cpu.clear(); });
  refused([](model_config& c) { c.node_of_cpu.resize(256); });
  refused([](model_config& c) { c.read_ns.pop_back(); });
  refused([](model_config& c) { c.service_ns.pop_back(); });
  refused([](model_config& c) { c.node_bytes[0]++; });
  refused([](model_config& c) { c.cache_bytes = 0; });
  EXPECT_THROW(config_from_text("{}"), std::exception);
  EXPECT_THROW(config_from_text("no"), std::exception);
}

TEST(Text, CarriesAReport) {
  region_report r{7, 3, false, 1000, 5000, {}};
  r.counted.accesses = 99;
  r.counted.read_lines = {1, 2, 3, 4};
  const region_report back = report_from_text(to_text(r));
  EXPECT_EQ(std::tuple(back.number, back.run, back.complete, back.begin_ps, back.end_ps), std::tuple(7, 3, false, 1000u, 5000u));
  EXPECT_EQ(back.counted.accesses, 99u);
  EXPECT_EQ(back.counted.read_lines, r.counted.read_lines);
  EXPECT_EQ(to_text(r).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace weir::emulator
