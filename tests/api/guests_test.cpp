// More threads than a runtime has room for at once: an error, and only for as long as they exist.
#include "tests/support/support.hpp"

namespace weir::test {
namespace {

TEST(guests, too_many_at_once_are_refused_with_a_number) {
  if (sanitized) GTEST_SKIP() << "a thousand threads take minutes under a sanitizer";
  watchdog dog(120, "a thousand threads");
  constexpr int threads = 1060;
  runtime rt({.workers = 1});
  const auto d = rt.make_data(std::vector<int>{1});
  std::vector<data<int>> own;  // the last handles: each thread lets go of one, whether or not there is room for it
  std::vector<stream<int>> pipes;
  for (int i = 0; i < threads; i++) {
    own.push_back(rt.make_data(std::vector<int>{i}));
    pipes.push_back(rt.make_stream<int>());
  }
  std::atomic<int> refused{0}, ran{0}, wrong_text{0};
  gate all_here;
  std::vector<std::thread> all;
  try {
    for (int i = 0; i < threads; i++)
      all.emplace_back([&, i] {
        const auto copy = d;
        try {
          rt.spawn([&] { ran++; });
        } catch (const error& e) {
          wrong_text += !contains(e.what(), "threads");
          refused++;
        }
        all_here.pass();
        own[static_cast<std::size_t>(i)] = {};
        pipes[static_cast<std::size_t>(i)] = {};
        rt.wait();
      });
  } catch (const std::system_error&) {
    all_here.open();
    for (std::thread& t : all) t.join();
    GTEST_SKIP() << "the system does not allow " << threads << " threads";
  }
  all_here.await_arrivals(threads);
  all_here.open();
  for (std::thread& t : all) t.join();
  EXPECT_GE(refused, threads - 1024);
  EXPECT_EQ(wrong_text, 0);
  std::thread([&] { rt.spawn([&] { ran++; }); }).join();
  rt.wait();
  EXPECT_EQ(ran, threads - refused + 1);
}

}  // namespace
}  // namespace weir::test
