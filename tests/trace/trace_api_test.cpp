// What a program's trace tells, read back as JSON: every task once, who ran it, its bytes and its dependences.
#include "tests/support/support.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

namespace weir::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct trace_api : testing::Test {
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-trace-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { fs::remove_all(folder); }
  runtime_options options(int workers, const char* machine = "") const {
    runtime_options o;
    o.workers = workers;
    o.machine = machine;
    o.trace = (folder / "trace.json").string();
    return o;
  }
  json read(const char* name = "trace.json") const { return json::parse(std::ifstream(folder / name)); }
  static std::vector<json> tasks(const json& trace) {
    std::vector<json> found;
    for (const json& e : trace["traceEvents"])
      if (e["ph"] == "X" && e["cat"] == "task") found.push_back(e);
    return found;
  }
  // Predecessors' names by task's name; names must be unique.
  static std::map<std::string, std::set<std::string>> edges(const json& trace) {
    std::map<std::string, std::string> name_of;
    for (const json& t : tasks(trace)) name_of[t["args"]["id"]] = t["name"];
    std::map<std::string, std::set<std::string>> result;
    for (const json& t : tasks(trace)) {
      auto& before = result[t["name"]];
      for (const json& id : t["args"].value("after", json::array())) before.insert(name_of.at(id));
    }
    return result;
  }

  fs::path folder;
};

using edge_map = std::map<std::string, std::set<std::string>>;

// With quotes and line ends, as JSON has them.
class explaining final : public policy {
 public:
  std::string explanation() const override { return "first: \"one\"\nsecond"; }
};
const policy_registration<explaining> here("explaining-in-traces");

TEST_F(trace_api, what_the_policy_has_chosen) {
  {
    runtime_options o = options(1);
    o.policy = "explaining-in-traces";
    runtime rt(o);
    rt.spawn([] {});
    EXPECT_EQ(rt.stats().policy_explanation, "first: \"one\"\nsecond");
  }
  EXPECT_EQ(read()["otherData"]["chosen"], "first: \"one\"\nsecond");
}

TEST_F(trace_api, says_nothing_where_there_was_no_choice) {
  {
    runtime_options o = options(1);
    o.policy = "local";
    runtime rt(o);
    rt.spawn([] {});
  }
  EXPECT_FALSE(read()["otherData"].contains("chosen"));
}

TEST_F(trace_api, dependences_through_data) {
  {
    runtime rt(options(2));
    auto x = rt.make_data<double>(100), y = rt.make_data<double>(100);
    auto given = rt.make_data(std::vector<double>(10, 1.0));
    rt.spawn({.name = "w"}, out(x), [](auto) {});
    rt.spawn({.name = "r"}, in(x), in(given), out(y), [](auto, auto, auto) {});
    rt.spawn({.name = "u"}, inout(x), [](auto) {});
    rt.spawn({.name = "rr"}, in(x), in(y), [](auto, auto) {});
    rt.wait();
  }
  const json t = read();
  EXPECT_EQ(edges(t), (edge_map{{"w", {}}, {"r", {"w"}}, {"u", {"w"}}, {"rr", {"u", "r"}}}));
  for (const json& e : tasks(t))
    if (e["name"] == "r") {
      EXPECT_EQ(e["args"]["read_local"], 880);
      EXPECT_EQ(e["args"]["write_local"], 800);
      EXPECT_EQ(e["args"]["read_remote"], 0);
    }
  EXPECT_EQ(t["otherData"]["tasks"], 4);
}

TEST_F(trace_api, dependences_through_user_memory_streams_and_graphs) {
  std::vector<int> memory(100);
  {
    runtime rt(options(2));
    rt.spawn({.name = "a"}, out(ref(std::span(memory))), [](auto) {});
    rt.spawn({.name = "b"}, in(ref(std::span(memory).first(10))), [](auto) {});
    rt.spawn({.name = "c"}, inout(ref(std::span(memory).subspan(5, 20))), [](auto) {});
    rt.wait();
    rt.spawn({.name = "late"}, in(ref(std::span(memory).last(10))), [](auto) {});
    auto s = rt.make_stream<int>();
    rt.spawn({.name = "p"}, s.push(3), [](std::span<int> v) { std::iota(v.begin(), v.end(), 0); });
    rt.spawn({.name = "q"}, s.push(3), [](std::span<int> v) { std::iota(v.begin(), v.end(), 0); });
    rt.spawn({.name = "pop"}, s.pop(5), [](std::span<const int>) {});
    rt.wait();
    graph g;
    const auto first = g.add({.name = "g1"}, [] {}), second = g.add({.name = "g2"}, [] {}), last = g.add({.name = "g3"}, [] {});
    g.precede(first, last);
    g.precede(second, last);
    g.run(rt);
  }
  edge_map found = edges(read());
  // Memory that everybody is done with is forgotten by wait().
  EXPECT_EQ(found["b"], (std::set<std::string>{"a"}));
  EXPECT_EQ(found["c"],
            (std::set<std::string>{"a"}));  // as with data: b, which read, is waited for, and gives nothing
  EXPECT_EQ(found["late"], std::set<std::string>{});
  EXPECT_EQ(found["pop"], (std::set<std::string>{"p", "q"}));
  EXPECT_EQ(found["g3"], (std::set<std::string>{"g1", "g2"}));
  EXPECT_EQ(found["g1"], std::set<std::string>{});
}

