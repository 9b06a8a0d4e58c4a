// Commutative and concurrent accesses under stress: several creators name the same data, ranges and tiles in every
// way, while tasks throw, scopes are cancelled, views are held, and tasks that hold tokens wait for others. Who comes
// first is unknown, but nothing runs beside what it must not, and no addition is lost.
#include "tests/stress/stress.hpp"
#include "tests/support/ways.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

namespace weir::test {
namespace {

using word = word_marks::word;

constexpr std::size_t data_count = 4, rows = 8, stride = 8, other_stride = 12, words_in_memory = rows * stride;
constexpr std::size_t most_values = 1 << 16;  // new ones of data, in a round

// A datum's words: who is at work on it, how often it was added to, and the number of its value, new with each out().
enum { mark_word, sum_word, value_word, words_of_datum };

// What all creators of a round name. Words count the tasks that have added to them; so does `added`, for memory and
// for each value of a datum, in a way that no order between tasks matters to.
struct board {
  board(runtime& r, bool fails, bool holders) : rt(r), hostile(fails), holders_wait(holders) {
    for (std::size_t d = 0; d < data_count; d++)
      data.push_back(rt.make_data(std::vector<word>{0, 0, next_value++}));
  }
  runtime& rt;
  const bool hostile;       // tasks throw, scopes are cancelled
  // Tasks wait for their children while they hold what they name. Then tasks that create others do not wait: a worker
  // may execute one of them on top of such a task, which cannot go on before.
  const bool holders_wait;
  std::vector<weir::data<word>> data;
  std::vector<word> memory = std::vector<word>(words_in_memory);
  word_marks marks{words_in_memory};
  std::vector<std::atomic<word>> added_to_memory = std::vector<std::atomic<word>>(words_in_memory);
  std::vector<std::atomic<word>> added_to_value = std::vector<std::atomic<word>>(most_values);
  std::atomic<std::size_t> next_value{0}, created{0}, ran{0}, threw{0};
  // Mostly one way for all creators for a while, so that there are groups of many tasks.
  std::atomic<way> usual{way::commutative};

  void note_wrong(const std::string& what) {
    std::lock_guard guard(mutex);
    if (wrong.empty()) wrong = what;
  }
  std::mutex mutex;
  std::string wrong;  // the first thing that was
};

const char* name_of(way how) { return way_names[static_cast<std::size_t>(how)]; }

struct piece {
  way how;
  std::size_t first, count;                    // words of a range; of each row of a tile
  std::size_t rows = 1, stride_of_matrix = 0;  // not 0: a tile

  bool is_tile() const { return stride_of_matrix != 0; }
  std::string text() const {
    const std::string end = std::to_string(first + count);
    const std::string row = std::string(name_of(how)) + " [" + std::to_string(first) + "," + end + ")";
    return is_tile() ? row + "x" + std::to_string(rows) + "/" + std::to_string(stride_of_matrix) : row;
  }
  memory_range<word> as_range(board& b) const { return ref(std::span(b.memory).subspan(first, count)); }
  memory_tile<word> as_tile(board& b) const {
    return ref(tile(b.memory.data(), stride_of_matrix, first / stride_of_matrix, rows, first % stride_of_matrix,
                    count));
  }
};

struct group_task {
  std::string text() const {
    std::string all;
    for (std::size_t d = 0; d < data_count; d++)
      if (data[d] != way::none) all += std::string(name_of(data[d])) + " d" + std::to_string(d) + ", ";
    for (const piece& p : pieces) all += p.text() + ", ";
    return all;
  }
  std::array<way, data_count> data{};
  std::vector<piece> pieces;
  bool yields = false, throws = false, waits = false;
  std::function<void()> cancels = nullptr;  // a scope
  std::shared_ptr<int> token;               // of those who wait until all tasks have gone
  std::atomic<bool> has_run{false};
};

// What a task does with each word of memory that it names.
std::array<way, words_in_memory> uses_of(const group_task& t) {
  std::array<way, words_in_memory> all{};
  for (const piece& p : t.pieces)
    for (std::size_t r = 0; r < p.rows; r++)
      for (std::size_t i = 0; i < p.count; i++) {
        way& here = all[p.first + r * p.stride_of_matrix + i];
        here = joined(here, p.how);
      }
  return all;
}

// A task's body. `blocks`: its data.
class group_body {
 public:
  group_body(board& b, group_task& t, const std::array<std::span<word>, data_count>& blocks)
      : b_(b), t_(t), blocks_(blocks), uses_(uses_of(t)) {}

