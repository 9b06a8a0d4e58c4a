// Model tests of posted loops: nobody is in a loop that its poster has left, who waits for the last one is told, and a
// worker comes to a loop that is left to it.
#include <utility>

#include "base/model/model_gtest.hpp"
#include "sched/loop_post.hpp"
#include "sched/sleep.hpp"

namespace weir::sched {
namespace {

using model::expect_fails;
using model::expect_passes;
using model::model_atomics;
using model::parallel;
using model::require;
using model::weakening;

constexpr const char* no_order = "data race";

// Whatever a loop's memory holds: written by the poster before and after, and by each visitor between, in a cell of
// its own.
struct loop {
  model::plain<int> shape{0};
  model::plain<int> results[2];

  void read_by_poster(int visitors) {
    for (int v = 0; v < visitors; v++) static_cast<void>(results[v].read());
    shape.write(0);
  }
};
using post_of_loop = loop_post<loop, model_atomics>;

// The poster, and what it sleeps on.
struct poster {
  explicit poster(int nodes) : post(nodes) {}
  post_of_loop post;
  model::atomic<std::uint32_t> told{0};

  void tell(std::int32_t who) {
    if (who == post_of_loop::nobody) return;
    require(who == 7, "somebody else is told");
    told.fetch_add(1, std::memory_order_release);
    model_atomics::wake_all(told);
  }
  // True: it has been in a loop.
  bool visit(int node, int me) {
    std::int32_t who = post_of_loop::nobody;
    loop* const l = post.come(node, who);
    if (l == nullptr) {
      tell(who);
      return false;
    }
    require(l->shape.read() == 1, "in a loop that is over");
    l->results[me].write(1);
    tell(post.leave(node));
    return true;
  }
  void run(loop& l, int visitors, bool sleeps) {
    l.shape.write(1);
    post.put_up(l);
    post.take_down();
    if (sleeps && !post.everybody_has_left()) {
      post.wants_to_be_told(7);
      // What a thread does that sleeps until a condition holds: it looks, and sleeps if nobody was told since.
      for (;;) {
        const std::uint32_t seen = told.load(std::memory_order_acquire);
        if (post.everybody_has_left()) break;
        model_atomics::wait(told, seen);
      }
      post.needs_not_be_told();
    }
    while (!post.everybody_has_left()) model_atomics::pause();
    l.read_by_poster(visitors);
  }
};

void one_visitor() {
  poster p(1);
  loop l;
  parallel([&] { p.run(l, 1, false); }, [&] { p.visit(0, 0); });
}
void a_visitor_on_each_of_two_nodes() {
  poster p(2);
  loop l;
  parallel([&] { p.run(l, 2, false); }, [&] { p.visit(0, 0); }, [&] { p.visit(1, 1); });
}
void who_sleeps_is_told() {
  poster p(1);
  loop l;
  parallel([&] { p.run(l, 2, true); }, [&] { p.visit(0, 0); }, [&] { p.visit(0, 1); });
}

TEST(loop_post_model, one_visitor) { expect_passes(one_visitor); }
TEST(loop_post_model, a_visitor_on_each_of_two_nodes) { expect_passes(a_visitor_on_each_of_two_nodes); }
TEST(loop_post_model, who_sleeps_is_told) { expect_passes(who_sleeps_is_told); }

// The same post serves the next loop, in other memory; a visitor may find either.
TEST(loop_post_model, one_loop_after_the_other) {
  expect_passes([] {
    poster p(1);
    loop first, second;
    parallel(
        [&] {
          p.run(first, 1, false);
          p.run(second, 1, true);
        },
        [&] {
          p.visit(0, 0);
          p.visit(0, 0);
        });
  });
}

// Who finds nothing left takes it down for the others.
TEST(loop_post_model, who_comes_may_take_it_down) {
  expect_passes([] {
    poster p(1);
    loop l;
    parallel([&] { p.run(l, 2, false); },
             [&] {
               std::int32_t who = post_of_loop::nobody;
               if (loop* const found = p.post.come(0, who); found != nullptr) {
                 found->results[0].write(1);
                 p.post.has_nothing_left();
                 p.tell(p.post.leave(0));
               }
             },
             [&] { p.visit(0, 1); });
  });
}

// A thread that has no place leaves its loop to the only worker, which has been in a task. What is not in sleep.hpp is done
// as src/engine does it.
struct left_to_a_worker {
  sleep_control<model_atomics> sleep{1};
  poster caller{1};
  model::atomic<std::uint32_t> bell{0};
  model::atomic<int> is_over{0};

  void call(loop& l) {
    l.shape.write(1);
    caller.post.put_up(l);
    model_atomics::light_fence();
    if (sleep.searching() > 0) bell.store(1, std::memory_order_release);
    if (sleep.sleeping() > 0) sleep.wake_any();
    caller.post.wants_to_be_told(7);
    for (;;) {
      const std::uint32_t seen = caller.told.load(std::memory_order_acquire);
      if (is_over.load(std::memory_order_acquire) == 1) {
        caller.post.take_down();
        if (caller.post.everybody_has_left()) break;
      }
      model_atomics::wait(caller.told, seen);
    }
    caller.post.needs_not_be_told();
    l.read_by_poster(1);
  }
  bool serve() {
    std::int32_t who = post_of_loop::nobody;
    loop* const l = caller.post.come(0, who);
    if (l == nullptr) {
      caller.tell(who);
      return false;
    }
    l->results[0].write(l->shape.read());
    is_over.store(1, std::memory_order_release);
    caller.post.has_nothing_left();
    caller.tell(caller.post.leave(0));
    return true;
  }
  // One round, of those in which it looks for a loop if it hears of one; then it rests.
  void work(bool looks_before_it_rests) {
    sleep.start_searching();
    for (std::uint32_t heard = 0;;) {
      const std::uint32_t rung = bell.load(std::memory_order_acquire);
      if (std::exchange(heard, rung) != rung && serve()) break;
      if (looks_before_it_rests && serve()) break;
      sleep.sleep(0, [&] { return caller.post.is_up(); });
    }
    static_cast<void>(sleep.stop_searching());
  }
  void run(bool looks_before_it_rests) {
    loop l;
    parallel([&] { call(l); }, [&] { work(looks_before_it_rests); });
    require(sleep.sleeping() == 0 && sleep.searching() == 0, "the counts do not come back to zero");
  }
};

TEST(loop_post_model, is_left_to_a_worker) {
  expect_passes([] { left_to_a_worker().run(true); });
}
// Posted while it was in its task, of which no bell tells: the loop keeps it awake, and it does not come.
TEST(loop_post_model, needs_a_look_before_a_worker_rests) {
  expect_fails([] { left_to_a_worker().run(false); }, "livelock");
}

TEST(loop_post_model, needs_fences) { expect_fails(one_visitor, no_order, model::without(weakening::seq_cst)); }
TEST(loop_post_model, needs_release) { expect_fails(one_visitor, no_order, model::without(weakening::release)); }
TEST(loop_post_model, needs_acquire) { expect_fails(one_visitor, no_order, model::without(weakening::acquire)); }

}  // namespace
}  // namespace weir::sched
