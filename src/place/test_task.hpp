// A task made by hand, for placement rules to look at: inputs and outputs of given sizes on given nodes.
#pragma once

#include "place/place.hpp"
#include "place/window_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weir::place {

struct part {
  std::uint64_t bytes;
  int node;  // detail::node_unknown, or a node's index
  bool updated = false;
};

// Of the program's own memory.
struct range {
  std::uintptr_t first;
  std::uint64_t bytes;
  detail::access_mode mode;
  // Of a tile, whose rows are `width` bytes long: from row to row, and where the matrix begins.
  std::uint64_t width = 0, stride = 0;
  std::uintptr_t matrix = 0;
};

class test_task {
 public:
  test_task(const std::vector<part>& inputs, const std::vector<part>& outputs, const std::vector<range>& own = {})
      : sources_(inputs.size()) {
    const auto tiles = std::ranges::count_if(own, [](const range& r) { return r.width != 0; });
    const std::size_t accesses = inputs.size() + own.size() + static_cast<std::size_t>(tiles);
    const std::size_t versions = outputs.size() + static_cast<std::size_t>(std::ranges::count_if(inputs, &part::updated));
    const std::size_t bytes = detail::align_up(
        detail::closure_offset(static_cast<unsigned>(versions), static_cast<unsigned>(accesses), 64), 64);
    ground_.kind = detail::version_kind::ground;
    ground_.waiters.store(flow::version::published_mark(), std::memory_order_relaxed);
    frame_ = new (std::aligned_alloc(64, bytes)) flow::frame();
    frame_->versions = static_cast<std::uint16_t>(versions);
    frame_->accesses = static_cast<std::uint16_t>(accesses);
    auto updates = static_cast<unsigned>(outputs.size());  // what they leave behind, after what is new
    for (unsigned i = 0; i < inputs.size(); i++) {
      auto& a = *new (frame_->access_at(i)) flow::access();
      a.target = reinterpret_cast<std::uintptr_t>(frame_) | static_cast<std::uintptr_t>(inputs[i].updated ? flow::waiter_kind::update : flow::waiter_kind::read);
      a.bytes = inputs[i].bytes;
      if (inputs[i].updated) {
        a.set_place(0, updates);
        auto& v = *new (frame_->version_at(updates++)) flow::version();
        v.kind = detail::version_kind::update;
        v.bytes = inputs[i].bytes;
        frame_->unusual |= flow::frame::has_updates;
      }
      flow::version& read = sources_[i].left_behind;
      read.node = static_cast<std::int16_t>(inputs[i].node);
      read.bytes = inputs[i].bytes;
      read.waiters.store(flow::version::published_mark(), std::memory_order_relaxed);
      read.frame_offset = static_cast<std::uint32_t>(reinterpret_cast<char*>(&read) -
                                                     reinterpret_cast<char*>(&sources_[i].producer));
      a.source = &read;
    }
    unsigned next = static_cast<unsigned>(inputs.size());
    for (const range& r : own) {
      auto& a = *new (frame_->access_at(next++)) flow::access();
      a.target = reinterpret_cast<std::uintptr_t>(frame_) | static_cast<std::uintptr_t>(kind_of(r.mode));
      a.bytes = r.bytes;
      a.set_place(r.first, flow::access::reads_range);
      if (a.kind() == flow::waiter_kind::read) a.source = &ground_;
      frame_->unusual |= flow::frame::has_ranges;
      if (r.width == 0) continue;
      auto& shape = *new (frame_->access_at(next++)) flow::access();
      shape.target = reinterpret_cast<std::uintptr_t>(frame_) | static_cast<std::uintptr_t>(flow::waiter_kind::shape);
      shape.set_shape(r.matrix, r.stride, r.width);
      frame_->unusual |= flow::frame::has_tiles;
    }
    for (unsigned i = 0; i < outputs.size(); i++) {
      auto& v = *new (frame_->version_at(i)) flow::version();
      v.bytes = outputs[i].bytes;
      v.node = static_cast<std::int16_t>(outputs[i].node);
    }
  }
  ~test_task() { std::free(frame_); }
  test_task(const test_task&) = delete;
  test_task& operator=(const test_task&) = delete;

