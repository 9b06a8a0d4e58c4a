// Model tests of pipelines: include/weir/pipeline.hpp, compiled with the model checker's atomics.
// model/weir/runtime.hpp stands in for the runtime.
#include <weir/pipeline.hpp>

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "base/model/model_gtest.hpp"

namespace weir {
namespace {

using model::expect_fails;
using model::expect_passes;
using model::require;
using model::weakening;

constexpr const char* unordered = "data race";

// Each stage has as many counts as fit into a line, which are made anew in each run.
const model::limits dear{.cost = 4};

// What each stage writes for each token, and what it keeps if it is serial. The checker reports what is not ordered.
class record {
 public:
  record(int tokens, std::vector<bool> serial) : serial_(std::move(serial)), tokens_(tokens), states_(serial_.size()) {
    for (int i = 0; i < tokens; i++) passed_.emplace_back(0);
  }

  std::optional<int> take() {
    const int next = states_[0].read();
    if (next == tokens_) return {};
    states_[0].write(next + 1);
    return next;
  }
  int pass(int token, int stage) {
    const auto s = static_cast<std::size_t>(stage);
    model::plain<int>& here = passed_[static_cast<std::size_t>(token)];
    require(here.read() == stage - 1, "a token came to a stage out of turn");
    here.write(stage);
    if (serial_[s]) {
      require(states_[s].read() == token, "a token came to a serial stage before one in front of it");
      states_[s].write(token + 1);
    }
    return token;
  }
  void expect_all_through() const {
    for (const auto& p : passed_) require(p.read() == static_cast<int>(serial_.size()) - 1, "a token is not through");
  }

 private:
  const std::vector<bool> serial_;
  const int tokens_;
  std::deque<model::plain<int>> passed_, states_;
};

template <class Program>
void beside_workers(int workers, const Program& program) {
  runtime rt(std::vector<int>(static_cast<std::size_t>(workers)));
  std::deque<model::thread> threads;
  for (int w = 0; w < workers; w++) threads.emplace_back([&rt, w] { rt.work(w); });
  program(rt);
  rt.stop();
  for (model::thread& t : threads) t.join();
}

// In place of the clock.
struct all_shared {
  explicit all_shared(std::size_t) {}
  bool is_alone() const { return false; }
  template <class Clock>
  void before_token(const Clock&) {}
};
// One token shared, the next one alone: a source is kept while others are at work, and who is alone meets them.
struct by_turns {
  explicit by_turns(std::size_t) {}
  bool is_alone() const { return alone.read() != 0; }
  template <class Clock>
  void before_token(const Clock&) {
    alone.write(1 - alone.read());
  }
  model::plain<int> alone{0};
};

template <class Pace, class Source, class... Stages>
void run(runtime& rt, std::size_t lines, Source source, Stages... stages) {
  detail::pipeline<Pace, Source, Stages...>(rt, {.tokens = lines}, source, std::tie(stages...)).run();
}

template <class Pace = all_shared>
void serial_after_serial(int tokens, std::size_t lines, int workers) {
  beside_workers(workers, [&](runtime& rt) {
    record r(tokens, {true, true, true});
    run<Pace>(rt, lines, [&] { return r.take(); }, serial_stage([&](int t) { return r.pass(t, 1); }),
              serial_stage([&](int t) { r.pass(t, 2); }));
    r.expect_all_through();
  });
}

template <class Pace = all_shared>
void parallel_before_serial(int tokens, std::size_t lines, int workers) {
  beside_workers(workers, [&](runtime& rt) {
    record r(tokens, {true, false, true});
    run<Pace>(rt, lines, [&] { return r.take(); }, parallel_stage([&](int t) { return r.pass(t, 1); }),
              serial_stage([&](int t) { r.pass(t, 2); }));
    r.expect_all_through();
  });
}

TEST(pipeline_model, one_line) {
  expect_passes([] { serial_after_serial(2, 1, 2); }, dear);
}
TEST(pipeline_model, serial_stages) {
  expect_passes([] { serial_after_serial(3, 2, 2); }, dear);
}
TEST(pipeline_model, tokens_pass_each_other) {
  expect_passes([] { parallel_before_serial(3, 2, 2); }, dear);
}
TEST(pipeline_model, as_many_lines_as_tokens) {
  expect_passes([] { parallel_before_serial(3, 3, 3); }, dear);
}

TEST(pipeline_model, some_tokens_alone) {
  expect_passes([] { serial_after_serial<by_turns>(3, 2, 2); }, dear);
  expect_passes([] { parallel_before_serial<by_turns>(4, 3, 2); }, dear);
  expect_passes([] { parallel_before_serial<by_turns>(2, 1, 2); }, dear);
}

// Two lines, two serial stages; what the second stage of the second line waits for is brought by two threads.
void meet() {
  struct cells {
    detail::pipeline_lines<2, int> lines{2, {true, true}};
    model::plain<int> token{0}, state{0};
    int begun = 0;

    void begin_if(bool told) {
      if (!told) return;
      begun++;
      require(token.read() == 1 && state.read() == 1, "something that it waits for is not over");
    }
  };
  const auto all = std::make_shared<cells>();
  const auto first = all->lines.has_run(0, 0);
  require(first.same_line && first.next_line, "the first token waits for something");
  model::parallel([=] { all->state.write(1), all->begin_if(all->lines.has_run(0, 1).next_line); },
                  [=] { all->token.write(1), all->begin_if(all->lines.has_run(1, 0).same_line); });
  require(all->begun == 1, "a stage began twice, or never");
}

TEST(pipeline_model, one_of_two_goes_on) { expect_passes(meet); }
TEST(pipeline_model, needs_release) { expect_fails(meet, unordered, model::without(weakening::release)); }
TEST(pipeline_model, needs_acquire) { expect_fails(meet, unordered, model::without(weakening::acquire)); }

TEST(pipeline_model, a_stage_that_throws) {
  expect_passes([] {
    beside_workers(2, [](runtime& rt) {
      record r(3, {true, false, true});
      bool failed = false;
      try {
        parallel_pipeline(rt, {.tokens = 2}, [&] { return r.take(); }, parallel_stage([&](int t) {
                            if (t == 1) throw 1;
                            return r.pass(t, 1);
                          }),
                          serial_stage([&](int t) { r.pass(t, 2); }));
      } catch (const task_failed&) {
        failed = true;
      }
      require(failed, "it was lost");
    });
  }, dear);
}

}  // namespace
}  // namespace weir
