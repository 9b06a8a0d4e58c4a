// Whether what workers decide depends on nothing but what they remember, the time, and what they see: a program runs
// on threads, everything that goes into each decision is written down, and fed back to a copy of the thief, which must
// ask the same questions and decide the same.
#include "engine/engine.hpp"
#include "engine/sim/frames.hpp"
#include "engine/sim/random_program.hpp"

#include <weir/policy.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace weir::engine {
namespace {

using sched::decision;
using sched::first_tasks;
using sched::frame;
using sched::judgement;
using sched::moment;
using sched::pace;
using sched::task_hint;
using sched::thief;

enum class asked : std::uint8_t {
  take_own, take_shared, take_from, take_if_worth_it, take_from_container, take_initial, slots, anything_shared,
  anything_required_here, anything_sent, has_tasks, node_holds_tasks, offers, rests, first_of, first_of_node, finished,
  progress, read_ns, holds_as_much, place_of,
};

struct answer {
  asked what;
  int of;
  std::uint64_t number = 0;
  frame* task = nullptr;
  first_tasks first;
  struct judged {
    task_hint hint;
    std::size_t before;
    bool takes;
  };
  std::vector<judged> judgements;
};

struct logged_step {
  thief before;
  moment at;
  std::vector<answer> answers;
  decision decided;
};

// Lets a worker see the queues, and writes down what it sees.
class recorder final : public sched::surroundings, public sched::witness {
 public:
  // The steps outlive the worker, and this.
  explicit recorder(std::vector<logged_step>& steps) : steps_(steps) {}
  void watch(std::unique_ptr<sched::surroundings> real) { real_ = std::move(real); }

  void begins(const thief& t, moment at) override {
    steps_.push_back({t, at, {}, {decision::kind::sleep}});
    inside_ = true;
  }
  void ends(const thief&, const decision& d) override {
    steps_.back().decided = d;
    inside_ = false;
  }

  frame* take_own() override { return took(asked::take_own, -1, real_->take_own()); }
  frame* take_shared() override { return took(asked::take_shared, -1, real_->take_shared()); }
  frame* take_from(int s) override { return took(asked::take_from, s, real_->take_from(s)); }
  frame* take_from(int s, const judgement& j) override {
    const logged_judgement l(j);
    return took(asked::take_if_worth_it, s, real_->take_from(s, l), l);
  }
  frame* take_from_container(int n, const judgement* j) override {
    if (j == nullptr) return took(asked::take_from_container, n, real_->take_from_container(n, nullptr));
    const logged_judgement l(*j);
    return took(asked::take_from_container, n, real_->take_from_container(n, &l), l);
  }
  frame* take_initial(int n, const judgement& j) override {
    const logged_judgement l(j);
    return took(asked::take_initial, n, real_->take_initial(n, l), l);
  }
  int slots() const override { return saw(asked::slots, -1, real_->slots()); }
  bool anything_shared() const override { return saw(asked::anything_shared, -1, real_->anything_shared()); }
  bool anything_required_here() const override {
    return saw(asked::anything_required_here, -1, real_->anything_required_here());
  }
  bool anything_sent() const override { return saw(asked::anything_sent, -1, real_->anything_sent()); }
  bool has_tasks(int s) const override { return saw(asked::has_tasks, s, real_->has_tasks(s)); }
  bool node_holds_tasks(int n) const override { return saw(asked::node_holds_tasks, n, real_->node_holds_tasks(n)); }
  bool offers(int w) const override { return saw(asked::offers, w, real_->offers(w)); }
  bool rests(int w) const override { return saw(asked::rests, w, real_->rests(w)); }
  first_tasks first_of(int s) const override { return saw_first(asked::first_of, s, real_->first_of(s)); }
  first_tasks first_of_node(int n) const override {
    return saw_first(asked::first_of_node, n, real_->first_of_node(n));
  }
  std::uint64_t finished(int s) const override { return saw(asked::finished, s, real_->finished(s)); }
  pace pace_of(int s) const override {
    const pace p = real_->pace_of(s);
    return {saw(asked::progress, s, p.progress), saw(asked::read_ns, s, p.read_ns)};
  }
  bool holds_as_much(int n, int as) const override {
    return saw(asked::holds_as_much, n, real_->holds_as_much(n, as));
  }
  int place_of(int s) const override { return saw(asked::place_of, s, real_->place_of(s)); }

