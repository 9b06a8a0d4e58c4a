// Tasks that throw: whom it concerns, who is told, and that it is over then.
#include "tests/support/support.hpp"

namespace weir::test {
namespace {

struct own_exception {
  int code;
};

TEST(errors, wait_rethrows_the_first_failure_with_the_tasks_name) {
  runtime rt({.workers = 2});
  rt.spawn({.name = "factorise"}, [] { throw std::invalid_argument("block 7 is singular"); });
  try {
    rt.wait();
    FAIL();
  } catch (const task_failed& e) {
    WEIR_EXPECT_CONTAINS(e.what(), "factorise");
    WEIR_EXPECT_CONTAINS(e.what(), "block 7 is singular");
    EXPECT_THROW(std::rethrow_exception(e.cause()), std::invalid_argument);
  }
  EXPECT_NO_THROW(rt.wait());
}

TEST(errors, any_type_may_be_thrown) {
  runtime rt({.workers = 2});
  rt.spawn([] { throw own_exception{42}; });
  try {
    rt.wait();
    FAIL();
  } catch (const task_failed& e) {
    WEIR_EXPECT_CONTAINS(e.what(), "(unnamed)");
    try {
      std::rethrow_exception(e.cause());
    } catch (const own_exception& own) {
      EXPECT_EQ(own.code, 42);
    }
  }
}

TEST(errors, what_depends_on_a_failed_task_is_skipped_and_nothing_else) {
  for (const runtime_options& o : configurations()) {
    runtime rt(o);
    const auto a = rt.make_data<int>(1), b = rt.make_data(std::vector<int>{1}), c = rt.make_data<int>(1);
    std::atomic<int> ran{0};
    auto closures = std::make_shared<int>(0);
    rt.spawn({.name = "bad"}, out(a), [](auto) { throw std::runtime_error("no"); });
    rt.spawn(in(a), out(c), [&, closures](auto, auto) { ran += 1; });   // skipped
    rt.spawn(in(c), inout(b), [&, closures](auto, auto) { ran += 2; });  // skipped, and with it b's update
    rt.spawn(inout(a), [&, closures](auto) { ran += 4; });              // skipped
    rt.spawn(in(b), [&, closures](auto) { ran += 8; });                 // skipped
    rt.spawn(out(a), [&, closures](auto s) { ran += 16, s[0] = 3; });    // overwrites: does not care
    rt.spawn(in(a), [&, closures](auto s) { ran += 32 * s[0]; });
    WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { rt.wait(); }), "bad");
    EXPECT_EQ(ran, 16 + 96) << text(o);
    EXPECT_EQ(closures.use_count(), 1) << "closures of skipped tasks are left; " << text(o);
    EXPECT_NO_THROW(rt.wait());
    EXPECT_EQ(a.read()[0], 3);
    EXPECT_THROW(b.read(), task_failed);
  }
}

TEST(errors, a_view_of_the_version_before_keeps_its_value) {
  runtime rt({.workers = 2});
  const auto d = rt.make_data(std::vector<int>{7});
  const auto v = d.read();
  rt.spawn(inout(d), [](auto s) {
    s[0] = 8;
    throw 1;
  });
  EXPECT_THROW(rt.wait(), task_failed);
  EXPECT_EQ(v[0], 7);
}

TEST(errors, of_another_scope_are_a_cancellation) {
  runtime rt({.workers = 2});
  const auto d = rt.make_data<int>(1);
  scope first(rt), second(rt);
  first.spawn({.name = "producer"}, out(d), [](auto) { throw std::runtime_error("no"); });
  std::atomic<int> ran{0};
  second.spawn({.name = "consumer"}, in(d), [&](auto) { ran++; });
  second.spawn([&] { ran += 10; });
  const std::string message = message_of<task_cancelled>([&] { second.wait(); });
  WEIR_EXPECT_CONTAINS(message, "consumer");
  WEIR_EXPECT_CONTAINS(message, "producer");
  EXPECT_EQ(ran, 10);
  WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { first.wait(); }), "producer");
  EXPECT_NO_THROW(first.wait());
  EXPECT_NO_THROW(second.wait());
  EXPECT_NO_THROW(rt.wait());
}

TEST(errors, a_scopes_failure_stays_in_the_scope) {
  runtime rt({.workers = 2});
  std::atomic<bool> caught{false};
  rt.spawn([&] {
    scope s(rt);
    s.spawn({.name = "inner"}, [] { throw std::runtime_error("no"); });
    try {
      s.wait();
    } catch (const task_failed& e) {
      caught = contains(e.what(), "inner");
    }
  });
  EXPECT_NO_THROW(rt.wait());
  EXPECT_TRUE(caught);
}

TEST(errors, pass_through_nested_tasks_with_every_name) {
  runtime rt({.workers = 2});
  rt.spawn({.name = "outer"}, [&] {
    scope s(rt);
    s.spawn({.name = "inner"}, [] { throw std::runtime_error("deep"); });
    s.wait();
  });
  const std::string message = message_of<task_failed>([&] { rt.wait(); });
  WEIR_EXPECT_CONTAINS(message, "outer");
  WEIR_EXPECT_CONTAINS(message, "inner");
  WEIR_EXPECT_CONTAINS(message, "deep");
}

