// Runs random programs over ranges, and says what went wrong: the seed, and the program made smaller.
#include "tests/oracle/random_ranges.hpp"

#include <algorithm>

#include <unistd.h>

namespace weir::test {
namespace {

// Of all that is watched at once: who hangs is named.
constexpr int patience_s = 60;

std::string run_watched(runtime& rt, const range_program& p, const std::string& name, fresh_memory& fresh) {
  const std::string what = name + "\n" + p.text() + "which";
  watchdog dog(patience_s, what.c_str());
  return run_program(rt, p, fresh);
}

void report(const runtime_options& o, const range_program& p, const std::string& name, const std::string& wrong) {
  runtime_options untraced = o;
  untraced.trace = runtime_options::no_trace;
  fresh_memory fresh;
  runtime rt(untraced);
  std::string last = wrong;
  const auto goes_wrong = [&](const range_program& q) {
    const std::string again = run_watched(rt, q, "a part of " + name, fresh);
    if (!again.empty()) last = again;
    return !again.empty();
  };
  range_program smaller = shrunk(p, goes_wrong, 3000);
  // If it goes wrong among the children of a task, they alone may be enough.
  for (std::size_t t = 0; t < smaller.tasks.size(); t++)
    if (const range_task& parent = smaller.tasks[t]; parent.children != 0) {
      range_program children = program_of_children(parent.number, parent.children);
      children.creator = creation::program;
      children = shrunk(std::move(children), goes_wrong, 3000);
      if (goes_wrong(children)) {
        smaller = std::move(children);
        break;
      }
    }
  ADD_FAILURE() << name << ", " << text(o) << ", backlog " << o.backlog
                << ", trace " << o.trace << ": " << wrong << "\nmade smaller: " << last
                << "\n" << smaller.text() << "at first:\n" << p.text();
}

// A runtime whose configuration is random; now and then it writes a trace, for which it keeps more of tasks that are
// done.
class random_runtime {
 public:
  explicit random_runtime(std::mt19937_64& random) : options(random_options(random)) {
    static std::atomic<int> files{0};
    const std::string file = ::testing::TempDir() + "random_ranges." + std::to_string(getpid()) + "-" +
                             std::to_string(files++) + ".json";
    options.trace = between(random, 0, 9) == 0 ? file : runtime_options::no_trace;
    rt.emplace(options);
  }
  ~random_runtime() {
    rt.reset();
    if (options.trace != runtime_options::no_trace) unlink(options.trace.c_str());
  }
  random_runtime(const random_runtime&) = delete;
  random_runtime& operator=(const random_runtime&) = delete;

  runtime_options options;
  fresh_memory fresh;
  std::optional<runtime> rt;
};

// Parts of one piece of memory for programs of several creators, with nothing between them.
struct neighbours {
  neighbours(std::mt19937_64& random, const range_limits& limits) {
    std::size_t bytes = 0;
    for (std::size_t n = between(random, 2, 4); n > 0; n--) {
      programs.push_back(random_program(random(), limits));
      bytes += programs.back().bytes();
    }
    memory.resize(bytes);
  }
  std::vector<range_program> programs;
  std::vector<byte> memory;
};

// Who creates: threads of the program, tasks, or some of both.
std::vector<bool> random_creators(std::mt19937_64& random, std::size_t count) {
  const std::size_t kind = between(random, 0, 2);
  std::vector<bool> in_task;
  for (std::size_t c = 0; c < count; c++) in_task.push_back(kind == 1 || (kind == 2 && c % 2 == 1));
  return in_task;
}

// All creators begin at about the same time.
void create_at_once(runtime& rt, const std::vector<bool>& in_task, const std::function<void(std::size_t)>& create) {
  const auto all_threads = static_cast<std::size_t>(std::count(in_task.begin(), in_task.end(), false));
  std::atomic<std::size_t> arrived{0};
  std::vector<std::thread> threads;
  for (std::size_t c = 0; c < in_task.size(); c++) {
    if (in_task[c]) {
      rt.spawn([&create, c] { create(c); });
      continue;
    }
    threads.emplace_back([&, c] {
      for (arrived++; arrived < all_threads;) std::this_thread::yield();
      create(c);
    });
  }
  for (std::thread& t : threads) t.join();
  rt.wait();
}

// What creators do to the same bytes. Every task of a creator has a number, from 1 on.
class shared_bytes {
 public:
  shared_bytes(const range_program& shape, std::size_t creators)
      : memory_(shape, storage(shape)), marks_(shape.bytes()), writes_(shape.bytes(), 0),
        last_write_(shape.bytes() * creators), last_read_(shape.bytes() * creators), expected_(shape.bytes()) {}

  void create(runtime& rt, std::size_t creator, const range_program& p, bool in_task) {
    std::size_t number = 0;
    for (const range_task& t : p.tasks) {
      if (t.waits_before && !in_task) rt.wait();
      const std::vector<touched> parts = touched_by(t, memory_);
      for (const touched& part : parts)
        for (std::size_t i = part.first; part.written && i < part.end; i++)
          expected_[i].fetch_add(1, std::memory_order_relaxed);
      number++;
      const auto body = [this, creator, number, parts, yields = t.yields](const data_views*) {
        execute(creator, number, parts, yields);
      };
      spawn_ranges(rt, nullptr, memory_.named(t), nullptr, body, t.in_groups);
    }
  }
  std::string difference() const {
    if (beside_) return "tasks ran beside each other that must not";
    if (order_) return "two tasks of one creator changed places";
    if (changed_) return "a byte changed while a task read it";
    for (std::size_t i = 0; i < writes_.size(); i++)
      if (writes_[i] != expected_[i]) return "byte " + std::to_string(i) + " was not written as often as it should";
    return {};
  }