 private:
  class logged_judgement final : public judgement {
   public:
    explicit logged_judgement(const judgement& real) : real_(real) {}
    bool takes(task_hint h, std::size_t before) const override {
      all.push_back({h, before, real_.takes(h, before)});
      return all.back().takes;
    }
    mutable std::vector<answer::judged> all;

   private:
    const judgement& real_;
  };

  // Others' looks, before they sleep, are no part of a step.
  void log(answer a) const {
    if (inside_) steps_.back().answers.push_back(std::move(a));
  }
  frame* took(asked what, int of, frame* f) {
    log({what, of, 0, f, {}, {}});
    return f;
  }
  frame* took(asked what, int of, frame* f, const logged_judgement& l) {
    log({what, of, 0, f, {}, l.all});
    return f;
  }
  template <class T>
  T saw(asked what, int of, T value) const {
    log({what, of, static_cast<std::uint64_t>(value), nullptr, {}, {}});
    return value;
  }
  first_tasks saw_first(asked what, int of, const first_tasks& f) const {
    log({what, of, 0, nullptr, f, {}});
    return f;
  }

  std::vector<logged_step>& steps_;
  std::unique_ptr<sched::surroundings> real_;
  bool inside_ = false;
};

// What was written down, in that order, to who asks the same.
class twin final : public sched::surroundings {
 public:
  explicit twin(const logged_step& s) : step_(s) {}
  bool all_asked() const { return next_ == step_.answers.size() && !differs_; }

  frame* take_own() override { return next(asked::take_own, -1).task; }
  frame* take_shared() override { return next(asked::take_shared, -1).task; }
  frame* take_from(int s) override { return next(asked::take_from, s).task; }
  frame* take_from(int s, const judgement& j) override { return judge(asked::take_if_worth_it, s, &j); }
  frame* take_from_container(int n, const judgement* j) override { return judge(asked::take_from_container, n, j); }
  frame* take_initial(int n, const judgement& j) override { return judge(asked::take_initial, n, &j); }
  int slots() const override { return static_cast<int>(next(asked::slots, -1).number); }
  bool anything_shared() const override { return next(asked::anything_shared, -1).number != 0; }
  bool anything_required_here() const override { return next(asked::anything_required_here, -1).number != 0; }
  bool anything_sent() const override { return next(asked::anything_sent, -1).number != 0; }
  bool has_tasks(int s) const override { return next(asked::has_tasks, s).number != 0; }
  bool node_holds_tasks(int n) const override { return next(asked::node_holds_tasks, n).number != 0; }
  bool offers(int w) const override { return next(asked::offers, w).number != 0; }
  bool rests(int w) const override { return next(asked::rests, w).number != 0; }
  first_tasks first_of(int s) const override { return next(asked::first_of, s).first; }
  first_tasks first_of_node(int n) const override { return next(asked::first_of_node, n).first; }
  std::uint64_t finished(int s) const override { return next(asked::finished, s).number; }
  pace pace_of(int s) const override { return {next(asked::progress, s).number, next(asked::read_ns, s).number}; }
  bool holds_as_much(int n, int) const override { return next(asked::holds_as_much, n).number != 0; }
  int place_of(int s) const override { return static_cast<int>(next(asked::place_of, s).number); }

