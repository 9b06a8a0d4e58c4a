// What every policy owes its users, on every machine file: the right result, statistics that add up, tasks where they
// are required. Policies and machine files come from the registry and the folder, so new ones are run too.
#include "place/place.hpp"
#include "tests/support/support.hpp"

#include <algorithm>
#include <filesystem>

namespace weir::test {
namespace {

std::vector<std::string> machine_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(WEIR_SOURCE_FOLDER "/machines"))
    if (entry.path().extension() == ".toml") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

class conformance : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  runtime_options options(int workers) const {
    runtime_options o;
    o.policy = std::get<0>(GetParam());
    o.machine = std::get<1>(GetParam());
    o.workers = workers;
    return o;
  }
};

constexpr std::size_t blocks = 12, cells = 300, halo = 1, iterations = 10;

std::vector<double> stencil_in_order() {
  std::vector<double> now(blocks * cells), next(blocks * cells);
  for (std::size_t i = 0; i < now.size(); i++) now[i] = static_cast<double>(i * i % 101);
  for (std::size_t t = 0; t < iterations; t++) {
    for (std::size_t i = 0; i < now.size(); i++) next[i] = (i == 0 ? 0 : now[i - 1]) + now[i] / 2 + (i + 1 == now.size() ? 0 : now[i + 1]);
    std::swap(now, next);
  }
  return now;
}

struct bytes {
  std::uint64_t read = 0, written = 0;
};

void relax(std::span<const double> left, std::span<const double> old, std::span<const double> right, std::span<double> next) {
  for (std::size_t i = 0; i < old.size(); i++) {
    const double before = i > 0 ? old[i - 1] : left.empty() ? 0 : left.back();
    const double after = i + 1 < old.size() ? old[i + 1] : right.empty() ? 0 : right.front();
    next[i] = before + old[i] / 2 + after;
  }
}

// The same as tasks. Returns what was declared.
bytes stencil_as_tasks(runtime& rt, std::vector<data<double>>& x) {
  bytes declared;
  for (std::size_t b = 0; b < blocks; b++) {
    x.push_back(rt.make_data<double>(cells));
    rt.spawn({.name = "fill"}, out(x[b]), [b](std::span<double> s) {
      for (std::size_t i = 0; i < cells; i++) s[i] = static_cast<double>((b * cells + i) * (b * cells + i) % 101);
    });
    declared.written += cells * sizeof(double);
  }
  for (std::size_t t = 0; t < iterations; t++) {
    // Neighbours are read in the state before this iteration: an old version each, named before it is replaced.
    std::vector<data<double>> next;
    for (std::size_t b = 0; b < blocks; b++) {
      next.push_back(rt.make_data<double>(cells));
      const auto left = b == 0 ? x[b].slice(0, 0) : x[b - 1].last(halo), right = b + 1 == blocks ? x[b].slice(0, 0) : x[b + 1].first(halo);
      rt.spawn({.name = "relax"}, in(left), in(x[b]), in(right), out(next[b]), relax);
      declared.read += (left.count + cells + right.count) * sizeof(double);
      declared.written += cells * sizeof(double);
    }
    x = std::move(next);
  }
  return declared;
}

std::uint64_t sum(const std::vector<std::uint64_t>& v) {
  std::uint64_t all = 0;
  for (std::uint64_t n : v) all += n;
  return all;
}

TEST_P(conformance, a_stencil_and_its_statistics) {
  watchdog dog(60);
  runtime rt(options(6));
  std::vector<data<double>> x;
  const bytes declared = stencil_as_tasks(rt, x);
  rt.wait();
  const std::vector<double> expected = stencil_in_order();
  for (std::size_t b = 0; b < blocks; b++) {
    const auto v = x[b].read();
    EXPECT_TRUE(std::equal(v.begin(), v.end(), expected.begin() + static_cast<std::ptrdiff_t>(b * cells))) << "block " << b;
  }
  const statistics s = rt.stats();
  EXPECT_EQ(s.policy, place::parse(std::get<0>(GetParam())).name);
  EXPECT_EQ(s.workers, 6);
  EXPECT_EQ(s.tasks, blocks * (iterations + 1));
  EXPECT_EQ(sum(s.read_bytes_by_distance), declared.read);
  EXPECT_EQ(sum(s.write_bytes_by_distance), declared.written);
  EXPECT_EQ(s.read_bytes_by_distance.size(), s.distance_classes.size());
  EXPECT_EQ(s.write_bytes_by_distance.size(), s.distance_classes.size());
  EXPECT_EQ(s.steals_by_distance.size(), s.distance_classes.size());
  EXPECT_TRUE(std::is_sorted(s.distance_classes.begin(), s.distance_classes.end()));
  const auto all = static_cast<double>(declared.read + declared.written);
  EXPECT_DOUBLE_EQ(s.locality().value(), static_cast<double>(s.read_bytes_by_distance[0] + s.write_bytes_by_distance[0]) / all);
  EXPECT_EQ(s.peak_buffer_bytes_by_node.size(), static_cast<std::size_t>(s.nodes));
  const place::chosen p = place::parse(std::get<0>(GetParam()));
  // Drebes et al., PACT 2016, section 3.2: every write is local. Nothing is updated in place here.
  if (p.outputs == flow::allocation::deferred) { EXPECT_EQ(s.write_local(), declared.written); }
  if (!p.places) { EXPECT_EQ(s.pushes + s.pushes_refused, 0u); }
  EXPECT_LE(s.pushes, s.tasks);
}

