// Model tests of parallel loops: include/weir/detail/loop.hpp and reduction.hpp beside it, compiled
// with the model checker's atomics. model/weir/runtime.hpp stands in for the runtime.
#include <weir/parallel.hpp>

#include <deque>
#include <memory>
#include <vector>

#include "base/model/model_gtest.hpp"

namespace weir {
namespace {

using model::expect_fails;
using model::expect_passes;
using model::require;
using model::weakening;

// What the checker says of an access that is not ordered with the object's construction, by another thread.
constexpr const char* unordered = "construction has not happened before";

using node_of_worker = std::vector<int>;

// Runs `program` in a thread that is no worker, beside workers that are threads of their own; some may have other things
// to do all the time.
void beside_workers(runtime& rt, const std::vector<int>& workers, const std::function<void()>& program) {
  std::deque<model::thread> threads;
  for (const int w : workers) threads.emplace_back([&rt, w] { rt.work(w); });
  program();
  rt.stop();
  for (model::thread& t : threads) t.join();
}

// Elements a loop visits; the checker reports visits that are not ordered.
struct elements {
  explicit elements(int n) : visits(static_cast<std::size_t>(n)) {}
  std::vector<model::plain<int>> visits;

  void visit(int i) {
    model::plain<int>& v = visits[static_cast<std::size_t>(i)];
    v.write(v.read() + 1);
  }
  void expect_once() const {
    for (const model::plain<int>& v : visits) require(v.read() == 1, "an element was not visited once");
  }
};

struct shape {
  node_of_worker workers;
  std::vector<int> with_time;
  int chunks;
};

// Called by a thread that is no worker.
void visit_all(const shape& s, const loop_options& o = {.grain = 1}) {
  runtime rt(s.workers);
  elements all(s.chunks);
  beside_workers(rt, s.with_time, [&] {
    parallel_for(rt, 0, s.chunks, [&](int i) { all.visit(i); }, o);
    all.expect_once();  // before the workers have ended: the loop itself says when its elements are visited
  });
}

const shape one_node{{0, 0}, {0, 1}, 3};
const shape two_nodes{{0, 1}, {0, 1}, 3};

TEST(loop_model, on_one_node) {
  expect_passes([] { visit_all(one_node); });
}
TEST(loop_model, on_two_nodes) {
  expect_passes([] { visit_all(two_nodes); });
}
// In the same memory. With these numbers the second one is numbered from the beginning again.
TEST(loop_model, one_after_the_other) {
  for (const std::uint64_t number : {0u, 65533u, 65534u})
    for (const node_of_worker& workers : {node_of_worker{0, 0}, node_of_worker{0, 1}})
      expect_passes([&] {
        runtime rt(workers);
        rt.number = number;
        elements all(3), again(2);
        beside_workers(rt, {0, 1}, [&] {
          parallel_for(rt, 0, 3, [&](int i) { all.visit(i); }, {.grain = 1});
          all.expect_once();
          parallel_for(rt, 0, 2, [&](int i) { again.visit(i); }, {.grain = 1});
          again.expect_once();
        });
      });
}
TEST(loop_model, distributed_over_no_nodes) {
  expect_passes([] { visit_all(two_nodes, {.grain = 1, .distribution = distribution::none}); });
}
TEST(loop_model, on_nodes_of_two_workers) {
  expect_passes([] { visit_all({{0, 0, 1}, {0, 1, 2}, 4}); });
}
// A node whose only worker never comes: its group is begun by somebody else.
TEST(loop_model, beside_a_node_that_is_busy) {
  expect_passes([] { visit_all({{0, 1}, {0}, 4}); });
}
TEST(loop_model, beside_a_worker_that_is_busy) {
  expect_passes([] { visit_all({{0, 0, 1}, {0, 2}, 3}); });
}

TEST(loop_model, in_a_task) {
  expect_passes([] {
    runtime rt({0, 1});
    elements all(3);
    beside_workers(rt, {0, 1}, [&] {
      scope s(rt);
      s.spawn({}, [&] {
        parallel_for(rt, 0, 3, [&](int i) { all.visit(i); }, {.grain = 1});
        all.expect_once();
      });
      s.wait();
    });
  });
}

// What its caller has run alone nobody runs again, whichever worker it is.
void in_a_task_that_begins_alone(bool has_time, int chunks, int worker) {
  runtime rt({0, 1});
  rt.begins_loops_alone = true;
  rt.has_time_alone = has_time;
  elements all(chunks);
  beside_workers(rt, {0, 1}, [&] {
    scope s(rt);
    rt.add(s, worker, [&] {
      parallel_for(rt, 0, chunks, [&](int i) { all.visit(i); }, {.grain = 1});
      all.expect_once();
    });
    s.wait();
  });
}
TEST(loop_model, that_its_caller_begins_alone) {
  expect_passes([] { in_a_task_that_begins_alone(false, 4, 0); });
  expect_passes([] { in_a_task_that_begins_alone(false, 5, 1); });
}
TEST(loop_model, that_its_caller_runs_alone) {
  expect_passes([] { in_a_task_that_begins_alone(true, 4, 1); });
}

// While a body waits its worker executes what there is, but no other chunk of the same loop.
TEST(loop_model, whose_bodies_wait) {
  expect_passes([] {
    runtime rt({0, 1});
    elements all(3);
    int running[2] = {0, 0};
    beside_workers(rt, {0, 1}, [&] {
      parallel_for(rt, 0, 3, [&](int i) {
        int& here = running[this_task::worker()];
        require(here++ == 0, "a chunk inside another one of the same loop");
        all.visit(i);
        while (rt.execute_one()) {}
        here--;
      }, {.grain = 1});
      all.expect_once();
    });
  });
}

TEST(loop_model, whose_body_throws) {
  expect_passes([] {
    runtime rt({0, 1});
    elements all(4);
    bool thrown = false;
    beside_workers(rt, {0, 1}, [&] {
      try {
        parallel_for(rt, 0, 4, [&](int i) {
          all.visit(i);
          if (i == 1) throw 1;
        }, {.grain = 1});
      } catch (const task_failed&) {
        thrown = true;
      }
      for (const model::plain<int>& v : all.visits) require(v.read() <= 1, "an element was visited twice");
    });
    require(thrown && all.visits[1].read() == 1, "nobody was told");
  });
}

TEST(loop_model, is_one_task_for_each_who_serves_it) {
  expect_passes([] {
    runtime rt({0, 1});
    beside_workers(rt, {0, 1}, [&] { parallel_for(rt, 0, 2, [](int) {}, {.grain = 1}); });
    require(rt.servers() >= 1 && rt.servers() <= 2, "somebody served it twice");
  });
}

TEST(loop_model, hands_over_what_bodies_did) {
  expect_fails([] { visit_all(one_node); }, unordered, model::without(weakening::release));
  expect_fails([] { visit_all(one_node); }, "destroyed while another thread may be using it", model::without(weakening::acquire));
}

// Elements that were combined, in memory that the checker watches: where it is written and read without order is seen.
class piece {
 public:
  piece(int begin, int end) : begin_(begin), end_(end) {}
  piece(piece&& from) : begin_(from.begin_.read()), end_(from.end_.read()) { from.end_.write(gone); }
  piece& operator=(piece&& from) {
    begin_.write(from.begin_.read());
    end_.write(from.end_.read());
    from.end_.write(gone);
    return *this;
  }
  bool is(int begin, int end) const { return begin_.read() == begin && end_.read() == end; }
  int begin() const { return begin_.read(); }
  int end() const { return end_.read(); }

