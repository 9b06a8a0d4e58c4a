// Random loops, reductions and pipelines in runtimes of up to 192 workers, of which some are busy with something else,
// against what a sequential program does: every element once, every token once and in order.
#include "tests/support/support.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace weir::test {
namespace {

using random_numbers = std::mt19937_64;

struct machine_shape {
  int workers;
  const char* machine;
};
constexpr std::array machine_shapes{
    machine_shape{1, "nodes:1 cpus:1"},  machine_shape{2, "nodes:1 cpus:2"},   machine_shape{3, "nodes:2 cpus:2"},
    machine_shape{7, "nodes:1 cpus:7"},  machine_shape{8, "nodes:8 cpus:1"},   machine_shape{24, "nodes:24 cpus:1"},
    machine_shape{24, "nodes:1 cpus:24"}, machine_shape{64, "nodes:8 cpus:8"}, machine_shape{192, "nodes:24 cpus:8"},
};

// As likely short as long: between 0 and `most`.
std::size_t any_length(random_numbers& random, std::size_t most) {
  const std::size_t limit = std::size_t{1} << between(random, 0, std::bit_width(most));
  return between(random, 0, std::min(limit, most));
}

struct loop_program {
  std::size_t elements = 0;
  loop_options options;
  bool by_chunk = false, reduces = false;
  std::size_t long_element = 0;  // takes some microseconds