  void execute() {
    if (t_.has_run.exchange(true)) b_.note_wrong("ran twice: " + t_.text());
    for (std::size_t d = 0; d < data_count; d++)
      if (t_.data[d] == way::out) begin_value(blocks_[d]);
    bool alone = true;
    for_each_mark([&](std::atomic_ref<word> m, way how) { alone &= word_marks::enter(m, how); });
    if (!alone) b_.note_wrong("ran beside one that it must not run beside: " + t_.text());
    look();
    if (t_.yields) std::this_thread::yield();
    if (t_.cancels) t_.cancels();
    if (t_.waits) wait_for_children();
    if (!t_.throws) add();
    for_each_mark([](std::atomic_ref<word> m, way how) { word_marks::leave(m, how); });
    (t_.throws ? b_.threw : b_.ran)++;
    if (t_.throws) throw std::runtime_error("on purpose");
  }

 private:
  template <class F>
  void for_each_mark(F&& f) {
    for (std::size_t d = 0; d < data_count; d++)
      if (t_.data[d] != way::none) f(std::atomic_ref(blocks_[d][mark_word]), t_.data[d]);
    for (std::size_t i = 0; i < words_in_memory; i++)
      if (uses_[i] != way::none) f(b_.marks.of(i), uses_[i]);
  }
  void begin_value(std::span<word> block) {
    block[mark_word] = block[sum_word] = 0;
    block[value_word] = b_.next_value++;
    ASSERT_LT(block[value_word], most_values);
  }
  std::atomic<word>& added_to(std::span<word> block) { return b_.added_to_value[block[value_word]]; }
  // All but concurrent tasks see what was added, for nobody adds meanwhile.
  void look() {
    for (std::size_t d = 0; d < data_count; d++)
      if (t_.data[d] != way::none && t_.data[d] != way::concurrent)
        compare(blocks_[d][sum_word], added_to(blocks_[d]), "d", d);
    for (std::size_t i = 0; i < words_in_memory; i++)
      if (uses_[i] != way::none && uses_[i] != way::concurrent)
        compare(b_.memory[i], b_.added_to_memory[i], "word ", i);
  }
  void compare(word seen, word added, const char* what, std::size_t i) {
    if (seen != added)
      b_.note_wrong(t_.text() + "saw " + std::to_string(seen) + " of " + std::to_string(added) + " in " + what +
                   std::to_string(i));
  }
  static void add_one(word& w, way how) {
    if (how == way::concurrent) std::atomic_ref(w).fetch_add(1, std::memory_order_relaxed);
    else w++;
  }
  void add() {
    for (std::size_t d = 0; d < data_count; d++) {
      if (t_.data[d] == way::none || t_.data[d] == way::in) continue;
      add_one(blocks_[d][sum_word], t_.data[d]);
      added_to(blocks_[d]).fetch_add(1, std::memory_order_relaxed);
    }
    for (std::size_t i = 0; i < words_in_memory; i++) {
      if (uses_[i] == way::none || uses_[i] == way::in) continue;
      add_one(b_.memory[i], uses_[i]);
      b_.added_to_memory[i].fetch_add(1, std::memory_order_relaxed);
    }
  }
  // In a group of their own. This one keeps its tokens meanwhile.
  void wait_for_children() {
    scope s(b_.rt, dependences::own);
    const auto x = b_.rt.make_data(std::vector<word>{0});
    word y = 0;
    for (int i = 0; i < 3; i++)
      s.spawn(commutative(x), commutative(ref(y)), [](auto v, auto w) { v[0]++, w[0]++; });
    try {
      s.wait();
    } catch (const task_cancelled&) {
      return;  // with this task's scope
    }
    const word in_x = x.read()[0];
    if (in_x != 3 || y != 3) b_.note_wrong("children added " + std::to_string(in_x) + " and " + std::to_string(y));
  }

