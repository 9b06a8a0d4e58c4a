// Random programs that name data and ranges in every way, commutative and concurrent ones included, against their
// sequential runs. What the tasks of a group do commutes: they add. All else must be exactly as in sequence.
#include "tests/oracle/range_run.hpp"
#include "tests/support/ways.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace weir::test {
namespace {

constexpr int patience_s = 60;

struct part {
  way how;
  std::size_t first, count;          // of the program's words; of a tile, those of its first row
  std::size_t rows = 1, stride = 0;  // not 0: a tile, of the matrix that begins with the first word

  bool is_tile() const { return stride != 0; }
  tile<word> as_tile(word* matrix) const {
    return {matrix, stride, first / stride, rows, first % stride, count};
  }
  std::string text() const {
    const std::string row = "[" + std::to_string(first) + "," + std::to_string(first + count) + ")";
    return is_tile() ? row + "x" + std::to_string(rows) + "/" + std::to_string(stride) : row;
  }
};
struct task {
  std::vector<way> data;
  std::vector<part> parts;
  bool yields = false, fails = false;
};
enum class creator : std::uint8_t { program, task, scope, own_scope };
constexpr std::array creator_names{"program", "task", "scope of a task",
                                   "scope of a task, with dependences of its own"};

struct program {
  std::size_t data = 0, words = 0;
  creator by = creator::program;
  std::vector<task> tasks;

  std::string text() const {
    std::string all = std::string("created by a ") + creator_names[static_cast<std::size_t>(by)] + "\n";
    for (std::size_t t = 0; t < tasks.size(); t++) {
      all += "task " + std::to_string(t) + ":";
      for (std::size_t d = 0; d < data; d++)
        if (tasks[t].data[d] != way::none)
          all += std::string(" ") + way_names[static_cast<std::size_t>(tasks[t].data[d])] + " d" + std::to_string(d);
      for (const part& p : tasks[t].parts)
        all += std::string(" ") + way_names[static_cast<std::size_t>(p.how)] + " " + p.text();
      all += std::string(tasks[t].yields ? " yields" : "") + (tasks[t].fails ? " throws\n" : "\n");
    }
    return all;
  }
};

// Mostly one mode for some tasks in a row, so that there are groups of more than one.
class random_ways {
 public:
  explicit random_ways(std::mt19937_64& random) : random_(random) {}
  way next() {
    if (left_ == 0) {
      left_ = between(random_, 1, 8);
      usual_ = static_cast<way>(between(random_, 1, 5));
    }
    left_--;
    return between(random_, 0, 9) == 0 ? static_cast<way>(between(random_, 1, 5)) : usual_;
  }

