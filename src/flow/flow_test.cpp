// The life of data without an engine: one thread creates, runs and completes tasks in an order of its choosing, and
// looks at what memory is alive in between.
#include "flow/address_domain.hpp"
#include "flow/flow.hpp"

#include <weir/detail/build.hpp>
#include <weir/error.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace weir::flow {
namespace {

using detail::version_kind;
constexpr std::size_t bytes = 1000;

class flow_test : public ::testing::Test {
 protected:
  struct test_datum : datum {
    test_datum() { this->bytes = flow::bytes; }
  };
  struct accesses {
    std::vector<datum*> in, out, inout;
    stream_state* push = nullptr;
    stream_state* pop = nullptr;
    std::size_t count = 0;  // of push or pop
  };

  explicit flow_test(const std::vector<int>& nodes = {0}, allocation mode = allocation::deferred)
      : all(os::pretended_memory(), nodes, mode) {}
  ~flow_test() override {
    c.buffers.flush_counts();
    EXPECT_EQ(c.common.buffers.live_bytes(), 0) << "buffers are left";
  }

  frame* spawn(const accesses& a, const char* name = "task") {
    static constinit const detail::task_ops nothing{nullptr, nullptr};
    frame* f = create_frame(c, nullptr, &nothing, {.name = name},
                            detail::size_of_frame({.name = name}, a.out.size() + a.inout.size() + (a.push ? 1 : 0),
                                                  a.in.size() + a.inout.size() + (a.pop ? 1 : 0), 0, 1, a.pop ? 1 : 0));
    detail::cursor k{f};
    for (datum* d : a.in) put(k, waiter_kind::read, d);
    for (datum* d : a.inout) {
      put(k, waiter_kind::update, d).set_place(0, k.version_index());
      f->unusual |= frame::has_updates;
      detail::put_version(k, version_kind::update, d, d->bytes);
    }
    for (datum* d : a.out) detail::put_version(k, version_kind::replace, d, d->bytes);
    if (a.push != nullptr) detail::put_stream<char>(k, a.push, a.count, detail::stream_mode::push);
    if (a.pop != nullptr) detail::put_stream<char>(k, a.pop, a.count, detail::stream_mode::pop);
    try {
      if (submit(c, f)) c.ready.push(f);
    } catch (...) {
      free_frame(c, f);
      throw;
    }
    return f;
  }
  static access& put(detail::cursor& k, waiter_kind kind, datum* d) {
    access& a = detail::put_access(k, kind);
    a.wanted = d;
    a.bytes = d->bytes;
    return a;
  }

  bool ready(frame* f) {
    collect();
    return std::find(ready_.begin(), ready_.end(), f) != ready_.end();
  }
  void run(frame* f, const char* cause = nullptr, const std::function<void()>& body = [] {}) {
    ASSERT_TRUE(ready(f)) << f->display_name() << " is not ready";
    std::erase(ready_, f);
    if (cause == nullptr) cause = f->skipped_because.load(std::memory_order_relaxed);
    if (cause == nullptr) {
      prepare(c, f);
      body();
    }
    complete(c, f, cause);
  }
  void collect() {
    while (frame* f = c.ready.pop()) ready_.push_back(f);
  }
  void forget(datum& d) { let_current_go(c, d); }
  std::int64_t live() {
    c.buffers.flush_counts();
    return c.common.buffers.live_bytes();
  }
  stream_state* new_stream() { return new stream_state; }

