// From an address in a process to a place in a file, and to the address that the file has it at.
#include "memory_map.hpp"

#include "../boot/elf.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace weir::emulator {
namespace {

memory_map mapped() {
  memory_map map;
  for (const char* line : {"00401000-00495000 r-xp 00001000 00:02 12 /programs/fixed",
                           "555555555000-555555557000 r-xp 00001000 00:02 7             /programs/a program",
                           "7ffff7de4000-7ffff7f39000 r-xp 00026000 00:02 9                          /lib/libc.so.6",
                           "7ffff7fa0000-7ffff7fa1000 r-xp 00000000 00:00 0 ",
                           "7ffff7fc9000-7ffff7fcb000 r-xp 00000000 00:00 0                          [vdso]",
                           "00400000-00402000 r-xp 00000000 00:02 1 /init"})
    EXPECT_TRUE(map.add(line)) << line;
  return map;
}

void is_at(std::uint64_t address, const std::string& file, std::uint64_t offset) {
  const auto place = mapped().find(address);
  ASSERT_TRUE(place) << file;
  EXPECT_EQ(place->file, file);
  EXPECT_EQ(place->offset, offset);
}

TEST(MemoryMap, FindsTheFileAndThePlaceInIt) {
  is_at(0x401234, "/programs/fixed", 0x1234);
  is_at(0x555555555000, "/programs/a program", 0x1000);
  is_at(0x555555556fff, "/programs/a program", 0x2fff);
  is_at(0x7ffff7de4010, "/lib/libc.so.6", 0x26010);
  is_at(0x7ffff7fa0000, "[anonymous]", 0);
  is_at(0x7ffff7fc9100, "[vdso]", 0x100);
}

TEST(MemoryMap, TheFirstOfTwoCounts) {
  is_at(0x401000, "/programs/fixed", 0x1000);
  is_at(0x400fff, "/init", 0xfff);
}

TEST(MemoryMap, KnowsWhatIsNowhere) {
  for (std::uint64_t address : {0ul, 0x495000ul, 0x555555557000ul, ~0ul}) EXPECT_FALSE(mapped().find(address));
}

TEST(MemoryMap, RefusesOtherLines) {
  memory_map map;
  for (const char* line : {"", "no", "00400000-00402000", "00400000-00402000 r-xp zero 00:02 1 /init"})
    EXPECT_FALSE(map.add(line)) << line;
  EXPECT_TRUE(map.empty());
}

TEST(Segments, OfProgramsAtFixedAddressesAndOfOthers) {
  const std::vector<segment> fixed = {{0, 0x500, 0x400000}, {0x1000, 0x93f00, 0x401000}},
                             movable = {{0, 0x6a8, 0}, {0x1000, 0x1f00, 0x1000}},
                             shifted = {{0, 0x500, 0}, {0x2df0, 0x300, 0x3df0}};
  EXPECT_EQ(linked_address(fixed, 0x1234), 0x401234u);
  EXPECT_EQ(linked_address(movable, 0x1234), 0x1234u);
  EXPECT_EQ(linked_address(shifted, 0x2e00), 0x3e00u);
  EXPECT_EQ(linked_address(shifted, 0x600), std::nullopt);
  EXPECT_EQ(linked_address({}, 0), std::nullopt);
}

TEST(Segments, AreReadFromPrograms) {
  const std::vector<segment> own = segments_of("/proc/self/exe");
  ASSERT_FALSE(own.empty());
  EXPECT_EQ(own.front().offset, 0u);
  EXPECT_TRUE(segments_of("/proc/self/maps").empty());
}

TEST(Symbols, ReachAsFarAsTheySay) {
  const std::vector<symbol> symbols = {{0x1000, 0x20}, {0x2000, 0}, {0x2000, 0x10}, {0x3000, 0}};
  for (std::uint64_t in : {0x1000, 0x101f, 0x2000, 0x200f, 0x3000, 0x4000}) EXPECT_TRUE(in_function(symbols, in)) << in;
  for (std::uint64_t out : {0xfff, 0x1020, 0x2010}) EXPECT_FALSE(in_function(symbols, out)) << out;
}

TEST(Symbols, AreReadFromPrograms) {
  const std::vector<symbol> own = symbols_of("/proc/self/exe");
  EXPECT_FALSE(own.empty());
  const auto before = [](const symbol& a, const symbol& b) { return a.address < b.address; };
  EXPECT_TRUE(std::is_sorted(own.begin(), own.end(), before));
}

}  // namespace
}  // namespace weir::emulator
