// What makes no sense is refused by spawn() with a sentence, and then nothing has changed.
#include "tests/support/support.hpp"

#include <limits>

namespace weir::test {
namespace {

class refusals : public ::testing::Test {
 protected:
  // Nothing of a refused task is left behind: its closure is gone, and what follows works.
  void TearDown() override {
    const auto d = rt.make_data<int>(1);
    rt.spawn(out(d), [](auto s) { s[0] = 1; });
    EXPECT_EQ(d.read()[0], 1);
    rt.wait();
    EXPECT_EQ(token.use_count(), 1) << "closures are left";
  }

  runtime rt{{.workers = 2}};
  std::shared_ptr<int> token = std::make_shared<int>(0);
};

TEST_F(refusals, slices_beyond_the_end) {
  const auto d = rt.make_data(std::vector<int>(10), "ten");
  for (const std::string& message : {message_of<usage_error>([&] { d.slice(8, 3); }), message_of<usage_error>([&] { d.slice(11, 0); }), message_of<usage_error>([&] { d.first(11); }),
                                     message_of<usage_error>([&] { d.last(11); }), message_of<usage_error>([&] { d.slice(1, std::numeric_limits<std::size_t>::max()); })}) {
    WEIR_EXPECT_CONTAINS(message, "ten");
    WEIR_EXPECT_CONTAINS(message, "10");
  }
  const std::string message = message_of<usage_error>([&] { d.slice(8, 3); });
  WEIR_EXPECT_CONTAINS(message, "8");
  WEIR_EXPECT_CONTAINS(message, "11");
}

TEST_F(refusals, null_handles) {
  const data<int> none;
  const stream<int> no_stream;
  const auto good = rt.make_data(std::vector<int>(1));
  EXPECT_FALSE(none);
  EXPECT_EQ(none.size(), 0u);
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { rt.spawn(in(good), in(none), [t = token](auto, auto) {}); }), "weir::data");
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { rt.spawn(out(none), [t = token](auto) {}); }), "weir::data");
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { rt.spawn(inout(std::vector{good, none}), [t = token](auto) {}); }), "weir::data");
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { rt.spawn(no_stream.push(1), [t = token](auto) {}); }), "weir::stream");
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { rt.spawn(pop_each(std::vector{no_stream}, 1), [t = token](auto) {}); }), "weir::stream");
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { none.read(); }), "weir::data");
}

TEST_F(refusals, reading_what_nobody_wrote) {
  const auto d = rt.make_data<double>(12, "empty");
  for (const std::string& message : {message_of<usage_error>([&] { rt.spawn({.name = "reader"}, in(d), [t = token](auto) {}); }),
                                     message_of<usage_error>([&] { rt.spawn({.name = "reader"}, inout(d), [t = token](auto) {}); }),
                                     message_of<usage_error>([&] { rt.spawn({.name = "reader"}, in(d), out(d), [t = token](auto, auto) {}); }),
                                     message_of<usage_error>([&] { rt.spawn({.name = "reader"}, in(std::vector{d}), [t = token](auto) {}); })}) {
    WEIR_EXPECT_CONTAINS(message, "reader");
    WEIR_EXPECT_CONTAINS(message, "empty");
    WEIR_EXPECT_CONTAINS(message, "12 elements");
  }
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { d.read(); }), "empty");
}

TEST_F(refusals, writing_twice) {
  const auto d = rt.make_data(std::vector<int>(3), "d");
  for (const std::string& message : {message_of<usage_error>([&] { rt.spawn({.name = "twice"}, out(d), out(d), [t = token](auto, auto) {}); }),
                                     message_of<usage_error>([&] { rt.spawn({.name = "twice"}, inout(d), inout(d), [t = token](auto, auto) {}); }),
                                     message_of<usage_error>([&] { rt.spawn({.name = "twice"}, inout(d.first(1)), inout(d.last(1)), [t = token](auto, auto) {}); }),
                                     message_of<usage_error>([&] { rt.spawn({.name = "twice"}, out(d), inout(d), [t = token](auto, auto) {}); }),
                                     message_of<usage_error>([&] { rt.spawn({.name = "twice"}, out(std::vector{d, d}), [t = token](auto) {}); })}) {
    WEIR_EXPECT_CONTAINS(message, "twice");
    WEIR_EXPECT_CONTAINS(message, "datum d of 3 elements");
    WEIR_EXPECT_CONTAINS(message, "written by more than one");
  }
  const std::string message = message_of<usage_error>([&] { rt.spawn({.name = "both"}, in(d), inout(d), [t = token](auto, auto) {}); });
  WEIR_EXPECT_CONTAINS(message, "both");
  WEIR_EXPECT_CONTAINS(message, "inout()");
}

