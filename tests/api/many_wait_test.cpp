// Many tasks wait for one, and one for many: all of them run, once, whoever tells them.
#include "tests/support/support.hpp"

#include <algorithm>
#include <memory>
#include <ranges>
#include <span>
#include <vector>

namespace weir::test {
namespace {

// Tasks that wait for one that passes a gate, which writes a datum and a vector of the program's own.
class crowd {
 public:
  crowd(runtime& rt, std::size_t size) : rt_(rt), ran_(new std::atomic<int>[size]), size_(size) {
    for (std::size_t i = 0; i < size_; i++) ran_[i] = 0;
  }

  void create(std::mt19937_64& random, bool fails) {
    rt_.spawn(out(first_), out(second_), out(ref(std::span(own_))), [this, fails](auto a, auto b, auto c) {
      gate_.pass();
      if (fails) throw std::runtime_error("as it should");
      a[0] = b[0] = c[0] = 1;
    });
    for (std::size_t i = 0; i < size_; i++) {
      const auto note = [this, i](int seen) { ran_[i] += seen; };
      switch (between(random, 0, 3)) {
        case 0: rt_.spawn(in(first_), [note](auto a) { note(a[0]); }); break;
        case 1: rt_.spawn(in(first_), in(second_), [note](auto a, auto b) { note(a[0] & b[0]); }); break;
        case 2: rt_.spawn(in(ref(std::span(own_))), [note](auto c) { note(c[0]); }); break;
        default: rt_.spawn(in(second_), inout(third_), [note](auto b, auto d) { note(b[0]), d[0]++; }); break;
      }
    }
  }
  void open() { gate_.open(); }
  int read() { return second_.read()[0]; }
  std::size_t that_ran(int times) const {
    return static_cast<std::size_t>(std::count(ran_.get(), ran_.get() + size_, times));
  }

 private:
  runtime& rt_;
  gate gate_;
  data<int> first_ = rt_.make_data<int>(1), second_ = rt_.make_data<int>(1),
            third_ = rt_.make_data(std::vector<int>{0});
  std::vector<int> own_ = {0};
  std::unique_ptr<std::atomic<int>[]> ran_;
  std::size_t size_;
};

TEST(many_wait, for_one_task_and_all_of_them_run) {
  watchdog dog(120);
  std::mt19937_64 random(new_seed());
  for (const char* policy : {"auto", "steal", "partition-follow", "fifo"}) {
    for (const int workers : {1, 2, 7}) {
      runtime rt({.workers = workers, .policy = policy, .machine = "nodes:2 cpus:4"});
      for (std::size_t round = 0; round < effort(20); round++) {
        const std::size_t size = between(random, 1, 400);
        crowd all(rt, size);
        all.create(random, false);
        std::thread reader([&] { EXPECT_EQ(all.read(), 1); });
        all.open();
        rt.wait();
        reader.join();
        EXPECT_EQ(all.that_ran(1), size) << policy << ", " << workers;
      }
    }
  }
}

TEST(many_wait, for_one_task_and_none_runs_if_it_fails) {
  watchdog dog(120);
  std::mt19937_64 random(new_seed());
  runtime rt({.workers = 4});
  for (std::size_t round = 0; round < effort(20); round++) {
    crowd all(rt, 100);
    all.create(random, true);
    all.open();
    EXPECT_THROW(rt.wait(), error);
    EXPECT_EQ(all.that_ran(0), 100u);
  }
}

// One task reads what many have written, and many wait for that one. Then others write there, and elsewhere in pieces
// of other sizes.
class hourglass {
 public:
  hourglass(runtime& rt, std::size_t wide) : rt_(rt), own_(wide) {
    for (std::size_t i = 0; i < wide; i++) blocks_.push_back(rt.make_data(std::vector<int>{0}));
  }

  void create(std::size_t readers) {
    count_in_each();
    const std::size_t expected = 2 * own_.size() * ++times_;
    const data<int> sum = rt_.make_data<int>(1);
    rt_.spawn(in(blocks_), in(ref(std::span(own_))), out(sum), [](auto blocks, auto own, auto all) {
      all[0] = 0;
      for (std::size_t i = 0; i < blocks.size(); i++) all[0] += blocks[i][0] + own[i];
    });
    for (std::size_t i = 0; i < readers; i++)
      rt_.spawn(in(sum), [this, expected](auto all) { right_ += static_cast<std::size_t>(all[0]) == expected; });
    expected_ += readers;
    count_in_each();
    times_++;
    const std::size_t half = own_.size() / 2;
    for (const auto part : {std::span(own_).first(half), std::span(own_).subspan(half)})
      rt_.spawn(inout(ref(part)), [this, n = times_](auto values) {
        right_ += std::ranges::all_of(values, [n](int v) { return static_cast<std::size_t>(v) == n; });
      });
    expected_ += 2;
  }
  bool is_right() const {
    const auto is_counted = [&](int n) { return static_cast<std::size_t>(n) == times_; };
    return right_ == expected_ && std::ranges::all_of(own_, is_counted) &&
           std::ranges::all_of(blocks_, [&](const data<int>& b) { return is_counted(b.read()[0]); });
  }

 private:
  void count_in_each() {
    for (std::size_t i = 0; i < own_.size(); i++)
      rt_.spawn(inout(blocks_[i]), inout(ref(std::span(own_).subspan(i, 1))), [](auto a, auto b) { a[0]++, b[0]++; });
  }

  runtime& rt_;
  std::vector<int> own_;
  std::vector<data<int>> blocks_;
  std::size_t times_ = 0, expected_ = 0;
  std::atomic<std::size_t> right_{0};
};

void run_hourglasses(std::mt19937_64& random) {
  for (const char* policy : {"auto", "deferred", "partition-window"}) {
    for (const int workers : {1, 3, 8}) {
      runtime rt({.workers = workers, .policy = policy, .machine = "nodes:2 cpus:4"});
      for (std::size_t round = 0; round < effort(10); round++) {
        hourglass all(rt, between(random, 1, 300));
        for (int i = 0; i < 4; i++) all.create(between(random, 1, 60));
        rt.wait();
        EXPECT_TRUE(all.is_right()) << policy << ", " << workers;
      }
    }
  }
}

TEST(many_wait, for_one_that_reads_what_many_have_written) {
  watchdog dog(120);
  std::mt19937_64 random(new_seed());
  run_hourglasses(random);
}

TEST(many_wait, and_are_told_one_at_a_time) {
  watchdog dog(120);
  std::mt19937_64 random(new_seed());
  setenv("WEIR_TUNING", "told_alone=1", 1);
  run_hourglasses(random);
  unsetenv("WEIR_TUNING");
}

}  // namespace
}  // namespace weir::test