TEST(errors, of_many_tasks_one_is_reported) {
  runtime rt({.workers = 3});
  std::atomic<int> thrown{0};
  for (int i = 0; i < 500; i++)
    rt.spawn([&] {
      thrown++;
      throw std::runtime_error("one of many");
    });
  EXPECT_THROW(rt.wait(), task_failed);
  EXPECT_EQ(thrown, 500);
  EXPECT_NO_THROW(rt.wait());
}

TEST(errors, a_running_task_sees_that_its_scope_failed) {
  watchdog dog(30);
  runtime rt({.workers = 2});
  scope s(rt);
  gate g;
  bool before = true;
  s.spawn([&] {
    before = this_task::cancelled();
    g.pass();
    while (!this_task::cancelled()) std::this_thread::yield();
  });
  g.await_arrivals(1);
  s.spawn([] { throw 1; });
  g.open();
  EXPECT_THROW(s.wait(), task_failed);
  EXPECT_FALSE(before);
  EXPECT_FALSE(this_task::cancelled());
}

TEST(errors, nobody_waits_for_end_with_the_runtime) {
  const auto closures = std::make_shared<int>(0);
  {
    runtime rt({.workers = 2});
    for (int i = 0; i < 10; i++) rt.spawn([closures] { throw std::runtime_error("nobody listens"); });
  }
  EXPECT_EQ(closures.use_count(), 1);
}

TEST(errors, from_pushes_reach_every_window_they_feed) {
  runtime rt({.workers = 2});
  const auto s = rt.make_stream<int>();
  std::atomic<int> ran{0};
  rt.spawn(s.push(2), [](auto v) { v[0] = v[1] = 1; });
  rt.spawn({.name = "bad"}, s.push(2), [](auto) { throw std::runtime_error("no"); });
  rt.spawn(s.push(2), [](auto v) { v[0] = v[1] = 3; });
  rt.spawn(s.pop(1), [&](auto) { ran += 1; });
  rt.spawn(s.pop(2), [&](auto) { ran += 10; });   // half of it failed
  rt.spawn(s.pop(2), [&](auto) { ran += 100; });  // here, too
  rt.spawn(s.pop(1), [&](auto) { ran += 1000; });
  WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { rt.wait(); }), "bad");
  EXPECT_EQ(ran, 1001);
}

// What happened comes first, then the way it came, and what repeats is counted.
TEST(errors, through_nested_waits_tell_the_cause_and_then_the_way) {
  for (const int workers : {1, 2}) {
    runtime rt({.workers = workers});
    struct descent {
      runtime& rt;
      void go(int left) {
        if (left == 0) throw std::runtime_error("boom");
        scope s(rt);
        s.spawn({.name = left == 1 ? "leaf" : "down"}, [this, left] { go(left - 1); });
        s.wait();
      }
    } d{rt};
    rt.spawn({.name = "root"}, [&] { d.go(40); });
    try {
      rt.wait();
      FAIL();
    } catch (const task_failed& e) {
      EXPECT_STREQ(e.what(), "task leaf failed: boom, inside 39 times task down, inside task root");
      EXPECT_THROW(std::rethrow_exception(e.cause()), std::runtime_error);
    }
  }
}

TEST(errors, through_many_differently_named_waits_stay_short) {
  runtime rt({.workers = 2});
  static constexpr const char* names[] = {"a", "b", "c"};
  struct descent {
    runtime& rt;
    void go(int left) {
      if (left == 0) throw std::runtime_error("boom");
      scope s(rt);
      s.spawn({.name = names[left % 3]}, [this, left] { go(left - 1); });
      s.wait();
    }
  } d{rt};
  rt.spawn({.name = "root"}, [&] { d.go(300); });
  const std::string message = message_of<task_failed>([&] { rt.wait(); });
  WEIR_EXPECT_CONTAINS(message, "task b failed: boom, inside task c");
  WEIR_EXPECT_CONTAINS(message, "inside 292 more");
  WEIR_EXPECT_CONTAINS(message, "inside task root");
  EXPECT_LT(message.size(), 300u);
}

struct speechless : std::exception {
  const char* what() const noexcept override { return nullptr; }
};

TEST(errors, an_exception_without_words_is_one_too) {
  runtime rt({.workers = 2});
  rt.spawn({.name = "mute"}, [] { throw speechless(); });
  EXPECT_EQ(message_of<task_failed>([&] { rt.wait(); }), "task mute failed: an exception whose what() is null");
}

TEST(errors, in_a_graph_name_the_task) {
  runtime rt({.workers = 2});
  graph g;
  const auto load = g.add({.name = "load"}, [] {});
  const auto unnamed = g.add([] { throw std::runtime_error("boom"); });
  g.precede(load, unnamed);
  EXPECT_EQ(message_of<task_failed>([&] { g.run(rt); }), "task 1 failed: boom");
}

TEST(errors, that_nobody_waits_for_are_said_at_the_end) {
  testing::internal::CaptureStderr();
  {
    runtime rt({.workers = 2});
    rt.spawn({.name = "bad"}, [] { throw std::runtime_error("boom"); });
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "weir: task bad failed: boom; nobody called weir::runtime::wait(), which throws this\n");
  testing::internal::CaptureStderr();
  {
    runtime rt({.workers = 2});
    {
      scope s(rt);
      s.spawn({.name = "worse"}, [] { throw std::runtime_error("bang"); });
    }
    rt.spawn([] { throw 1; });
    EXPECT_THROW(rt.wait(), task_failed);  // told: not said again
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "weir: task worse failed: bang; nobody called weir::scope::wait(), which throws this\n");
}

}  // namespace
}  // namespace weir::test
