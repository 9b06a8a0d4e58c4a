// One execution: threads as fibers, every access a point where another one may go on.
#include "base/model/engine.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "base/assert.hpp"

namespace weir::model {
namespace {
engine* active = nullptr;

// What the code under test asserts; outside of runs it ends the program as ever.
void fail_run(const char* what) {
  if (active != nullptr) active->fail(what);
}

std::memory_order weaker(weakening without, std::memory_order order, part what) {
  using enum std::memory_order;
  const bool is_load = what == part::load || what == part::failure;
  switch (without) {
    case weakening::none: return order;
    case weakening::seq_cst:
      if (order != seq_cst) return order;
      return is_load ? acquire : what == part::store ? release : what >= part::fence ? relaxed : acq_rel;
    case weakening::release: return order == release ? relaxed : order == acq_rel ? acquire : order;
    case weakening::acquire: return order == acquire ? relaxed : order == acq_rel ? release : order;
  }
  return order;
}
}  // namespace

engine& engine::running() {
  if (active == nullptr) {
    std::fputs("model: an atomic of the model was used outside model::check\n", stderr);
    std::abort();
  }
  return *active;
}

bool engine::run(const std::function<void()>& body, bool bound_preemptions) {
  memory_.reset();
  trace_.clear();
  for (thread& t : threads_) t.state = status::unused;
  thread_count_ = steps_ = preemptions_ = spurious_failures_ = 0;
  bounded_ = bound_preemptions;
  current_ = 0;
  active = this;
  on_broken_invariant = &fail_run;
  spawn(body, site::current());
  give_turn(0);
  fiber::switch_to(outside_, at(0).stack);
  active = nullptr;
  return !failed_;
}

// ---- Threads of the test.

int engine::spawn(std::function<void()> body, const site& where) {
  if (thread_count_ == max_threads) fail("a test has at most " + std::to_string(max_threads) + " threads");
  const int index = thread_count_++;
  thread& t = at(index);
  t.body = std::move(body);
  t.state = status::runnable;
  t.yielded = false;
  t.has_turn = true;
  t.where = where;
  t.stack.prepare(&engine::thread_entry, this);
  memory_.begin_event(current_);
  if (index != 0) {
    memory_.fork(current_, index);
    after({current_, operation::spawn, std::memory_order_relaxed, -1, 0, static_cast<std::uint64_t>(index), 0, where});
  }
  return index;
}

void engine::thread_entry(void* argument) { static_cast<engine*>(argument)->thread_main(); }

void engine::thread_main() {
  try {
    at(current_).body();
  } catch (const std::exception& e) {
    fail(std::string("uncaught exception: ") + e.what());
  }
  at(current_).state = status::finished;
  after({current_, operation::finish, std::memory_order_relaxed, -1, 0, 0, 0, at(current_).where});
  for (thread& t : threads_)
    if (t.state == status::joining && t.waiting_for == current_) t.state = status::runnable;
  something_changed();
  schedule(false);
}

void engine::join(int index, const site& where) {
  count_step();
  at(current_).where = where;
  if (at(index).state != status::finished) {
    at(current_).state = status::joining;
    at(current_).waiting_for = index;
    schedule(false);
    at(current_).has_turn = true;
  }
  memory_.begin_event(current_);
  memory_.join(current_, index);
  after({current_, operation::join, std::memory_order_relaxed, -1, static_cast<std::uint64_t>(index), 0, 0, where});
}

// ---- Scheduling.

void engine::count_step() {
  if (++steps_ > limits_.steps) fail("livelock: no end after " + std::to_string(limits_.steps) + " operations");
}

// Before each operation that other threads can notice.
void engine::step(const site& where) {
  count_step();
  at(current_).where = where;
  if (!std::exchange(at(current_).has_turn, false)) schedule(true);
  at(current_).has_turn = false;
  memory_.begin_event(current_);
}

void engine::after(const event& e) {
  trace_.add(e);
  if (!memory_.error().empty()) fail(memory_.error());
}

void engine::schedule(bool current_may_go_on) {
  int options[max_threads];
  int n = 0;
  const bool preempts = current_may_go_on && !at(current_).yielded;
  if (preempts) options[n++] = current_;
  const bool bound_reached = preempts && bounded_ && preemptions_ >= limits_.preemptions;
  for (int t = 0; t < thread_count_; t++) {
    if (t == current_ || !can_run(t) || at(t).yielded) continue;
    if (bound_reached) cut_ = true;
    else options[n++] = t;
  }
  if (n == 0) {
    give_turn(next_of_the_spinning());
    return;
  }
  const int picked = choices_.choose(n, preempts);
  if (preempts && picked != 0) preemptions_++;
  give_turn(options[picked]);
}

// All that can run have called pause() since anything changed: each in turn.
int engine::next_of_the_spinning() {
  for (int i = 1; i <= thread_count_; i++) {
    const int t = (current_ + i) % thread_count_;
    if (!can_run(t)) continue;
    for (thread& other : threads_) other.yielded = false;
    return t;
  }
  for (int t = 0; t < thread_count_; t++)
    if (at(t).state != status::finished) deadlock();
  end_run();
  std::abort();
}

void engine::give_turn(int index) {
  const int before = std::exchange(current_, index);
  if (before != index) fiber::switch_to(at(before).stack, at(index).stack);
}

// What spinning threads look at may have changed, so it is worth letting them look again.
void engine::something_changed() {
  for (int t = 0; t < thread_count_; t++)
    if (t != current_) at(t).yielded = false;
}

void engine::end_run() { fiber::switch_to(at(current_).stack, outside_); }

// ---- Operations.

std::memory_order engine::weakened(std::memory_order order, part what, const site& where) {
  if (places_ != nullptr) places_->note(where, what, order);
  if (mutation_ != nullptr && mutation_->is_at(where, what)) return mutation_->order;
  return weaker(limits_.without, order, what);
}

int engine::create(std::uint64_t value) {
  memory_.begin_event(current_);
  return memory_.create(current_, value);
}

void engine::destroy(int location) {
  memory_.begin_event(current_);
  memory_.destroy(current_, location);
  if (!memory_.error().empty()) fail(memory_.error());
}

memory::outcome engine::load(int location, std::memory_order order, const site& where) {
  step(where);
  order = weakened(order, part::load, where);
  const memory::outcome o = memory_.load(current_, location, order, choices_);
  after({current_, operation::load, order, location, o.read, 0, o.newer, where});
  return o;
}

void engine::store(int location, std::uint64_t value, std::memory_order order, const site& where) {
  step(where);
  order = weakened(order, part::store, where);
  if (memory_.newest(location) != value) something_changed();
  memory_.store(current_, location, value, order);
  after({current_, operation::store, order, location, 0, value, 0, where});
}

memory::outcome engine::modify(int location, update how, std::uint64_t operand, std::uint64_t mask, std::memory_order order, const site& where) {
  step(where);
  order = weakened(order, part::modify, where);
  const memory::outcome o = memory_.modify(current_, location, how, operand, mask, order);
  if (o.read != o.written) something_changed();
  after({current_, operation::read_modify_write, order, location, o.read, o.written, 0, where});
  return o;
}

memory::outcome engine::compare_exchange(int location, std::uint64_t expected, std::uint64_t desired, std::memory_order success,
                                         std::memory_order failure, bool weak, const site& where) {
  step(where);
  success = weakened(success, part::success, where);
  failure = weakened(failure, part::failure, where);
  const bool may_fail = weak && spurious_failures_ < limits_.spurious_failures;
  const memory::outcome o = memory_.compare_exchange(current_, location, expected, desired, success, failure, may_fail, choices_);
  if (o.stored) something_changed();
  else if (o.read == expected) spurious_failures_++;
  after({current_, o.stored ? operation::read_modify_write : operation::failed_compare, o.stored ? success : failure, location, o.read, o.written, o.newer, where});
  return o;
}

void engine::fence(std::memory_order order, const site& where) {
  order = weakened(order, part::fence, where);
  if (order == std::memory_order_relaxed) return;
  if (order == std::memory_order_seq_cst) step(where);
  else memory_.begin_event(current_);
  memory_.fence(current_, order);
  after({current_, operation::fence, order, -1, 0, 0, 0, where});
}

void engine::light_fence(const site& where) {
  if (weakened(std::memory_order_seq_cst, part::light_fence, where) == std::memory_order_relaxed) return;
  step(where);
  memory_.light_fence(current_);
  after({current_, operation::light_fence, std::memory_order_seq_cst, -1, 0, 0, 0, where});
}

void engine::heavy_fence(const site& where) {
  if (weakened(std::memory_order_seq_cst, part::heavy_fence, where) == std::memory_order_relaxed) return;
  step(where);
  memory_.heavy_fence(current_);
  after({current_, operation::heavy_fence, std::memory_order_seq_cst, -1, 0, 0, 0, where});
}

void engine::read_plain(int location, const site& where) {
  count_step();
  memory_.begin_event(current_);
  memory_.read_plain(current_, location);
  after({current_, operation::plain_read, std::memory_order_relaxed, location, 0, 0, 0, where});
}

void engine::write_plain(int location, const site& where) {
  count_step();
  memory_.begin_event(current_);
  memory_.write_plain(current_, location);
  after({current_, operation::plain_write, std::memory_order_relaxed, location, 0, 0, 0, where});
}

void engine::pause(const site& where) {
  count_step();
  at(current_).where = where;
  at(current_).yielded = true;
  schedule(true);
  at(current_).has_turn = true;
  after({current_, operation::pause, std::memory_order_relaxed, -1, 0, 0, 0, where});
}

void engine::wait(int location, std::uint64_t expected, const site& where) {
  step(where);
  after({current_, operation::wait, std::memory_order_relaxed, location, expected, 0, 0, where});
  if (memory_.newest(location) != expected) return;
  at(current_).state = status::waiting;
  at(current_).waiting_for = location;
  schedule(false);
  at(current_).has_turn = true;
  after({current_, operation::woken, std::memory_order_relaxed, location, 0, 0, 0, where});
}

void engine::wake(int location, bool all, const site& where) {
  step(where);
  int waiters[max_threads];
  int n = 0;
  for (int t = 0; t < thread_count_; t++)
    if (at(t).state == status::waiting && at(t).waiting_for == location) waiters[n++] = t;
  const int first = n > 0 && !all ? choices_.choose(n, false) : 0;
  const int count = all || n == 0 ? n : 1;
  for (int i = 0; i < count; i++) at(waiters[first + i]).state = status::runnable;
  something_changed();
  after({current_, operation::wake, std::memory_order_relaxed, location, 0, static_cast<std::uint64_t>(count), 0, where});
}

// ---- Failures.

void engine::deadlock() {
  std::string who = "deadlock:";
  for (int t = 0; t < thread_count_; t++) {
    const thread& blocked = at(t);
    if (blocked.state == status::waiting) who += " T" + std::to_string(t) + " waits on #" + std::to_string(blocked.waiting_for);
    else if (blocked.state == status::joining) who += " T" + std::to_string(t) + " joins T" + std::to_string(blocked.waiting_for);
    else continue;
    who += " (" + to_string(blocked.where) + ")";
  }
  fail(who);
}

void engine::fail(const std::string& what) {
  failed_ = true;
  report_ = what + "\n" + trace_.text() + "  repeat with WEIR_MODEL_REPLAY=\"" + choices_.text() + "\"\n";
  end_run();
  std::abort();
}

}  // namespace weir::model