 private:
  std::mt19937_64& random_;
  std::size_t left_ = 0;
  way usual_ = way::in;
};

// Tiles of matrices whose rows have up to a certain number of words.
part random_tile(std::mt19937_64& random, way how, std::size_t words, std::size_t longest) {
  const std::size_t stride = between(random, 0, 3) == 0 ? between(random, 1, longest) : longest;
  const std::size_t row = between(random, 0, words / stride - 1), column = between(random, 0, stride - 1);
  return {how, row * stride + column, between(random, 1, stride - column), between(random, 1, words / stride - row),
          stride};
}

// `blocks`: ranges are always the same, and do not overlap. There are no tiles then.
program random_group_program(std::uint64_t seed, bool blocks, bool failures) {
  std::mt19937_64 random(seed);
  random_ways ways(random);
  program p;
  p.data = between(random, 0, 3);
  p.words = between(random, 1, 24);
  // A scope would end with its first failure.
  p.by = static_cast<creator>(between(random, 0, failures ? 1 : 3));
  const std::size_t block = between(random, 1, p.words), longest_row = between(random, 1, p.words);
  const bool has_tiles = !blocks && between(random, 0, 1) == 0;
  for (std::size_t n = between(random, 1, 60); n > 0; n--) {
    task t;
    for (std::size_t d = 0; d < p.data; d++) t.data.push_back(between(random, 0, 2) == 0 ? ways.next() : way::none);
    std::vector<std::size_t> named;
    for (std::size_t k = between(random, 0, 3); k > 0; k--) {
      if (has_tiles && between(random, 0, 1) == 0) {
        t.parts.push_back(random_tile(random, ways.next(), p.words, longest_row));
        continue;
      }
      std::size_t first = between(random, 0, p.words - 1);
      std::size_t count = between(random, 1, std::min<std::size_t>(6, p.words - first));
      if (blocks || between(random, 0, 1) == 0) {
        first = first / block * block;
        count = std::min(block, p.words - first);
      }
      if (blocks && std::ranges::find(named, first) != named.end()) continue;
      named.push_back(first);
      t.parts.push_back({ways.next(), first, count});
    }
    t.yields = between(random, 0, 4) == 0;
    t.fails = failures && between(random, 0, 9) == 0;
    p.tasks.push_back(std::move(t));
  }
  return p;
}

constexpr std::size_t words_of_each = 3;  // of a datum; the first one is a mark and is always zero at the end

// What a task does with each word of the program's that it names.
std::vector<std::pair<std::size_t, way>> uses_of(const program& p, const task& t) {
  std::vector<way> all(p.words, way::none);
  for (const part& r : t.parts)
    for (std::size_t row = 0; row < r.rows; row++)
      for (std::size_t i = 0; i < r.count; i++) {
        way& here = all[r.first + row * r.stride + i];
        here = joined(here, r.how);
      }
  std::vector<std::pair<std::size_t, way>> uses;
  for (std::size_t i = 0; i < p.words; i++)
    if (all[i] != way::none) uses.emplace_back(i, all[i]);
  return uses;
}

bool reads(way w) { return w == way::in || w == way::inout; }
// By who is alone with it, or by an atomic operation.
void change(word& w, way how, word by) {
  if (how == way::out || how == way::inout) w = by;
  if (how == way::commutative) w += by;
  if (how == way::concurrent) std::atomic_ref(w).fetch_add(by, std::memory_order_relaxed);
}

struct group_expectation {
  std::vector<word> hash, words;
  std::vector<std::array<word, words_of_each>> data;
  std::vector<bool> lost_data, lost_words;
  bool threw = false;
};

word initial(std::size_t of, std::size_t i) { return mix(of + 77, i); }

// One after the other. A datum or word is lost as a whole, and what a group loses is lost for what comes after it.
class group_sequence {
 public:
  explicit group_sequence(const program& p) : p_(p), data_(p.data), words_(p.words) {
    for (std::size_t d = 0; d < p.data; d++) {
      e_.data.emplace_back();
      for (std::size_t i = 1; i < words_of_each; i++) e_.data[d][i] = initial(d, i);
    }
    for (std::size_t i = 0; i < p.words; i++) e_.words.push_back(initial(99, i));
  }
  group_expectation run() {
    for (std::size_t t = 0; t < p_.tasks.size(); t++) run(t);
    for (state& s : data_) s.begin(way::in), e_.lost_data.push_back(s.lost);
    for (state& s : words_) s.begin(way::in), e_.lost_words.push_back(s.lost);
    return e_;
  }

 private:
  struct state {
    bool lost = false, lost_in_group = false;
    way group = way::none;
    // True: who names it so next is skipped.
    bool begin(way how) {
      if (group != how) {
        lost |= std::exchange(lost_in_group, false);
        group = is_of_group(how) ? how : way::none;
      }
      return lost && how != way::out;
    }
    void end(way how, bool done) {
      if (is_of_group(how)) lost_in_group |= !done;
      else if (how != way::in) lost = !done;
    }
  };

