// partition-propagate: the first window of tasks is divided onto the nodes by graph partitioning; from then on a task
// goes where those were placed whose results it takes up, weighted by their bytes. This is RIP-SP: Graph partitioning
// for the reduction of data transfer in task-based programming models, master thesis, UPC 2016 (hdl:2117/89943), section
// II.B of its short version.
//
// A task with no such predecessor, for instance one on data that the program has made, follows its data.
#include "place/built_in.hpp"
#include "place/following.hpp"
#include "place/planning.hpp"

namespace weir::place {
namespace {

class partition_propagate final : public policy {
 public:
  explicit partition_propagate(policy_parameters& p) : plans_(p, planning::how::once), follows_(1, plans_.seed()) {}
  void begin(const policy_machine& m) override {
    policy::begin(m);
    plans_.begin(m);
    follows_.begin(m);
  }
  std::size_t window() const override { return plans_.window(); }
  void created(task_window& w) override { plans_.divide(w); }
  wish place(const task_view& task, const asker& who) override {
    if (const int node = task.planned(); node >= 0) return planning::as_planned(task, node);
    const int node = node_of_predecessors(task.frame());
    const wish w = node >= 0 ? wish(node) : follows_.place(task, who);
    if (w.node >= 0) remember(task.frame(), w.node);
    return w;
  }

 private:
  // -1: it has none that was placed. A program's own placement counts, too.
  int node_of_predecessors(flow::frame& f) const {
    std::vector<std::uint64_t> bytes(static_cast<std::size_t>(machine().nodes), 0);
    int heaviest = here;
    if ((f.unusual & flow::frame::has_streams) != 0) return heaviest;
    flow::for_each_source(f, [&](flow::version& v, std::uint64_t n) {
      if (v.kind == detail::version_kind::ground) return;
      const int node = flow::placed_node(*v.producer());
      if (node < 0) return;
      bytes[static_cast<std::size_t>(node)] += n;
      if (heaviest < 0 || bytes[static_cast<std::size_t>(node)] > bytes[static_cast<std::size_t>(heaviest)])
        heaviest = node;
    });
    return heaviest;
  }
  // For its successors.
  static void remember(flow::frame& f, int node) {
    if (f.affinity != detail::node_unknown) return;
    for (flow::frame* p = flow::parts_of(f); p != nullptr; p = p->next) flow::set_affinity(*p, flow::planned_on(node));
    flow::set_affinity(f, flow::planned_on(node));
  }

  planning plans_;
  following follows_;
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(partition_propagate, ::weir::place::partition_propagate, "partition-propagate")
