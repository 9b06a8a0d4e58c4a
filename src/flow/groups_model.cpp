// Model tests of commutative and concurrent accesses: groups that are opened, joined, closed and left, and tokens.
//
// A commutative task here reads a number and writes it back with one added: two at a time would be a data race. A
// concurrent one reads it, which is one with whoever comes after the group and does not wait for it.
#include "flow/model/actor.hpp"

#include <array>

namespace weir::flow {
namespace {

number value_of(world& w, test_datum& x) {
  number seen = 0;
  w.d.spawn({.in = {&x}}, &seen);
  w.d.run_all(), w.a.run_all(), w.b.run_all();
  return seen;
}

void two_threads_run_commutative_tasks() {
  world w;
  test_datum x;
  w.d.spawn({.out = {&x}});
  w.d.run_all();
  parallel([&] { w.a.spawn({.commutative = {&x}}), w.a.run_all(); },
           [&] { w.b.spawn({.commutative = {&x}}), w.b.run_all(); });
  require(w.ran() == 3 && value_of(w, x) == 3, "not every task added one");
  w.d.forget(x);
}
TEST(group_model, two_threads_run_commutative_tasks) { expect_passes(two_threads_run_commutative_tasks); }

// One runs, one waits for it, and one comes.
void a_token_is_handed_on_while_another_task_comes() {
  world w;
  test_datum x;
  w.d.spawn({.out = {&x}});
  w.d.run_all();
  w.d.spawn({.commutative = {&x}});
  w.d.spawn({.commutative = {&x}});
  frame* const first = w.d.c.ready.pop();
  require(w.d.c.ready.empty(), "two tasks have one token");
  parallel([&] { w.a.run(first, nullptr), w.a.run_all(); }, [&] { w.b.spawn({.commutative = {&x}}), w.b.run_all(); });
  require(w.ran() == 4 && value_of(w, x) == 4, "not every task added one");
  w.d.forget(x);
}
TEST(group_model, a_token_is_handed_on_while_another_task_comes) {
  expect_passes(a_token_is_handed_on_while_another_task_comes);
}

void tasks_of_one_and_of_two_tokens() {
  world w;
  test_datum x, y;
  w.d.spawn({.out = {&x}});
  w.d.spawn({.out = {&y}});
  w.d.run_all();
  w.d.spawn({.commutative = {&x}});
  frame* const has_x = w.d.c.ready.pop();
  w.d.spawn({.commutative = {&x, &y}});
  require(w.d.c.ready.empty(), "two tasks have one token");
  parallel([&] { w.a.run(has_x, nullptr), w.a.run_all(); }, [&] { w.b.spawn({.commutative = {&y}}), w.b.run_all(); });
  require(w.ran() == 5 && value_of(w, x) == 3 && value_of(w, y) == 3, "not every task added one");
  w.d.forget(x);
  w.d.forget(y);
}
TEST(group_model, tasks_of_one_and_of_two_tokens) { expect_passes(tasks_of_one_and_of_two_tokens); }

TEST(group_model, two_tasks_of_the_same_two_tokens) {
  expect_passes([] {
    world w;
    test_datum x, y;
    w.d.spawn({.out = {&x}});
    w.d.spawn({.out = {&y}});
    w.d.run_all();
    parallel([&] { w.a.spawn({.commutative = {&x, &y}}), w.a.run_all(); },
             [&] { w.b.spawn({.commutative = {&y, &x}}), w.b.run_all(); });
    require(w.ran() == 4 && value_of(w, x) == 3 && value_of(w, y) == 3, "not every task added one");
    w.d.forget(x);
    w.d.forget(y);
  });
}

// Opened while what is before it is being written.
void a_group_is_opened_while_the_writer_runs() {
  world w;
  test_datum x;
  number first = 0, second = 0;
  w.a.spawn({.out = {&x}});
  parallel([&] { w.a.run_all(); },
           [&] { w.b.spawn({.concurrent = {&x}}, &first), w.b.spawn({.concurrent = {&x}}, &second), w.b.run_all(); });
  require(w.ran() == 3 && first == 1 && second == 1, "a task of the group did not see what was written before");
  w.d.forget(x);
}
TEST(group_model, a_group_is_opened_while_the_writer_runs) { expect_passes(a_group_is_opened_while_the_writer_runs); }

void a_group_is_opened_while_a_reader_runs() {
  world w;
  test_datum x;
  number seen = 0;
  w.d.spawn({.out = {&x}});
  w.d.run_all();
  w.a.spawn({.in = {&x}}, &seen);
  parallel([&] { w.a.run_all(); }, [&] { w.b.spawn({.commutative = {&x}}), w.b.run_all(); });
  require(w.ran() == 3 && seen == 1 && value_of(w, x) == 2, "the group did not wait for the reader");
  w.d.forget(x);
}
TEST(group_model, a_group_is_opened_while_a_reader_runs) { expect_passes(a_group_is_opened_while_a_reader_runs); }

// Closed by an update while two of its tasks run.
void a_group_is_closed_while_its_tasks_run() {
  world w;
  test_datum x;
  number first = 0, second = 0;
  w.d.spawn({.out = {&x}});
  w.d.run_all();
  w.a.spawn({.concurrent = {&x}}, &first);
  w.b.spawn({.concurrent = {&x}}, &second);
  parallel([&] { w.a.run_all(); }, [&] { w.b.run_all(); }, [&] { w.d.spawn({.inout = {&x}}), w.d.run_all(); });
  w.a.run_all(), w.b.run_all(), w.d.run_all();
  require(w.ran() == 4 && first == 1 && second == 1, "what comes after a group did not wait for it");
  w.d.forget(x);
}
TEST(group_model, a_group_is_closed_while_its_tasks_run) { expect_passes(a_group_is_closed_while_its_tasks_run); }

TEST(group_model, a_group_is_read_while_its_last_task_runs) {
  expect_passes([] {
    world w;
    test_datum x;
    number seen = 0;
    w.d.spawn({.out = {&x}});
    w.d.run_all();
    w.a.spawn({.commutative = {&x}});
    parallel([&] { w.a.run_all(); }, [&] { w.b.spawn({.in = {&x}}, &seen), w.b.run_all(); });
    require(w.ran() == 3 && seen == 2, "the reader did not see what the group did");
    w.d.forget(x);
  });
}

TEST(group_model, a_group_is_overwritten_while_its_task_runs) {
  expect_passes([] {
    world w;
    test_datum x;
    w.d.spawn({.out = {&x}});
    w.d.run_all();
    w.a.spawn({.commutative = {&x}});
    parallel([&] { w.a.run_all(); }, [&] { w.b.spawn({.out = {&x}}), w.b.run_all(); });
    require(w.ran() == 3 && value_of(w, x) == 1, "the new value is not there");
    w.d.forget(x);
  });
}

TEST(group_model, a_datum_goes_while_its_group_is_open) {
  expect_passes([] {
    world w;
    test_datum x;
    w.d.spawn({.out = {&x}});
    w.a.spawn({.commutative = {&x}});
    parallel([&] { w.d.run_all(); }, [&] { w.b.forget(x); });
    w.a.run_all();
    require(w.ran() == 2, "not every task ran");
  });
}

void what_comes_after_a_task_that_fails_is_skipped() {
  world w;
  test_datum x;
  w.d.spawn({.out = {&x}});
  w.d.run_all();
  w.a.spawn({.concurrent = {&x}});
  frame* const fails = w.a.c.ready.pop();
  w.b.spawn({.concurrent = {&x}});
  w.b.spawn({.in = {&x}});
  parallel([&] { w.a.run(fails, "failed"), w.a.run_all(); }, [&] { w.b.run_all(); });
  require(w.ran() == 3 && w.skipped() == 1, "the reader ran, or one of the group did not");
  w.d.forget(x);
}
TEST(group_model, what_comes_after_a_task_that_fails_is_skipped) {
  expect_passes(what_comes_after_a_task_that_fails_is_skipped);
}

// A view that is there when a group is made may be gone when it is entered: then nothing is copied.
TEST(group_model, a_view_is_let_go_while_a_group_is_opened) {
  expect_passes([] {
    world w;
    test_datum x;
    number seen = 0;
    w.d.spawn({.out = {&x}});
    w.d.run_all();
    version& v = *x.current;
    v.users.fetch_add(version::one_view, relaxed);
    parallel([&] { w.a.spawn({.commutative = {&x}}), w.a.run_all(); },
             [&] { seen = read_buffer(v.buffer), drop_view(w.b.c, v); });
    require(seen == 1 && value_of(w, x) == 2, "what was viewed changed, or what was added is lost");
    w.d.forget(x);
  });
}

// ------------------------------------------------------------------------------------------------- user memory

TEST(group_model, commutative_tasks_on_user_memory) {
  expect_passes([] {
    world w;
    shared_cell x{0};
    parallel([&] { w.a.spawn({.adds = {&x}}), w.a.run_all(); }, [&] { w.b.spawn({.adds = {&x}}), w.b.run_all(); });
    w.d.spawn({.writes = {&x}});
    w.d.run_all();
    require(w.ran() == 3 && x.read() == 3, "not every task added one");
  });
}

TEST(group_model, a_range_is_cut_while_a_group_has_it) {
  expect_passes([] {
    world w;
    std::array<shared_cell, 2> x{shared_cell{0}, shared_cell{0}};
    w.b.spawn({.adds = {{x.data(), 2}}});
    frame* const first = w.b.c.ready.pop();
    parallel([&] { w.a.run(first, nullptr), w.a.run_all(); },
             [&] { w.b.spawn({.adds = {x.data()}}), w.b.spawn({.writes = {{x.data(), 2}}}), w.b.run_all(); });
    w.a.run_all(), w.b.run_all();
    require(w.ran() == 3 && x[0].read() == 3 && x[1].read() == 2, "not every task ran once, alone");
  });
}

TEST(group_model, a_range_is_forgotten_while_a_group_has_it) {
  expect_passes([] {
    world w;
    shared_cell x{0};
    w.b.spawn({.adds = {&x}});
    frame* const first = w.b.c.ready.pop();
    parallel([&] { w.a.run(first, nullptr), w.a.run_all(); },
             [&] { w.b.forget_ranges(), w.b.spawn({.writes = {&x}}), w.b.run_all(); });
    w.a.run_all(), w.b.run_all();
    require(w.ran() == 2 && x.read() == 2, "what comes after the group did not wait for it");
  });
}

// The tests above notice when an order is missing.
TEST(group_model, tokens_need_release) {
  expect_needs(model::weakening::release, two_threads_run_commutative_tasks);
}
TEST(group_model, tokens_need_acquire) {
  expect_needs(model::weakening::acquire, two_threads_run_commutative_tasks);
}
TEST(group_model, tokens_that_are_handed_on_need_release) {
  expect_needs(model::weakening::release, a_token_is_handed_on_while_another_task_comes);
}
TEST(group_model, tokens_that_are_handed_on_need_acquire) {
  expect_needs(model::weakening::acquire, a_token_is_handed_on_while_another_task_comes);
}
TEST(group_model, several_tokens_need_release) {
  expect_needs(model::weakening::release, tasks_of_one_and_of_two_tokens);
}
TEST(group_model, several_tokens_need_acquire) {
  expect_needs(model::weakening::acquire, tasks_of_one_and_of_two_tokens);
}
TEST(group_model, the_entry_needs_release) {
  expect_needs(model::weakening::release, a_group_is_opened_while_a_reader_runs);
}
TEST(group_model, the_entry_needs_acquire) {
  expect_needs(model::weakening::acquire, a_group_is_opened_while_a_reader_runs);
}
TEST(group_model, the_exit_needs_release) {
  expect_needs(model::weakening::release, a_group_is_closed_while_its_tasks_run);
}
TEST(group_model, the_exit_needs_acquire) {
  expect_needs(model::weakening::acquire, a_group_is_closed_while_its_tasks_run);
}

}  // namespace
}  // namespace weir::flow
