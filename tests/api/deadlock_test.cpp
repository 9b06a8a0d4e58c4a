// Tasks that can never run end the wait with an error that lists them; nothing hangs, and the runtime goes on.
#include "tests/support/support.hpp"

namespace weir::test {
namespace {

class deadlock : public ::testing::Test {
 protected:
  void TearDown() override {
    std::atomic<int> ran{0};
    for (int i = 0; i < 10; i++) rt.spawn([&] { ran++; });
    EXPECT_NO_THROW(rt.wait());
    EXPECT_EQ(ran, 10);
    const auto s = rt.make_stream<int>();
    rt.spawn(s.pop(1), [&](auto v) { ran += v[0]; });
    rt.spawn(s.push(1), [](auto v) { v[0] = 90; });
    EXPECT_NO_THROW(rt.wait());
    EXPECT_EQ(ran, 100);
  }
  watchdog dog{60, "a deadlock test"};
  runtime rt{{.workers = 2}};
};

TEST_F(deadlock, a_stream_nobody_feeds) {
  const auto closures = std::make_shared<int>(0);
  const auto s = rt.make_stream<double>("samples");
  rt.spawn(s.push(2), [](auto v) { v[0] = v[1] = 0; });
  rt.spawn({.name = "smooth"}, s.pop(5), [closures](auto) {});
  const std::string message = message_of<deadlock_error>([&] { rt.wait(); });
  WEIR_EXPECT_CONTAINS(message, "1 task ");
  WEIR_EXPECT_CONTAINS(message, "smooth");
  WEIR_EXPECT_CONTAINS(message, "samples");
  WEIR_EXPECT_CONTAINS(message, "3 of 5 elements");
  EXPECT_EQ(closures.use_count(), 1);
}

TEST_F(deadlock, a_circle_through_two_streams) {
  const auto a = rt.make_stream<int>("a"), b = rt.make_stream<int>("b");
  std::atomic<int> ran{0};
  rt.spawn({.name = "forth"}, a.pop(1), b.push(1), [&](auto, auto) { ran++; });
  rt.spawn({.name = "back"}, b.pop(1), a.push(1), [&](auto, auto) { ran++; });
  const std::string message = message_of<deadlock_error>([&] { rt.wait(); });
  WEIR_EXPECT_CONTAINS(message, "2 tasks");
  WEIR_EXPECT_CONTAINS(message, "forth");
  WEIR_EXPECT_CONTAINS(message, "back");
  EXPECT_EQ(ran, 0);
}

TEST_F(deadlock, what_can_run_runs) {
  const auto s = rt.make_stream<int>("s");
  const auto d = rt.make_data<int>(1), e = rt.make_data(std::vector<int>{0});
  std::atomic<int> ran{0};
  rt.spawn(s.pop(1), out(d), [&](auto, auto) { ran += 1; });
  rt.spawn(in(d), inout(e), [&](auto, auto) { ran += 10; });  // waits for the one before
  rt.spawn(out(d), [&](auto v) { v[0] = 3, ran += 100; });
  for (int i = 0; i < 50; i++) rt.spawn([&] { ran += 1000; });
  const std::string message = message_of<deadlock_error>([&] { rt.wait(); });
  WEIR_EXPECT_CONTAINS(message, "2 tasks");
  EXPECT_EQ(ran, 50100);
  EXPECT_EQ(d.read()[0], 3);
  EXPECT_THROW(e.read(), task_failed);
}

TEST_F(deadlock, long_lists_are_cut) {
  const auto s = rt.make_stream<int>("s");
  for (int i = 0; i < 200; i++) rt.spawn({.name = "stuck"}, s.pop(1), [](auto) {});
  const std::string message = message_of<deadlock_error>([&] { rt.wait(); });
  WEIR_EXPECT_CONTAINS(message, "200 tasks");
  EXPECT_LT(message.size(), 2000u);
}

TEST_F(deadlock, in_a_scope_outside_and_inside_of_tasks) {
  const auto s = rt.make_stream<int>("s");
  {
    scope outside(rt);
    outside.spawn({.name = "stuck"}, s.pop(1), [](auto) {});
    WEIR_EXPECT_CONTAINS(message_of<deadlock_error>([&] { outside.wait(); }), "stuck");
  }
  std::string message;
  rt.spawn([&] {
    scope inside(rt);
    inside.spawn({.name = "stuck inside"}, s.pop(1), [](auto) {});
    message = message_of<deadlock_error>([&] { inside.wait(); });
  });
  // The program's thread may find it first and then says so, too.
  try {
    rt.wait();
  } catch (const deadlock_error&) {
  }
  WEIR_EXPECT_CONTAINS(message, "stuck inside");
}

TEST_F(deadlock, ends_reading_what_will_never_be_written) {
  const auto s = rt.make_stream<int>("s");
  const auto d = rt.make_data<int>(1);
  rt.spawn({.name = "stuck"}, s.pop(1), out(d), [](auto, auto) {});
  WEIR_EXPECT_CONTAINS(message_of<deadlock_error>([&] { d.read(); }), "stuck");
  try {
    rt.wait();  // the scope's own record of it
  } catch (const deadlock_error&) {
  }
}

TEST_F(deadlock, ends_the_destructor) {
  ::testing::internal::CaptureStderr();
  const auto closures = std::make_shared<int>(0);
  {
    runtime other({.workers = 1});
    const auto s = other.make_stream<int>("s");
    other.spawn({.name = "never"}, s.pop(1), [closures](auto) {});
  }
  WEIR_EXPECT_CONTAINS(::testing::internal::GetCapturedStderr(), "never");
  EXPECT_EQ(closures.use_count(), 1);
}

TEST_F(deadlock, an_open_end_says_that_more_will_come) {
  const auto s = rt.make_stream<int>("fed late");
  std::atomic<int> sum{0};
  for (int i = 0; i < 3; i++) rt.spawn(s.pop(2), [&](auto v) { sum += v[0] + v[1]; });
  std::optional<runtime::open_end> more(std::in_place, rt);
  std::thread feeder([&] {
    for (int i = 0; i < 6; i++) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      rt.spawn(s.push(1), [](auto v) { v[0] = 1; });
    }
  });
  EXPECT_NO_THROW(rt.wait());
  EXPECT_EQ(sum, 6);
  feeder.join();
}

TEST_F(deadlock, an_open_end_that_closes_lets_it_be_found) {
  const auto s = rt.make_stream<int>("never fed");
  rt.spawn({.name = "stuck"}, s.pop(1), [](auto) {});
  auto more = std::make_unique<runtime::open_end>(rt);
  std::thread closer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    more.reset();
  });
  WEIR_EXPECT_CONTAINS(message_of<deadlock_error>([&] { rt.wait(); }), "stuck");
  closer.join();
}

// Without an open end it is a matter of time whether the feeder comes early enough. Either way nothing breaks.
TEST_F(deadlock, being_fed_just_when_it_is_found) {
  for (std::size_t round = 0; round < effort(300); round++) {
    const auto s = rt.make_stream<int>("s");
    std::atomic<int> ran{0};
    for (int i = 0; i < 20; i++) rt.spawn({.name = "late"}, s.pop(1), [&](auto) { ran++; });
    std::thread feeder([&] {
      for (int i = 0; i < 20; i++) rt.spawn(s.push(1), [](auto v) { v[0] = 1; });
    });
    bool gave_up = false;
    try {
      rt.wait();
    } catch (const deadlock_error&) {
      gave_up = true;
    }
    feeder.join();
    try {
      rt.wait();
    } catch (const error&) {
      gave_up = true;
    }
    EXPECT_TRUE(gave_up || ran == 20);
    // What was given up is not consumed again.
    rt.spawn(s.tick(20), [] {});
    rt.wait();
  }
}

}  // namespace
}  // namespace weir::test
