// What tasks cost under weir.
//
// A column's value is a datum, in two rows written in turn, as in the stencil kernels: "the step before" is then what
// was announced last, in whatever order the tasks of a step are created. Writers need not wait for readers: versions.
// Where the pattern is on the program's own memory, tasks name that, and writers do wait.
#include <bench/overhead/own_memory.hpp>
#include <bench/overhead/program.hpp>

#include <weir/weir.hpp>

#include <atomic>
#include <ctime>

namespace {

using namespace weir::bench::overhead;
using weir::commutative, weir::concurrent, weir::data, weir::in, weir::inout, weir::out;

// Values that tasks find in what they name, and leave there: the number of the step that comes next.
struct value_check {
  checker* check;
  int step;
  bool update;  // the output's first value is the input

  template <class T>
  void operator()(std::span<const T> input) const {
    check->expect(input.front() == step && input.back() == step);
  }
  template <class T>
  void operator()(weir::tile<const T> input) const {
    (*this)(input.row(0));
    (*this)(input.row(input.rows() - 1));
  }
  template <class T>
  void operator()(weir::tile<T> output) const {
    (*this)(output.row(0));
    (*this)(output.row(output.rows() - 1));
  }
  void operator()(const weir::views<const int>& inputs) const {
    for (std::size_t i = 0; i < inputs.size(); i++) (*this)(inputs[i]);
  }
  template <class T>
  void operator()(std::span<T> output) const {
    if (update) check->expect(output.front() == step && output.back() == step);
    output.front() = output.back() = step + 1;
  }
};

// The same in groups: who is alone leaves a multiple of 16, to which each of a commutative group adds one.
struct group_check {
  checker* check;
  position where;
  bool adds;

  template <class T>
  void operator()(std::span<T> value) const {
    const auto step = static_cast<int>(where.step);
    if (!where.is_in_group()) {
      const auto added = static_cast<int>(where.before.size());
      check->expect(step == 0 || value[0] == 16 * (step - 1) + (adds ? added : 0));
      value[0] = static_cast<T>(16 * (step + 1));
    } else {
      check->expect(adds ? static_cast<int>(value[0]) / 16 == step : value[0] == 16 * step);
      if (adds) value[0] += 1;
    }
  }
};

class weir_under_test final : public runtime_under_test {
 public:
  explicit weir_under_test(const options& o)
      : held_(o.held), runtime_(weir::runtime_options{.workers = o.workers, .policy = o.policy,
                                                      .backlog = o.held ? 2 * static_cast<std::size_t>(o.tasks) : 0}) {
    if (held_) gate_ = runtime_.make_data<int>(1);
  }

  void prepare(const workload& w) override {
    if (w.what->replay) return w.with_work([&](const auto& work) { record(w, work); });
    if (w.what->by_address()) return own_.prepare(w);
    if (w.what->shape != form::grid) return;
    for (auto& row : rows_) {
      row.clear();
      for (std::uint32_t i = 0; i < w.graph->width(); i++) {
        if (w.what->has_groups()) row.push_back(runtime_.make_data(std::vector<int>(1)));  // updated by the first task
        else row.push_back(runtime_.make_data<int>(1));
      }
    }
  }

  double creation_ns() const override { return creation_ns_; }

  void run(workload& w) override {
    if (w.what->replay) return replay(w);
    w.with_work([&](const auto& work) {
      switch (w.what->shape) {
        case form::independent: independent(w, work); break;
        case form::fib: runtime_.run([&] { w.fib_result = fib(w.fib, work); }); break;
        case form::grid: grid(w, work); break;
      }
    });
  }

 private:
  template <class Work>
  void independent(const workload& w, const Work& work) {
    runtime_.run([&](weir::scope& s) {
      if (w.what->by_address())
        w.for_each_independent([&](const position& p) {
          s.spawn(inout(weir::ref(own_.fresh())), body_of(work.of(p)));
        });
      else w.for_each_independent([&](const position& p) { s.spawn(work.of(p)); });
    });
  }

