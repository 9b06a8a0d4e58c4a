// Many tasks wait for one: all of them run, once, whoever tells them.
#include "tests/support/support.hpp"

#include <algorithm>
#include <memory>

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

}  // namespace
}  // namespace weir::test
