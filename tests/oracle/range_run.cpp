// Runs programs over ranges, and compares them with what they must do.
#include "tests/oracle/range_run.hpp"

#include <cstdlib>
#include <stdexcept>

namespace weir::test {

bool byte_marks::enter(const std::vector<touched>& parts) {
  bool alone = true;
  for (const touched& part : parts)
    for (std::size_t i = part.first; i < part.end; i++) {
      const int before = marks_[i].fetch_add(part.written ? writer : 1, std::memory_order_relaxed);
      alone &= part.written ? before == 0 : before >= 0;
    }
  return alone;
}

void byte_marks::leave(const std::vector<touched>& parts) {
  for (const touched& part : parts)
    for (std::size_t i = part.first; i < part.end; i++)
      marks_[i].fetch_sub(part.written ? writer : 1, std::memory_order_relaxed);
}

range_run::range_run(runtime& rt, const range_program& p, std::span<byte> memory)
    : rt_(rt), program_(p), memory_(p, memory), marks_(p.bytes()), hash_(p.tasks.size(), never_ran) {
  for (std::size_t i = 0; i < memory.size(); i++) memory[i] = initial_byte(i);
  for (std::size_t d = 0; d < p.data; d++) {
    std::vector<word> values;
    for (std::size_t i = 0; i < words_of_datum; i++) values.push_back(initial_word(d, i));
    data_.push_back(rt.make_data(values));
  }
}

bool wait_and_forget(runtime& rt) {
  try {
    rt.wait();
    return false;
  } catch (const task_failed&) {
    rt.wait();
    return true;
  }
}

void range_run::create(bool in_task) {
  const bool scoped = program_.creator == creation::scope_of_program || program_.creator == creation::scope_in_task;
  // A task cannot wait for all others, but for those of a scope.
  std::optional<scope> own;
  if (scoped || in_task) own.emplace(rt_);
  for (std::size_t i = 0; i < program_.tasks.size(); i++) {
    if (program_.tasks[i].waits_before) {
      if (own.has_value()) own->wait();
      else note_wait(wait_and_forget(rt_));
    }
    const bool waited_for = scoped || program_.tasks[i].children % 2 == 1;
    spawn(own.has_value() && waited_for ? &*own : nullptr, i);
  }
  if (own.has_value()) own->wait();
}

void range_run::spawn(scope* s, std::size_t index) {
  const range_task& t = program_.tasks[index];
  named_data named;
  for (std::size_t d = 0; d < program_.data; d++) {
    const datum_use use = t.data[d];
    if (use == datum_use::in || use == datum_use::in_and_out) named.in.push_back(data_[d]);
    if (use == datum_use::out || use == datum_use::in_and_out) named.out.push_back(data_[d]);
    if (use == datum_use::inout) named.inout.push_back(data_[d]);
  }
  spawn_ranges(
      rt_, s, memory_.named(t), program_.data == 0 ? nullptr : &named,
      [this, index, parts = touched_by(t, memory_)](const data_views* v) { execute(index, parts, v); }, t.in_groups);
}

datum_places range_run::places_of(const range_task& t, const data_views* v) const {
  datum_places p;
  std::size_t next_in = 0, next_out = 0, next_inout = 0;
  for (std::size_t d = 0; v != nullptr && d < program_.data; d++) {
    const datum_use use = t.data[d];
    if (use == datum_use::in || use == datum_use::in_and_out) p.read[d] = v->in[next_in++].data();
    if (use == datum_use::out || use == datum_use::in_and_out) p.write[d] = v->out[next_out++].data();
    if (use == datum_use::inout) p.read[d] = p.write[d] = v->inout[next_inout++].data();
  }
  return p;
}

void range_run::execute(std::size_t index, const std::vector<touched>& parts, const data_views* v) {
  const range_task& t = program_.tasks[index];
  const std::string name = "task " + std::to_string(t.number);
  if (!marks_.enter(parts)) complain(name + " began beside one that it must not run beside");
  if (hash_[index] != never_ran) complain(name + " ran twice");
  const datum_places places = places_of(t, v);
  hash_[index] = read_all(t, memory_, places);
  if (t.yields) std::this_thread::yield();
  if (t.children != 0) execute_children(t);
  if (read_all(t, memory_, places) != hash_[index]) complain("what " + name + " reads changed meanwhile");
  if (!t.fails) write_all(t, memory_, places, hash_[index]);
  marks_.leave(parts);
  if (t.fails) throw std::runtime_error(name + " fails on purpose");
}

range_program program_of_children(std::size_t number, std::size_t children) {
  range_program p = random_program(number, {.most_tasks = children, .failures = false, .children = false});
  p.creator = creation::scope_in_task;
  return p;
}

// Nobody knows when they are created, so they have memory of their own.
void range_run::execute_children(const range_task& t) {
  const range_program p = program_of_children(t.number, t.children);
  std::vector<byte> memory(p.bytes());
  range_run children(rt_, p, memory);
  children.create(true);
  const std::string wrong = children.difference();
  if (!wrong.empty()) complain("among the children of task " + std::to_string(t.number) + ", " + p.text() + wrong);
}

void range_run::complain(std::string what) {
  std::lock_guard guard(mutex_);
  if (wrong_.empty()) wrong_ = std::move(what);
}

std::string range_run::difference() const {
  {
    std::lock_guard guard(mutex_);
    if (!wrong_.empty()) return wrong_;
  }
  const range_expectation e = run_in_sequence(program_);
  for (std::size_t t = 0; t < hash_.size(); t++) {
    if (hash_[t] == e.hash[t]) continue;
    const std::string name = "task " + std::to_string(program_.tasks[t].number);
    if (hash_[t] == never_ran) return name + " did not run";
    return name + (e.hash[t] == never_ran ? " was not skipped" : " read something else");
  }
  for (std::size_t i = 0; i < e.bytes.size(); i++)
    if (memory_.all()[i] != e.bytes[i]) return "byte " + std::to_string(i) + " has another value at the end";
  for (std::size_t d = 0; d < program_.data; d++) {
    const auto now = data_[d].read();
    for (std::size_t i = 0; i < words_of_datum; i++)
      if (now[i] != e.data[d][i]) return "datum " + std::to_string(d) + " has another value at the end";
  }
  if (program_.creator == creation::program && wait_threw_ != e.wait_threw) return "another wait() threw";
  return {};
}

std::string run_program(runtime& rt, const range_program& p, fresh_memory& fresh) {
  std::vector<byte> usual(p.needs_fresh_memory ? 0 : p.bytes());
  const std::span<byte> memory = p.needs_fresh_memory ? fresh.next(p.bytes()) : usual;
  range_run r(rt, p, memory);
  const bool in_task = p.creator == creation::root_task || p.creator == creation::scope_in_task;
  if (in_task) rt.run([&] { r.create(true); });
  else r.create(false);
  // What scopes have waited for is done without it; now and then addresses are used again at once.
  if (p.creator != creation::scope_in_task || p.tasks.size() % 2 == 0) {
    r.note_wait(wait_and_forget(rt));
  }
  return r.difference();
}

runtime_options random_options(std::mt19937_64& random) {
  runtime_options o;
  o.policy = policy_names()[between(random, 0, policy_names().size() - 1)];
  for (const auto& parameter : policy_parameters_of(o.policy))
    if (parameter.name == "threshold") o.policy += ":threshold=0";
  o.workers = static_cast<int>(between(random, 1, 8));
  static const char* const machines[] = {"", "", "nodes:2 cpus:1", "nodes:4 cpus:2"};
  o.machine = machines[between(random, 0, 3)];
  if (between(random, 0, 3) == 0) o.backlog = between(random, 1, 30);
  return o;
}

program_numbers numbers_of_programs(std::size_t usual) {
  const auto number = [](const char* variable, std::size_t otherwise) {
    const char* text = std::getenv(variable);
    return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : otherwise;
  };
  return {number("WEIR_TEST_FIRST", 0), number("WEIR_TEST_PROGRAMS", usual)};
}

}  // namespace weir::test
