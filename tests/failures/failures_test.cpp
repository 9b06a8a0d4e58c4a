// Memory and threads run out at every place where weir asks for some: there is an error with a sentence, nothing hangs,
// nothing is lost, and the runtime works as before.
#include "tests/failures/failing.hpp"
#include "tests/support/support.hpp"

#include <weir/coarse_graph.hpp>
#include <weir/graph.hpp>
#include <weir/parallel.hpp>

#include <functional>
#include <new>
#include <unistd.h>

namespace weir::test {
namespace {

// The nth request fails for each n up to here, or until a program asks for no more.
long most_requests() { return more_effort() > 1 ? 400 : sanitized ? 25 : 60; }

void expect_sentence(const std::exception& e) {
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr) return;
  EXPECT_NE(dynamic_cast<const error*>(&e), nullptr) << "no weir::error: " << e.what();
  EXPECT_GE(std::string(e.what()).size(), 20u) << e.what();
}

template <class F>
bool succeeds(F&& f) {
  try {
    f();
    return true;
  } catch (const std::exception& e) {
    expect_sentence(e);
    return false;
  }
}

// Waits in its destructor, so that what tasks use outlives them whatever is thrown.
struct all_done {
  explicit all_done(runtime& r) : rt(r) {}
  ~all_done() { succeeds([&] { rt.wait(); }); }
  runtime& rt;
};

void require(bool right, const char* what) {
  if (!right) throw std::logic_error(std::string("wrong result: ") + what);
}

void run_tasks(runtime& rt) {
  const auto a = rt.make_data<int>(10, "a"), b = rt.make_data(std::vector<int>(1000, 1), "b");
  std::vector<data<int>> many;
  for (int i = 0; i < 20; i++) many.push_back(rt.make_data<int>(5));
  std::atomic<int> ran{0};
  const all_done done(rt);
  const std::vector<int> captured(100, 7);
  rt.spawn(out(a), [captured](auto w) { std::ranges::fill(w, captured[3]); });
  for (int i = 0; i < 20; i++) rt.spawn({.name = "update"}, in(a), inout(b), [](auto r, auto w) { w[0] += r[0]; });
  rt.spawn(out(many), [&](auto) { ran++; });
  rt.spawn(in(many), in(b), out(a), [&](auto, auto r, auto w) { w[0] = r[0], ran++; });
  for (int i = 0; i < 50; i++) rt.spawn([&] { ran++; });
  const int read = a.read()[0];
  rt.wait();
  require(read == 141 && ran == 52, "tasks");
}

void run_blocking(runtime& rt) {
  std::atomic<int> ran{0};
  const all_done done(rt);
  for (int i = 0; i < 8; i++)
    rt.spawn([&] {
      const int worker = this_task::worker();
      blocking([] { std::this_thread::yield(); });
      ran += this_task::worker() == worker;
    });
  rt.wait();
  require(ran == 8, "blocking");
}

void run_refs(runtime& rt) {
  std::vector<int> x(100, 0);
  const all_done done(rt);
  const std::span<int> all(x);
  for (int i = 0; i < 10; i++) {
    rt.spawn(inout(ref(all)), [](auto v) { for (int& e : v) e++; });
    const auto increment = [](auto v) { for (int& e : v) e++; };
    for (std::size_t k = 0; k < 5; k++) rt.spawn(inout(ref(all.subspan(7 * k, 20))), increment);
    for (std::size_t k = 0; k < 9; k++)
      rt.spawn(in(ref(all.subspan(10 * k, 15))), in(ref(all.subspan(3, 5))), [](auto, auto) {});
    rt.spawn(in(ref(all.first(5))), out(ref(all.last(5))), inout(ref(all.subspan(2, 50))), [](auto, auto, auto) {});
  }
  rt.wait();
  require(x[99] == 10 && x[0] == 20 && x[20] == 30, "refs");
}

void run_streams(runtime& rt) {
  const auto s = rt.make_stream<int>("s");
  std::vector<stream<int>> group;
  for (int i = 0; i < 4; i++) group.push_back(rt.make_stream<int>());
  std::atomic<int> sum{0};
  const all_done done(rt);
  for (int i = 0; i < 6; i++) rt.spawn(s.push(3), [i](auto w) { std::ranges::fill(w, i); });
  for (int i = 0; i < 4; i++)
    rt.spawn(s.peek(4), s.pop(2), s.tick(1),
             [&](auto look, auto take) { sum += look[3] - look[3] + take[0] - take[0] + 1; });
  for (int i = 0; i < 3; i++) rt.spawn(s.pop(4), [&](auto) { sum++; });  // windows before their pushes
  rt.spawn(s.push(6), [](auto w) { std::ranges::fill(w, 1); });
  rt.spawn(push_each(group, 2), [](auto) {});
  rt.spawn(pop_each(group, 2), [&](auto) { sum++; });
  rt.wait();
  require(sum == 8, "streams");
}

void run_scopes(runtime& rt) {
  std::atomic<int> ran{0};
  scope outer(rt);
  const auto d = rt.make_data(std::vector<int>{0});
  for (int i = 0; i < 4; i++)
    outer.spawn([&] {
      scope inner(rt);
      for (int k = 0; k < 10; k++) inner.spawn([&] { ran++; });
      const auto own = rt.make_data<int>(3);
      inner.spawn(out(own), inout(d), [&](auto, auto v) { v[0]++; });
      inner.spawn(in(own), [&](auto) { ran++; });
      inner.wait();
    });
  outer.wait();
  require(ran == 44 && d.read()[0] == 4, "scopes");
  rt.run([&](scope& s) { s.spawn([&] { ran++; }); });
}

void run_graph(runtime& rt) {
  std::atomic<int> ran{0};
  const std::vector<int> captured(100, 1);
  graph g;
  for (int i = 0; i < 40; i++) g.add([&ran, captured] { ran += captured[0]; });
  for (int i = 0; i < 40; i++) g.add([&ran] { ran++; });
  for (graph::task_id i = 0; i + 8 < 80; i++) g.precede(i, i + 8);
  g.run(rt);
  g.run(rt);
  require(ran == 160, "graph");
}

// The same graph again, after whatever happened.
void run_bulk(runtime& rt) {
  std::vector<std::size_t> begin(201, 0);
  for (std::size_t t = 1; t <= 200; t++) begin[t] = begin[t - 1] + (t > 20 ? 2 : 0);
  std::vector<graph::task_id> before;
  for (graph::task_id t = 20; t < 200; t++) before.insert(before.end(), {t - 20, t - 19});
  graph g(begin, before);
  std::atomic<int> ran{0};
  const auto body = [&](graph::task_id) { ran++; };
  const bool first = succeeds([&] { g.run(rt, body); });
  const bool second = succeeds([&] { g.run_transposed(rt, body); });
  require(!first || !second || ran == 400, "bulk graph");
  ran = 0;
  g.run(rt, body);
  g.run_transposed(rt, body);
  require(ran == 400, "bulk graph again");
}

void run_coarse(runtime& rt) {
  graph g;
  std::atomic<int> ran{0};
  for (int i = 0; i < 60; i++) g.add([&] { ran++; });
  for (graph::task_id i = 0; i + 6 < 60; i++) g.precede(i, i + 6);
  coarse_graph c = aggregate(g, "CD(4)");
  c.run(rt);
  c.run(rt, [&](graph::task_id) { ran++; });
  require(ran == 120, "coarse graph");
}

void run_loops(runtime& rt) {
  std::vector<int> x(1000, 0);
  parallel_for(rt, 0, 1000, [&](int i) { x[static_cast<std::size_t>(i)]++; });
  parallel_for(rt, x, [](int& v) { v++; }, {.grain = 10});
  const int sum = parallel_reduce(rt, x, 0, [](int v) { return v; }, std::plus());
  require(sum == 2000, "loops");
}

// More tasks than a queue has room for at first, of the program's thread and of a worker.
void run_wide(runtime& rt) {
  std::atomic<int> ran{0};
  gate door;
  {
    const all_done done(rt);
    struct opened {
      gate& d;
      ~opened() { d.open(); }
    } const open{door};
    for (int i = 0; i < rt.workers(); i++) rt.spawn([&] { door.pass(); });
    for (int i = 0; i < 1500; i++) rt.spawn([&] { ran++; });
  }
  const auto d = rt.make_data(std::vector<int>{0});
  const all_done done(rt);
  const auto begin = rt.make_data<int>(1);
  gate second;
  rt.spawn(out(begin), [&](auto) { second.pass(); });
  struct opened {
    gate& d;
    ~opened() { d.open(); }
  } const open{second};
  for (int i = 0; i < 1500; i++) rt.spawn(in(begin), [&](auto) { ran++; });
  second.open();
  rt.wait();
  require(ran == 3000, "wide");
}

void run_guests(runtime& rt) {
  std::atomic<int> ran{0};
  std::exception_ptr thrown;
  const auto d = rt.make_data(std::vector<int>{1});
  std::thread([&] {
    try {
      for (int i = 0; i < 10; i++) rt.spawn([&] { ran++; });
      rt.spawn(inout(d), [](auto v) { v[0]++; });
      const auto copy = d.read();
    } catch (...) {
      thrown = std::current_exception();
    }
    succeeds([&] { rt.wait(); });
  }).join();
  rt.wait();
  if (thrown != nullptr) std::rethrow_exception(thrown);
  require(ran == 10, "guests");
}

// A thread whose first use of the runtime is to let go of something.
void run_release(runtime& rt) {
  std::atomic<int> ran{0};
  const all_done done(rt);
  auto d = rt.make_data(std::vector<int>(100));
  auto s = rt.make_stream<int>();
  rt.spawn(out(d), s.push(3), [&](auto, auto) { ran++; });
  rt.spawn(in(d), s.pop(3), [&](auto, auto) { ran++; });
  std::vector<view<int>> views;
  views.push_back(d.read());
  std::thread([&, own = std::move(d), pipe = std::move(s), looks = std::move(views)]() mutable {
    looks.clear();
    own = {};
    pipe = {};
  }).join();
  rt.wait();
  require(ran == 2, "release");
}

void run_traced(runtime&) {
  const std::string file = ::testing::TempDir() + "failures_test." + std::to_string(getpid()) + ".json";
  struct removed {
    const std::string& file;
    ~removed() { unlink(file.c_str()); }
  } const after{file};
  runtime rt({.workers = 2, .trace = file});
  run_tasks(rt);
  run_refs(rt);
  run_streams(rt);
  std::atomic<int> ran{0};
  std::vector<std::string> names;
  for (int i = 0; i < 50; i++) names.push_back("a task with a long name and the number " + std::to_string(i));
  const all_done done(rt);
  for (const std::string& n : names) rt.spawn({.name = n.c_str()}, [&] { ran++; });
  rt.wait();
  require(ran == 50, "traced");
}

struct program {
  const char* name;
  std::function<void(runtime&)> run;
};

const std::vector<program>& programs() {
  static const std::vector<program> all{{"tasks", run_tasks},   {"refs", run_refs},       {"streams", run_streams},
                                        {"scopes", run_scopes}, {"graph", run_graph},     {"bulk", run_bulk},
                                        {"coarse", run_coarse}, {"loops", run_loops},     {"wide", run_wide},
                                        {"guests", run_guests}, {"release", run_release}, {"traced", run_traced},
                                        {"blocking", run_blocking}};
  return all;
}

class failures : public ::testing::TestWithParam<std::size_t> {};

void expect_nothing_lost(const footprint& before, const footprint& after) {
  EXPECT_EQ(before.blocks, after.blocks);
  EXPECT_EQ(before.mapped_bytes, after.mapped_bytes);
}

// Of one kind of request: whether one failed.
bool with_a_failure(const program& p, const runtime_options& o, void (*fail)(long), long nth) {
  const footprint before = in_use();
  bool one_failed = false;
  {
    runtime rt(o);
    fail(nth);
    const bool done = succeeds([&] { p.run(rt); });
    one_failed = stop_failing();
    EXPECT_TRUE(done || one_failed) << "without a reason";
    succeeds([&] { rt.wait(); });
    EXPECT_TRUE(succeeds([&] { p.run(rt); })) << "not usable afterwards";
  }
  expect_nothing_lost(before, in_use());
  return one_failed;
}

TEST_P(failures, of_allocations_in_a_runtime) {
  watchdog dog(600, "a program that ran out of memory");
  const program& p = programs()[GetParam()];
  for (const char* machine : {"", "nodes:2 cpus:2"}) {
    const runtime_options o{.workers = 2, .machine = machine};
    // And what is made once is there.
    require(succeeds([&] { p.run(*std::make_unique<runtime>(o)); }), "without a failure");
    bool goes_on = true;
    for (long nth = 1; goes_on && nth <= most_requests() && !HasFailure(); nth++) {
      SCOPED_TRACE(std::string(p.name) + " " + machine + ", request " + std::to_string(nth));
      goes_on = with_a_failure(p, o, fail_allocation, nth);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, failures, ::testing::Range(std::size_t{0}, programs().size()),
                         [](const auto& i) { return std::string(programs()[i.param].name); });

bool made_with_a_failure(const runtime_options& o, void (*fail)(long), long nth) {
  const footprint before = in_use();
  fail(nth);
  const bool made = succeeds([&] {
    runtime rt(o);
    run_tasks(rt);
  });
  const bool one_failed = stop_failing();
  EXPECT_TRUE(made || one_failed);
  expect_nothing_lost(before, in_use());
  return one_failed;
}

TEST(failures_of_a_runtime, allocations_while_it_is_made_and_ends) {
  watchdog dog(600, "a runtime that ran out of memory");
  for (const char* machine : {"", "nodes:2 cpus:2"})
    for (const char* trace : {runtime_options::no_trace, "failures_test.json"}) {
      const std::string file =
          trace == runtime_options::no_trace ? trace : ::testing::TempDir() + std::to_string(getpid()) + trace;
      const runtime_options o{.workers = 2, .machine = machine, .trace = file};
      require(succeeds([&] { run_tasks(*std::make_unique<runtime>(o)); }), "without a failure");
      bool goes_on = true;
      for (long nth = 1; goes_on && nth <= 10 * most_requests() && !HasFailure(); nth++) {
        SCOPED_TRACE(std::string(machine) + ", request " + std::to_string(nth));
        goes_on = made_with_a_failure(o, fail_allocation, nth);
      }
      for (int i = 1; i < 5000; i++)
        unlink((i == 1 ? file : file.substr(0, file.size() - 5) + "." + std::to_string(i) + ".json").c_str());
    }
}

TEST(failures_of_a_runtime, threads_while_it_is_made) {
  if (!can_fail_threads) GTEST_SKIP() << "a sanitizer has its own pthread_create";
  watchdog dog(60, "a runtime without threads");
  for (long nth = 1; nth <= 8; nth++) EXPECT_TRUE(made_with_a_failure({.workers = 8}, fail_thread, nth));
}

}  // namespace
}  // namespace weir::test