  shared all;
  context c{all, 0, 1, true};
  std::vector<frame*> ready_;
};

TEST(task_ops, knows_how_long_tasks_are_without_writing_each_time_down) {
  using detail::task_length;
  const detail::task_ops of{nullptr, nullptr};
  const auto typical = [&] { return of.typical_ns.load(std::memory_order_relaxed); };
  EXPECT_TRUE(of.is_unknown());
  of.note(task_length::long_, 20'000);
  EXPECT_EQ(typical(), 20'000u);
  EXPECT_TRUE(of.has_run_before());
  for (const std::uint64_t ns : {18'000u, 22'000u, 20'100u}) of.note(task_length::long_, ns);
  EXPECT_EQ(typical(), 20'000u);
  for (int i = 0; i < 30; i++) of.note(task_length::short_, 1'000);
  EXPECT_LE(typical(), 1'000 + 1'000 / 8 + 50 + 20);
  EXPECT_TRUE(of.is_short());
  of.note(task_length::short_, 0);
  EXPECT_GE(typical(), 1u);
  of.note(task_length::long_, ~std::uint64_t{0} / 4);
  EXPECT_EQ(typical(), 0xffffffffu);
}

TEST_F(flow_test, a_reader_waits_for_its_writer) {
  test_datum x;
  frame* w = spawn({.out = {&x}});
  frame* r = spawn({.in = {&x}});
  EXPECT_TRUE(ready(w));
  EXPECT_FALSE(ready(r));
  run(w);
  run(r);
  forget(x);
}

TEST_F(flow_test, memory_comes_when_the_writer_runs_and_goes_with_the_last_reader) {
  test_datum x;
  frame* first = spawn({.out = {&x}});
  frame* r1 = spawn({.in = {&x}});
  frame* r2 = spawn({.in = {&x}});
  frame* second = spawn({.out = {&x}});
  EXPECT_EQ(live(), 0);
  run(second);  // waits for nobody: a new version
  EXPECT_EQ(live(), static_cast<std::int64_t>(bytes));
  run(first);
  EXPECT_EQ(live(), static_cast<std::int64_t>(2 * bytes));
  run(r1);
  EXPECT_EQ(live(), static_cast<std::int64_t>(2 * bytes));
  run(r2);
  EXPECT_EQ(live(), static_cast<std::int64_t>(bytes));
  forget(x);
  EXPECT_EQ(live(), 0);
}

TEST_F(flow_test, a_version_nobody_reads_dies_with_its_writer) {
  test_datum x;
  frame* first = spawn({.out = {&x}});
  frame* second = spawn({.out = {&x}});
  run(first);
  EXPECT_EQ(live(), 0);
  run(second);
  EXPECT_EQ(live(), static_cast<std::int64_t>(bytes));
  forget(x);
}

TEST_F(flow_test, an_update_waits_for_all_readers_and_takes_the_buffer) {
  test_datum x;
  frame* w = spawn({.out = {&x}});
  run(w);
  frame* r1 = spawn({.in = {&x}});
  frame* r2 = spawn({.in = {&x}});
  frame* u = spawn({.inout = {&x}});
  frame* after = spawn({.in = {&x}});
  const void* before = x.current == nullptr ? nullptr : u->access_at(0)->source->buffer;
  EXPECT_FALSE(ready(u));
  run(r2);
  EXPECT_FALSE(ready(u));
  run(r1);
  EXPECT_TRUE(ready(u));
  EXPECT_FALSE(ready(after));
  run(u, nullptr, [&] { EXPECT_EQ(u->version_at(0)->buffer, before); });
  EXPECT_EQ(live(), static_cast<std::int64_t>(bytes));
  run(after);
  forget(x);
}

TEST_F(flow_test, updates_follow_each_other_before_they_have_run) {
  test_datum x;
  frame* w = spawn({.out = {&x}});
  std::vector<frame*> updates;
  for (int i = 0; i < 5; i++) updates.push_back(spawn({.inout = {&x}}));
  run(w);
  for (std::size_t i = 0; i < updates.size(); i++) {
    for (std::size_t later = i + 1; later < updates.size(); later++) EXPECT_FALSE(ready(updates[later]));
    run(updates[i]);
    EXPECT_EQ(live(), static_cast<std::int64_t>(bytes));
  }
  forget(x);
}

TEST_F(flow_test, reading_and_writing_one_datum_needs_two_buffers_for_a_moment) {
  test_datum x;
  run(spawn({.out = {&x}}));
  frame* both = spawn({.in = {&x}, .out = {&x}});
  run(both, nullptr, [&] { EXPECT_EQ(live(), static_cast<std::int64_t>(2 * bytes)); });
  EXPECT_EQ(live(), static_cast<std::int64_t>(bytes));
  forget(x);
}

TEST_F(flow_test, a_failure_poisons_what_was_read_and_not_what_is_overwritten) {
  test_datum x, y;
  frame* bad = spawn({.out = {&x}}, "bad");
  frame* reader = spawn({.in = {&x}, .out = {&y}}, "reader");
  frame* second = spawn({.in = {&y}}, "second");
  frame* writer = spawn({.out = {&x}}, "writer");
  run(bad, "bad");
  ASSERT_TRUE(ready(reader));
  EXPECT_STREQ(reader->skipped_because.load(std::memory_order_relaxed), "bad");
  run(reader);
  ASSERT_TRUE(ready(second));
  EXPECT_STREQ(second->skipped_because.load(std::memory_order_relaxed), "bad");
  run(second);
  EXPECT_EQ(writer->skipped_because.load(std::memory_order_relaxed), nullptr);
  run(writer);
  frame* late = spawn({.in = {&y}}, "late");  // created when it is known already
  EXPECT_STREQ(late->skipped_because.load(std::memory_order_relaxed), "bad");
  run(late);
  forget(x);
  forget(y);
}

TEST_F(flow_test, a_refused_task_leaves_no_trace) {
  test_datum x, y;
  run(spawn({.out = {&x}}));
  EXPECT_THROW(spawn({.in = {&y}, .out = {&x}}), usage_error);
  EXPECT_THROW(spawn({.out = {&x, &x}}), usage_error);
  EXPECT_THROW(spawn({.in = {&x}, .inout = {&x}}), usage_error);
  // Neither locked nor counted: an update runs at once.
  EXPECT_EQ(x.owner.load(std::memory_order_relaxed), 0u);
  EXPECT_EQ(y.owner.load(std::memory_order_relaxed), 0u);
  frame* u = spawn({.inout = {&x}});
  EXPECT_TRUE(ready(u));
  run(u);
  forget(x);
}

TEST_F(flow_test, stream_windows_across_pushes) {
  stream_state* s = new_stream();
  frame* pop = spawn({.pop = s, .count = 5});
  frame* first = spawn({.push = s, .count = 3});
  EXPECT_FALSE(ready(pop));
  frame* second = spawn({.push = s, .count = 4});
  run(second);
  EXPECT_FALSE(ready(pop));
  run(first);
  EXPECT_TRUE(ready(pop));
  EXPECT_EQ(live(), 7);
  run(pop, nullptr, [&] { EXPECT_EQ(live(), 12); });  // and a gathered copy
  EXPECT_EQ(live(), 4);                               // the second push is not used up
  frame* rest = spawn({.pop = s, .count = 2});
  run(rest, nullptr, [&] { EXPECT_EQ(live(), 4); });  // in one piece: no copy
  EXPECT_EQ(live(), 0);
  release(c, s);
}

TEST_F(flow_test, a_push_that_is_there_is_popped_in_parts) {
  stream_state* s = new_stream();
  run(spawn({.push = s, .count = 4}));
  run(spawn({.push = s, .count = 0}));
  frame* part = spawn({.pop = s, .count = 1});
  frame* rest = spawn({.pop = s, .count = 3});  // the last to see the push, and the one behind it, which is empty
  EXPECT_TRUE(ready(part));
  EXPECT_TRUE(s->pushes.empty());
  run(rest);
  EXPECT_EQ(live(), 4);
  run(part);
  EXPECT_EQ(live(), 0);
  release(c, s);
}

TEST_F(flow_test, a_stage_pops_what_is_there_and_pushes_what_is_awaited) {
  stream_state *from = new_stream(), *to = new_stream();
  run(spawn({.push = from, .count = 2}));
  frame* last = spawn({.pop = to, .count = 4});
  frame* stage = spawn({.push = to, .pop = from, .count = 2});
  run(stage);
  EXPECT_FALSE(ready(last));
  run(spawn({.push = to, .count = 2}));
  EXPECT_TRUE(ready(last));
  run(last);
  EXPECT_EQ(live(), 0);
  release(c, from);
  release(c, to);
}

TEST_F(flow_test, a_push_that_has_failed_is_not_popped) {
  stream_state* s = new_stream();
  run(spawn({.push = s, .count = 1}), "trouble");
  frame* pop = spawn({.pop = s, .count = 1});
  EXPECT_TRUE(ready(pop));
  EXPECT_STREQ(pop->skipped_because.load(std::memory_order_relaxed), "trouble");
  run(pop);
  release(c, s);
}

TEST_F(flow_test, a_task_that_reads_a_datum_and_pushes_lets_go_of_both) {
  test_datum x;
  stream_state* s = new_stream();
  run(spawn({.out = {&x}}));
  run(spawn({.in = {&x}, .push = s, .count = 3}));
  EXPECT_EQ(live(), static_cast<std::int64_t>(bytes + 3));
  forget(x);
  EXPECT_EQ(live(), 3);
  run(spawn({.pop = s, .count = 3}));
  release(c, s);
}

// Whose end is then part of the task's.
TEST_F(flow_test, a_window_is_the_last_that_keeps_its_stream) {
  stream_state* s = new_stream();
  frame* pop = spawn({.pop = s, .count = 1});
  run(spawn({.push = s, .count = 1}));
  release(c, s);
  run(pop);
  EXPECT_EQ(live(), 0);
}

class first_touch_test : public flow_test {
 protected:
  first_touch_test() : flow_test({0, 1}, allocation::first_touch) {}
};

TEST_F(first_touch_test, an_update_that_copies_returns_its_buffer_to_its_pool) {
  test_datum x;
  run(spawn({.out = {&x}}));
  version& seen = *x.current;
  seen.users.fetch_add(version::one_view, std::memory_order_relaxed);
  run(spawn({.inout = {&x}}));
  drop_view(c, seen);
  forget(x);
  EXPECT_EQ(live(), 0);
  for (const int place : {0, 1, memory::place_unknown}) EXPECT_EQ(all.buffers.live_bytes(place), 0) << place;
}

TEST_F(flow_test, a_stream_that_ends_drops_what_it_holds) {
  stream_state* s = new_stream();
  run(spawn({.push = s, .count = 10}));
  EXPECT_EQ(live(), 10);
  ::testing::internal::CaptureStderr();
  release(c, s);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("10 elements"), std::string::npos);
  EXPECT_EQ(live(), 0);
}

}  // namespace
}  // namespace weir::flow