// The same on memory of the program's own, in two arrays.
TEST_P(conformance, a_stencil_on_own_memory_and_its_statistics) {
  watchdog dog(60);
  runtime rt(options(6));
  std::vector<double> now(blocks * cells), next(blocks * cells);
  const auto block = [](std::vector<double>& of, std::size_t b) { return std::span(of).subspan(b * cells, cells); };
  bytes declared;
  for (std::size_t b = 0; b < blocks; b++)
    rt.spawn({.name = "fill"}, out(ref(block(now, b))), [b](std::span<double> s) {
      for (std::size_t i = 0; i < cells; i++) s[i] = static_cast<double>((b * cells + i) * (b * cells + i) % 101);
    });
  declared.written += blocks * cells * sizeof(double);
  for (std::size_t t = 0; t < iterations; t++) {
    for (std::size_t b = 0; b < blocks; b++) {
      const std::span<double> left = b == 0 ? std::span<double>() : block(now, b - 1).last(halo);
      const std::span<double> right = b + 1 == blocks ? std::span<double>() : block(now, b + 1).first(halo);
      rt.spawn({.name = "relax"}, in(ref(left)), in(ref(block(now, b))), in(ref(right)), out(ref(block(next, b))),
               relax);
      declared.read += (left.size() + cells + right.size()) * sizeof(double);
      declared.written += cells * sizeof(double);
    }
    std::swap(now, next);
  }
  rt.wait();
  EXPECT_EQ(now, stencil_in_order());
  const statistics s = rt.stats();
  EXPECT_EQ(s.tasks, blocks * (iterations + 1));
  EXPECT_EQ(sum(s.read_bytes_by_distance), declared.read);
  EXPECT_EQ(sum(s.write_bytes_by_distance), declared.written);
}

TEST_P(conformance, updates_streams_and_nested_tasks) {
  watchdog dog(60);
  runtime rt(options(5));
  const auto total = rt.make_data(std::vector<std::uint64_t>(700, 0));
  const auto s = rt.make_stream<std::uint64_t>();
  for (std::uint64_t i = 0; i < 60; i++) {
    rt.spawn(s.push(2), [i](auto v) { v[0] = v[1] = i; });
    rt.spawn(s.pop(2), inout(total.last(1)), [&rt](auto v, auto t) {
      scope inner(rt);
      std::atomic<std::uint64_t> n{0};
      for (int k = 0; k < 4; k++) inner.spawn([&] { n++; });
      inner.wait();
      t[0] += v[0] + v[1] + n;
    });
  }
  EXPECT_EQ(total.read()[699], 2u * 1770 + 240);
  rt.wait();
  EXPECT_EQ(sum(rt.stats().read_bytes_by_distance), 60u * 3 * sizeof(std::uint64_t));
}

TEST_P(conformance, required_nodes_are_kept) {
  watchdog dog(60);
  runtime rt(options(4));
  std::atomic<int> wrong{0}, ran{0};
  int possible = 0;
  const auto d = rt.make_data(std::vector<int>(1000, 0));
  for (int i = 0; i < 5; i++)
    for (int node = 0; node < rt.nodes(); node++) try {
        rt.spawn({.affinity = require(node)}, in(d), [&, node](auto) { ran++, wrong += this_task::node() != node; });
        possible++;
      } catch (const usage_error& e) {
        EXPECT_TRUE(contains(e.what(), "no worker")) << e.what();
      }
  rt.wait();
  EXPECT_GE(possible, 5);
  EXPECT_EQ(ran, possible);
  EXPECT_EQ(wrong, 0);
}

// Each as usual; and one that places outputs for their readers, which is another way through flow.
std::vector<std::string> policies() {
  std::vector<std::string> all = policy_names();
  all.push_back("push-weighted:allocate=consumer");
  return all;
}

INSTANTIATE_TEST_SUITE_P(every_policy_on_every_machine, conformance,
                         ::testing::Combine(::testing::ValuesIn(policies()), ::testing::ValuesIn(machine_files())),
                         [](const auto& both) {
                           std::string name = std::get<0>(both.param) + "_on_" + std::filesystem::path(std::get<1>(both.param)).stem().string();
                           std::ranges::replace_if(name, [](char c) { return c == '-' || c == ':' || c == '='; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace weir::test
