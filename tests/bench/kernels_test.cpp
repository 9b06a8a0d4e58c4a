// Every kernel under every policy, number of workers, control program and variant gives what its sequential program
// gives.
#include "small_problems.hpp"

#include <bench/common/options.hpp>
#include <bench/common/page_check.hpp>
#include <bench/common/report.hpp>
#include <bench/common/runner.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tuple>

namespace weir::bench {
namespace {

std::string test_name(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

using parameters = std::tuple<std::string, std::string>;  // kernel, policy

class Kernels : public testing::TestWithParam<parameters> {
 protected:
  const kernel& kernel_under_test() const { return find_kernel(std::get<0>(GetParam())); }
  run_request request() const {
    run_request r;
    r.what = &kernel_under_test();
    r.problem = small_problem(*r.what);
    r.how.policy = std::get<1>(GetParam());
    r.expected = &small_solution(*r.what);
    return r;
  }
};

void expect_right(const run_request& r) {
  SCOPED_TRACE("workers " + std::to_string(r.how.workers) +
               (r.problem.parallel_control ? ", parallel control, " : ", sequential control, ") +
               std::string(name_of(r.problem.data_in)));
  const run_result result = run_once(r);
  ASSERT_TRUE(result.verified.has_value());
  EXPECT_TRUE(result.verified->passed) << result.verified->what << ": largest difference " << result.verified->largest_difference;
  EXPECT_GT(result.counts.tasks, 0u);
  EXPECT_GT(result.live_bytes, 0u);
  if (r.problem.data_in == storage::versions) {
    EXPECT_GT(result.counts.read_local() + result.counts.read_remote(), 0u);
  }
}

std::vector<storage> storages_of(const kernel& k) {
  std::vector<storage> all;
  if (k.uses.versions) all.push_back(storage::versions);
  if (k.uses.shared) all.push_back(storage::shared);
  if (k.uses.own) all.push_back(storage::own);
  return all;
}

TEST_P(Kernels, EqualTheSequentialProgram) {
  run_request r = request();
  for (int workers : {1, 2, 5})
    for (bool parallel : {false, true})
      for (const storage data_in : storages_of(*r.what)) {
        if (parallel && !r.what->uses.parallel_control) continue;
        r.how.workers = workers;
        r.problem.parallel_control = parallel;
        r.problem.data_in = data_in;
        expect_right(r);
      }
}

TEST_P(Kernels, EqualTheSequentialProgramOnAPretendedMachine) {
  run_request r = request();
  r.how.machine = "nodes:4 cpus:2";
  r.how.workers = 8;
  r.problem.parallel_control = r.what->uses.parallel_control;
  for (const storage data_in : storages_of(*r.what)) {
    r.problem.data_in = data_in;
    expect_right(r);
  }
  r.problem.data_in = storage::versions;
  if (r.what->uses.load_store) {
    for (const bool parallel : {false, true}) {
      r.problem.load_store = true;
      r.problem.parallel_control = parallel;
      expect_right(r);
    }
    r.problem.load_store = false;
  }
  if (!r.what->uses.creators) return;
  for (const creators where : {creators::stolen, creators::scattered}) {
    r.problem.where_created = where;
    expect_right(r);
  }
}

// Those with --init and --annotate.
class OwnMemory : public Kernels {};

TEST_P(OwnMemory, EqualTheSequentialProgramWhoeverWritesItFirst) {
  run_request r = request();
  r.how.machine = "nodes:3 cpus:2";
  r.how.workers = 5;
  r.problem.data_in = storage::own;
  for (const first_touch init : {first_touch::tasks, first_touch::one, first_touch::inside})
    for (const bool annotate : {false, true})
      for (const bool parallel : {false, true}) {
        SCOPED_TRACE(std::string(name_of(init)) + (annotate ? ", annotated" : ""));
        r.problem.init = init;
        r.problem.annotate = annotate;
        r.problem.parallel_control = parallel;
        expect_right(r);
      }
}

std::vector<std::string> names_of(bool (*wanted)(const kernel&)) {
  std::vector<std::string> names;
  for (const kernel& k : kernels())
    if (wanted(k)) names.emplace_back(k.name);
  return names;
}

std::string name_of_test(const testing::TestParamInfo<parameters>& test) {
  return test_name(std::get<0>(test.param) + "_" + std::get<1>(test.param));
}

INSTANTIATE_TEST_SUITE_P(All, Kernels,
                         testing::Combine(testing::ValuesIn(names_of([](const kernel&) { return true; })),
                                          testing::ValuesIn(parse_policies("all"))),
                         name_of_test);
INSTANTIATE_TEST_SUITE_P(All, OwnMemory,
                         testing::Combine(testing::ValuesIn(names_of([](const kernel& k) { return k.uses.by_hand; })),
                                          testing::ValuesIn(parse_policies("all"))),
                         name_of_test);

// With few blocks some have no neighbours on either side, and a chunk is a row.
TEST(Stencils, AnyNumberOfBlocksPerDimension) {
  for (const char* name :
       {"jacobi-2d", "seidel-2d", "jacobi-3d", "seidel-3d", "blur-roberts", "integral-histogram"}) {
    const kernel& k = find_kernel(name);
    for (std::size_t blocks : {1, 2, 3}) {
      run_request r;
      r.what = &k;
      r.problem = small_problem(k);
      for (std::size_t i = 0; i < r.problem.size.size(); i++) r.problem.block[i] = (r.problem.size[i] + blocks - 1) / blocks;
      r.problem.block[0] = r.problem.size[0];
      r.expected = &small_solution(k);
      r.how.workers = 2;
      for (const storage data_in : storages_of(k)) {
        r.problem.data_in = data_in;
        expect_right(r);
      }
      r.problem.block = std::vector<std::size_t>(r.problem.size.size(), 1);  // a block an element
      for (const storage data_in : storages_of(k)) {
        r.problem.data_in = data_in;
        expect_right(r);
      }
    }
  }
}

// Blocks as wide as the matrix are named as ranges, others as tiles.
TEST(Stencils, StripsOfOwnMemoryWhoeverWritesThemFirst) {
  for (const char* name : {"jacobi-2d", "seidel-2d", "red-black"}) {
    run_request r;
    r.what = &find_kernel(name);
    r.problem = small_problem(*r.what);
    r.problem.block[1] = r.problem.size[1];
    r.problem.data_in = storage::own;
    const std::any expected = r.what->solve(r.problem).value;
    r.expected = &expected;
    r.how.machine = "nodes:3 cpus:2";
    r.how.workers = 5;
    for (const first_touch init : {first_touch::chunks, first_touch::tasks, first_touch::one, first_touch::inside})
      for (const bool annotate : {false, true}) {
        SCOPED_TRACE(std::string(name_of(init)) + (annotate ? ", annotated" : ""));
        r.problem.init = init;
        r.problem.annotate = annotate;
        expect_right(r);
      }
  }
}

// Made-up input depends on the seed, and so does every result.
TEST(Kernels, FindAResultThatIsNotTheSequentialProgram) {
  for (const kernel& k : kernels()) {
    run_request r;
    r.what = &k;
    r.problem = small_problem(k);
    r.problem.data_in = storages_of(k).front();
    r.problem.seed = 12345;
    r.expected = &small_solution(k);
    r.how.workers = 2;
    const run_result result = run_once(r);
    ASSERT_TRUE(result.verified.has_value()) << k.name;
    EXPECT_FALSE(result.verified->passed) << k.name;
  }
}

TEST(Runner, FillingInsideIsMeasured) {
  run_request r;
  r.what = &find_kernel("nstream");
  r.problem = small_problem(*r.what);
  r.problem.data_in = storage::own;
  r.how.workers = 2;
  const std::uint64_t blocks = 11;  // of 96 elements in 1000; 5 iterations
  EXPECT_EQ(run_once(r).counts.tasks, blocks * 5 + 1);
  r.problem.init = first_touch::inside;
  EXPECT_EQ(run_once(r).counts.tasks, blocks * 6 + 1);
  r.problem.init = first_touch::one;
  EXPECT_EQ(run_once(r).counts.tasks, blocks * 5 + 1);
}

TEST(Runner, CountsTheTasksOfTheRegionOnly) {
  run_request r;
  r.what = &find_kernel("jacobi-2d");
  r.problem = small_problem(*r.what);
  r.how.workers = 2;
  // 7 x 3 blocks, 5 iterations, and the control program.
  EXPECT_EQ(run_once(r).counts.tasks, 7u * 3 * 5 + 1);
}

TEST(Runner, LiveSetIsInThePeak) {
  run_request r;
  r.what = &find_kernel("seidel-2d");
  r.problem = small_problem(*r.what);
  r.problem.size = {512, 512};
  r.problem.block = {64, 64};
  const run_result result = run_once(r);
  EXPECT_EQ(result.live_bytes, 512u * 512 * 8);
  EXPECT_GE(result.counts.peak_buffer_bytes + (64u << 10) * static_cast<unsigned>(result.workers), result.live_bytes);
}

TEST(Report, JsonHasTheKeysProgramsRelyOn) {
  run_request r;
  r.what = &find_kernel("jacobi-2d");
  r.problem = small_problem(*r.what);
  r.how.policy = "push-weighted:in=1,out=3";
  r.expected = &small_solution(*r.what);
  const auto j = nlohmann::json::parse(to_json(r, run_once(r), 3, nullptr));
  for (const char* key :
       {"kernel", "policy", "workers", "nodes", "tasks", "tasks_of_busiest_worker", "one_sided", "seconds",
        "ns_per_task", "locality", "bytes", "peak_buffer_bytes", "steals", "pushes", "pushes_refused", "pages_moved",
        "pages_refused", "moving_ns", "lost_before_moving_ns", "verified",
        "size", "block", "iterations", "control", "memory", "shared", "repeat"})
    EXPECT_TRUE(j.contains(key)) << key;
  EXPECT_EQ(j["policy"], r.how.policy);
  EXPECT_EQ(j["verified"], true);
  EXPECT_EQ(j["repeat"], 3);
  EXPECT_EQ(j["size"], (std::vector<int>{50, 37}));
  for (const char* key : {"read_local", "read_remote", "write_local", "write_remote"}) EXPECT_TRUE(j["bytes"].contains(key)) << key;
}

}  // namespace
}  // namespace weir::bench
