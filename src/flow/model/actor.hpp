// What the model tests of this folder share: threads that create and run tasks, without an engine.
#pragma once

#include <new>
#include <utility>
#include <vector>

#include <weir/error.hpp>

#include "base/model/model_gtest.hpp"
#include "flow/flow.hpp"

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

// Some that lie side by side, dependences by address.
struct cells {
  cells(shared_cell* at, std::size_t n = 1) : first(at), count(n) {}
  shared_cell* first;
  std::size_t count;
};

struct test_datum : datum {
  test_datum() { bytes = sizeof(number), element_bytes = sizeof(number); }
};

// A thread that creates and runs tasks: what the engine does, without queues.
struct actor {
  actor(shared& s, std::uint32_t id) : c(s, 0, id, true) {}

  struct accesses {
    std::vector<datum*> in, out, inout;
    stream_state *push = nullptr, *pop = nullptr, *peek = nullptr;
    std::vector<cells> reads, writes, overwrites;
    std::vector<datum*> commutative, concurrent;
    std::vector<cells> adds, joins;  // commutative and concurrent ones
  };

  // Creates a task; it notes in *seen what it reads. What becomes ready is on c.ready.
  void spawn(const accesses& named, number* seen = nullptr) {
    const std::size_t written = named.writes.size() + named.overwrites.size();
    const std::size_t versions = named.out.size() + named.inout.size() + (named.push ? 1 : 0) + written;
    const std::size_t windows = (named.pop ? 1 : 0) + (named.peek ? 1 : 0);
    const std::size_t in_groups =
        named.commutative.size() + named.concurrent.size() + named.adds.size() + named.joins.size();
    const std::size_t reads =
        named.in.size() + named.inout.size() + windows + named.reads.size() + written + in_groups;
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
    for (datum* d : named.commutative) put_in_group(k, d, access_mode::commutative);
    for (datum* d : named.concurrent) put_in_group(k, d, access_mode::concurrent);
    for (datum* d : named.out) detail::put_version(k, detail::version_kind::replace, d, d->bytes);
    if (named.push != nullptr) detail::put_stream<number>(k, named.push, 1, stream_mode::push);
    if (named.pop != nullptr) detail::put_stream<number>(k, named.pop, 1, stream_mode::pop);
    if (named.peek != nullptr) detail::put_stream<number>(k, named.peek, 1, stream_mode::peek);
    for (const cells& r : named.reads) put_cells(k, r, access_mode::in);
    for (const cells& r : named.writes) put_cells(k, r, access_mode::inout);
    for (const cells& r : named.overwrites) put_cells(k, r, access_mode::out);
    for (const cells& r : named.adds) put_cells(k, r, access_mode::commutative);
    for (const cells& r : named.joins) put_cells(k, r, access_mode::concurrent);
    if (submit(c, f)) c.ready.push(f);
  }
  static void put_in_group(detail::cursor& k, datum* d, access_mode mode) {
    put_datum(k, waiter_kind::read, d).set_place(0, detail::extra_of_read(mode));
    k.task->unusual |= detail::unusual_about(mode);
  }
  static access& put_datum(detail::cursor& k, waiter_kind kind, datum* d) {
    access& a = detail::put_access(k, kind);
    a.wanted = d;
    return a;
  }
  static void put_cells(detail::cursor& k, const cells& c, access_mode mode) {
    detail::put_range(k, reinterpret_cast<std::uintptr_t>(c.first), c.count, sizeof *c.first, mode);
  }
  static void* closure(frame* f) {
    return reinterpret_cast<char*>(f) + detail::closure_offset(f->versions, f->accesses, alignof(number*));
  }

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
    if (waiter* const rest = std::exchange(c.rest, nullptr); rest != nullptr) {
      if (with_others->put(rest)) tell_some();
      else tell(c, rest);
    }
    if (std::exchange(c.has_left_some, false)) drop_late(c);
  }
  // From here on those that wait for what it writes are told one at a time, by itself or others, and it lets go of what
  // it has read at last.
  void shares(shared_untold& with) {
    with_others = &with;
    c.leaves_some = true;
    c.tells_at_most = 1;
    c.few_inputs = 0;
  }
  void tell_some() {
    while (waiter* const some = with_others->take(1)) tell(c, some);
  }
  void body(frame* f) {
    number sum = 1;
    for (unsigned i = 0; i < f->accesses; i++) sum += look_at(f, *f->access_at(i));
    for (unsigned i = 0; i < f->versions; i++)
      if (void* const b = f->version_at(i)->buffer; b != nullptr) write_buffer(b, sum);
    if (number* seen = *std::launder(static_cast<number**>(closure(f)))) *seen = sum - 1;
  }
  static number look_at(frame* f, access& a) {
    if (names_range(*f, a)) return look_at_cells(a);
    switch (a.kind()) {
      case waiter_kind::read: return (a.extra() & access::exclusive) != 0 ? add_one(a) : read_buffer(a.source->buffer);
      case waiter_kind::update: return read_buffer(f->version_at(a.extra())->buffer);
      case waiter_kind::window: return read_buffer(detail::window_data(a));
      default: return 0;
    }
  }
  // Who is alone with it.
  static number add_one(const access& a) {
    const number before = read_buffer(a.source->buffer);
    write_buffer(a.source->buffer, before + 1);
    return before;
  }
  static number look_at_cells(const access& a) {
    auto* const first = reinterpret_cast<shared_cell*>(static_cast<std::uintptr_t>(a.offset()));
    const bool only_reads = a.kind() == waiter_kind::read || a.kind() == waiter_kind::covered_read;
    const bool writes = !only_reads || (a.extra() & access::exclusive) != 0;
    number sum = 0;
    for (std::size_t i = 0; i < a.bytes / sizeof *first; i++) {
      const number before = first[i].read();
      sum += before;
      if (writes) first[i].write(before + 1);
    }
    return sum;
  }
  // What is at rest.
  void forget_ranges() {
    const visit here(c);
    const creating alone(c.common.creation, c.as_creator, c.alone);
    c.common.addresses->forget(c, false);
  }
  // As the datum's handle does when it goes out of scope.
  void forget(datum& d) {
    let_current_go(c, d);
    run_all();
  }

  context c;
  shared_untold* with_others = nullptr;  // of those that wait for what it has written
  int ran = 0, skipped = 0;
};

// Three threads on one runtime; at the end everything is released.
struct world {
  world() { memory::live = &blocks; }
  ~world() {
    forget_all_domains(a.c);
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
    common.solitude.begin(who.c.as_visitor,
                          [&](auto&& f) { f(a.c.as_visitor), f(b.c.as_visitor), f(d.c.as_visitor); });
  }
  // Data are locked from now on: they create by turns until the right to be the only one is used up.
  void make_creators_share() {
    for (actor* who = &a; common.creation.enter(who->c.as_creator); who = who == &a ? &b : &a)
      common.creation.leave(who->c.as_creator);
  }
  int skipped() const { return a.skipped + b.skipped + d.skipped; }
};

}  // namespace
}  // namespace weir::flow
