// A policy whose window never is full, and waits until somebody waits for the tasks in it.
#include <bench/partition/whole_program.hpp>

#include <bench/common/task_names.hpp>

#include <mutex>

namespace weir::bench {
namespace {

class onlooker final : public policy {
 public:
  static constexpr const char* name = "bench-onlooker";
  static inline policy_machine machine_of_last;
  static inline whole_program seen;
  static inline int windows = 0;

  static void register_once() {
    static std::once_flag once;
    std::call_once(once, [] { detail::register_policy(detail::kind_of<onlooker>(name)); });
  }
  static void forget() {
    seen = {};
    windows = 0;
  }

  void begin(const policy_machine& m) override {
    policy::begin(m);
    machine_of_last = m;
  }
  std::size_t window() const override { return windows > 0 ? 0 : most_tasks; }
  bool waits_for_creators() const override { return true; }
  void created(task_window& w) override {
    windows++;
    for (const task_window::bond& b : w.bonds()) seen.bytes_there += b.bytes;
    number_tasks(w);
  }

 private:
  static constexpr std::size_t most_tasks = 100'000'000;  // more than fit into memory

  // Those without a name of ours are none of the program's own, such as who creates the others.
  static void number_tasks(const task_window& w) {
    std::vector<std::uint32_t> number(w.size(), 0);
    for (std::size_t i = 0; i < w.size(); i++) {
      const auto n = task_names::number_in(w.task(i).name());
      if (!n) throw error(std::string("a task has no number: ") + w.task(i).name());
      number[i] = static_cast<std::uint32_t>(*n);
      if (*n >= seen.bytes.size()) seen.bytes.resize(*n + 1, 0);
      seen.bytes[*n] = w.bytes()[i];
    }
    for (const task_window::link& l : w.links()) seen.links.push_back({number[l.from], number[l.to], l.bytes});
  }
};

}  // namespace

whole_program see_all_of(const kernel& k, const configuration& c) {
  onlooker::register_once();
  onlooker::forget();
  task_names names;
  run_request r;
  r.what = &k;
  r.problem = c;
  r.problem.names = &names;
  runtime rt({.workers = 2, .policy = onlooker::name, .machine = "nodes:2 cpus:1"});
  const std::unique_ptr<instance> i = k.make(r.problem);
  i->prepare(rt);
  i->run(rt);
  if (onlooker::windows > 1 || onlooker::seen.bytes.size() != names.size())
    throw error(std::string(k.name) + ": its tasks were not all seen at once: " +
                std::to_string(onlooker::seen.bytes.size()) + " of " + std::to_string(names.size()));
  return std::move(onlooker::seen);
}

policy_machine machine_seen(const runtime_options& o) {
  onlooker::register_once();
  runtime_options mine = o;
  mine.policy = onlooker::name;
  runtime rt(mine);
  return onlooker::machine_of_last;
}

}  // namespace weir::bench