TEST_F(trace_api, each_run_of_a_graph_has_its_own_edges) {
  constexpr int runs = 20, width = 5;
  {
    runtime rt(options(3));
    graph g;
    const auto root = g.add({.name = "root"}, [] {});
    for (int i = 0; i < width; i++) g.precede(root, g.add({.name = "leaf"}, [] {}));
    for (int i = 0; i < runs; i++) g.run(rt);
  }
  std::map<std::string, int> leaves_of;
  const json trace = read();
  std::set<std::string> roots;
  for (const json& t : tasks(trace)) {
    if (t["name"] == "root") roots.insert(t["args"]["id"]);
    if (t["name"] == "leaf") leaves_of[t["args"].at("after").at(0)]++;
  }
  EXPECT_EQ(roots.size(), static_cast<std::size_t>(runs));
  for (const std::string& r : roots) EXPECT_EQ(leaves_of[r], width);
}

// Statistics and trace count the same, on a machine of several nodes, under every policy.
TEST_F(trace_api, agrees_with_the_statistics) {
  for (const std::string& policy : policy_names()) {
    statistics s;
    {
      runtime_options o = options(8, "nodes:4 cpus:2");
      o.policy = policy;
      o.trace = (folder / (policy + ".json")).string();
      runtime rt(o);
      std::vector<data<double>> x;
      for (int i = 0; i < 16; i++) x.push_back(rt.make_data<double>(20'000));
      for (auto& b : x) rt.spawn({.name = "fill"}, out(b), [](auto v) { std::fill(v.begin(), v.end(), 1.0); });
      for (int t = 0; t < 10; t++)
        for (std::size_t i = 1; i < 15; i++) rt.spawn({.name = "step"}, in(x[i - 1]), in(x[i + 1]), in(x[i]), out(x[i]), [](auto, auto, auto a, auto b) { std::copy(a.begin(), a.end(), b.begin()); });
      rt.wait();
      s = rt.stats();
    }
    const json trace = json::parse(std::ifstream(folder / (policy + ".json")));
    std::uint64_t read_local = 0, read_remote = 0, write_local = 0, write_remote = 0, stolen = 0, count = 0;
    for (const json& t : tasks(trace)) {
      const json& a = t["args"];
      count++;
      read_local += a.value("read_local", 0u);
      read_remote += a.value("read_remote", 0u);
      write_local += a.value("write_local", 0u);
      write_remote += a.value("write_remote", 0u);
      if (a.contains("stolen_from") && a["stolen_from"] >= 0) stolen++;
      EXPECT_EQ(a["node"], t["pid"].get<int>() - 1);
      EXPECT_TRUE(!a.contains("home") || (a["home"] >= 0 && a["home"] < 4));
    }
    EXPECT_EQ(count, s.tasks) << policy;
    EXPECT_EQ(trace["otherData"]["policy"], policy);
    EXPECT_EQ(trace["otherData"]["tasks"], count);
    EXPECT_EQ(read_local, s.read_local()) << policy;
    EXPECT_EQ(read_remote, s.read_remote()) << policy;
    EXPECT_EQ(write_local, s.write_local()) << policy;
    EXPECT_EQ(write_remote, s.write_remote()) << policy;
    EXPECT_EQ(stolen, s.steals()) << policy;
    std::uint64_t matrix = 0, diagonal = 0;
    for (int row = 0; row < 4; row++)
      for (int column = 0; column < 4; column++) {
        const std::uint64_t bytes = trace["otherData"]["bytes_read"][row][column].get<std::uint64_t>() + trace["otherData"]["bytes_written"][row][column].get<std::uint64_t>();
        matrix += bytes;
        if (row == column) diagonal += bytes;
      }
    EXPECT_EQ(diagonal, read_local + write_local) << policy;
    EXPECT_EQ(matrix, diagonal + read_remote + write_remote) << policy;
  }
}

// Where there is another node.
TEST_F(trace_api, tasks_that_require_a_node) {
  for (const bool several : {false, true}) {
    const char* const file = several ? "several.json" : "one.json";
    {
      runtime_options o = options(2, several ? "nodes:2 cpus:1" : "nodes:1 cpus:2");
      o.trace = (folder / file).string();
      runtime rt(o);
      auto x = rt.make_data<int>(10);
      for (int i = 0; i < 3; i++) {
        rt.spawn({.name = "must", .affinity = require(0)}, out(x), [](auto) {});
        rt.spawn({.name = "must", .affinity = require(0)}, [] {});
        rt.spawn({.name = "may", .affinity = prefer(0)}, [] {});
      }
      rt.wait();
    }
    const json t = read(file);
    EXPECT_EQ(tasks(t).size(), 9u);
    for (const json& e : tasks(t)) EXPECT_EQ(e["args"].contains("required"), several && e["name"] == "must") << e;
  }
}

// Slices of a worker do not overlap unless one lies within the other, arrows begin and end inside their slices.
TEST_F(trace_api, slices_nest_and_arrows_hit_them) {
  {
    runtime rt(options(3));
    auto x = rt.make_data<int>(10);
    for (int i = 0; i < 200; i++) {
      rt.spawn({.name = "outer"}, out(x), [&rt](auto) {
        scope s(rt);
        for (int k = 0; k < 5; k++) s.spawn({.name = "inner"}, [] {});
        s.wait();
      });
      rt.spawn({.name = "reader"}, in(x), [](auto) {});
    }
    rt.wait();
  }
  const json trace = read();
  const auto ns = [](const json& number) { return std::llround(number.get<double>() * 1000); };
  struct slice { long long begin, end; };
  std::map<int, std::vector<slice>> by_worker;
  for (const json& e : trace["traceEvents"])
    if (e["ph"] == "X") by_worker[e["tid"]].push_back({ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])});
  for (auto& [worker, slices] : by_worker) {
    std::sort(slices.begin(), slices.end(), [](const slice& a, const slice& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
    std::vector<slice> open;
    for (const slice& s : slices) {
      EXPECT_LT(s.begin, s.end);
      while (!open.empty() && open.back().end <= s.begin) open.pop_back();
      if (!open.empty()) { EXPECT_LE(s.end, open.back().end); }
      open.push_back(s);
    }
  }
  std::map<long long, long long> begin_of_arrow;
  std::size_t arrows = 0;
  for (const json& e : trace["traceEvents"]) {
    if (e["ph"] != "s" && e["ph"] != "f") continue;
    const long long at = ns(e["ts"]);
    const auto& slices = by_worker[e["tid"]];
    EXPECT_TRUE(std::any_of(slices.begin(), slices.end(), [&](const slice& s) { return s.begin <= at && at < s.end; })) << e.dump();
    if (e["ph"] == "s") begin_of_arrow[e["id"]] = at;
    else {
      EXPECT_LE(begin_of_arrow.at(e["id"]), at) << e.dump();
      arrows++;
    }
  }
  EXPECT_EQ(arrows, 200u);  // outer to its reader
}

TEST_F(trace_api, tasks_that_fail_say_so) {
  {
    runtime rt(options(1));
    auto x = rt.make_data<int>(1);
    rt.spawn({.name = "bad"}, out(x), [](auto) { throw std::runtime_error("no"); });
    rt.spawn({.name = "poor"}, in(x), [](auto) {});
    EXPECT_THROW(rt.wait(), task_failed);
  }
  std::map<std::string, std::string> outcome;
  for (const json& t : tasks(read())) outcome[t["name"]] = t["args"].value("outcome", "done");
  EXPECT_EQ(outcome, (std::map<std::string, std::string>{{"bad", "failed"}, {"poor", "skipped"}}));
}

TEST_F(trace_api, end_throws_what_the_destructor_can_only_say) {
  runtime rt({.workers = 2, .trace = "/dev/full"});
  std::atomic<int> ran{0};
  for (int i = 0; i < 5; i++) rt.spawn([&] { ran++; });
  WEIR_EXPECT_CONTAINS(message_of<error>([&] { rt.end(); }), "/dev/full");
  EXPECT_EQ(ran, 5);
  runtime fine(options(2));
  fine.spawn([&] { ran++; });
  fine.end();
  EXPECT_EQ(tasks(read()).size(), 1u);
}

TEST_F(trace_api, the_environment_asks_for_one) {
  const fs::path path = folder / "env.json";
  setenv("WEIR_TRACE", path.c_str(), 1);
  {
    runtime quiet({.workers = 1, .trace = runtime_options::no_trace});
    quiet.spawn([] {});
  }
  EXPECT_FALSE(fs::exists(path));
  {
    runtime rt({.workers = 1});
    rt.spawn({.name = "t"}, [] {});
  }
  EXPECT_EQ(tasks(read("env.json")).size(), 1u);
  setenv("WEIR_TRACE", (folder / "no" / "folder.json").c_str(), 1);
  const std::string message = message_of<configuration_error>([] { runtime rt({.workers = 1}); });
  unsetenv("WEIR_TRACE");
  WEIR_EXPECT_CONTAINS(message, "folder.json");
  WEIR_EXPECT_CONTAINS(message, "No such file");
}

}  // namespace
}  // namespace weir::test