 private:
  const answer& next(asked what, int of) const {
    static const answer none{};
    if (next_ < step_.answers.size()) {
      const answer& a = step_.answers[next_++];
      if (a.what == what && a.of == of) return a;
    }
    differs_ = true;
    return none;
  }
  frame* judge(asked what, int of, const judgement* j) {
    const answer& a = next(what, of);
    for (const auto& one : a.judgements) differs_ |= j == nullptr || j->takes(one.hint, one.before) != one.takes;
    return a.task;
  }

  const logged_step& step_;
  mutable std::size_t next_ = 0;
  mutable bool differs_ = false;
};

// A program on threads: bodies spin for as long as they take.
class threaded_run {
 public:
  threaded_run(const sim::program& p, const machine::description& m, int workers, const std::string& policy)
      : program_(p), steps_(static_cast<std::size_t>(workers)), frames_(p, run_body, this) {
    options o{.spin_ns = 100'000, .waiting_threads_execute = false};
    o.worker_begins = [this](sched::scheduler& s, int w) {
      auto made = std::make_unique<recorder>(steps_[static_cast<std::size_t>(w)]);
      recorder& r = *made;
      r.watch(s.let_see(w, std::move(made), &r));
    };
    std::vector<int> cpus;
    for (int w = 0; w < workers; w++) cpus.push_back(w);
    engine_.emplace(m, cpus, place::parse(policy), o);
    frames_.make_data(engine_->current().flow);
    for (const int t : p.creates) create(t);
    engine_->wait_until([this] { return engine_->quiescent(); }, permission::for_none());
    engine_->stop();
    frames_.drop_data(engine_->current().flow);
  }
  int run() const { return run_.load(); }
  const std::vector<std::vector<logged_step>>& steps() const { return steps_; }  // by worker

 private:
  void create(int t) {
    engine_->submit(frames_.make(t, [&](const detail::task_ops* ops, const task_options& o, detail::frame_size size) {
      return engine_->create(nullptr, ops, o, size);
    }));
  }
  static void run_body(frame* f) {
    threaded_run& all = *static_cast<threaded_run*>(sim::frame_maker::context_of(f));
    const sim::task& t = all.program_.tasks[static_cast<std::size_t>(sim::frame_maker::task_of(f))];
    for (const std::uint64_t end = os::now_ns() + t.ns; os::now_ns() < end;) std::this_thread::yield();
    for (const int c : t.creates) all.create(c);
    all.run_.fetch_add(1);
  }

  const sim::program& program_;
  std::vector<std::vector<logged_step>> steps_;
  sim::frame_maker frames_;
  std::atomic<int> run_{0};
  std::optional<engine> engine_;
};

class twins : public ::testing::TestWithParam<std::string> {};

TEST_P(twins, decide_alike) {
  std::size_t steps = 0;
  for (std::uint64_t seed = 1; seed <= 6; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    machine::description m = machine::synthetic(4, 2);
    for (int i = 0; i < 16; i++) m.read_ns.push_back(i % 5 == 0 ? 100 : 250);
    m.write_ns = m.read_ns;
    const sim::random_program p(seed, 4, 120);
    const threaded_run threads(p.made(), m, 8, GetParam());
    EXPECT_EQ(static_cast<std::size_t>(threads.run()), p.made().tasks.size());
    for (const auto& of_worker : threads.steps())
      for (const logged_step& s : of_worker) {
        thief copy = s.before;
        twin same(s);
        const decision d = copy.step(same, s.at);
        ASSERT_TRUE(same.all_asked()) << "it asks something else";
        ASSERT_EQ(d.what, s.decided.what);
        ASSERT_EQ(d.task, s.decided.task);
        ASSERT_EQ(d.at_ns, s.decided.at_ns);
        ASSERT_EQ(d.wakes, s.decided.wakes);
        steps++;
      }
  }
  EXPECT_GT(steps, 100u);
}

INSTANTIATE_TEST_SUITE_P(every_policy, twins, ::testing::ValuesIn(policy_names()), [](const auto& i) {
  std::string name = i.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace weir::engine
