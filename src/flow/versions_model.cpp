// Model tests of the life of a version: the code of this folder itself, compiled with the model checker's atomics.
// Memory is model/memory/memory.hpp.
#include "flow/model/actor.hpp"

// The runtime's; not linked here, and never called.
void weir::detail::throw_null_access(const char* what) { throw usage_error(what); }
void weir::detail::throw_range_error(const frame*, std::uintptr_t, std::size_t, std::size_t) { throw usage_error(""); }

namespace weir::flow {
namespace {

// Some of the races below have a variant in which one of the threads was alone until the race begins.
enum class first { together, alone };

void a_reader_is_created_while_the_writer_runs(first how) {
  world w;
  test_datum x;
  number seen = 0;
  if (how == first::alone) w.make_alone(w.a);
  w.a.spawn({.out = {&x}});
  if (how == first::alone) w.a.spawn({.in = {&x}});
  parallel([&] { w.a.run_all(); }, [&] { w.b.spawn({.in = {&x}}, &seen), w.b.run_all(); });
  require(w.ran() == (how == first::alone ? 3 : 2), "not every task ran once");
  require(seen == 1, "the reader did not read what was written");
  w.a.forget(x);
}
TEST(version_model, a_reader_is_created_while_the_writer_runs) { expect_passes([] { a_reader_is_created_while_the_writer_runs(first::together); }); }
TEST(version_model, a_reader_is_created_while_a_writer_runs_that_was_alone) { expect_passes([] { a_reader_is_created_while_the_writer_runs(first::alone); }); }

// Of those that wait the first is told by who publishes, the others by who takes them.
void another_thread_tells_those_that_wait() {
  world w;
  shared_untold untold;
  test_datum x;
  number seen[3] = {};
  w.a.shares(untold), w.b.shares(untold);
  w.a.spawn({.out = {&x}});
  for (number& s : seen) w.a.spawn({.in = {&x}}, &s);
  parallel([&] { w.a.run_all(); }, [&] { w.b.tell_some(), w.b.run_all(); });
  require(w.ran() == 4, "not every task ran once");
  for (const number s : seen) require(s == 1, "a reader did not read what was written");
  w.a.forget(x);
}
TEST(version_model, another_thread_tells_those_that_wait) { expect_passes(another_thread_tells_those_that_wait); }

void two_tell_those_that_wait_for_both() {
  world w;
  shared_untold untold;
  test_datum x, y;
  number seen[2] = {};
  w.a.shares(untold), w.b.shares(untold);
  w.a.spawn({.out = {&x}});
  w.b.spawn({.out = {&y}});
  for (number& s : seen) w.a.spawn({.in = {&x, &y}}, &s);
  parallel([&] { w.a.run_all(); }, [&] { w.b.run_all(); });
  require(w.ran() == 4, "not every task ran once");
  for (const number s : seen) require(s == 2, "a reader did not read what both wrote");
  w.a.forget(x);
  w.b.forget(y);
}
TEST(version_model, two_tell_those_that_wait_for_both) { expect_passes(two_tell_those_that_wait_for_both); }

// It lets go of what it has read when others run that it has made ready, and of which one waits for that.
void a_reader_lets_go_late() {
  world w;
  shared_untold untold;
  test_datum x, y;
  number seen = 0;
  w.a.shares(untold), w.b.shares(untold);
  w.a.spawn({.out = {&x}});
  w.a.run_all();
  w.a.spawn({.in = {&x}, .out = {&y}});
  w.a.spawn({.inout = {&x}});
  w.a.spawn({.in = {&y}}, &seen);
  parallel([&] { w.a.run_all(); }, [&] { w.b.spawn({.in = {&x, &y}}), w.b.run_all(); });
  w.a.run_all(), w.b.run_all();
  require(w.ran() == 5 && seen == 2, "the last reader did not read what was written");
  w.a.forget(x);
  w.a.forget(y);
}
TEST(version_model, a_reader_lets_go_late) { expect_passes(a_reader_lets_go_late); }

// A task waits for its reads one after the other, and who tells it goes on to the next.
void a_task_reads_what_two_threads_write() {
  world w;
  test_datum x, y;
  number seen = 0;
  w.a.spawn({.out = {&x}});
  w.b.spawn({.out = {&y}});
  parallel([&] { w.a.run_all(); }, [&] { w.b.run_all(); }, [&] { w.d.spawn({.in = {&x, &y}}, &seen), w.d.run_all(); });
  require(w.ran() == 3 && seen == 2, "the reader did not read what both wrote");
  w.d.forget(x);
  w.d.forget(y);
}
TEST(version_model, a_task_reads_what_two_threads_write) { expect_passes(a_task_reads_what_two_threads_write); }

TEST(version_model, a_task_reads_two_data_and_updates_a_third) {
  expect_passes([] {
    world w;
    test_datum x, y, z;
    number seen = 0;
    w.a.spawn({.out = {&x}});
    w.b.spawn({.out = {&y}});
    w.b.spawn({.out = {&z}});
    w.d.spawn({.in = {&x, &y}, .inout = {&z}}, &seen);
    parallel([&] { w.a.run_all(); }, [&] { w.b.run_all(); });
    require(w.ran() == 4 && seen == 3, "the reader did not read what both wrote");
    w.d.forget(x);
    w.d.forget(y);
    w.d.forget(z);
  });
}

void a_version_is_replaced_while_its_reader_is_running(first how) {
  world w;
  test_datum x;
  if (how == first::alone) w.make_alone(w.a);
  w.a.spawn({.out = {&x}});
  w.a.run_all();
  number seen = 0;
  w.a.spawn({.in = {&x}}, &seen);
  parallel([&] { w.a.run_all(); }, [&] { w.b.spawn({.out = {&x}}), w.b.run_all(); });
  require(w.ran() == 3 && seen == 1, "the reader did not read what was written before it");
  w.b.forget(x);
}
TEST(version_model, a_version_is_replaced_while_its_reader_is_running) { expect_passes([] { a_version_is_replaced_while_its_reader_is_running(first::together); }); }
TEST(version_model, a_version_is_replaced_while_a_reader_runs_that_was_alone) { expect_passes([] { a_version_is_replaced_while_its_reader_is_running(first::alone); }); }

TEST(version_model, a_first_value_is_replaced_while_its_reader_is_running) {
  expect_passes([] {
    world w;
    test_datum x;
    const number given = 7;
    give_first_version(w.d.c, x, &given);
    number seen = 0;
    w.a.spawn({.in = {&x}}, &seen);
    parallel([&] { w.a.run_all(); }, [&] { w.b.spawn({.out = {&x}}), w.b.run_all(); });
    require(w.ran() == 2 && seen == given, "the reader did not read what the datum began with");
    w.b.forget(x);
  });
}

TEST(version_model, one_becomes_alone_while_another_runs_a_reader) {
  expect_passes([] {
    world w;
    test_datum x;
    w.a.spawn({.out = {&x}});
    w.a.run_all();
    number seen = 0;
    w.b.spawn({.in = {&x}}, &seen);
    parallel([&] { w.make_alone(w.a), w.a.spawn({.out = {&x}}), w.a.run_all(); }, [&] { w.b.run_all(); });
    require(w.ran() == 3 && seen == 1, "the reader did not read what was written before it");
    w.b.forget(x);
  });
}

TEST(version_model, a_version_is_replaced_before_its_writer_has_run) {
  expect_passes([] {
    world w;
    test_datum x;
    w.a.spawn({.out = {&x}});
    w.b.spawn({.in = {&x}});
    parallel([&] { w.a.run_all(); }, [&] { w.b.spawn({.out = {&x}}), w.b.run_all(); });
    require(w.ran() == 3, "not every task ran once");
    w.b.forget(x);
  });
}

void two_readers_and_the_end_of_the_datum() {
  world w;
  test_datum x;
  w.d.spawn({.out = {&x}});
  w.d.run_all();
  number first = 0, second = 0;
  w.a.spawn({.in = {&x}}, &first);
  w.b.spawn({.in = {&x}}, &second);
  parallel([&] { w.a.run_all(); }, [&] { w.b.run_all(); }, [&] { w.d.forget(x); });
  require(w.ran() == 3 && first == 1 && second == 1, "a reader did not read what was written");
}
TEST(version_model, two_readers_and_the_end_of_the_datum) { expect_passes(two_readers_and_the_end_of_the_datum); }

void an_update_waits_for_the_readers_before_it() {
  world w;
  test_datum x;
  w.d.spawn({.out = {&x}});
  w.d.run_all();
  number first = 0, second = 0;
  w.a.spawn({.in = {&x}}, &first);
  w.b.spawn({.in = {&x}}, &second);
  parallel([&] { w.a.run_all(); }, [&] { w.b.run_all(); }, [&] { w.d.spawn({.inout = {&x}}), w.d.run_all(); });
  require(w.ran() == 4, "not every task ran once");
  require(first == 1 && second == 1, "a reader saw the update after it");
  w.a.spawn({.in = {&x}}, &first);
  w.a.run_all();
  require(first == 2, "the update was lost");
  w.a.forget(x);
}
TEST(version_model, an_update_waits_for_the_readers_before_it) { expect_passes(an_update_waits_for_the_readers_before_it); }

TEST(version_model, an_update_is_created_while_the_writer_runs) {
  expect_passes([] {
    world w;
    test_datum x;
    number seen = 0;
    w.a.spawn({.out = {&x}});
    parallel([&] { w.a.run_all(); }, [&] { w.b.spawn({.inout = {&x}}), w.b.spawn({.in = {&x}}, &seen), w.b.run_all(); });
    require(w.ran() == 3 && seen == 2, "the reader did not see the update");
    w.b.forget(x);
  });
}

TEST(version_model, a_failure_reaches_readers_created_at_any_time) {
  expect_passes([] {
    world w;
    test_datum x;
    w.a.spawn({.out = {&x}});
    w.d.spawn({.in = {&x}});
    parallel(
        [&] {
          w.a.run(w.a.c.ready.pop(), "the writer");
          w.a.run_all();
        },
        [&] { w.b.spawn({.in = {&x}}), w.b.run_all(); });
    require(w.ran() == 1 && w.skipped() == 2, "a reader of a failed version ran");
    w.a.forget(x);
  });
}

TEST(version_model, two_creators_name_the_same_data_in_opposite_order) {
  expect_passes([] {
    world w;
    test_datum x, y;
    w.d.spawn({.out = {&x, &y}});
    w.d.run_all();
    number first = 0, second = 0;
    parallel([&] { w.a.spawn({.in = {&x}, .out = {&y}}, &first), w.a.run_all(); }, [&] { w.b.spawn({.in = {&y}, .out = {&x}}, &second), w.b.run_all(); });
    require(w.ran() == 3, "not every task ran once");
    // As if one had been created before the other.
    require((first == 1 && second == 2) || (first == 2 && second == 1), "the tasks are ordered differently on the two data");
    w.d.forget(x);
    w.d.forget(y);
  });
}

// The lock hands over what the creator before did to the datum, and to nothing else.
TEST(version_model, creators_that_share_lock_the_data_they_name) {
  expect_passes([] {
    world w;
    w.make_creators_share();
    test_datum x;
    w.d.spawn({.out = {&x}});
    w.d.run_all();
    number seen = 0;
    parallel([&] { w.a.spawn({.inout = {&x}}), w.a.run_all(); }, [&] { w.b.spawn({.inout = {&x}}), w.b.run_all(); });
    w.d.spawn({.in = {&x}}, &seen);
    w.d.run_all();
    require(w.ran() == 4 && seen == 3, "an update was lost");
    w.d.forget(x);
  });
}

TEST(version_model, a_frame_with_two_versions_lives_until_both_are_dead) {
  expect_passes([] {
    world w;
    test_datum x, y;
    w.d.spawn({.out = {&x, &y}});
    w.d.run_all();
    parallel([&] { w.a.forget(x); }, [&] { w.b.forget(y); });
  });
}

TEST(version_model, a_thread_outside_waits_for_a_version) {
  expect_passes([] {
    world w;
    test_datum x;
    w.a.spawn({.out = {&x}});
    model::atomic<std::uint32_t> bell{0};
    const auto ring = [](void* b) {
      auto& word = *static_cast<model::atomic<std::uint32_t>*>(b);
      word.store(1, std::memory_order_release);
      model::model_atomics::wake_all(word);
    };
    parallel([&] { w.a.run_all(); },
             [&] {
               external_wait wait(ring, &bell);
               if (subscribe(w.b.c, *x.current, wait))
                 while (!wait.done())
                   if (bell.load(std::memory_order_acquire) == 0) model::model_atomics::wait(bell, 0);
               require(read_buffer(x.current->buffer) == 1, "the waiting thread does not see what was written");
             });
    w.a.forget(x);
  });
}

// As weir::data's read(): the view keeps its version alive, and an update that finds it must copy.
TEST(version_model, a_view_while_an_update_is_created) {
  expect_passes([] {
    world w;
    test_datum x;
    w.a.spawn({.out = {&x}});
    w.a.run_all();
    number seen = 0;
    parallel([&] { w.a.spawn({.inout = {&x}}), w.a.run_all(); },
             [&] {
               version* current = nullptr;
               {
                 const visit here(w.b.c);
                 const held_datum held(w.b.c, x);
                 current = x.current;
                 current->users.fetch_add(version::one_view, relaxed);
               }
               version& v = *current;
               if (!v.published()) return drop_view(w.b.c, v);
               seen = read_buffer(v.buffer);
               drop_view(w.b.c, v);
               w.b.run_all();
             });
    require(seen <= 2 && w.ran() == 2, "the view saw what was never written, or the update did not run");
    w.a.spawn({.in = {&x}}, &seen);
    w.a.run_all();
    require(seen == 2, "the update was lost");
    w.a.forget(x);
  });
}

// Whoever is last buries the version; the other one must not look at it any more.
TEST(version_model, a_view_is_let_go_while_the_last_reader_leaves) {
  expect_passes([] {
    world w;
    test_datum x;
    number seen = 0;
    w.d.spawn({.out = {&x}});
    w.d.run_all();
    w.a.spawn({.in = {&x}}, &seen);
    version& v = *x.current;
    v.users.fetch_add(version::one_view, relaxed);
    w.d.forget(x);
    parallel([&] { w.a.run_all(); }, [&] { drop_view(w.b.c, v); });
    require(seen == 1, "the reader did not read what was written");
  });
}

// Nobody but the view knows the version, and the view goes away: whoever comes second of it and the writer buries it.
TEST(version_model, a_view_is_let_go_while_the_writer_runs) {
  expect_passes([] {
    world w;
    test_datum x;
    w.a.spawn({.out = {&x}});
    version& v = *x.current;
    v.users.fetch_add(version::one_view, relaxed);
    w.d.forget(x);
    parallel([&] { w.a.run_all(); }, [&] { drop_view(w.b.c, v); });
    require(w.ran() == 1, "the writer did not run");
  });
}

TEST(version_model, a_stream_is_pushed_and_popped_by_different_creators) {
  expect_passes([] {
    world w;
    auto* s = new stream_state;
    s->element_bytes = sizeof(number);
    number seen = 0;
    parallel([&] { w.a.spawn({.push = s}), w.a.run_all(); }, [&] { w.b.spawn({.pop = s}, &seen), w.b.run_all(); });
    require(w.ran() == 2 && seen == 1, "what was popped is not what was pushed");
    release(w.a.c, s);
  });
}

// Who looks ahead lets go of the push while another one takes it out of the stream, or finds nothing to look at.
TEST(version_model, a_push_is_popped_while_it_is_peeked_at) {
  expect_passes([] {
    world w;
    auto* s = new stream_state;
    s->element_bytes = sizeof(number);
    number ahead = 0, seen = 0;
    w.d.spawn({.push = s});
    w.d.run_all();
    parallel([&] { w.a.spawn({.peek = s}, &ahead), w.a.run_all(); }, [&] { w.b.spawn({.pop = s}, &seen), w.b.run_all(); });
    w.d.spawn({.push = s});
    w.d.run_all();
    w.d.spawn({.pop = s});
    w.d.run_all();
    require(w.ran() == 5 && ahead == 1 && seen == 1, "not all was seen that was pushed");
    release(w.d.c, s);
  });
}

TEST(version_model, the_last_handle_of_a_stream_takes_it_along) {
  expect_passes([] {
    world w;
    auto* s = new stream_state;
    s->element_bytes = sizeof(number);
    w.a.spawn({.push = s});
    w.a.spawn({.pop = s});
    w.a.run_all();
    retain(*s);
    parallel([&] { retain(*s), release(w.a.c, s), release(w.a.c, s); }, [&] { release(w.b.c, s); });
  });
}

// The tests above notice when an order is missing.
TEST(version_model, waiting_for_several_reads_needs_release) { expect_needs(model::weakening::release, a_task_reads_what_two_threads_write); }
TEST(version_model, waiting_for_several_reads_needs_acquire) { expect_needs(model::weakening::acquire, a_task_reads_what_two_threads_write); }
TEST(version_model, publication_needs_release) { expect_needs(model::weakening::release, [] { a_reader_is_created_while_the_writer_runs(first::together); }); }
TEST(version_model, publication_needs_acquire) { expect_needs(model::weakening::acquire, [] { a_reader_is_created_while_the_writer_runs(first::together); }); }
TEST(version_model, the_end_of_a_version_needs_release) { expect_needs(model::weakening::release, two_readers_and_the_end_of_the_datum); }
TEST(version_model, the_end_of_a_version_needs_acquire) { expect_needs(model::weakening::acquire, two_readers_and_the_end_of_the_datum); }
TEST(version_model, an_update_needs_release) { expect_needs(model::weakening::release, an_update_waits_for_the_readers_before_it); }
TEST(version_model, an_update_needs_acquire) { expect_needs(model::weakening::acquire, an_update_waits_for_the_readers_before_it); }

}  // namespace
}  // namespace weir::flow
