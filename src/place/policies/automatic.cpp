// auto, the default: as local, but where the memory of the program's own that tasks use lies on one node, because one
// thread has made it, the tasks are planned together and their memory moves to them.
//
// What local does needs data to begin where they should be: what tasks write first it deals out, and all that comes
// follows. Memory that the program has made lies where that thread was. Tasks that follow it all want to run there;
// idle workers take them, and read from there for ever. So tasks on such memory are seen in a window before they run
// (planning.hpp), divided onto the nodes as if the memory were new, and the memory follows if that pays. Tasks on
// memory that lies on several nodes already, or nowhere yet, and on data, are in no window, and are held back by
// nothing. A program that begins well can make other memory later: whoever is asked where tasks should run watches
// where what they use lies, and windows begin again. Each time that needs twice as many tasks as before, so a program
// that cannot be helped is not asked to wait again and again.
#include "place/built_in.hpp"
#include "place/concentration.hpp"
#include "place/near_inputs.hpp"
#include "place/planning.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>

namespace weir::place {
namespace {

class automatic final : public policy {
 public:
  explicit automatic(policy_parameters& p) : places_(p), plans_(p, planning::how::once) {}

  migration migrates() const override { return plans_.migrates(); }
  void begin(const policy_machine& m) override {
    policy::begin(m);
    places_.begin(m);
    plans_.begin(m);
    std::vector<double> workers(static_cast<std::size_t>(m.nodes), 0);
    for (const int n : m.node_of_worker) workers[static_cast<std::size_t>(n)]++;
    named_.emplace(workers);
    used_.emplace(workers);
    in_window_.emplace(workers);
    tasks_between_looks_.store(least_tasks_between_looks_per_worker * m.node_of_worker.size(),
                               std::memory_order_relaxed);
  }

  std::size_t window() const override { return looks_.load(std::memory_order_relaxed) ? plans_.window() : 0; }
  bool sees_tasks_on_data() const override { return false; }
  bool joins(const task_view& task) override {
    if (!looks_.load(std::memory_order_relaxed) || !note_memory(*named_, task)) return false;
    if (named_->tasks() > 1 && !named_->is_uneven()) end_looking(*named_);
    return looks_.load(std::memory_order_relaxed);
  }
  void created(task_window& w) override {
    const concentration& judged = judged_by(w);
    if (!judged.is_uneven()) return end_looking(judged);
    plans_.divide(w);
    if (plans_.window() != 0) return;  // there was too little to see
    looks_.store(false, std::memory_order_relaxed);
    explain(judged, w);
  }

  wish place(const task_view& task, const asker& who) override {
    if (const int node = task.planned(); node >= 0) return planning::as_planned(task, node);
    if (flow::names_user_memory(&task.frame())) [[unlikely]] watch(task, who);
    return places_.place(task, who);
  }

  std::string explanation() const override {
    const std::lock_guard guard(telling_);
    return told_;
  }

 private:
  static constexpr std::size_t least_tasks_between_looks_per_worker = 16;
  // One in eight, at random: in programs that iterate each eighth task is about the same memory.
  static bool is_sampled(std::uint32_t asked) { return (asked * 0x9e3779b9u) >> 29 == 0; }
  static constexpr std::size_t most_told_bytes = 2048;

  // False: it reads none that has a place. A task that only writes makes data, and others will be where it was; that
  // some of its pages have a place means that such tasks share pages.
  static bool note_memory(concentration& c, const task_view& task) {
    if (!flow::reads_any_user_memory(&task.frame())) return false;
    std::uint64_t read = 0, unplaced = 0;
    flow::for_each_user_part(user_memory_of(task), &task.frame(), [&](std::uint64_t bytes, int node, bool reads, bool) {
      if (node < 0) unplaced += bytes;
      else if (reads) read += bytes;
    });
    if (read == 0 || read < unplaced) {
      c.add_unplaced(unplaced);
      return false;
    }
    flow::for_each_user_part(user_memory_of(task), &task.frame(), [&](std::uint64_t bytes, int node, bool reads, bool) {
      if (node >= 0 && reads) c.add(bytes, node);
    });
    c.task_done();
    return true;
  }

  // Of some that are ready. What a plan has moved, or what lies well, is spread.
  void watch(const task_view& task, const asker& who) {
    if (looks_.load(std::memory_order_relaxed) || !is_sampled(asked_.next(who.index))) return;
    if (!note_memory(*used_, task) || used_->tasks() < tasks_between_looks_.load(std::memory_order_relaxed)) return;
    const bool again = used_->is_uneven();
    used_->forget();
    if (!again) return;
    tasks_between_looks_.store(2 * tasks_between_looks_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    named_->forget();
    plans_.begin_again();
    looks_.store(true, std::memory_order_relaxed);
  }
  // When they were created what they name had no place yet, or only that which was written first, so a window is judged
  // by what is known now. Without any that is known it is as it was seen then. Creators go on meanwhile, and what they
  // are judged by is left alone.
  const concentration& judged_by(const task_window& w) {
    if (std::ranges::none_of(w.bonds(), &task_window::bond::own_memory)) return *named_;
    in_window_->forget();
    in_window_->add_unplaced(named_->unplaced());
    for (const task_window::bond& b : w.bonds())
      if (b.own_memory) in_window_->add(b.bytes, b.node);
    return *in_window_;
  }
  void end_looking(const concentration& judged) {
    if (!looks_.exchange(false, std::memory_order_relaxed)) return;
    const concentration::heaviest h = judged.most();
    tell("tasks follow their data: of the memory that they name node %d, which has most, has %.0f %%", h.node,
         100 * h.of_all);
  }
  void explain(const concentration& judged, const task_window& w) {
    const concentration::heaviest h = judged.most();
    tell(w.moves_memory()
             ? "node %d had %.0f %% of the memory that tasks name: %zu tasks were planned together, their memory moves"
             : "node %d had %.0f %% of the memory that tasks name: %zu tasks were planned together, it stays there",
         h.node, 100 * h.of_all, w.size());
  }
  template <class... Args>
  void tell(const char* format, Args... args) {
    char line[256];
    std::snprintf(line, sizeof line, format, args...);
    const std::lock_guard guard(telling_);
    if (told_.size() + sizeof line > most_told_bytes) return;
    if (!told_.empty()) told_ += '\n';
    told_ += line;
  }

  near_inputs places_;
  planning plans_;
  // By tasks that were created, by others that were ready, and by those of the window that is looked at.
  std::optional<concentration> named_, used_, in_window_;
  atomic<bool> looks_{true};
  atomic<std::size_t> tasks_between_looks_{0};
  turns asked_;
  mutable std::mutex telling_;
  std::string told_;
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(automatic, ::weir::place::automatic, "auto")
