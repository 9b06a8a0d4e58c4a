// Tasks wait for those that they must wait for, and for no others: while some are held at a gate, all that do not
// depend on them run to their end.
#include "tests/oracle/range_run.hpp"

#include <algorithm>

namespace weir::test {
namespace {

constexpr int patience_s = 60;

bool conflict(const range_task& a, const range_task& b) {
  return std::any_of(a.accesses.begin(), a.accesses.end(), [&](const range_access& x) {
    return std::any_of(b.accesses.begin(), b.accesses.end(), [&](const range_access& y) {
      return (does_write(x.how) || does_write(y.how)) && overlap(x, y);
    });
  });
}

// Which tasks have begun and ended. Ended ones can be waited for, by a thread that must not execute tasks meanwhile.
class progress {
 public:
  explicit progress(std::size_t tasks) : begun_(tasks, false), ended_(tasks, false) {}
  void begin(std::size_t task) {
    std::lock_guard guard(mutex_);
    begun_[task] = true;
  }
  void end(std::size_t task) {
    std::lock_guard guard(mutex_);
    ended_[task] = true;
    changed_.notify_all();
  }
  void await_end(const std::vector<bool>& of) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      for (std::size_t t = 0; t < of.size(); t++)
        if (of[t] && !ended_[t]) return false;
      return true;
    });
  }
  bool has_begun(std::size_t task) {
    std::lock_guard guard(mutex_);
    return begun_[task];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> begun_, ended_;
};

// A program some of whose tasks are held.
struct constellation {
  range_program program;
  std::vector<bool> held, depends;  // on a held one, by any way

  void add(const range_task& t, bool is_held, bool does_depend) {
    program.tasks.push_back(t);
    held.push_back(is_held);
    depends.push_back(does_depend);
  }
  int count_held() const { return static_cast<int>(std::count(held.begin(), held.end(), true)); }
  std::string text() const {
    std::string all = program.text() + "held:";
    for (std::size_t t = 0; t < held.size(); t++)
      if (held[t]) all += " " + std::to_string(t);
    all += "; depend on them:";
    for (std::size_t t = 0; t < held.size(); t++)
      if (depends[t]) all += " " + std::to_string(t);
    return all + "\n";
  }
};

constellation random_constellation(std::mt19937_64& random, std::size_t most_held) {
  range_program p = random_program(random(), {.most_tasks = 40,
                                              .failures = false,
                                              .children = false,
                                              .data = false,
                                              .waits = false,
                                              .meeting_tiles = false});
  const std::vector<range_task> tasks = std::move(p.tasks);
  p.tasks.clear();
  constellation c{std::move(p), {}, {}};
  const std::size_t first_held = between(random, 0, tasks.size() - 1);
  for (std::size_t t = 0; t < tasks.size(); t++) {
    bool depends = false;
    for (std::size_t e = 0; e < t && !depends; e++)
      depends = (c.held[e] || c.depends[e]) && conflict(tasks[e], tasks[t]);
    const bool may_hold = t == first_held || (t > first_held && between(random, 0, 5) == 0);
    c.add(tasks[t], may_hold && !depends && c.count_held() < static_cast<int>(most_held), depends);
  }
  return c;
}

// What has happened to the tasks that are not held when later ones are created: they may be over, or nothing has begun
// because all bytes are still to be written by a first task.
enum class earlier { over, unfinished };

// One constellation, being run.
class trial {
 public:
  trial(runtime& rt, const constellation& c, fresh_memory& fresh)
      : rt_(rt), c_(c), bytes_(fresh.next(c.program.bytes())), memory_(c.program, bytes_), marks_(bytes_.size()),
        seen_(c.held.size()), free_(c.held.size(), false) {}

  void run(earlier what, std::mt19937_64& random) {
    if (what == earlier::unfinished) spawn_first();
    bool one_is_held = false;
    for (std::size_t t = 0; t < c_.held.size(); t++) {
      spawn(t);
      one_is_held |= c_.held[t];
      if (what == earlier::over && (!one_is_held || between(random, 0, 3) == 0)) seen_.await_end(free_);
    }
    begin_.open();
    seen_.await_end(free_);
    door_.await_arrivals(c_.count_held());
    for (std::size_t t = 0; t < c_.held.size(); t++)
      if (c_.depends[t]) { EXPECT_FALSE(seen_.has_begun(t)) << "task " << t << " did not wait\n" << c_.text(); }
    open_ = true;
    door_.open();
    rt_.wait();
  }