  board& b_;
  group_task& t_;
  const std::array<std::span<word>, data_count>& blocks_;
  const std::array<way, words_in_memory> uses_;
};

// Spawns it by `spawn(accesses..., body)`.
template <class Spawn>
void spawn_group_task(board& b, const std::shared_ptr<group_task>& t, const Spawn& spawn) {
  const auto d = [&](way how) {
    std::vector<data<word>> some;
    for (std::size_t i = 0; i < data_count; i++)
      if (t->data[i] == how) some.push_back(b.data[i]);
    return some;
  };
  const auto r = [&](way how) {
    std::vector<memory_range<word>> some;
    for (const piece& p : t->pieces)
      if (p.how == how && !p.is_tile()) some.push_back(p.as_range(b));
    return some;
  };
  const auto m = [&](way how) {
    std::vector<memory_tile<word>> some;
    for (const piece& p : t->pieces)
      if (p.how == how && p.is_tile()) some.push_back(p.as_tile(b));
    return some;
  };
  b.created++;
  spawn(in(d(way::in)), out(d(way::out)), inout(d(way::inout)), commutative(d(way::commutative)),
        concurrent(d(way::concurrent)), in(r(way::in)), out(r(way::out)), inout(r(way::inout)),
        commutative(r(way::commutative)), concurrent(r(way::concurrent)), in(m(way::in)), out(m(way::out)),
        inout(m(way::inout)), commutative(m(way::commutative)), concurrent(m(way::concurrent)),
        [&b, t](views<const word> read, views<word> written, views<word> updated, views<word> in_any_order,
                views<word> together, auto...) {
          std::array<std::span<word>, data_count> blocks;
          std::array<std::size_t, way_names.size()> next{};
          for (std::size_t i = 0; i < data_count; i++) {
            const way how = t->data[i];
            const std::size_t n = next[static_cast<std::size_t>(how)]++;
            // Who only reads changes the mark, which is no part of the value.
            if (how == way::in) blocks[i] = {const_cast<word*>(read[n].data()), read[n].size()};
            if (how == way::out) blocks[i] = written[n];
            if (how == way::inout) blocks[i] = updated[n];
            if (how == way::commutative) blocks[i] = in_any_order[n];
            if (how == way::concurrent) blocks[i] = together[n];
          }
          group_body(b, *t, blocks).execute();
        });
}

// One who creates: a thread, or a task.
class creator {
 public:
  creator(board& b, std::uint64_t seed, int depth) : b_(b), random_(seed), depth_(depth) {}

  void act(std::size_t actions) {
    for (std::size_t i = 0; i < actions; i++) {
      const bool may_wait = depth_ == 0 || !b_.holders_wait;
      switch (between(random_, may_wait ? 0 : 2, 9)) {
        case 0: in_scope(); break;
        case 1: look(); break;
        case 2: create_creator(); break;
        default: one(); break;
      }
    }
  }
  // A task that writes all anew, whatever failed before; others after it; and one that sees all that was added.
  void mend_all() {
    const auto whole = std::make_shared<group_task>();
    whole->data.fill(way::out);
    whole->pieces.push_back({way::out, 0, words_in_memory});
    spawn(nullptr, whole);
    for (int i = 0; i < 100; i++) spawn(nullptr, random_task(false));
    const auto reader = std::make_shared<group_task>();
    reader->data.fill(way::in);
    reader->pieces.push_back({way::in, 0, words_in_memory});
    spawn(nullptr, reader);
  }

 private:
  bool chance(std::size_t percent) { return between(random_, 1, 100) <= percent; }
  way some_way() {
    if (chance(8)) b_.usual = static_cast<way>(between(random_, 1, 5));
    return chance(10) ? static_cast<way>(between(random_, 1, 5)) : b_.usual.load();
  }
  piece some_piece() {
    const way how = some_way();
    if (chance(50)) {
      if (chance(70)) return {how, between(random_, 0, 3) * 16, 16};
      const std::size_t first = between(random_, 0, words_in_memory - 1);
      return {how, first, between(random_, 1, std::min<std::size_t>(20, words_in_memory - first))};
    }
    if (chance(70)) return {how, between(random_, 0, 1) * 4 * stride + between(random_, 0, 1) * 4, 4, 4, stride};
    const std::size_t length = chance(80) ? stride : other_stride;
    const std::size_t all_rows = words_in_memory / length;
    const std::size_t row = between(random_, 0, all_rows - 1), column = between(random_, 0, length - 1);
    return {how, row * length + column, between(random_, 1, length - column), between(random_, 1, all_rows - row),
            length};
  }
  std::shared_ptr<group_task> random_task(bool may_fail) {
    auto t = std::make_shared<group_task>();
    for (way& how : t->data)
      if (chance(30)) how = some_way();
    for (std::size_t n = between(random_, 0, 2); n > 0; n--) t->pieces.push_back(some_piece());
    t->yields = chance(20);
    t->waits = b_.holders_wait && chance(5);
    t->throws = may_fail && chance(5);
    return t;
  }
  void spawn(scope* s, const std::shared_ptr<group_task>& t) {
    spawn_group_task(b_, t, [&](const auto&... all) { s != nullptr ? s->spawn(all...) : b_.rt.spawn(all...); });
  }
  void one() { spawn(nullptr, random_task(b_.hostile)); }

