// Logs and the file they become: names, long and short records, chunks laid aside, order, refusals.
#include "trace/merge.hpp"
#include "trace/trace.hpp"

#include <weir/error.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace weir::trace {
namespace {

namespace fs = std::filesystem;

struct trace_test : testing::Test {
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-trace-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { fs::remove_all(folder); }

  // A task without data that begins and ends at once.
  static void run_task(log& l, const char* name, int from = -1, const char* cause = nullptr) {
    frame f;
    f.pending.store(0, std::memory_order_relaxed);
    f.name = name;
    l.task(&f, l.begin(from, false), 0, cause);
  }

  // Counters may tick more slowly than a task takes; what ends within one tick is in any order.
  static void wait_for_tick(const log& l) {
    for (const std::uint64_t before = l.now(); l.now() == before;) continue;
  }

  fs::path folder;
  memory::pools buffers{os::pretended_memory(), {0}, true};
  memory::regions user_memory{os::pretended_memory(), {0}};
};

// What a merge shows, in its order.
struct seen : visitor {
  struct one {
    int worker;
    std::string name;
    task_record record;
    std::vector<std::uint64_t> edges;
  };
  void task(int worker, const std::string& name, const task_record& r, const std::uint64_t* edges) override {
    EXPECT_LE(r.begin, r.end);
    EXPECT_GE(r.end, last);
    last = r.end;
    tasks.push_back({worker, name, r, {edges, edges + r.edges}});
  }
  void sleep(int, const sleep_record& r) override {
    EXPECT_GE(r.end, last);
    last = r.end;
    sleeps++;
  }
  void buffers(const buffers_record& r) override {
    EXPECT_GE(r.time, last);
    samples++;
  }
  std::vector<one> tasks;
  std::size_t sleeps = 0, samples = 0;
  std::uint64_t last = 0;
};

TEST_F(trace_test, logs_are_merged_in_order_of_time) {
  common shared(folder.string(), 100);
  log first(shared, 0, 1, buffers, user_memory, {0}), second(shared, 1, 1, buffers, user_memory, {0});
  for (int i = 0; i < 100; i++) {
    run_task(first, "a");
    wait_for_tick(first);
    run_task(second, "b");
    wait_for_tick(first);
    if (i % 10 == 0) second.slept(second.now(), false);
  }
  seen s;
  EXPECT_EQ(merge(shared, {&first, &second}, s), 0u);
  ASSERT_EQ(s.tasks.size(), 200u);
  EXPECT_EQ(s.sleeps, 10u);
  EXPECT_GE(s.samples, 10u);
  for (std::size_t i = 0; i < 200; i++) {
    EXPECT_EQ(s.tasks[i].worker, static_cast<int>(i % 2));
    EXPECT_EQ(s.tasks[i].name, i % 2 == 0 ? "a" : "b");
  }
}

// One chunk stays in memory, the others go through the file; names are known in each.
TEST_F(trace_test, what_memory_does_not_hold_is_laid_aside_in_a_file_without_a_name) {
  constexpr std::size_t tasks = 100'000;
  common shared(folder.string(), 1);
  log l(shared, 0, 1, buffers, user_memory, {});
  for (std::size_t i = 0; i < tasks; i++) run_task(l, i % 2 == 0 ? "even" : "odd");
  EXPECT_TRUE(fs::is_empty(folder));
  seen s;
  EXPECT_EQ(merge(shared, {&l}, s), 0u);
  ASSERT_EQ(s.tasks.size(), tasks);
  EXPECT_LT(shared.chunks_left.load(std::memory_order_relaxed), 0);
  for (std::size_t i = 0; i < tasks; i++) ASSERT_EQ(s.tasks[i].name, i % 2 == 0 ? "even" : "odd") << i;
  EXPECT_EQ(l.lost(), 0u);
}

TEST_F(trace_test, tasks_that_find_no_room_are_counted) {
  common shared((folder / "gone").string(), 1);
  log l(shared, 0, 1, buffers, user_memory, {});
  for (int i = 0; i < 50'000; i++) run_task(l, "x");
  seen s;
  EXPECT_EQ(merge(shared, {&l}, s), 0u);
  EXPECT_GT(l.lost(), 0u);
  EXPECT_EQ(s.tasks.size() + l.lost(), 50'000u);
}

// The memory of a name may hold another one for the next task, and names may share a place in the table.
TEST_F(trace_test, names_are_copied) {
  common shared(folder.string(), 100);
  log l(shared, 0, 1, buffers, user_memory, {});
  std::vector<std::string> expected;
  char changing[32];
  std::vector<std::string> many(2000);
  for (int i = 0; i < 2000; i++) {
    std::snprintf(changing, sizeof changing, "tile %d", i);
    many[static_cast<std::size_t>(i)] = "other " + std::to_string(i % 700);
    run_task(l, changing);
    run_task(l, many[static_cast<std::size_t>(i)].c_str());
    run_task(l, nullptr);
    expected.insert(expected.end(), {changing, many[static_cast<std::size_t>(i)], "(unnamed)"});
  }
  const std::string endless(5000, 'n');
  run_task(l, endless.c_str());
  run_task(l, endless.c_str());
  seen s;
  merge(shared, {&l}, s);
  ASSERT_EQ(s.tasks.size(), expected.size() + 2);
  for (std::size_t i = 0; i < expected.size(); i++) EXPECT_EQ(s.tasks[i].name, expected[i]);
  EXPECT_EQ(s.tasks.back().name, std::string(200, 'n'));
}

// A task that waits runs others meanwhile: they are written down first, and yet began later.
TEST_F(trace_test, tasks_within_tasks_keep_when_they_began) {
  common shared(folder.string(), 100);
  log l(shared, 0, 1, buffers, user_memory, {});
  std::map<std::string, std::uint64_t> begin;
  const auto nest = [&](const auto& self, int depth, const std::string& name) -> void {
    frame f;
    f.pending.store(0, std::memory_order_relaxed);
    f.name = name.c_str();
    int from = -1;
    const log::start start = l.begin(from, depth > 0);
    begin[name] = start.ticks;
    if (depth < 4)
      for (const char* child : {"0", "1"}) self(self, depth + 1, name + child);
    l.task(&f, start, 0, nullptr);
  };
  for (const char* root : {"a", "b"}) nest(nest, 0, root);
  seen s;
  EXPECT_EQ(merge(shared, {&l}, s), 0u);
  ASSERT_EQ(s.tasks.size(), 2 * 31u);
  std::map<std::string, task_record> by_name;
  for (const seen::one& t : s.tasks) by_name[t.name] = t.record;
  for (const auto& [name, record] : by_name) {
    EXPECT_EQ(record.begin - by_name.at("a").begin, begin.at(name) - begin.at("a")) << name;
    EXPECT_EQ(record.nested, name.size() > 1 ? 1 : 0) << name;
    if (name.size() == 1) continue;
    const task_record& parent = by_name.at(name.substr(0, name.size() - 1));
    EXPECT_LE(parent.begin, record.begin) << name;
    EXPECT_LE(record.end, parent.end) << name;
  }
}

TEST_F(trace_test, where_a_task_came_from_and_how_it_ended) {
  common shared(folder.string(), 100);
  log l(shared, 2, 1, buffers, user_memory, {});
  run_task(l, "own");
  run_task(l, "stolen", 7);
  frame pushed, back;
  int nobody = -1;
  pushed.pending.store(frame::sent_by(5), std::memory_order_relaxed);
  l.task(&pushed, l.begin(nobody, false), 0, nullptr);
  back.pending.store(frame::sent_by(2), std::memory_order_relaxed);
  l.task(&back, l.begin(nobody, false), 0, nullptr);
  const char* const name = "failed";
  run_task(l, name, -1, name);
  run_task(l, "skipped", -1, name);
  seen s;
  merge(shared, {&l}, s);
  const auto is = [&](std::size_t i, origin o, int from, outcome end) {
    EXPECT_EQ(s.tasks[i].record.head.origin, o) << i;
    EXPECT_EQ(s.tasks[i].record.from, from) << i;
    EXPECT_EQ(s.tasks[i].record.head.outcome, end) << i;
  };
  ASSERT_EQ(s.tasks.size(), 6u);
  is(0, origin::own, -1, outcome::done);
  is(1, origin::stolen, 7, outcome::done);
  is(2, origin::pushed, 5, outcome::done);
  is(3, origin::own, -1, outcome::done);  // sent to itself
  is(4, origin::own, -1, outcome::failed);
  is(5, origin::own, -1, outcome::skipped);
}

TEST_F(trace_test, ids_tell_tasks_apart) {
  common shared(folder.string(), 100);
  log first(shared, 0, 1, buffers, user_memory, {}), second(shared, 1, 1, buffers, user_memory, {});
  std::set<task_id> ids;
  for (int i = 0; i < 1000; i++)
    for (log* l : {&first, &second}) {
      frame f;
      f.pending.store(0, std::memory_order_relaxed);
      int nobody = -1;
      l->task(&f, l->begin(nobody, false), 0, nullptr);
      EXPECT_EQ(worker_of(f.trace_id), l->worker());
      ids.insert(f.trace_id);
    }
  EXPECT_EQ(ids.size(), 2000u);
}

TEST_F(trace_test, a_file_that_cannot_be_written_is_refused_at_once) {
  for (const fs::path& bad : {folder / "no" / "such.json", folder}) {
    try {
      recorder r(bad.string());
      ADD_FAILURE() << bad;
    } catch (const configuration_error& e) {
      EXPECT_NE(std::string(e.what()).find(bad.string()), std::string::npos) << e.what();
    }
  }
  recorder good((folder / "good.json").string());
  EXPECT_TRUE(fs::is_empty(folder));
}

about one_worker() {
  return {.policy = "local", .machine = "a \"quoted\" one", .nodes = 1, .worker_nodes = {0}, .worker_cpus = {{0}}};
}

TEST_F(trace_test, without_tasks_there_is_no_file_and_each_runtime_has_its_own) {
  const auto run = [&](int tasks) {
    recorder r((folder / "t.json").string());
    log& l = r.make_log(0, 0, 1, buffers, user_memory);
    for (int i = 0; i < tasks; i++) run_task(l, "x");
    r.write(one_worker());
  };
  run(0);
  EXPECT_TRUE(fs::is_empty(folder));
  run(1);
  run(2);
  EXPECT_TRUE(fs::exists(folder / "t.json"));
  EXPECT_TRUE(fs::exists(folder / "t.2.json"));
}

TEST_F(trace_test, a_full_disk_leaves_no_half_of_a_file) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  recorder r("/dev/full");
  run_task(r.make_log(0, 0, 1, buffers, user_memory), "x");
  try {
    r.write(one_worker());
    ADD_FAILURE();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("/dev/full"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(fs::exists("/dev/full"));
}

TEST_F(trace_test, names_with_anything_in_them_become_json) {
  recorder r((folder / "t.json").string());
  log& l = r.make_log(0, 0, 1, buffers, user_memory);
  run_task(l, "q\"b\\n\nx\x01\xc3\xa9\xff\xed\xa0\x80");
  r.write(one_worker());
  std::stringstream text;
  text << std::ifstream(folder / "t.json").rdbuf();
  EXPECT_NE(text.str().find("\"q\\\"b\\\\n\\u000ax\\u0001\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""), std::string::npos) << text.str();
}

}  // namespace
}  // namespace weir::trace