  void run(std::size_t index) {
    const task& t = p_.tasks[index];
    const auto uses = uses_of(p_, t);
    bool skipped = false;
    word h = index + 1;
    for (std::size_t d = 0; d < p_.data; d++) {
      if (t.data[d] == way::none) continue;
      skipped |= data_[d].begin(t.data[d]);
      for (std::size_t i = 1; reads(t.data[d]) && i < words_of_each; i++) h = mix(h, e_.data[d][i]);
    }
    for (const auto& [i, how] : uses) {
      skipped |= words_[i].begin(how);
      if (reads(how)) h = mix(h, e_.words[i]);
    }
    e_.hash.push_back(skipped ? never_ran : h);
    e_.threw |= !skipped && t.fails;
    const bool done = !skipped && !t.fails;
    for (std::size_t d = 0; d < p_.data; d++) {
      for (std::size_t i = 1; done && i < words_of_each; i++) change(e_.data[d][i], t.data[d], mix(h, d * 10 + i));
      if (t.data[d] != way::none) data_[d].end(t.data[d], done);
    }
    for (const auto& [i, how] : uses) {
      if (done) change(e_.words[i], how, mix(h, 1000 + i));
      words_[i].end(how, done);
    }
  }

  const program& p_;
  group_expectation e_;
  std::vector<state> data_, words_;
};

class group_run {
 public:
  group_run(runtime& rt, const program& p)
      : rt_(rt), p_(p), marks_(p.words), hash_(p.tasks.size(), never_ran) {
    for (std::size_t i = 0; i < p.words; i++) words_.push_back(initial(99, i));
    for (std::size_t d = 0; d < p.data; d++) {
      std::vector<word> values{0};
      for (std::size_t i = 1; i < words_of_each; i++) values.push_back(initial(d, i));
      data_.push_back(rt.make_data(values));
    }
  }
  void create() {
    std::optional<scope> own;
    if (p_.by == creator::scope) own.emplace(rt_);
    if (p_.by == creator::own_scope) own.emplace(rt_, dependences::own);
    for (std::size_t t = 0; t < p_.tasks.size(); t++) spawn(own.has_value() ? &*own : nullptr, t);
    if (own.has_value()) own->wait();
  }
  std::string difference(bool threw) const {
    if (beside_) return "tasks ran beside each other that must not";
    const group_expectation e = group_sequence(p_).run();
    for (std::size_t t = 0; t < hash_.size(); t++) {
      if (hash_[t] == e.hash[t]) continue;
      if (hash_[t] == never_ran) return "task " + std::to_string(t) + " did not run";
      return "task " + std::to_string(t) + (e.hash[t] == never_ran ? " was not skipped" : " read something else");
    }
    if (threw != e.threw) return threw ? "wait() threw" : "wait() did not throw";
    for (std::size_t i = 0; i < p_.words; i++)
      if (words_[i] != e.words[i]) return "word " + std::to_string(i) + " has another value at the end";
    for (std::size_t d = 0; d < p_.data; d++) {
      if (e.lost_data[d]) continue;
      const auto now = data_[d].read();
      for (std::size_t i = 0; i < words_of_each; i++)
        if (now[i] != e.data[d][i]) return "datum " + std::to_string(d) + " has another value at the end";
    }
    return {};
  }

 private:
  template <class T>
  std::vector<T> chosen(const task& t, way how) {
    std::vector<T> some;
    if constexpr (std::is_same_v<T, data<word>>) {
      for (std::size_t d = 0; d < p_.data; d++)
        if (t.data[d] == how) some.push_back(data_[d]);
    } else {
      for (const part& r : t.parts) {
        if (r.how != how || r.is_tile() != std::is_same_v<T, tiles>) continue;
        if constexpr (std::is_same_v<T, ranges>) some.push_back(ref(std::span(words_).subspan(r.first, r.count)));
        else some.push_back(ref(r.as_tile(words_.data())));
      }
    }
    return some;
  }
  using ranges = memory_range<word>;
  using tiles = memory_tile<word>;