  // All its tasks have gone when it has waited, whatever became of them.
  void in_scope() {
    const auto token = std::make_shared<int>(0);
    {
      scope s(b_.rt);
      const std::size_t count = between(random_, 1, 20), cancelled_by = between(random_, 0, 3 * count);
      for (std::size_t i = 0; i < count; i++) {
        const auto t = random_task(b_.hostile);
        t->token = token;
        if (b_.hostile && i == cancelled_by) t->cancels = [&s] { s.cancel(); };
        spawn(&s, t);
        if (b_.hostile && i == cancelled_by + 1) s.cancel();
      }
      wait_for(s);
    }
    EXPECT_EQ(token.use_count(), 1) << "a task of a scope was there after the wait for it";
  }
  void wait_for(scope& s) {
    try {
      s.wait();
    } catch (const task_failed&) {
      EXPECT_TRUE(b_.hostile);
    } catch (const task_cancelled&) {
      EXPECT_TRUE(b_.hostile);
    }
  }
  void look() {
    try {
      const auto v = b_.data[between(random_, 0, data_count - 1)].read();
      const word sum = v[sum_word], value = v[value_word];
      std::this_thread::yield();
      if (v[sum_word] != sum || v[value_word] != value || sum > b_.added_to_value[value])
        b_.note_wrong("a view saw " + std::to_string(sum) + ", " + std::to_string(v[sum_word]) + " of " +
                     std::to_string(b_.added_to_value[value]));
    } catch (const task_failed&) {
      EXPECT_TRUE(b_.hostile);
    } catch (const task_cancelled&) {
      EXPECT_TRUE(b_.hostile);
    }
  }
  void create_creator() {
    if (depth_ >= 2) return;
    b_.created++;
    const auto body = [&b = b_, seed = random_(), depth = depth_] {
      creator(b, seed, depth + 1).act(10);
      b.ran++;
    };
    if (chance(50) || (depth_ > 0 && b_.holders_wait)) return b_.rt.spawn(body);
    scope s(b_.rt);
    s.spawn(body);
    wait_for(s);
  }

