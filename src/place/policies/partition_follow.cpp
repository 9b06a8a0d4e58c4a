// partition-follow: the first window of tasks is divided onto the nodes by graph partitioning; from then on tasks
// follow their data, which lie where the first ones have put them. This is RIP-DEP: Graph partitioning for the reduction
// of data transfer in task-based programming models, master thesis, UPC 2016 (hdl:2117/89943), section II.B of its
// short version.
//
// Tasks that have nothing in common, such as those that write arrays before a barrier, say nothing of what comes: they
// are dealt out in pieces, by address or as they were created, and what comes can follow that.
#include "place/built_in.hpp"
#include "place/following.hpp"
#include "place/planning.hpp"

namespace weir::place {
namespace {

class partition_follow final : public policy {
 public:
  explicit partition_follow(policy_parameters& p) : plans_(p, planning::how::once), follows_(1, plans_.seed()) {}
  void begin(const policy_machine& m) override {
    policy::begin(m);
    plans_.begin(m);
    follows_.begin(m);
  }
  std::size_t window() const override { return plans_.window(); }
  void created(task_window& w) override { plans_.divide(w); }
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

WEIR_BUILT_IN_POLICY(partition_follow, ::weir::place::partition_follow, "partition-follow")
