// partition-window: all tasks are divided onto the nodes by graph partitioning, window by window. The last tasks of a
// window are seen again in the next one, with where they were placed. This is RIP-MW: Graph partitioning for the
// reduction of data transfer in task-based programming models, master thesis, UPC 2016 (hdl:2117/89943), section II.B
// of its short version.
#include "place/built_in.hpp"
#include "place/following.hpp"
#include "place/planning.hpp"

namespace weir::place {
namespace {

class partition_window final : public policy {
 public:
  explicit partition_window(policy_parameters& p) : plans_(p, planning::how::again), follows_(1, plans_.seed()) {}
  void begin(const policy_machine& m) override {
    policy::begin(m);
    plans_.begin(m);
    follows_.begin(m);
  }
  std::size_t window() const override { return plans_.window(); }
  void created(task_window& w) override { plans_.divide(w); }
  // Stages of streams, and what is in no window for another reason, follow their data.
  wish place(const task_view& task, const asker& who) override {
    const int node = task.planned();
    return node >= 0 ? planning::as_planned(task, node) : follows_.place(task, who);
  }

 private:
  planning plans_;
  following follows_;
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(partition_window, ::weir::place::partition_window, "partition-window")