  void spawn(scope* s, std::size_t index) {
    const task& t = p_.tasks[index];
    const auto d = [&](way how) { return chosen<data<word>>(t, how); };
    const auto r = [&](way how) { return chosen<ranges>(t, how); };
    const auto m = [&](way how) { return chosen<tiles>(t, how); };
    const auto spawn = [&](const auto&... all) { s != nullptr ? s->spawn(all...) : rt_.spawn(all...); };
    spawn(in(d(way::in)), out(d(way::out)), inout(d(way::inout)), commutative(d(way::commutative)),
          concurrent(d(way::concurrent)), in(r(way::in)), out(r(way::out)), inout(r(way::inout)),
          commutative(r(way::commutative)), concurrent(r(way::concurrent)), in(m(way::in)), out(m(way::out)),
          inout(m(way::inout)), commutative(m(way::commutative)), concurrent(m(way::concurrent)),
          [this, index](views<const word> read, views<word> written, views<word> updated, views<word> in_any_order,
                        views<word> together, auto...) {
            std::vector<std::span<word>> blocks(p_.data);
            std::array<std::size_t, way_names.size()> next{};
            for (std::size_t k = 0; k < p_.data; k++) {
              const way how = p_.tasks[index].data[k];
              const std::size_t n = next[static_cast<std::size_t>(how)]++;
              // Who only reads changes the mark, which is no part of the value.
              if (how == way::in) blocks[k] = {const_cast<word*>(read[n].data()), read[n].size()};
              if (how == way::out) blocks[k] = written[n], std::ranges::fill(blocks[k], 0);
              if (how == way::inout) blocks[k] = updated[n];
              if (how == way::commutative) blocks[k] = in_any_order[n];
              if (how == way::concurrent) blocks[k] = together[n];
            }
            execute(index, blocks);
          });
  }

  void execute(std::size_t index, const std::vector<std::span<word>>& blocks) {
    const task& t = p_.tasks[index];
    const auto uses = uses_of(p_, t);
    const auto for_each_mark = [&](auto&& f) {
      for (std::size_t d = 0; d < p_.data; d++)
        if (t.data[d] != way::none) f(std::atomic_ref(blocks[d][0]), t.data[d]);
      for (const auto& [i, how] : uses) f(marks_.of(i), how);
    };
    for_each_mark([&](std::atomic_ref<word> m, way how) {
      if (!word_marks::enter(m, how)) beside_ = true;
    });
    word h = index + 1;
    for (std::size_t d = 0; d < p_.data; d++)
      for (std::size_t i = 1; reads(t.data[d]) && i < words_of_each; i++) h = mix(h, blocks[d][i]);
    for (const auto& [i, how] : uses)
      if (reads(how)) h = mix(h, words_[i]);
    hash_[index] = h;
    if (t.yields) std::this_thread::yield();
    for (std::size_t d = 0; !t.fails && d < p_.data; d++)
      for (std::size_t i = 1; t.data[d] != way::none && i < words_of_each; i++)
        change(blocks[d][i], t.data[d], mix(h, d * 10 + i));
    for (const auto& [i, how] : uses)
      if (!t.fails) change(words_[i], how, mix(h, 1000 + i));
    for_each_mark([](std::atomic_ref<word> m, way how) { word_marks::leave(m, how); });
    if (t.fails) throw std::runtime_error("on purpose");
  }