 private:
  void spawn_first() {
    std::vector<named_bytes> all;
    for (std::size_t i = 0; i < c_.program.sizes.size(); i++)
      all.push_back({mode::out, memory_.part({mode::out, i, 0, c_.program.sizes[i]})});
    spawn_ranges(rt_, nullptr, all, nullptr, [this](const data_views*) { begin_.pass(); });
  }
  void spawn(std::size_t t) {
    free_[t] = !c_.held[t] && !c_.depends[t];
    const std::vector<touched> parts = touched_by(c_.program.tasks[t], memory_);
    const auto body = [this, t, held = c_.held[t], parts](const data_views*) {
      EXPECT_TRUE(!c_.depends[t] || open_) << "task " << t << " did not wait\n" << c_.text();
      EXPECT_TRUE(marks_.enter(parts)) << "task " << t << " runs beside one it conflicts with\n" << c_.text();
      seen_.begin(t);
      if (held) door_.pass();
      marks_.leave(parts);
      seen_.end(t);
    };
    const range_task& task = c_.program.tasks[t];
    spawn_ranges(rt_, nullptr, memory_.named(task), nullptr, body, task.in_groups);
  }

  runtime& rt_;
  const constellation& c_;
  const std::span<byte> bytes_;
  const range_memory memory_;
  byte_marks marks_;
  progress seen_;
  std::vector<bool> free_;  // of those that are created, who depends on nothing held
  gate begin_, door_;
  std::atomic<bool> open_{false};
};

void run(runtime& rt, const constellation& c, earlier what, std::mt19937_64& random, fresh_memory& fresh) {
  const std::string name = c.text() + "policy " + rt.policy() + ", " + std::to_string(rt.workers()) +
                           " workers: one of those that depend on no held task";
  watchdog dog(patience_s, name.c_str());
  trial(rt, c, fresh).run(what, random);
}

// As many as are held may be away, and one must be left.
TEST(range_exactness, of_random_programs) {
  constexpr std::size_t most_held = 3;
  std::mt19937_64 random(new_seed());
  for (std::size_t round = 0; round < effort(40) && !HasFailure(); round++) {
    runtime_options o = random_options(random);
    o.workers = static_cast<int>(most_held + between(random, 1, 4));
    o.backlog = 0;
    fresh_memory fresh;
    runtime rt(o);
    for (int repeat = 0; repeat < 15 && !HasFailure(); repeat++) {
      const earlier what = repeat % 2 == 0 ? earlier::over : earlier::unfinished;
      run(rt, random_constellation(random, most_held), what, random, fresh);
    }
  }
}

// The cases that people think of, written down: `before` is created first, then what is held, then what must not wait
// for it.
struct written_case {
  const char* name;
  std::vector<range_access> before, held, free, dependent;
};

// Ranges of one array of 64 bytes.
range_access of(mode how, std::size_t first, std::size_t end) { return {how, 0, first, end - first}; }

// Tiles of a matrix of 8 rows of 8 bytes there.
range_access tile_of(mode how, std::size_t first_row, std::size_t rows, std::size_t first_column,
                     std::size_t columns) {
  return {how, 0, 8 * first_row + first_column, columns, rows, 8};
}

