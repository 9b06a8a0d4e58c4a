// The processor's counters, with a processor that is made of numbers.
#include <bench/common/counters.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <thread>
#include <vector>

#include <linux/perf_event.h>

namespace weir::bench {
namespace {

constexpr counter_event instructions = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS};
constexpr counter_event misses = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES};
constexpr counter_event local = {PERF_TYPE_RAW, 1}, remote = {PERF_TYPE_RAW, 2};

// Opens what has no error, and reads what the test put there.
class made_up : public counter_source {
 public:
  int open(const counter_event& e) override {
    const auto key = std::pair(e.type, e.config);
    if (errors.contains(key)) return -errors[key];
    events.push_back(key);
    open_now++;
    return static_cast<int>(events.size()) - 1;
  }
  std::optional<counter_reading> read(int counter) override { return readings[events[static_cast<std::size_t>(counter)]]; }
  void close(int) override { open_now--; }

  void refuse(const counter_event& e, int error) { errors[{e.type, e.config}] = error; }
  void set(const counter_event& e, const counter_reading& r) { readings[{e.type, e.config}] = r; }

  std::map<std::pair<std::uint32_t, std::uint64_t>, int> errors;
  std::map<std::pair<std::uint32_t, std::uint64_t>, counter_reading> readings;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> events;
  int open_now = 0;
};

std::map<std::string, double> fields(const region_counts& c) {
  const auto all = c.fields();
  return {all.begin(), all.end()};
}

TEST(counters, count_what_happens_between_begin_and_end) {
  made_up source;
  {
    region_counters c(source, {instructions, misses, local, remote});
    source.set(instructions, {5'000'000, 10, 10});
    source.set(local, {100, 10, 10});
    c.begin();
    source.set(instructions, {9'000'000, 20, 20});
    source.set(misses, {500, 20, 20});
    source.set(local, {400, 20, 20});
    source.set(remote, {100, 20, 20});
    const std::map<std::string, double> expected = {
        {"user_minsns", 4}, {"lines", 500}, {"local_lines", 300}, {"remote_lines", 100}, {"memory_locality", 0.75}};
    EXPECT_EQ(fields(c.end()), expected);
    EXPECT_EQ(c.missing(), "");
    EXPECT_EQ(source.open_now, 4);
  }
  EXPECT_EQ(source.open_now, 0);
}

TEST(counters, that_took_turns_are_scaled) {
  made_up source;
  region_counters c(source, {instructions, misses, local, remote});
  c.begin();
  source.set(local, {100, 1000, 250});
  source.set(remote, {100, 1000, 1000});
  source.set(misses, {7, 1000, 0});   // never had its turn
  const region_counts counts = c.end();
  EXPECT_EQ(counts.local_lines, 400);
  EXPECT_EQ(counts.remote_lines, 100);
  EXPECT_EQ(counts.misses, std::nullopt);
  EXPECT_EQ(counts.lines(), 500);
}

TEST(counters, of_all_lines_and_remote_ones) {
  made_up source;
  region_counters c(source, {instructions, misses, local, remote, true});
  c.begin();
  source.set(local, {1000, 1, 1});
  source.set(remote, {250, 1, 1});
  EXPECT_EQ(c.end().memory_locality(), 0.75);
}

TEST(counters, that_are_missing_are_named_with_the_reason) {
  made_up source;
  source.refuse(instructions, EACCES);
  source.refuse(local, ENOENT);
  source.refuse(remote, EINVAL);
  region_counters c(source, {instructions, misses, local, remote});
  EXPECT_EQ(c.missing().find("user instructions: not permitted"), 0U) << c.missing();
  EXPECT_NE(c.missing().find("; lines from the node's own memory, lines from other nodes' memory: the processor"),
            std::string::npos)
      << c.missing();
  c.begin();
  source.set(misses, {30, 1, 1});
  const std::map<std::string, double> expected = {{"lines", 30}};
  EXPECT_EQ(fields(c.end()), expected);
}

TEST(counters, of_a_region_without_lines_have_no_locality) {
  made_up source;
  region_counters c(source, {instructions, misses, local, remote});
  c.begin();
  EXPECT_FALSE(fields(c.end()).contains("memory_locality"));
}

std::string cpuinfo(const std::string& vendor, int family, int model) {
  return "processor\t: 0\nvendor_id\t: " + vendor + "\ncpu family\t: " + std::to_string(family) +
         "\nmodel\t\t: " + std::to_string(model) + "\nmodel name\t: some model\n\nprocessor\t: 1\n";
}

TEST(counters, depend_on_the_processor) {
  EXPECT_FALSE(events_of(cpuinfo("GenuineIntel", 6, 0x55)).local_means_all);   // Skylake
  EXPECT_TRUE(events_of(cpuinfo("GenuineIntel", 6, 0x2d)).local_means_all);    // Sandy Bridge
  const counter_events zen = events_of(cpuinfo("AuthenticAMD", 0x19, 1));
  EXPECT_EQ(zen.local_lines->config, 0x0843U);
  EXPECT_EQ(zen.remote_lines->config, 0x4043U);
  EXPECT_FALSE(zen.misses);
  EXPECT_FALSE(events_of(cpuinfo("AuthenticAMD", 0x15, 1)).local_lines);
  EXPECT_TRUE(events_of("").instructions);
}

// The system's own counters, with an event that virtual machines have, too.
TEST(counters, of_threads_that_are_started_later) {
  constexpr counter_event page_faults = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS};
  counter_events events;
  events.misses = page_faults;
  region_counters c(system_counters(), events);
  if (c.missing().find("misses") != std::string::npos) GTEST_SKIP() << c.missing();
  constexpr std::size_t pages = 1000, page_bytes = 4096;
  c.begin();
  std::thread([] {
    std::vector<char> memory(pages * page_bytes, 1);
    EXPECT_EQ(memory[page_bytes], 1);
  }).join();
  const region_counts counts = c.end();
  ASSERT_TRUE(counts.misses);
  EXPECT_GT(*counts.misses, 0);
}

}  // namespace
}  // namespace weir::bench