  static loop_program any(random_numbers& random) {
    loop_program p;
    p.elements = any_length(random, 100'000);
    p.options.grain = between(random, 0, 1) == 0 ? 0 : 1 + any_length(random, 3000);
    if (p.options.grain != 0 && p.elements / p.options.grain > 50'000) p.options.grain = 2;
    p.options.distribution = between(random, 0, 1) == 0 ? distribution::nodes : distribution::none;
    p.options.concurrent = between(random, 0, 9) == 0;
    p.by_chunk = between(random, 0, 3) == 0;
    p.reduces = between(random, 0, 2) == 0;
    p.long_element = any_length(random, p.elements);
    return p;
  }
  std::string text() const {
    return std::to_string(elements) + " elements, grain " + std::to_string(options.grain) +
           (options.distribution == distribution::none ? ", no nodes" : "") + (options.concurrent ? ", concurrent" : "") +
           (by_chunk ? ", by chunk" : "") + (reduces ? ", a reduction" : "");
  }

  void run(runtime& rt) const {
    SCOPED_TRACE(text());
    std::vector<std::atomic<std::uint8_t>> visits(elements);
    const auto visit = [&](std::size_t i) {
      visits[i].fetch_add(1, std::memory_order_relaxed);
      if (i == long_element) std::this_thread::yield();
      return std::uint64_t{i};
    };
    const auto visit_all = [&](std::size_t begin, std::size_t end) {
      std::uint64_t sum = 0;
      for (std::size_t i = begin; i < end; i++) sum += visit(i);
      return sum;
    };
    if (reduces) {
      const auto sum = by_chunk ? parallel_reduce(rt, std::size_t{0}, elements, std::uint64_t{5}, visit_all, std::plus(), options)
                                : parallel_reduce(rt, std::size_t{0}, elements, std::uint64_t{5}, visit, std::plus(), options);
      EXPECT_EQ(sum, 5 + (elements == 0 ? 0 : std::uint64_t{elements} * (elements - 1) / 2));
    } else if (by_chunk) {
      parallel_for(rt, std::size_t{0}, elements, visit_all, options);
    } else {
      parallel_for(rt, std::size_t{0}, elements, visit, options);
    }
    EXPECT_EQ(std::ranges::count_if(visits, [](const auto& v) { return v == 1; }), static_cast<std::ptrdiff_t>(elements));
  }
};

struct pipeline_program {
  std::size_t tokens = 0;
  pipeline_options options;
  bool first_is_serial = false, waits_inside = false, answers = false;

  static pipeline_program any(random_numbers& random) {
    pipeline_program p;
    p.tokens = any_length(random, 4000);
    p.options.tokens = between(random, 0, 1) == 0 ? 0 : 1 + any_length(random, 300);
    p.first_is_serial = between(random, 0, 1) == 0;
    p.waits_inside = between(random, 0, 4) == 0;
    p.answers = between(random, 0, 4) == 0;  // the source waits for the last token
    return p;
  }
  std::string text() const {
    return std::to_string(tokens) + " tokens, at most " + std::to_string(options.tokens) +
           (first_is_serial ? ", serial" : ", parallel") + (waits_inside ? ", waits inside" : "") +
           (answers ? ", answers" : "");
  }

  void run(runtime& rt) const {
    SCOPED_TRACE(text());
    std::vector<std::size_t> left;
    std::atomic<std::size_t> through{0}, inside{0};
    std::size_t expected = 0;
    const auto source = [&, next = std::size_t{0}]() mutable -> std::optional<std::unique_ptr<std::size_t>> {
      if (answers)
        blocking([&] {
          while (through < next) std::this_thread::yield();
        });
      if (next == tokens) return {};
      return std::make_unique<std::size_t>(next++);
    };
    const auto middle = [&](std::unique_ptr<std::size_t> t) {
      if (waits_inside && *t % 16 == 0) {
        scope s(rt);
        for (int i = 0; i < 3; i++) s.spawn([&] { inside++; });
        s.wait();
      }
      return t;
    };
    const auto in_order = [&](std::unique_ptr<std::size_t> t) {
      if (*t == expected) expected++;
      return t;
    };
    const auto last = serial_stage([&](const std::unique_ptr<std::size_t>& t) {
      left.push_back(*t);
      through++;
    });
    auto tokens_of_it = source;
    if (first_is_serial) parallel_pipeline(rt, options, tokens_of_it, serial_stage(in_order), parallel_stage(middle), last);
    else parallel_pipeline(rt, options, tokens_of_it, parallel_stage(middle), serial_stage(in_order), last);
    EXPECT_EQ(expected, tokens);
    ASSERT_EQ(left.size(), tokens);
    for (std::size_t i = 0; i < tokens; i++) ASSERT_EQ(left[i], i);
    EXPECT_EQ(inside, waits_inside ? 3 * ((tokens + 15) / 16) : 0);
  }
};

void run_any(runtime& rt, random_numbers& random) {
  if (between(random, 0, 2) == 0) pipeline_program::any(random).run(rt);
  else loop_program::any(random).run(rt);
}

// Beside workers that are busy until it is over; from main, in a task, or from several threads.
void run_some(const machine_shape& m, std::uint64_t seed) {
  random_numbers random(seed);
  gate until_over;
  const std::string policy = policy_names()[between(random, 0, policy_names().size() - 1)];
  runtime rt({.workers = m.workers, .policy = policy, .machine = m.machine});
  const struct opener {
    gate& closed;
    ~opener() { closed.open(); }
  } at_the_end{until_over};
  const auto others = static_cast<std::size_t>(m.workers - 1);
  const int busy = static_cast<int>(between(random, 0, 2) == 0 ? 0 : between(random, 0, others));
  for (int i = 0; i < busy; i++) rt.spawn([&] { until_over.pass(); });
  until_over.await_arrivals(busy);
  switch (between(random, 0, 2)) {
    case 0:
      for (int i = 0; i < 6; i++) run_any(rt, random);
      break;
    case 1:
      rt.run([&] {
        for (int i = 0; i < 6; i++) run_any(rt, random);
      });
      break;
    default: {
      std::vector<std::thread> threads;
      for (int t = 0; t < 3; t++)
        threads.emplace_back([&, s = random()] {
          random_numbers own(s);
          try {
            for (int i = 0; i < 3; i++) run_any(rt, own);
          } catch (const std::exception& e) {
            ADD_FAILURE() << e.what();
          }
        });
      for (std::thread& t : threads) t.join();
    }
  }
}

TEST(random_loops, visit_everything_once) {
  const std::uint64_t seed = new_seed();
  for (std::size_t round = 0; round < effort(12); round++)
    for (const machine_shape& m : machine_shapes) {
      const watchdog dog(120, "random loops");
      SCOPED_TRACE(std::string(m.machine) + ", round " + std::to_string(round));
      run_some(m, mix(seed, round * machine_shapes.size() + static_cast<std::size_t>(&m - machine_shapes.data())));
      if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace weir::test
