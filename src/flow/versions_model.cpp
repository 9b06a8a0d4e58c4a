// Model tests of the life of a version: the code of this folder itself, compiled with the model checker's atomics.
// Memory is model/memory/memory.hpp.
#include <new>
#include <vector>

#include "base/model/model_gtest.hpp"
#include "flow/flow.hpp"

namespace weir::flow {
namespace {

using memory::cell;
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

void expect_passes(const std::function<void()>& body) {
  model::limits l;
  l.cost = 5;
  model::expect_passes(body, l);
}

struct test_datum : datum {
  test_datum() { bytes = sizeof(cell), element_bytes = sizeof(cell); }
};

// A thread that creates and runs tasks: what the engine does, without queues.
struct actor {
  actor(shared& s, std::uint32_t id) : c(s, 0, id) {}

  struct accesses {
    std::vector<datum*> in, out, inout;
  };

  // Creates a task; it notes in *seen what it reads. What becomes ready is on c.ready.
  void spawn(const accesses& named, int* seen = nullptr) {
    frame* f = create_frame(c, nullptr, nullptr, {}, named.out.size() + named.inout.size(), named.in.size() + named.inout.size(), sizeof seen, alignof(int*));
    new (closure(f)) int*(seen);
    detail::cursor k{f};
    for (datum* d : named.in) put(k, waiter_kind::read, d);
    for (datum* d : named.inout) {
      put(k, waiter_kind::update, d).version_index = k.version;
      detail::put_version(k, detail::version_kind::update, d, d->bytes);
    }
    for (datum* d : named.out) detail::put_version(k, detail::version_kind::replace, d, d->bytes);
    submit(c, f);
  }
  static access& put(detail::cursor& k, waiter_kind kind, datum* d) {
    access& a = detail::put_access(k, kind);
    a.wanted = d;
    return a;
  }

  static void* closure(frame* f) { return reinterpret_cast<char*>(f) + detail::closure_offset(f->versions, f->accesses, alignof(int*)); }

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
    int sum = 1;
    for (unsigned i = 0; i < f->accesses; i++) {
      const access& a = *f->access_at(i);
      if (a.kind() == waiter_kind::read) sum += static_cast<cell*>(a.source->buffer)->read();
      if (a.kind() == waiter_kind::update) sum += static_cast<cell*>(f->version_at(a.version_index)->buffer)->read();
    }
    for (unsigned i = 0; i < f->versions; i++) static_cast<cell*>(f->version_at(i)->buffer)->write(sum);
    if (int* seen = *std::launder(static_cast<int**>(closure(f)))) *seen = sum - 1;
  }
  // As the datum's handle does when it goes out of scope.
  void forget(datum& d) {
    lock_resource(c, d);
    version* v = d.current;
    d.current = nullptr;
    unlock_resource(d);
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
  int skipped() const { return a.skipped + b.skipped + d.skipped; }
};

TEST(version_model, a_reader_is_created_while_the_writer_runs) {
  expect_passes([] {
    world w;
    test_datum x;
    int seen = 0;
    w.a.spawn({.out = {&x}});
    parallel([&] { w.a.run_all(); }, [&] { w.b.spawn({.in = {&x}}, &seen), w.b.run_all(); });
    require(w.ran() == 2, "not every task ran once");
    require(seen == 1, "the reader did not read what was written");
    w.a.forget(x);
  });
}

TEST(version_model, a_version_is_replaced_while_its_reader_is_running) {
  expect_passes([] {
    world w;
    test_datum x;
    w.a.spawn({.out = {&x}});
    w.a.run_all();
    int seen = 0;
    w.a.spawn({.in = {&x}}, &seen);
    parallel([&] { w.a.run_all(); }, [&] { w.b.spawn({.out = {&x}}), w.b.run_all(); });
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

TEST(version_model, two_readers_and_the_end_of_the_datum) {
  expect_passes([] {
    world w;
    test_datum x;
    w.d.spawn({.out = {&x}});
    w.d.run_all();
    int first = 0, second = 0;
    w.a.spawn({.in = {&x}}, &first);
    w.b.spawn({.in = {&x}}, &second);
    parallel([&] { w.a.run_all(); }, [&] { w.b.run_all(); }, [&] { w.d.forget(x); });
    require(w.ran() == 3 && first == 1 && second == 1, "a reader did not read what was written");
  });
}

TEST(version_model, an_update_waits_for_the_readers_before_it) {
  expect_passes([] {
    world w;
    test_datum x;
    w.d.spawn({.out = {&x}});
    w.d.run_all();
    int first = 0, second = 0;
    w.a.spawn({.in = {&x}}, &first);
    w.b.spawn({.in = {&x}}, &second);
    parallel([&] { w.a.run_all(); }, [&] { w.b.run_all(); }, [&] { w.d.spawn({.inout = {&x}}), w.d.run_all(); });
    require(w.ran() == 4, "not every task ran once");
    require(first == 1 && second == 1, "a reader saw the update after it");
    w.a.spawn({.in = {&x}}, &first);
    w.a.run_all();
    require(first == 2, "the update was lost");
    w.a.forget(x);
  });
}

TEST(version_model, an_update_is_created_while_the_writer_runs) {
  expect_passes([] {
    world w;
    test_datum x;
    int seen = 0;
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
    int first = 0, second = 0;
    parallel([&] { w.a.spawn({.in = {&x}, .out = {&y}}, &first), w.a.run_all(); }, [&] { w.b.spawn({.in = {&y}, .out = {&x}}, &second), w.b.run_all(); });
    require(w.ran() == 3, "not every task ran once");
    // As if one had been created before the other.
    require((first == 1 && second == 2) || (first == 2 && second == 1), "the tasks are ordered differently on the two data");
    w.d.forget(x);
    w.d.forget(y);
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
               if (subscribe(*x.current, wait))
                 while (!wait.done())
                   if (bell.load(std::memory_order_acquire) == 0) model::model_atomics::wait(bell, 0);
               require(static_cast<cell*>(x.current->buffer)->read() == 1, "the waiting thread does not see what was written");
             });
    w.a.forget(x);
  });
}

}  // namespace
}  // namespace weir::flow