const std::vector<written_case>& written_cases() {
  static constexpr mode r = mode::in, w = mode::out, u = mode::inout;
  static constexpr auto t = tile_of;
  static const std::vector<written_case> all{
      {"a reader of a part is held, others write what is beside it", {of(w, 0, 64)}, {of(r, 10, 20)},
       {of(w, 0, 10), of(u, 20, 64), of(r, 0, 64)}, {}},
      {"a reader of a part is held, others write into it", {of(w, 0, 64)}, {of(r, 10, 20)},
       {of(w, 0, 10)}, {of(w, 0, 11), of(u, 19, 20), of(w, 10, 20), of(w, 0, 64)}},
      {"a writer of a part is held", {of(w, 0, 64)}, {of(w, 32, 64)},
       {of(w, 0, 32), of(r, 0, 32), of(u, 31, 32)}, {of(r, 31, 33), of(r, 63, 64), of(r, 0, 64)}},
      {"a writer of single bytes is held", {of(w, 0, 64)}, {of(u, 31, 32)},
       {of(u, 0, 31), of(u, 32, 64), of(r, 32, 33), of(r, 30, 31)}, {of(r, 31, 32), of(r, 0, 64)}},
      {"a reader of all is held, others read parts", {of(w, 0, 64)}, {of(r, 0, 64)},
       {of(r, 0, 64), of(r, 0, 1), of(r, 63, 64), of(r, 20, 40)}, {of(u, 5, 6)}},
      {"blocks that were written one by one", {of(w, 0, 16), of(w, 16, 32), of(w, 32, 48), of(w, 48, 64)},
       {of(r, 15, 33)}, {of(w, 0, 15), of(w, 33, 64), of(r, 0, 64)}, {of(w, 16, 32), of(w, 0, 16)}},
      {"bytes nobody has named before", {}, {of(w, 16, 32)},
       {of(w, 0, 16), of(w, 32, 64), of(r, 40, 41)}, {of(r, 16, 17)}},
      {"ranges of no bytes in the middle of one", {of(w, 0, 64)}, {of(u, 0, 64)},
       {of(u, 32, 32), of(w, 0, 0), of(r, 64, 64)}, {of(r, 32, 33)}},
      {"a writer of a tile is held, others name what is around it", {of(w, 0, 64)}, {t(w, 2, 3, 2, 3)},
       {t(u, 0, 8, 0, 2), t(w, 0, 2, 0, 8), t(u, 5, 3, 0, 8), t(r, 0, 8, 5, 3), of(r, 21, 26), of(w, 0, 18)},
       {t(r, 4, 1, 4, 1), of(r, 0, 19), of(w, 36, 37), t(u, 0, 8, 4, 4), of(r, 0, 64)}},
      {"a reader of a column is held", {t(w, 0, 8, 0, 4), t(w, 0, 8, 4, 4)}, {t(r, 0, 8, 3, 1)},
       {t(w, 0, 8, 0, 3), t(u, 0, 8, 4, 4), t(r, 0, 8, 0, 8), of(w, 4, 11)}, {of(w, 10, 12), t(u, 7, 1, 0, 8)}},
      {"tiles that nobody has named before", {}, {t(w, 0, 4, 0, 4)},
       {t(w, 0, 4, 4, 4), t(u, 4, 4, 0, 8), t(r, 3, 2, 4, 1)}, {t(r, 3, 2, 3, 2), t(r, 0, 1, 0, 1)}},
      {"plain ranges that were named before there were tiles", {of(w, 0, 20)}, {of(w, 20, 40)},
       {t(w, 0, 2, 0, 8), t(u, 2, 1, 0, 4), t(r, 5, 3, 0, 8), t(w, 6, 2, 0, 1)}, {t(r, 4, 1, 7, 1), t(u, 0, 8, 4, 1)}},
      {"a halo of a tile is read while tiles beside it are updated", {of(w, 0, 64)}, {t(r, 1, 4, 1, 4)},
       {t(u, 0, 1, 0, 8), t(u, 1, 7, 0, 1), t(w, 1, 7, 5, 3), t(w, 5, 3, 0, 8)}, {t(u, 0, 2, 0, 2), t(w, 4, 4, 4, 4)}},
      {"a halo that is read while blocks beside it are updated", {of(w, 0, 32), of(w, 32, 64)}, {of(r, 30, 34)},
       {of(u, 0, 30), of(u, 34, 64)}, {of(u, 0, 32), of(u, 32, 64)}},
  };
  return all;
}

constellation made_of(const written_case& w) {
  constellation c{{.sizes = {64}, .gaps = {0}}, {}, {}};
  const auto add = [&](const std::vector<range_access>& accesses, bool held, bool depends) {
    for (const range_access& a : accesses) c.add({.number = c.held.size(), .accesses = {a}}, held, depends);
  };
  add(w.before, false, false);
  add(w.held, true, false);
  add(w.free, false, false);
  add(w.dependent, false, true);
  return c;
}