  board& b_;
  std::mt19937_64 random_;
  int depth_;
};

// Everything has come to an end; failures have been told after this.
void wait_for_all(board& b) {
  try {
    b.rt.wait();
  } catch (const task_failed&) {
    EXPECT_GT(b.threw, 0u);
  } catch (const task_cancelled&) {
    EXPECT_TRUE(b.hostile);
  }
  EXPECT_NO_THROW(b.rt.wait());
}

std::size_t play_a_round(std::mt19937_64& random, bool hostile) {
  const runtime_options o = random_options(random);
  SCOPED_TRACE(text(o));
  runtime rt(o);
  board b(rt, hostile, between(random, 0, 1) == 0);
  std::vector<std::thread> threads;
  for (std::size_t t = between(random, 1, 4); t > 0; t--)
    threads.emplace_back([&b, seed = random()] { creator(b, seed, 0).act(effort(120)); });
  for (std::thread& t : threads) t.join();
  wait_for_all(b);
  const std::size_t lost = b.created - b.ran - b.threw;
  if (!hostile) { EXPECT_EQ(lost, 0u); }
  creator(b, random(), 2).mend_all();
  EXPECT_NO_THROW(rt.wait());
  EXPECT_EQ(b.created - b.ran - b.threw, lost) << "a task was skipped after all was written anew";
  EXPECT_EQ(b.wrong, "");
  for (std::size_t i = 0; i < words_in_memory; i++) EXPECT_EQ(b.memory[i], b.added_to_memory[i]) << "word " << i;
  for (const data<word>& d : b.data) {
    const auto v = d.read();
    EXPECT_EQ(v[sum_word], b.added_to_value[v[value_word]]);
    EXPECT_EQ(v[mark_word], 0u);
  }
  return b.created;
}

void play(bool hostile) {
  watchdog dog(patience(), "groups of several creators");
  std::mt19937_64 random(new_seed());
  std::size_t tasks = 0, rounds = 0;
  for (const auto end = clock::now() + budget(); clock::now() < end && !::testing::Test::HasFailure(); rounds++)
    tasks += play_a_round(random, hostile);
  std::printf("%zu rounds, %zu tasks\n", rounds, tasks);
}

TEST(group_stress, several_creators) { play(false); }
TEST(group_stress, tasks_throw_and_scopes_are_cancelled) { play(true); }

// --------------------------------------------------------------------------------------- tasks that can never run

struct never_fed {
  std::size_t stuck, fine;
  std::atomic<std::size_t> ran{0}, after{0};
  std::shared_ptr<int> token = std::make_shared<int>(0);
};

// Some tasks of a group wait for a stream that nobody feeds. The others run, what comes after the group does not,
// until somebody writes what the group had.
template <class Named, class Group>
void give_some_up(runtime& rt, std::mt19937_64& random, const Named& named, const Group& group) {
  never_fed n{.stuck = between(random, 0, 10), .fine = between(random, 0, 30)};
  {
    const auto pipe = rt.make_stream<int>("never fed");
    std::vector<char> is_stuck(n.stuck + n.fine, 0);
    std::fill_n(is_stuck.begin(), n.stuck, 1);
    std::ranges::shuffle(is_stuck, random);
    const auto create = [&] {
      for (const char stuck : is_stuck) {
        if (stuck != 0) rt.spawn(group(named), pipe.pop(1), [token = n.token](auto, auto) { ADD_FAILURE(); });
        else rt.spawn(group(named), [&n, token = n.token](auto) { n.ran++; });
      }
      rt.spawn(in(named), [&n, token = n.token](auto) { n.after++; });
      rt.spawn(inout(named), [&n, token = n.token](auto) { n.after++; });
    };
    if (between(random, 0, 1) == 0) create();
    else rt.run(create);
  }
  if (n.stuck > 0) { EXPECT_THROW(rt.wait(), deadlock_error); }
  EXPECT_NO_THROW(rt.wait());
  EXPECT_EQ(n.ran, n.fine);
  EXPECT_EQ(n.after, n.stuck > 0 ? 0u : 2u);
  EXPECT_EQ(n.token.use_count(), 1);
  rt.spawn(out(named), [&n](auto s) { s[0] = 1, n.after = 0; });
  for (int i = 0; i < 3; i++) rt.spawn(group(named), [&n](auto) { n.after++; });
  rt.spawn(in(named), [&n](auto s) { n.after += s[0] == 1 ? 1 : 0; });
  EXPECT_NO_THROW(rt.wait());
  EXPECT_EQ(n.after, 4u);
}

TEST(group_stress, giving_up) {
  watchdog dog(patience(), "giving up groups");
  std::mt19937_64 random(new_seed());
  std::size_t rounds = 0;
  const auto as_commutative = [](const auto& d) { return commutative(d); };
  const auto as_concurrent = [](const auto& d) { return concurrent(d); };
  for (const auto end = clock::now() + budget(); clock::now() < end && !HasFailure(); rounds++) {
    const runtime_options o = random_options(random);
    SCOPED_TRACE(text(o));
    runtime rt(o);
    const auto x = rt.make_data(std::vector<int>{0});
    std::vector<int> memory(4);
    for (int repeat = 0; repeat < 10; repeat++) {
      switch (between(random, 0, 3)) {
        case 0: give_some_up(rt, random, x, as_commutative); break;
        case 1: give_some_up(rt, random, x, as_concurrent); break;
        case 2: give_some_up(rt, random, ref(memory), as_commutative); break;
        default: give_some_up(rt, random, ref(memory), as_concurrent); break;
      }
    }
  }
  std::printf("%zu rounds\n", rounds);
}

}  // namespace
}  // namespace weir::test
