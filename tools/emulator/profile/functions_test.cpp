// This program's own code, as if a guest had run it.
#include "functions.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weir::emulator {

// Inlined, and with no linkage name: what addr2line does not name by itself.
[[gnu::always_inline]] static inline long inlined_for_the_test(const volatile long* values) {
  long sum = 0;
  for (int k = 0; k < 100; k++) sum += values[k] * values[k];
  return sum;
}

[[gnu::noinline]] void named_for_the_test(int& value) { value++; }
[[gnu::noinline]] long calls_for_the_test(const volatile long* values) { return inlined_for_the_test(values); }

namespace {

const char* const addr2line = "/usr/bin/addr2line";

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe"); }
std::uint64_t here() { return reinterpret_cast<std::uint64_t>(&named_for_the_test); }

memory_map own_map() {
  memory_map map;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(" r-xp ") != std::string::npos) map.add(line);
  return map;
}

std::string same_file(const std::string& path) { return path.starts_with('/') ? path : std::string(); }

TEST(Functions, AreNamedInProgramsAndLibraries) {
  if (::access(addr2line, X_OK) != 0) GTEST_SKIP() << "there is no " << addr2line;
  const auto library = reinterpret_cast<std::uint64_t>(static_cast<int (*)(const char*)>(&std::atoi));
  const function_names names({here(), library, 16, kernel_code}, own_map(), same_file, addr2line);
  EXPECT_TRUE(names.complaints().empty());
  EXPECT_EQ(names.of(here()), (function_name{"weir::emulator::named_for_the_test(int&)", own_program()}));
  // Debug information of the library may name an alias.
  EXPECT_NE(names.of(library).function.find("atoi"), std::string::npos);
  EXPECT_NE(names.of(library).file.find("libc"), std::string::npos);
  EXPECT_EQ(names.of(16), (function_name{"[unknown]", ""}));
}

TEST(Functions, AreNamedWhereTheyAreInlined) {
  if (::access(addr2line, X_OK) != 0) GTEST_SKIP() << "there is no " << addr2line;
  std::unordered_set<std::uint64_t> addresses;
  for (std::uint64_t k = 0; k < 32; k++) addresses.insert(reinterpret_cast<std::uint64_t>(&calls_for_the_test) + k);
  const function_names names(addresses, own_map(), same_file, addr2line);
  const auto inlined = [&](std::uint64_t address) { return names.of(address).function.find("inlined_for") < 100; };
  EXPECT_GT(std::count_if(addresses.begin(), addresses.end(), inlined), 10);
}

TEST(Functions, WithoutASymbolHaveAFile) {
  const auto nowhere = [](const std::string&) { return std::string(); };
  const function_names names({here()}, own_map(), nowhere, addr2line);
  EXPECT_EQ(names.of(here()), (function_name{"[unnamed]", own_program()}));
}

TEST(Functions, AComplaintSaysWhatFailed) {
  const function_names names({here()}, own_map(), same_file, "/bin/false");
  ASSERT_EQ(names.complaints().size(), 1u);
  EXPECT_NE(names.complaints()[0].find("addr2line does not name the functions of "), std::string::npos);
  EXPECT_EQ(names.of(here()).function, "[unnamed]");
}

TEST(Functions, OfAProgramThatHasNotEndedAreUnknown) {
  const function_names names({1, 2}, memory_map(), same_file, addr2line);
  EXPECT_EQ(names.complaints().size(), 1u);
  EXPECT_EQ(names.of(1).function, "[unknown]");
}

TEST(Functions, AddUpTheirCode) {
  const code_profile profile = {{1, {1, 1, 1, 1, 10}},
                                {2, {2, 2, 2, 2, 20}},
                                {kernel_code, {50, 0, 0, 0, 0}},
                                {elsewhere_code, {40, 0, 0, 0, 0}}};
  const auto functions = by_function(profile, {});
  ASSERT_EQ(functions.size(), 3u);
  EXPECT_EQ(functions[0].name.function, "[unknown]");
  EXPECT_EQ(functions[0].counted, (code_counts{3, 3, 3, 3, 30}));
  EXPECT_EQ(functions[1].name.function, "[kernel]");
  EXPECT_EQ(functions[2].name.function, "[elsewhere]");
}

}  // namespace
}  // namespace weir::emulator
