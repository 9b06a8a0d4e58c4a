// local, the default: a ready task goes to the node from which its inputs are cheapest to read, and what it writes
// gets memory where it runs. Drebes, Pop, Heydemann, Cohen and Drach, PACT 2016: Algorithm 1 with the heuristic "input
// only" (section 2.3) and deferred allocation (section 3.3), the paper's DSA-OPT (section 5.1).
//
// Tasks that only write decide where everything after them lives, and no data say where they should be. Left to
// stealing, as in the paper (section 3.2), the initial data are spread by chance: whoever is idle first gets most.
// Instead they go to the workers' nodes in turn, as under "dependence easy placement", a round robin with a stride
// (../README.md says whose). Children of a task that has data of its own stay with it: it has been placed, and they
// are part of it. The same is done with memory of the program's own that no task has written yet (weir::ref): where it
// is first written is where it stays.
#include "place/built_in.hpp"
#include "place/by_inputs.hpp"
#include "place/dealing.hpp"
#include "place/migrating.hpp"
#include "place/turns.hpp"

namespace weir::place {
namespace {

class local final : public policy {
 public:
  explicit local(policy_parameters& p)
      : push_threshold_bytes_(p.bytes("threshold", usual_push_threshold_bytes, push_threshold_meaning)),
        stride_(static_cast<std::uint32_t>(
            p.count("stride", 1, 1, 1'000'000'000,
                    "tasks in a row, of those that only write, that go to one worker's node"))),
        migrates_(migrate_parameter(p, migration::off)) {}

  migration migrates() const override { return migrates_; }

  wish place(const task_view& task, const asker& who) override {
    const inputs_place at = cheapest_for_inputs(machine(), who.node, task, push_threshold_bytes_);
    return at.nothing_to_follow ? spread(task, who) : wish(at.node, false, at.bytes);
  }

 private:
  wish spread(const task_view& task, const asker& who) {
    std::uint64_t placed = 0, unplaced = 0;
    flow::for_each_output(user_memory_of(task), &task.frame(), [&](std::uint64_t bytes, int node) {
      (node == detail::node_unknown ? unplaced : placed) += bytes;
    });
    if (placed >= unplaced || unplaced < push_threshold_bytes_) return here;
    if (who.running != nullptr && bytes_of(*who.running) >= push_threshold_bytes_) return here;
    if (!flow::names_user_memory(&task.frame())) return {turn(who.index, 0), true};
    const auto own_turn = [&] { return turn(who.index, static_cast<std::size_t>(who.index)); };
    return {dealing_.node_for(&task.frame(), own_turn), true};
  }
  // Who shares pages takes one turn together, so each thread may have only a few: they begin at its own node.
  int turn(int thread, std::size_t first) {
    const std::vector<int>& nodes = machine().node_of_worker;
    return nodes[(first + turns_.next(thread) / stride_) % nodes.size()];
  }
  static std::uint64_t bytes_of(flow::frame& task) {
    std::uint64_t bytes = 0;
    const auto add = [&](std::uint64_t n, int) { bytes += n; };
    flow::for_each_input(nullptr, &task, add);
    flow::for_each_output(nullptr, &task, add);
    return bytes;
  }

  const std::uint64_t push_threshold_bytes_;
  const std::uint32_t stride_;
  const migration migrates_;
  turns turns_;
  dealing dealing_;
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(local, ::weir::place::local, "local")