  flow::frame* get() { return frame_; }
  test_task& of_function(const detail::task_ops& ops) {
    frame_->ops = &ops;
    return *this;
  }

 private:
  // Of an access whose task's records say nothing of its own.
  static flow::waiter_kind kind_of(detail::access_mode mode) {
    if (mode == detail::access_mode::in) return flow::waiter_kind::read;
    return mode == detail::access_mode::out ? flow::waiter_kind::covered_overwrite : flow::waiter_kind::covered_update;
  }

  flow::frame* frame_;
  struct source {
    flow::frame producer;
    flow::version left_behind;
  };
  std::vector<source> sources_;
  flow::version ground_;  // that nobody has written
};

// A worker that asks policies where tasks should run, on a machine on which every node with CPUs has one worker unless
// said otherwise. A policy keeps its state until anything is changed.
class test_view {
 public:
  explicit test_view(machine::description m, int node = 0) : machine_(std::move(m)), node_(node) {
    for (const machine::node& n : machine_.nodes) has_worker_.push_back(!n.cpus.empty());
    list_workers();
  }
  test_view& from(int node) {
    node_ = node;
    return *this;
  }
  // Parameters of the policies that are asked from here on: "name=value,...".
  test_view& with(const std::string& parameters) {
    parameters_ = parameters;
    policies_.clear();
    return *this;
  }
  // Where the program's own memory lies, for what is asked from here on.
  test_view& knowing(const memory::regions& r) {
    regions_ = &r;
    return *this;
  }
  // How evenly data lie, for what is asked from here on.
  test_view& balanced_by(const data_balance& b) {
    balance_ = &b;
    return *this;
  }
  test_view& without_worker(int node) {
    has_worker_[static_cast<std::size_t>(node)] = 0;
    list_workers();
    return *this;
  }
  test_view& with_workers(const std::vector<int>& node_of_worker) {
    seen_ = seen_by_policies(machine_, node_of_worker);
    policies_.clear();
    return *this;
  }
  const machine::description& machine() const { return machine_; }
  const policy_machine& seen() const { return seen_; }
  bool has_worker(int node) const { return has_worker_[static_cast<std::size_t>(node)] != 0; }
  policy::wish ask_wish(const std::string& name, flow::frame* task, flow::frame* running = nullptr) {
    const auto [found, is_new] = policies_.try_emplace(name);
    if (is_new) {
      found->second = parse(parameters_.empty() ? name : name + ":" + parameters_);
      found->second.object->begin(seen_);
    }
    atomic<bool> said{false};
    const policy::wish w =
        place::ask(*found->second.object, seen_, task_view(*task, regions_, nullptr, balance_),
                   {worker_, node_, running}, said);
    EXPECT_FALSE(said.load(std::memory_order_relaxed));
    return w;
  }
  int ask(const std::string& name, flow::frame* task, flow::frame* running = nullptr) {
    return ask_wish(name, task, running).node;
  }
  int ask(const std::string& name, const std::vector<part>& inputs, const std::vector<part>& outputs = {}) {
    test_task t(inputs, outputs);
    return ask(name, t.get());
  }
  // What a task does that is made ready by this worker.
  test_view& by(int worker) {
    worker_ = worker;
    return *this;
  }
  policy::wish ask_wish(const std::string& name, const std::vector<range>& own) {
    test_task t({}, {}, own);
    return ask_wish(name, t.get());
  }

 private:
  void list_workers() {
    std::vector<int> workers;
    for (int n = 0; n < machine_.node_count(); n++)
      if (has_worker(n)) workers.push_back(n);
    seen_ = seen_by_policies(machine_, workers);
    policies_.clear();
  }

  machine::description machine_;
  std::vector<char> has_worker_;
  policy_machine seen_;
  const memory::regions* regions_ = nullptr;
  const data_balance* balance_ = nullptr;
  std::string parameters_;
  std::map<std::string, chosen> policies_;
  int node_, worker_ = 0;
};

inline task_window window_of(test_view& v, memory::regions& known, const std::vector<flow::frame*>& tasks, bool cut,
                             std::uint64_t (*clock)() = nullptr) {
  window_builder builder(v.seen(), &known);
  builder.set_clock(clock);
  for (flow::frame* const f : tasks) builder.add({{{f}}});
  return builder.take(cut);
}

}  // namespace weir::place
