// Model tests of the life of a version: the code of this folder itself, compiled with the model checker's atomics.
// Memory is model/memory/memory.hpp.
#include <new>
#include <vector>

#include <weir/error.hpp>

#include "base/model/model_gtest.hpp"
#include "flow/flow.hpp"

// The runtime's; not linked here, and never called.
void weir::detail::throw_null_access(const char* what) { throw usage_error(what); }

namespace weir::flow {
namespace {

using memory::number;
using memory::read_buffer;
using memory::write_buffer;
using model::parallel;
using model::require;

struct no_memory final : os::memory_backend {
  void* map(std::size_t, std::size_t) override { return nullptr; }
  void unmap(void*, std::size_t) override {}
  bool prefer_node(void*, std::size_t, int) override { return false; }
  bool interleave(void*, std::size_t, std::span<const int>) override { return false; }
  int node_of(const void*) override { return -1; }
};

constexpr auto relaxed = std::memory_order_relaxed;

model::limits dear() {
  model::limits l;
  l.cost = 5;
  return l;
}
void expect_passes(const std::function<void()>& body) { model::expect_passes(body, dear()); }
// Some run fails when the atomics do not do this.
void expect_needs(model::weakening w, const std::function<void()>& body) {
  model::limits l = dear();
  l.without = w;
  EXPECT_FALSE(model::check(body, l).passed);
}

using detail::access_mode;
using detail::stream_mode;
using shared_cell = model::plain<number>;  // user memory

struct test_datum : datum {
  test_datum() { bytes = sizeof(number), element_bytes = sizeof(number); }
};

// A thread that creates and runs tasks: what the engine does, without queues.
struct actor {
  actor(shared& s, std::uint32_t id) : c(s, 0, id, true) {}

  struct accesses {
    std::vector<datum*> in, out, inout;
    stream_state *push = nullptr, *pop = nullptr, *peek = nullptr;
    std::vector<shared_cell*> reads, writes;  // user memory, dependences by address
  };

  // Creates a task; it notes in *seen what it reads. What becomes ready is on c.ready.
  void spawn(const accesses& named, number* seen = nullptr) {
    const std::size_t versions = named.out.size() + named.inout.size() + (named.push ? 1 : 0);
    const std::size_t windows = (named.pop ? 1 : 0) + (named.peek ? 1 : 0);
    const std::size_t reads = named.in.size() + named.inout.size() + windows + named.reads.size() + named.writes.size();
    frame* f = create_frame(c, nullptr, nullptr, {},
                            detail::size_of_frame({}, versions, reads, sizeof seen, alignof(number*),
                                                  windows));
    new (closure(f)) number*(seen);
    detail::cursor k{f};
    for (datum* d : named.in) put_datum(k, waiter_kind::read, d);
    for (datum* d : named.inout) {
      put_datum(k, waiter_kind::update, d).set_place(0, k.version_index());
      f->unusual |= frame::has_updates;
      detail::put_version(k, detail::version_kind::update, d, d->bytes);
    }
    for (datum* d : named.out) detail::put_version(k, detail::version_kind::replace, d, d->bytes);
    if (named.push != nullptr) detail::put_stream<number>(k, named.push, 1, stream_mode::push);
    if (named.pop != nullptr) detail::put_stream<number>(k, named.pop, 1, stream_mode::pop);
    if (named.peek != nullptr) detail::put_stream<number>(k, named.peek, 1, stream_mode::peek);
    for (shared_cell* a : named.reads) put_address(k, a, access_mode::in);
    for (shared_cell* a : named.writes) put_address(k, a, access_mode::inout);
    if (submit(c, f)) c.ready.push(f);
  }
  static access& put_datum(detail::cursor& k, waiter_kind kind, datum* d) {
    access& a = detail::put_access(k, kind);
    a.wanted = d;
    return a;
  }
  static void put_address(detail::cursor& k, shared_cell* cell, access_mode mode) {
    detail::put_range(k, reinterpret_cast<std::uintptr_t>(cell), 1, sizeof *cell, mode);
  }
  static void* closure(frame* f) { return reinterpret_cast<char*>(f) + detail::closure_offset(f->versions, f->accesses, alignof(number*)); }

