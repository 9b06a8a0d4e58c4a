// Model tests of user memory: ranges that repeat, are cut while tasks use them, and are made anew.
#include "flow/model/actor.hpp"

#include <array>

namespace weir::flow {
namespace {

// The creator of both has been the only one before, so that nothing else orders what the two threads do.
void a_reader_of_user_memory_is_created_while_the_writer_runs(bool forgets) {
  world w;
  shared_cell cell{0};
  number seen = 0;
  w.b.spawn({.writes = {&cell}});
  frame* const writer = w.b.c.ready.pop();
  parallel([&] { w.a.run(writer, nullptr), w.a.run_all(); },
           [&] {
             if (forgets) w.b.forget_ranges();
             w.b.spawn({.reads = {&cell}}, &seen), w.b.run_all();
           });
  require(w.ran() == 2 && seen == 1, "the reader did not read what was written");
}
TEST(range_model, a_reader_of_user_memory_is_created_while_the_writer_runs) {
  expect_passes([] { a_reader_of_user_memory_is_created_while_the_writer_runs(false); });
}
TEST(range_model, user_memory_is_forgotten_while_its_writer_runs) {
  expect_passes([] { a_reader_of_user_memory_is_created_while_the_writer_runs(true); });
}

// Then nothing is known of it any more that a task could wait for.
void user_memory_is_forgotten_while_it_is_read() {
  world w;
  shared_cell cell{0};
  number seen = 9;
  w.b.spawn({.reads = {&cell}}, &seen);
  frame* const reader = w.b.c.ready.pop();
  parallel([&] { w.a.run(reader, nullptr), w.a.run_all(); },
           [&] { w.b.forget_ranges(), w.b.spawn({.writes = {&cell}}), w.b.run_all(); });
  require(w.ran() == 2 && seen == 0 && cell.read() == 1, "it was written while it was read");
}
TEST(range_model, user_memory_is_forgotten_while_it_is_read) {
  expect_passes(user_memory_is_forgotten_while_it_is_read);
}

TEST(range_model, user_memory_is_ordered_by_creation) {
  expect_passes([] {
    world w;
    shared_cell cell{0};
    number seen = 0;
    w.a.spawn({.writes = {&cell}});
    w.a.spawn({.reads = {&cell}}, &seen);
    parallel([&] { w.a.run_all(); }, [&] { w.b.spawn({.writes = {&cell}}), w.b.run_all(); });
    require(w.ran() == 3 && seen == 1 && cell.read() == 2,
            "the tasks did not run one after the other in creation order");
  });
}

TEST(range_model, two_creators_of_tasks_on_the_same_user_memory) {
  expect_passes([] {
    world w;
    shared_cell x{0}, y{0};
    parallel([&] { w.a.spawn({.reads = {&x}, .writes = {&y}}), w.a.run_all(); },
             [&] { w.b.spawn({.reads = {&y}, .writes = {&x}}), w.b.run_all(); });
    require(w.ran() == 2 && x.read() == 1 && y.read() == 1, "not every task ran once");
  });
}

// The writer of two cells runs, or has readers, while tasks come that name one of them.
void a_range_is_cut_while_its_writer_runs(bool lets_go_late) {
  world w;
  shared_untold untold;
  if (lets_go_late) w.a.shares(untold), w.b.shares(untold);
  std::array<shared_cell, 2> x{shared_cell{0}, shared_cell{0}};
  number first = 0, second = 0;
  w.b.spawn({.writes = {{x.data(), 2}}});
  frame* const writer = w.b.c.ready.pop();
  parallel([&] { w.a.run(writer, nullptr), w.a.run_all(); },
           [&] {
             w.b.spawn({.reads = {x.data()}}, &first);
             w.b.spawn({.writes = {x.data() + 1}}, &second);
             w.b.run_all();
           });
  require(w.ran() == 3 && first == 1 && second == 1 && x[1].read() == 2,
          "a piece was used before the whole was there");
}
TEST(range_model, a_range_is_cut_while_its_writer_runs) {
  expect_passes([] { a_range_is_cut_while_its_writer_runs(false); });
}
TEST(range_model, a_range_is_cut_while_its_writer_lets_go_late) {
  expect_passes([] { a_range_is_cut_while_its_writer_runs(true); });
}

void a_range_is_cut_while_it_is_read(bool lets_go_late) {
  world w;
  shared_untold untold;
  if (lets_go_late) w.a.shares(untold), w.b.shares(untold);
  std::array<shared_cell, 2> x{shared_cell{0}, shared_cell{0}};
  number seen = 0;
  w.b.spawn({.writes = {{x.data(), 2}}});
  w.b.run_all();
  w.b.spawn({.reads = {{x.data(), 2}}}, &seen);
  frame* const reader = w.b.c.ready.pop();
  parallel([&] { w.a.run(reader, nullptr), w.a.run_all(); },
           [&] { w.b.spawn({.overwrites = {x.data() + 1}}), w.b.run_all(); });
  require(w.ran() == 3 && seen == 2 && x[1].read() == 2, "a piece was written while the whole was read");
}
TEST(range_model, a_range_is_cut_while_it_is_read) {
  expect_passes([] { a_range_is_cut_while_it_is_read(false); });
}
TEST(range_model, a_range_is_cut_while_its_reader_lets_go_late) {
  expect_passes([] { a_range_is_cut_while_it_is_read(true); });
}

// The last reader of the whole and its writer end while it is cut.
TEST(range_model, a_range_is_cut_while_its_writer_and_then_its_reader_run) {
  expect_passes([] {
    world w;
    std::array<shared_cell, 2> x{shared_cell{0}, shared_cell{0}};
    number seen = 0;
    w.b.spawn({.writes = {{x.data(), 2}}});
    frame* const writer = w.b.c.ready.pop();
    w.b.spawn({.reads = {{x.data(), 2}}}, &seen);
    parallel([&] { w.a.run(writer, nullptr), w.a.run_all(); },
             [&] { w.b.spawn({.writes = {x.data()}}), w.b.run_all(); });
    w.a.run_all(), w.b.run_all();
    require(w.ran() == 3 && seen == 2 && x[0].read() == 2, "the piece's writer did not wait for the whole's reader");
  });
}

TEST(range_model, a_task_reads_what_two_threads_write_side_by_side) {
  expect_passes([] {
    world w;
    std::array<shared_cell, 2> x{shared_cell{0}, shared_cell{0}};
    number seen = 0;
    w.d.spawn({.writes = {x.data()}});
    frame* const left = w.d.c.ready.pop();
    w.d.spawn({.writes = {x.data() + 1}});
    frame* const right = w.d.c.ready.pop();
    parallel([&] { w.a.run(left, nullptr), w.a.run_all(); }, [&] { w.b.run(right, nullptr), w.b.run_all(); },
             [&] { w.d.spawn({.reads = {{x.data(), 2}}}, &seen), w.d.run_all(); });
    require(w.ran() == 3 && seen == 2, "not both parts were waited for");
  });
}

TEST(range_model, a_task_writes_what_two_threads_read_side_by_side) {
  expect_passes([] {
    world w;
    std::array<shared_cell, 2> x{shared_cell{0}, shared_cell{0}};
    number left_seen = 9, right_seen = 9;
    w.d.spawn({.reads = {x.data()}}, &left_seen);
    frame* const left = w.d.c.ready.pop();
    w.d.spawn({.reads = {x.data() + 1}}, &right_seen);
    frame* const right = w.d.c.ready.pop();
    parallel([&] { w.a.run(left, nullptr), w.a.run_all(); }, [&] { w.b.run(right, nullptr), w.b.run_all(); },
             [&] { w.d.spawn({.writes = {{x.data(), 2}}}), w.d.run_all(); });
    require(w.ran() == 3 && left_seen == 0 && right_seen == 0 && x[1].read() == 1,
            "parts were written while they were read");
  });
}

TEST(range_model, what_a_failed_task_should_have_written_is_lost_in_the_pieces) {
  expect_passes([] {
    world w;
    std::array<shared_cell, 2> x{shared_cell{0}, shared_cell{0}};
    w.b.spawn({.writes = {{x.data(), 2}}});
    frame* const writer = w.b.c.ready.pop();
    parallel([&] { w.a.run(writer, "failed"), w.a.run_all(); },
             [&] { w.b.spawn({.reads = {x.data()}}), w.b.spawn({.overwrites = {x.data() + 1}}), w.b.run_all(); });
    w.a.run_all(), w.b.run_all();
    require(w.ran() == 2 && w.skipped() == 1, "who reads was not skipped, or who overwrites was");
  });
}

// A record that was cut is given back by whoever is the last to use it, and used again.
TEST(range_model, records_are_used_again) {
  expect_passes([] {
    world w;
    std::array<shared_cell, 2> x{shared_cell{0}, shared_cell{0}};
    w.b.spawn({.writes = {{x.data(), 2}}});
    frame* const writer = w.b.c.ready.pop();
    parallel([&] { w.a.run(writer, nullptr), w.a.run_all(); },
             [&] {
               w.b.spawn({.writes = {x.data()}});
               w.b.forget_ranges();
               w.b.spawn({.writes = {{x.data(), 2}}});
               w.b.run_all();
             });
    w.a.run_all(), w.b.run_all();
    require(w.ran() == 3 && x[0].read() == 3 && x[1].read() == 2, "not in order");
  });
}

TEST(range_model, two_creators_name_parts_of_a_range) {
  expect_passes([] {
    world w;
    std::array<shared_cell, 2> x{shared_cell{0}, shared_cell{0}};
    w.make_creators_share();
    parallel([&] { w.a.spawn({.writes = {{x.data(), 2}}}), w.a.run_all(); },
             [&] { w.b.spawn({.writes = {x.data()}}), w.b.spawn({.reads = {{x.data(), 2}}}), w.b.run_all(); });
    w.a.run_all(), w.b.run_all();
    require(w.ran() == 3 && x[0].read() == 2 && x[1].read() == 1, "not every task ran once, alone on what it writes");
  });
}

// They share their domain's lock, and lock records.
void two_creators_of_tasks_whose_ranges_are_known() {
  world w;
  shared_cell x{0}, y{0};
  w.make_creators_share();
  w.a.spawn({.writes = {&x}}), w.a.spawn({.writes = {&y}}), w.a.run_all();
  parallel([&] { w.a.spawn({.reads = {&x}, .writes = {&y}}), w.a.run_all(); },
           [&] { w.b.spawn({.reads = {&y}, .writes = {&x}}), w.b.run_all(); });
  require(w.ran() == 4 && x.read() == 2 && y.read() == 2, "not every task ran once");
}
TEST(range_model, two_creators_of_tasks_whose_ranges_are_known) {
  expect_passes(two_creators_of_tasks_whose_ranges_are_known);
}
TEST(range_model, creators_whose_ranges_are_known_need_acquire) {
  expect_needs(model::weakening::acquire, two_creators_of_tasks_whose_ranges_are_known);
}

// The tests above notice when an order is missing.
TEST(range_model, what_is_at_rest_needs_acquire) {
  expect_needs(model::weakening::acquire, user_memory_is_forgotten_while_it_is_read);
}
TEST(range_model, a_cut_needs_release) {
  expect_needs(model::weakening::release, [] { a_range_is_cut_while_its_writer_runs(false); });
}
TEST(range_model, a_cut_needs_acquire) {
  expect_needs(model::weakening::acquire, [] { a_range_is_cut_while_its_writer_runs(false); });
}
TEST(range_model, a_cut_of_what_is_read_needs_release) {
  expect_needs(model::weakening::release, [] { a_range_is_cut_while_it_is_read(false); });
}
TEST(range_model, a_cut_of_what_is_read_needs_acquire) {
  expect_needs(model::weakening::acquire, [] { a_range_is_cut_while_it_is_read(false); });
}

}  // namespace
}  // namespace weir::flow