  runtime& rt_;
  const program& p_;
  std::vector<data<word>> data_;
  std::vector<word> words_;
  word_marks marks_;
  std::vector<word> hash_;
  std::atomic<bool> beside_{false};
};

std::string run(runtime& rt, const program& p) {
  watchdog dog(patience_s, "a program with groups");
  group_run r(rt, p);
  const bool threw = [&] {
    if (p.by == creator::program) r.create();
    else rt.spawn([&] { r.create(); });
    try {
      rt.wait();
      return false;
    } catch (const task_failed&) {
      rt.wait();
      return true;
    }
  }();
  return r.difference(threw);
}

// Drops tasks as long as what is left still goes wrong in one of some runs.
program smaller(runtime& rt, program p) {
  for (std::size_t t = 0; t < p.tasks.size();) {
    program q = p;
    q.tasks.erase(q.tasks.begin() + static_cast<std::ptrdiff_t>(t));
    bool wrong = false;
    for (int i = 0; i < 20 && !wrong; i++) wrong = !run(rt, q).empty();
    if (wrong) p = std::move(q);
    else t++;
  }
  return p;
}

void try_programs(std::size_t count, bool blocks, bool failures) {
  const std::uint64_t seed = new_seed();
  const program_numbers numbers = numbers_of_programs(count);
  std::optional<runtime> rt;
  for (std::size_t n = numbers.first; n < numbers.first + numbers.count && !::testing::Test::HasFailure(); n++) {
    constexpr std::size_t per_configuration = 40;
    std::mt19937_64 random(mix(seed, ~(n / per_configuration)));
    const runtime_options o = random_options(random);
    if (!rt.has_value() || n % per_configuration == 0) rt.emplace(o);
    const program p = random_group_program(mix(seed, n), blocks, failures);
    const std::string wrong = run(*rt, p);
    if (!wrong.empty())
      ADD_FAILURE() << "WEIR_TEST_SEED=" << seed << " WEIR_TEST_FIRST=" << n << " WEIR_TEST_PROGRAMS=1, " << text(o)
                    << ": " << wrong << "\n" << smaller(*rt, p).text();
  }
  std::printf("%zu programs\n", numbers.count);
}

TEST(random_groups, as_in_sequence) { try_programs(effort(1'500), false, false); }
TEST(random_groups, in_blocks_where_tasks_fail) { try_programs(effort(1'500), true, true); }

// Several creators at once: who comes first is unknown, but nothing runs beside what it must not, and nothing is lost.
TEST(random_groups, of_several_creators) {
  std::mt19937_64 random(new_seed());
  for (std::size_t round = effort(60); round > 0 && !::testing::Test::HasFailure(); round--) {
    watchdog dog(patience_s, "several creators of groups");
    runtime rt(random_options(random));
    const std::size_t creators = between(random, 2, 4);
    const bool in_tasks = between(random, 0, 1) == 0;
    const std::vector<data<word>> blocks{rt.make_data(std::vector<word>(2)), rt.make_data(std::vector<word>(2))};
    std::vector<word> memory(12);
    word_marks marks(memory.size());
    std::atomic<bool> beside{false};
    std::atomic<std::uint64_t> added_to_data{0}, added_to_memory{0};
    const auto create = [&](std::uint64_t number) {
      std::mt19937_64 mine(number);
      for (int n = 0; n < 100; n++) {
        const auto& x = blocks[between(mine, 0, 1)];
        const std::size_t first = between(mine, 0, 2) * 3, count = between(mine, 1, 6);
        const auto some = std::span(memory).subspan(first, std::min(count, memory.size() - first));
        const auto body = [&, first](way how) {
          return [&, first, how](std::span<word> v, std::span<word> w) {
            bool alone = word_marks::enter(std::atomic_ref(v[0]), how);
            for (std::size_t i = 0; i < w.size(); i++) alone &= word_marks::enter(marks.of(first + i), how);
            if (!alone) beside = true;
            change(v[1], how == way::inout ? way::commutative : how, 1);
            for (word& one : w) change(one, how == way::inout ? way::commutative : how, 1);
            added_to_data++;
            added_to_memory += w.size();
            for (std::size_t i = 0; i < w.size(); i++) word_marks::leave(marks.of(first + i), how);
            word_marks::leave(std::atomic_ref(v[0]), how);
          };
        };
        switch (between(mine, 0, 4)) {
          case 0: rt.spawn(inout(x), inout(ref(some)), body(way::inout)); break;
          case 1:
          case 2: rt.spawn(commutative(x), commutative(ref(some)), body(way::commutative)); break;
          default: rt.spawn(concurrent(x), concurrent(ref(some)), body(way::concurrent)); break;
        }
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t c = 0; c < creators; c++) {
      const std::uint64_t number = random();
      if (in_tasks) rt.spawn([&, number] { create(number); });
      else threads.emplace_back([&, number] { create(number); });
    }
    for (std::thread& t : threads) t.join();
    rt.wait();
    EXPECT_FALSE(beside) << "tasks ran beside each other that must not";
    EXPECT_EQ(blocks[0].read()[1] + blocks[1].read()[1], added_to_data);
    EXPECT_EQ(std::accumulate(memory.begin(), memory.end(), word{0}), added_to_memory);
    EXPECT_EQ(added_to_data, 100 * creators);
  }
}

}  // namespace
}  // namespace weir::test