TEST(range_exactness, of_cases_written_down) {
  std::mt19937_64 random(new_seed());
  for (const written_case& w : written_cases())
    for (const std::string& policy : policy_names())
      for (const earlier what : {earlier::over, earlier::unfinished}) {
        SCOPED_TRACE(w.name);
        fresh_memory fresh;
        runtime rt({.workers = 2, .policy = policy});
        run(rt, made_of(w), what, random, fresh);
      }
}

// All tasks of a group are in their bodies at once.
class meeting {
 public:
  explicit meeting(int all) : all_(all) {}
  void arrive() {
    std::unique_lock lock(mutex_);
    arrived_++;
    changed_.notify_all();
    changed_.wait(lock, [&] { return arrived_ >= all_; });
  }

 private:
  const int all_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
};

struct meeting_case {
  const char* name;
  std::vector<range_access> meet;
};

TEST(range_exactness, tasks_that_do_not_conflict_meet) {
  static constexpr mode r = mode::in, w = mode::out, u = mode::inout;
  static const std::vector<meeting_case> cases{
      {"readers of the same bytes", {of(r, 0, 64), of(r, 0, 64), of(r, 0, 64), of(r, 0, 64)}},
      {"readers of nested ranges", {of(r, 0, 64), of(r, 10, 50), of(r, 20, 30), of(r, 25, 26)}},
      {"readers of ranges that overlap partly", {of(r, 0, 30), of(r, 20, 50), of(r, 40, 64)}},
      {"writers of halves", {of(w, 0, 32), of(w, 32, 64)}},
      {"updates of neighbouring bytes", {of(u, 7, 8), of(u, 8, 9), of(u, 9, 10), of(u, 10, 11)}},
      {"writers of quarters of a matrix",
       {tile_of(w, 0, 4, 0, 4), tile_of(w, 0, 4, 4, 4), tile_of(w, 4, 4, 0, 4), tile_of(w, 4, 4, 4, 4)}},
      {"updates of columns",
       {tile_of(u, 0, 8, 0, 1), tile_of(u, 0, 8, 1, 1), tile_of(u, 0, 8, 2, 5), tile_of(u, 0, 8, 7, 1)}},
      {"readers of tiles that overlap",
       {tile_of(r, 0, 5, 0, 5), tile_of(r, 3, 5, 3, 5), of(r, 0, 64), tile_of(r, 0, 8, 4, 1)}},
      {"an update of a border around a reader",
       {of(u, 0, 8), tile_of(u, 1, 6, 0, 1), tile_of(r, 1, 6, 1, 7), of(u, 56, 64)}},
      {"a reader between writers", {of(w, 0, 20), of(r, 20, 40), of(u, 40, 64), of(r, 30, 35)}},
  };
  enum class written { never, before, by_a_task_that_is_held };
  for (const meeting_case& c : cases)
    for (const written all : {written::never, written::before, written::by_a_task_that_is_held})
      for (const std::string& policy : policy_names()) {
        watchdog dog(patience_s, c.name);
        runtime rt({.workers = static_cast<int>(c.meet.size()), .policy = policy});
        std::vector<byte> bytes(64);
        gate door;
        meeting together(static_cast<int>(c.meet.size()));
        std::atomic<bool> first_done{all == written::never};
        if (all != written::never)
          rt.spawn(out(ref(bytes)), [&](auto) {
            if (all == written::by_a_task_that_is_held) door.pass();
            first_done = true;
          });
        while (all == written::before && !first_done) std::this_thread::yield();
        for (const range_access& a : c.meet) {
          const named_bytes part{a.how, std::span(bytes).subspan(a.first, a.count), a.rows, a.stride, bytes.data()};
          spawn_ranges(rt, nullptr, {part}, nullptr, [&](const data_views*) {
            EXPECT_TRUE(first_done);
            together.arrive();
          });
        }
        door.open();
        rt.wait();
      }
}

}  // namespace
}  // namespace weir::test