  template <class Work>
  void grid(const workload& w, const Work& work) {
    if (held_) close_gate();
    runtime_.run([&](weir::scope& s) {
      if (held_) return create_held(s, w, work);
      if (!w.what->creators) return create_part(s, w, {}, work);
      for (std::uint32_t i = 0; i < w.creators; i++)
        s.spawn([&, i] { create_part(s, w, {.index = i, .of = w.creators}, work); });
    });
  }
  // By this thread of the program, for a task that creates others may run them at once: those of the first step wait
  // for a task that ends when all are created. It waits in weir::blocking(), so that its worker does what else there
  // is to do meanwhile.
  void close_gate() {
    all_created_ = false;
    runtime_.spawn(out(gate_), [this](auto) { weir::blocking([this] { all_created_.wait(false); }); });
  }
  template <class Work>
  void create_held(weir::scope& s, const workload& w, const Work& work) {
    const double begin = cpu_ns();
    create_part(s, w, {}, work);
    creation_ns_ = cpu_ns() - begin;
    all_created_ = true;
    all_created_.notify_one();
  }
  // Of this thread.
  static double cpu_ns() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
  }

  template <class Work>
  void create_part(weir::scope& s, const workload& w, columns_part part, const Work& work) {
    const auto create_each = [&](const auto& make) { w.graph->for_each_task_of(part, w.tasks, make); };
    if (w.what->has_groups()) return create_each([&](const position& p) { create_update(s, w, p, work.of(p)); });
    if (!w.what->by_address()) return create_each([&](const position& p) { create(s, w, p, work.of(p)); });
    with_column_values(w, [&](auto values) {
      create_each([&](const position& p) { create_by_address<values()>(s, w, p, work.of(p)); });
    });
  }

  template <class Work>
  void record(const workload& w, const Work& work) {
    recorded_ = weir::graph();
    std::vector<weir::graph::task_id> rows[2];
    for (auto& row : rows) row.resize(w.graph->width());
    w.graph->for_each_task(w.tasks, [&](const position& p) {
      const auto task = rows[p.step & 1][p.column] = recorded_.add(work.of(p));
      for (const auto column : p.before) recorded_.precede(rows[(p.step + 1) & 1][column], task);
    });
  }
  void replay(const workload& w) {
    runtime_.run([&] {
      for (std::uint64_t i = 0; i < w.replays; i++) {
        if (i != 0 && w.check != nullptr) w.check->end_run();
        recorded_.run(runtime_);
      }
    });
  }

  template <class Work>
  std::uint64_t fib(unsigned n, const Work& work) {
    if constexpr (!Work::checks) work.of({})();
    if (n < 2) return n;
    std::uint64_t a = 0, b = 0;
    weir::scope s(runtime_);
    s.spawn([&, n] { a = fib(n - 1, work); });
    s.spawn([&, n] { b = fib(n - 2, work); });
    s.wait();
    return a + b;
  }

  template <class Task>
  void create(weir::scope& s, const workload& w, const position& p, const Task& task) {
    const auto& before = p.before;
    if (w.what->in_place && !before.empty()) {
      s.spawn(inout(rows_[0][p.column]), body_of(task));
      return;
    }
    const auto with = [&]<std::size_t... I>(std::index_sequence<I...>) {
      const data<int>* old = rows_[(p.step + 1) & 1].data();
      s.spawn(in(old[before[I]])..., out(own(w, p)), body_of(task));
    };
    static_assert(grid::most_scattered == 8);
    if (held_ && before.empty()) return s.spawn(in(gate_), out(own(w, p)), body_of(task));
    switch (before.size()) {
      case 0: return with(std::make_index_sequence<0>());
      case 1: return with(std::make_index_sequence<1>());
      case 2: return with(std::make_index_sequence<2>());
      case 3: return with(std::make_index_sequence<3>());
      case 4: return with(std::make_index_sequence<4>());
      case 5: return with(std::make_index_sequence<5>());
      case 6: return with(std::make_index_sequence<6>());
      case 7: return with(std::make_index_sequence<7>());
      case 8: return with(std::make_index_sequence<8>());
      default: {
        const std::span<const data<int>> neighbours = std::span(rows_[(p.step + 1) & 1]).subspan(before[0], before.size());
        s.spawn(in(neighbours), out(own(w, p)), body_of(task));
      }
    }
  }
  const data<int>& own(const workload& w, const position& p) const { return rows_[w.what->in_place ? 0 : p.step & 1][p.column]; }