 private:
  std::span<byte> storage(const range_program& shape) {
    bytes_.resize(shape.bytes());
    return bytes_;
  }
  void execute(std::size_t creator, std::size_t number, const std::vector<touched>& parts, bool yields) {
    if (!marks_.enter(parts)) beside_ = true;
    const std::size_t of_creator = creator * bytes_.size();
    std::uint64_t before = 0, after = 0;
    for (const touched& part : parts)
      for (std::size_t i = part.first; i < part.end; i++) {
        note_order(of_creator + i, number, part.written);
        before += writes_[i];
      }
    if (yields) std::this_thread::yield();
    for (const touched& part : parts)
      for (std::size_t i = part.first; i < part.end; i++) {
        after += writes_[i];
        if (part.written) writes_[i]++;
      }
    if (before != after) changed_ = true;
    marks_.leave(parts);
  }
  void note_order(std::size_t i, std::size_t number, bool written) {
    if (last_write_[i].load(std::memory_order_relaxed) > number) order_ = true;
    if (written) {
      if (last_read_[i].load(std::memory_order_relaxed) > number) order_ = true;
      last_write_[i].store(number, std::memory_order_relaxed);
    } else {
      std::size_t last = last_read_[i].load(std::memory_order_relaxed);
      while (last < number && !last_read_[i].compare_exchange_weak(last, number, std::memory_order_relaxed)) {
      }
    }
  }

  std::vector<byte> bytes_;
  range_memory memory_;
  byte_marks marks_;
  std::vector<std::uint64_t> writes_;  // plain: who is not alone with them is found by the thread sanitizer
  std::vector<std::atomic<std::size_t>> last_write_, last_read_, expected_;
  std::atomic<bool> beside_{false}, order_{false}, changed_{false};
};

bool names_tiles(const range_program& p) {
  const auto in_task = [](const range_task& t) { return std::ranges::any_of(t.accesses, &range_access::is_tile); };
  return std::ranges::any_of(p.tasks, in_task);
}

}  // namespace

void try_random_programs(std::size_t count) {
  const std::uint64_t seed = new_seed();
  const program_numbers numbers = numbers_of_programs(count);
  constexpr std::size_t per_configuration = 40;
  std::optional<random_runtime> current;
  std::size_t with_tiles = 0;
  for (std::size_t n = numbers.first; n < numbers.first + numbers.count && !::testing::Test::HasFailure(); n++) {
    if (!current.has_value() || n % per_configuration == 0) {
      std::mt19937_64 random(mix(seed, ~(n / per_configuration)));
      current.emplace(random);
    }
    const range_program p = random_program(mix(seed, n));
    with_tiles += names_tiles(p) ? 1 : 0;
    const std::string name = "WEIR_TEST_SEED=" + std::to_string(seed) + " WEIR_TEST_FIRST=" + std::to_string(n) +
                             " WEIR_TEST_PROGRAMS=1";
    const std::string wrong = run_watched(*current->rt, p, name, current->fresh);
    if (!wrong.empty()) report(current->options, p, name, wrong);
  }
  std::printf("%zu programs, %zu with tiles\n", numbers.count, with_tiles);
}

void try_programs_beside_each_other(std::size_t rounds) {
  std::mt19937_64 random(new_seed());
  for (std::size_t round = 0; round < rounds && !::testing::Test::HasFailure(); round++) {
    watchdog dog(patience_s, "several creators in bytes of their own");
    const runtime_options o = random_options(random);
    runtime rt(o);
    for (int repeat = 0; repeat < 10; repeat++) {
      neighbours all(random, {.failures = false});
      const std::vector<bool> in_task = random_creators(random, all.programs.size());
      std::vector<std::unique_ptr<range_run>> runs;
      std::size_t first = 0;
      for (range_program& p : all.programs) {
        p.creator = in_task[runs.size()] ? creation::scope_in_task : creation::program;
        runs.push_back(std::make_unique<range_run>(rt, p, std::span(all.memory).subspan(first, p.bytes())));
        first += p.bytes();
      }
      create_at_once(rt, in_task, [&](std::size_t c) { runs[c]->create(in_task[c]); });
      for (std::size_t c = 0; c < runs.size(); c++) {
        if (!in_task[c]) runs[c]->note_wait(false);
        const std::string wrong = runs[c]->difference();
        EXPECT_TRUE(wrong.empty()) << wrong << "; creator " << c << " of " << runs.size() << ", " << text(o) << "\n"
                                   << all.programs[c].text();
      }
    }
  }
}

void try_creators_on_shared_memory(std::size_t rounds) {
  std::mt19937_64 random(new_seed());
  for (std::size_t round = 0; round < rounds && !::testing::Test::HasFailure(); round++) {
    watchdog dog(patience_s, "several creators on the same bytes");
    const runtime_options o = random_options(random);
    runtime rt(o);
    for (int repeat = 0; repeat < 10; repeat++) {
      range_program shape = random_program(random(), {.failures = false, .children = false, .data = false});
      const std::vector<bool> in_task = random_creators(random, between(random, 2, 4));
      shared_bytes bytes(shape, in_task.size());
      std::vector<range_program> programs(in_task.size(), shape);
      for (range_program& p : programs) std::shuffle(p.tasks.begin(), p.tasks.end(), random);
      create_at_once(rt, in_task, [&](std::size_t c) { bytes.create(rt, c, programs[c], in_task[c]); });
      const std::string wrong = bytes.difference();
      EXPECT_TRUE(wrong.empty()) << wrong << "; creators: " << std::count(in_task.begin(), in_task.end(), true)
                                 << " tasks, " << std::count(in_task.begin(), in_task.end(), false) << " threads, "
                                 << text(o) << "\n" << shape.text();
    }
  }
}

}  // namespace weir::test