  // Runs what is ready, and what becomes ready by that. A task writes the sum of what it reads, plus one.
  void run_all() {
    while (frame* f = c.ready.pop()) run(f, nullptr);
  }
  void run(frame* f, const char* failure) {
    const char* cause = f->skipped_because.load(relaxed);
    if (cause != nullptr) {
      skipped++;
    } else {
      prepare(c, f);
      body(f);
      ran++;
      cause = failure;
    }
    complete(c, f, cause);
  }
  void body(frame* f) {
    number sum = 1;
    for (unsigned i = 0; i < f->accesses; i++) sum += look_at(f, *f->access_at(i));
    for (unsigned i = 0; i < f->versions; i++) write_buffer(f->version_at(i)->buffer, sum);
    if (number* seen = *std::launder(static_cast<number**>(closure(f)))) *seen = sum - 1;
  }
  static number look_at(frame* f, access& a) {
    switch (a.kind()) {
      case waiter_kind::read: return read_buffer(a.source->buffer);
      case waiter_kind::update: return read_buffer(f->version_at(a.extra())->buffer);
      case waiter_kind::window: return read_buffer(detail::window_data(a));
      case waiter_kind::address: break;
      default: return 0;
    }
    auto& cell = *reinterpret_cast<shared_cell*>(static_cast<std::uintptr_t>(a.offset()));
    const number before = cell.read();
    if (static_cast<access_mode>(a.extra()) != access_mode::in) cell.write(before + 1);
    return before;
  }
  // As the datum's handle does when it goes out of scope.
  void forget(datum& d) {
    version* v = d.current;
    d.current = nullptr;
    if (v != nullptr) let_current_go(c, *v, d.readers);
    run_all();
  }

  context c;
  int ran = 0, skipped = 0;
};

// Three threads on one runtime; at the end everything is released.
struct world {
  world() { memory::live = &blocks; }
  ~world() {
    require(blocks.buffers.empty(), "a buffer was never released");
    require(blocks.frames.empty(), "a frame was never released");
  }
  memory::live_blocks blocks;
  no_memory backend;
  shared common{backend, {0}, allocation::deferred};
  actor a{common, 1}, b{common, 2}, d{common, 3};
  int ran() const { return a.ran + b.ran + d.ran; }
  // `who` needs no atomic operations until somebody else comes.
  void make_alone(actor& who) {
    common.solitude.begin(who.c.as_visitor, [&](auto&& f) { f(a.c.as_visitor), f(b.c.as_visitor), f(d.c.as_visitor); });
  }
  // Data are locked from now on: they create by turns until the right to be the only one is used up.
  void make_creators_share() {
    for (actor* who = &a; common.creation.enter(who->c.as_creator); who = who == &a ? &b : &a)
      common.creation.leave(who->c.as_creator);
  }
  int skipped() const { return a.skipped + b.skipped + d.skipped; }
};

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

// The creator of both has been the only one before, so that nothing else orders what the two threads do.
void a_reader_of_user_memory_is_created_while_the_writer_runs(bool forgets) {
  world w;
  shared_cell cell{0};
  number seen = 0;
  w.b.spawn({.writes = {&cell}});
  frame* const writer = w.b.c.ready.pop();
  parallel([&] { w.a.run(writer, nullptr), w.a.run_all(); },
           [&] {
             if (forgets) w.common.addresses_forget_done();
             w.b.spawn({.reads = {&cell}}, &seen), w.b.run_all();
           });
  require(w.ran() == 2 && seen == 1, "the reader did not read what was written");
}
TEST(version_model, a_reader_of_user_memory_is_created_while_the_writer_runs) {
  expect_passes([] { a_reader_of_user_memory_is_created_while_the_writer_runs(false); });
}
TEST(version_model, user_memory_is_forgotten_while_its_writer_runs) {
  expect_passes([] { a_reader_of_user_memory_is_created_while_the_writer_runs(true); });
}

TEST(version_model, user_memory_is_ordered_by_creation) {
  expect_passes([] {
    world w;
    shared_cell cell{0};
    number seen = 0;
    w.a.spawn({.writes = {&cell}});
    w.a.spawn({.reads = {&cell}}, &seen);
    parallel([&] { w.a.run_all(); }, [&] { w.b.spawn({.writes = {&cell}}), w.b.run_all(); });
    require(w.ran() == 3 && seen == 1 && cell.read() == 2, "the tasks did not run one after the other in creation order");
  });
}

TEST(version_model, two_creators_of_tasks_on_the_same_user_memory) {
  expect_passes([] {
    world w;
    shared_cell x{0}, y{0};
    parallel([&] { w.a.spawn({.reads = {&x}, .writes = {&y}}), w.a.run_all(); }, [&] { w.b.spawn({.reads = {&y}, .writes = {&x}}), w.b.run_all(); });
    require(w.ran() == 2 && x.read() == 1 && y.read() == 1, "not every task ran once");
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