  template <class Task>
  void create_update(weir::scope& s, const workload& w, const position& p, const Task& task) {
    const std::uint32_t own = p.updated_column();
    if (w.what->by_address()) create_update_of(s, w, p, weir::ref(own_.column<1>(0, own)), task);
    else create_update_of(s, w, p, rows_[0][own], task);
  }
  template <class Value, class Task>
  void create_update_of(weir::scope& s, const workload& w, const position& p, const Value& own, const Task& task) {
    const auto body = group_body_of(task, w.what->updates == group::commutative);
    if (!p.is_in_group()) s.spawn(inout(own), body);
    else if (w.what->updates == group::commutative) s.spawn(commutative(own), body);
    else s.spawn(concurrent(own), body);
  }

  template <std::size_t Values, class Task>
  void create_by_address(weir::scope& s, const workload& w, const position& p, const Task& task) {
    if (held_ && p.step == 0)
      return s.spawn(in(gate_), out(weir::ref(own_.column<Values>(0, p.column))), body_of(task));
    if (w.what->in_place) {
      s.spawn(inout(weir::ref(own_.column<Values>(0, p.column))), body_of(task));
      return;
    }
    if (w.what->values == memory::tiles) {
      const auto tile = [&](std::uint64_t step, std::uint32_t column) {
        return weir::ref(
            weir::tile(own_.matrix(step), own_.stride(), 0, tile_rows, column * tile_values, tile_values));
      };
      return create_with_neighbours(
          s, p, [&](std::size_t i) { return tile(p.step + 1, p.before[i]); }, tile(p.step, p.column), task);
    }
    const auto old = [&](std::size_t i) {
      return weir::ref(std::span<const value>(own_.column<Values>(p.step + 1, p.before[i])));
    };
    const auto now = weir::ref(own_.column<Values>(p.step, p.column));
    if (w.what->values == memory::strips && !p.before.empty()) {
      s.spawn(in(weir::ref(own_.with_neighbours(p.step + 1, p.column))), out(now), body_of(task));
      return;
    }
    create_with_neighbours(s, p, old, now, task);
  }
  // Of a column and those beside it.
  template <class Old, class Now, class Task>
  void create_with_neighbours(weir::scope& s, const position& p, const Old& old, const Now& now, const Task& task) {
    switch (p.before.size()) {
      case 0: return s.spawn(out(now), body_of(task));
      case 1: return s.spawn(in(old(0)), out(now), body_of(task));
      case 2: return s.spawn(in(old(0)), in(old(1)), out(now), body_of(task));
      default: return s.spawn(in(old(0)), in(old(1)), in(old(2)), out(now), body_of(task));
    }
  }

  template <class Task>
  static auto body_of(const Task& task) {
    return [task](const auto&... values) {
      task();
      if constexpr (requires { task.check; }) {
        const value_check check{task.check, static_cast<int>(task.where.step), sizeof...(values) == 1 && !task.where.before.empty()};
        (check(values), ...);
      }
    };
  }

  template <class Task>
  static auto group_body_of(const Task& task, [[maybe_unused]] bool adds) {
    return [=](const auto& value) {
      task();
      if constexpr (requires { task.check; }) group_check{task.check, task.where, adds}(value);
    };
  }

  const bool held_;
  double creation_ns_ = 0;
  std::atomic<bool> all_created_{false};
  weir::runtime runtime_;
  data<int> gate_;
  std::vector<data<int>> rows_[2];
  own_memory own_;
  weir::graph recorded_;
};

}  // namespace

int main(int argc, char** argv) {
  return measure_main(argc, argv, {.runtime = "weir",
                                   .has = [](const pattern&) { return true; },
                                   .has_policies = true,
                                   .start = [](const options& o) -> std::unique_ptr<runtime_under_test> { return std::make_unique<weir_under_test>(o); }});
}