TEST_F(refusals, sizes_nobody_has) {
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { rt.make_data<double>(std::numeric_limits<std::size_t>::max(), "huge"); }), "huge");
  EXPECT_THROW(rt.make_data<double>(std::numeric_limits<std::size_t>::max() / 8 + 2), usage_error);
  const auto s = rt.make_stream<double>("wide");
  EXPECT_THROW(rt.spawn(s.push(std::numeric_limits<std::size_t>::max() / 8 + 2), [t = token](auto) {}), usage_error);
  EXPECT_THROW(rt.spawn(s.tick(std::numeric_limits<std::size_t>::max()), [t = token] {}), usage_error);
}

#if defined(__x86_64__)
// 128 TiB fit into no process: the system refuses, and the task that wants them fails.
TEST_F(refusals, memory_the_system_does_not_have) {
  constexpr std::size_t too_much = std::size_t{1} << 47;
  const auto d = rt.make_data<char>(too_much, "d");
  const auto other = rt.make_data<char>(100);
  rt.spawn({.name = "glutton"}, out(other), out(d), [t = token](auto, auto) {});
  WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { rt.wait(); }), "glutton");
  const char c = 0;
  EXPECT_THROW(rt.make_data(std::span<const char>(&c, too_much)), std::bad_alloc);
  EXPECT_LT(rt.stats().live_buffer_bytes, std::size_t{1} << 30);

  runtime eager({.workers = 1, .policy = "steal"});
  const auto e = eager.make_data<char>(too_much);
  EXPECT_THROW(eager.spawn(out(e), [t = token](auto) {}), std::bad_alloc);
  eager.wait();
  EXPECT_LT(eager.stats().live_buffer_bytes, std::size_t{1} << 30);
}
#endif

TEST_F(refusals, affinities_that_can_not_be_met) {
  runtime two({.workers = 1, .machine = "nodes:2 cpus:1"});
  const std::string range = message_of<usage_error>([&] { two.spawn({.name = "t", .affinity = prefer(2)}, [t = token] {}); });
  WEIR_EXPECT_CONTAINS(range, "t");
  WEIR_EXPECT_CONTAINS(range, "node 2");
  EXPECT_THROW(two.spawn({.affinity = prefer(-2)}, [t = token] {}), usage_error);
  EXPECT_THROW(two.spawn({.affinity = require(99)}, [t = token] {}), usage_error);
  EXPECT_THROW(two.spawn({.affinity = require(70000)}, [t = token] {}), usage_error);
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { two.spawn({.name = "t", .affinity = require(1)}, [t = token] {}); }), "no worker");
  std::atomic<int> ran{0};
  two.spawn({.affinity = prefer(1)}, [&] { ran++; });  // a wish may fail
  two.spawn({.affinity = prefer(-1)}, [&] { ran++; });
  two.wait();
  EXPECT_EQ(ran, 2);
}

TEST_F(refusals, being_near_what_says_no_node) {
  const auto d = rt.make_data(std::vector<int>(1), "d");
  const data<int> none;
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { rt.spawn({.affinity = near(none)}, [t = token] {}); }),
                       "weir::data");
  data<int> given = d;
  const data<int> taken = std::move(given);
  EXPECT_THROW(rt.spawn({.affinity = near(given)}, [t = token] {}), usage_error);
  for (const bool required : {false, true}) {
    placement both = near(d);
    if (required) both.required = true;
    else both.node = 0;
    const std::string message =
        message_of<usage_error>([&] { rt.spawn({.name = "x", .affinity = both}, [t = token] {}); });
    WEIR_EXPECT_CONTAINS(message, "task x: affinity names a datum by near(), and a node");
  }
  graph g;
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { g.add({.affinity = near(d)}, [] {}); }), "prefer() or require()");
}