 private:
  static constexpr int gone = -1;
  model::plain<int> begin_, end_;
};

struct join_neighbours {
  piece operator()(piece left, piece right) const {
    require(left.end() == right.begin(), "combined with what is not its right neighbour");
    return {left.begin(), right.end()};
  }
};

// One chunk, or several neighbours.
struct run_of_chunks {
  run_of_chunks(int chunk) : first(chunk), last(chunk + 1) {}  // NOLINT: a chunk is a run of one
  run_of_chunks(int from, int to) : first(from), last(to) {}
  int first, last;
};
using chunk_list = std::vector<run_of_chunks>;

// Each thread brings these chunks, in this order.
void reduce(const std::vector<chunk_list>& brought) {
  std::size_t chunks = 0;
  for (const chunk_list& l : brought)
    for (const run_of_chunks& r : l) chunks += static_cast<std::size_t>(r.last - r.first);
  const join_neighbours join;
  detail::reduction<piece, join_neighbours> results(chunks, piece(0, 0), join);
  {
    std::deque<model::thread> threads;
    for (const chunk_list& l : brought)
      threads.emplace_back([&results, &l] {
        detail::reduction<piece, join_neighbours>::stretch runs(results.share());
        const auto value_of = [](std::uint64_t c) { return piece(static_cast<int>(c), static_cast<int>(c) + 1); };
        for (const run_of_chunks& r : l)
          runs.add(static_cast<std::uint64_t>(r.first), static_cast<std::uint64_t>(r.last), value_of);
        runs.bring();
      });
  }
  require(results.take().is(0, static_cast<int>(chunks)), "something was left out");
}

void reduce_two() { reduce({{0}, {1}}); }

TEST(reduction_model, two_chunks) { expect_passes(reduce_two); }
TEST(reduction_model, three_chunks) {
  expect_passes([] { reduce({{0}, {1}, {2}}); });
}
TEST(reduction_model, four_chunks) {
  expect_passes([] { reduce({{0}, {1}, {2}, {3}}); });
}
TEST(reduction_model, five_chunks_out_of_order) {
  expect_passes([] { reduce({{4, 1}, {2, 0}, {3}}); });
}

TEST(reduction_model, runs_of_chunks) {
  expect_passes([] { reduce({{{0, 3}}, {{3, 7}}}); });
  expect_passes([] { reduce({{{1, 6}, 0}, {{6, 9}}}); });
  expect_passes([] { reduce({{{4, 6}}, {{0, 4}, 6}}); });
}
TEST(reduction_model, runs_that_follow_each_other) {
  expect_passes([] { reduce({{0, 1, {2, 5}}, {5, {6, 9}}}); });
  expect_passes([] { reduce({{1, 2, 3}, {0, {4, 6}, 6}}); });
  expect_passes([] { reduce({{3, 4, 7, 8}, {{0, 2}, 2, 5, 6}}); });
}

// Who comes second reads what the first one wrote: the exchange has to release, and to acquire.
TEST(reduction_model, needs_release) { expect_fails(reduce_two, unordered, model::without(weakening::release)); }
TEST(reduction_model, needs_acquire) { expect_fails(reduce_two, unordered, model::without(weakening::acquire)); }

TEST(reduction_model, of_a_loop) {
  expect_passes([] {
    runtime rt({0, 1});
    beside_workers(rt, {0, 1}, [&] {
      const piece all = parallel_reduce(rt, 0, 3, piece(0, 0), [](int i) { return piece(i, i + 1); }, join_neighbours(), {.grain = 1});
      require(all.is(0, 3), "something was left out");
    });
  });
}

}  // namespace
}  // namespace weir
