// weir::blocking() at random: the same tree gives the same result, whichever of its tasks block.
#include "tests/support/support.hpp"

#include <array>

namespace weir::test {
namespace {

// A tree whose tasks block, wait and create, at random.
class random_tree {
 public:
  explicit random_tree(runtime& rt, std::uint64_t seed) : rt_(rt), seed_(seed) {}
  std::uint64_t grow(std::uint64_t at, int depth) {
    const std::uint64_t what = mix(seed_, at);
    const int worker = this_task::worker();
    if (what % 3 == 0) {
      blocking([&] { pause(what); });
      wrong_ += this_task::worker() != worker;
    }
    if (depth == 0) return what % 1000;
    std::array<std::uint64_t, 3> parts{};
    scope s(rt_);
    for (std::uint64_t i = 0; i < parts.size(); i++)
      s.spawn([this, &part = parts[i], next = at * 4 + i + 1, depth] { part = grow(next, depth - 1); });
    if (what % 5 == 0) blocking([&] { s.wait(); });
    else s.wait();
    if (what % 7 == 0) blocking([&] { pause(what / 7); });
    wrong_ += this_task::worker() != worker;
    return parts[0] + 3 * parts[1] + 5 * parts[2];
  }
  int wrong() const { return wrong_; }

 private:
  static void pause(std::uint64_t what) {
    if (what % 11 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    else if (what % 2 == 0) std::this_thread::yield();
  }
  runtime& rt_;
  const std::uint64_t seed_;
  std::atomic<int> wrong_{0};
};

TEST(blocking, at_random) {
  const watchdog dog(300, "tasks that block at random");
  const std::uint64_t seed = new_seed();
  for (const int workers : {1, 2, 4}) {
    runtime rt({.workers = workers});
    for (std::uint64_t round = 0; round < effort(24); round++) {
      std::uint64_t first = 0;
      for (int again = 0; again < 2; again++) {
        random_tree tree(rt, mix(seed, round));
        std::uint64_t result = 0;
        if (again == 0) {
          rt.run([&] { result = tree.grow(1, 5); });
          first = result;
        } else {
          scope s(rt);
          s.spawn([&] { result = tree.grow(1, 5); });
          s.wait();
        }
        EXPECT_EQ(result, first);
        EXPECT_EQ(tree.wrong(), 0);
      }
    }
  }
}

}  // namespace
}  // namespace weir::test
