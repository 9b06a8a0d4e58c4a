// Counts by address: found again, never lost, read while they grow, and what two moments differ in.
#include "code_table.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace weir::emulator {
namespace {

code_profile all_of(const code_table& table) {
  code_profile sum;
  table.add_to(sum);
  return std::move(sum) - code_profile();
}

TEST(CodeTable, CountsByAddress) {
  code_table table;
  for (std::uint64_t k = 0; k < 5000; k++) table.at(0x400000 + k % 1250 * 4).instructions.add(k % 1250);
  table.at(0x400004).wait_ps.add(7);
  const code_profile counted = all_of(table);
  EXPECT_EQ(counted.size(), 1249u);   // the first has counted nothing
  EXPECT_EQ(counted.at(0x400004), (code_counts{4, 0, 0, 0, 7}));
  EXPECT_EQ(counted.at(0x400000 + 1249 * 4).instructions, 4u * 1249);
}

TEST(CodeTable, WhatFindsNoRoomIsCountedElsewhere) {
  code_table table(8);
  for (std::uint64_t k = 0; k < 20; k++) table.at(k << 40).read_lines.add(1);
  table.at(0).read_lines.add(1);
  const code_profile counted = all_of(table);
  EXPECT_EQ(counted.size(), 9u);
  EXPECT_EQ(counted.at(0).read_lines, 2u);
  EXPECT_EQ(counted.at(elsewhere_code).read_lines, 12u);
}

TEST(CodeTable, TablesOfSeveralCpusAddUp) {
  code_table first, second;
  first.at(1).own_lines.add(1);
  second.at(1).own_lines.add(2);
  second.at(2).write_lines.add(3);
  code_profile sum;
  first.add_to(sum);
  second.add_to(sum);
  EXPECT_EQ(sum.at(1).own_lines, 3u);
  EXPECT_EQ(sum.at(2).write_lines, 3u);
}

TEST(CodeTable, IsReadWhileItGrows) {
  constexpr std::uint64_t addresses = 20000;
  code_table table;
  std::thread cpu([&] {
    for (std::uint64_t k = 0; k < addresses; k++) table.at(k).instructions.add(1);
  });
  for (std::size_t before = 0; before < addresses;) {
    const code_profile counted = all_of(table);
    EXPECT_GE(counted.size(), before);
    before = counted.size();
  }
  cpu.join();
}

TEST(CodeProfile, DiffersByWhatHappenedSince) {
  const code_profile before = {{1, {10, 1, 1, 1, 100}}, {2, {5, 0, 0, 0, 0}}};
  const code_profile after = {{1, {15, 2, 1, 1, 180}}, {2, {5, 0, 0, 0, 0}}, {3, {1, 0, 0, 0, 0}}};
  EXPECT_EQ(after - before, (code_profile{{1, {5, 1, 0, 0, 80}}, {3, {1, 0, 0, 0, 0}}}));
}

}  // namespace
}  // namespace weir::emulator