TEST_F(refusals, waiting_for_everything_inside_a_task) {
  std::string message;
  rt.spawn([&] { message = message_of<usage_error>([&] { rt.wait(); }); });
  rt.wait();
  WEIR_EXPECT_CONTAINS(message, "scope");
}

TEST_F(refusals, waiting_for_oneself) {
  watchdog dog(30, "a task that waits for itself");
  const auto d = rt.make_data(std::vector<int>{1}, "d");
  std::string of_new, of_update;
  rt.spawn({.name = "narcissus"}, out(d), [&](auto s) {
    of_new = message_of<usage_error>([&] { d.read(); });
    s[0] = 2;
  });
  rt.wait();  // or the first would wait for the second, which waits for the first
  rt.spawn({.name = "narcissus"}, inout(d), [&](auto s) {
    of_update = message_of<usage_error>([&] { d.read(); });
    s[0]++;
  });
  EXPECT_EQ(d.read()[0], 3);
  for (const std::string& message : {of_new, of_update}) {
    WEIR_EXPECT_CONTAINS(message, "narcissus");
    WEIR_EXPECT_CONTAINS(message, "datum d");
  }
}

struct explosive {
  explosive() = default;
  explosive(const explosive&) { throw std::runtime_error("not copied"); }
  void operator()() const {}
};

TEST_F(refusals, closures_that_can_not_be_copied_into_the_task) {
  const explosive body;
  WEIR_EXPECT_CONTAINS(message_of<std::runtime_error>([&] { rt.spawn(body); }), "not copied");
}

TEST_F(refusals, do_not_count_as_tasks) {
  rt.wait();
  const auto before = rt.stats().tasks;
  const auto d = rt.make_data<int>(1);
  for (int i = 0; i < 10; i++) EXPECT_THROW(rt.spawn(in(d), [t = token](auto) {}), usage_error);
  rt.spawn([] {});
  rt.wait();
  EXPECT_EQ(rt.stats().tasks, before + 1);
}

// A refused spawn must not leave anybody waiting who counted on it.
TEST_F(refusals, wake_who_waits_meanwhile) {
  watchdog dog(60, "waiting beside refused spawns");
  const auto d = rt.make_data<int>(1);
  std::atomic<bool> over{false};
  std::atomic<int> waits{0};
  std::thread refused([&] {
    for (int i = 0; i < 3000 || waits < 50; i++) EXPECT_THROW(rt.spawn(in(d), [t = token](auto) {}), usage_error);
    over = true;
  });
  // Once nobody is refused any more, whoever is still asleep was forgotten.
  while (!over) {
    rt.wait();
    waits++;
  }
  refused.join();
}

TEST_F(refusals, what_another_runtime_made_is_refused) {
  runtime other({.workers = 1});
  const auto foreign = other.make_data(std::vector<int>{1}, "theirs");
  const auto own = rt.make_data(std::vector<int>{1});
  const auto pipe = other.make_stream<int>("pipe");
  const auto nothing = [](auto...) {};
  const auto refused = [&](auto&& spawn) {
    const std::string message = message_of<usage_error>(spawn);
    WEIR_EXPECT_CONTAINS(message, "belongs to another weir::runtime");
    return message;
  };
  WEIR_EXPECT_CONTAINS(refused([&] { rt.spawn({.name = "reader"}, in(foreign), nothing); }),
                       "task reader: datum theirs");
  refused([&] { rt.spawn(out(foreign), nothing); });
  refused([&] { rt.spawn(inout(foreign), nothing); });
  refused([&] { rt.spawn(in(own), out(own), in(foreign), nothing); });
  refused([&] { rt.spawn(in(own), out(foreign), nothing); });
  WEIR_EXPECT_CONTAINS(refused([&] { rt.spawn({.name = "neighbour", .affinity = near(foreign)}, nothing); }),
                       "task neighbour: datum theirs");
  WEIR_EXPECT_CONTAINS(refused([&] { rt.spawn(pipe.push(1), nothing); }), "stream pipe");
  refused([&] { rt.spawn(pipe.pop(1), nothing); });
  rt.run([&] {
    refused([&] { rt.spawn(in(foreign), nothing); });
    refused([&] { rt.spawn(inout(foreign), nothing); });
  });
  rt.wait();
  other.spawn(inout(foreign), [](auto v) { v[0]++; });
  other.wait();
  EXPECT_EQ(foreign.read()[0], 2);
}

}  // namespace
}  // namespace weir::test
