// partition-propagate: the first window of tasks is divided onto the nodes by graph partitioning; from then on a task
// goes where those were placed whose results it takes up, weighted by their bytes. This is RIP-SP: Graph partitioning
// for the reduction of data transfer in task-based programming models, master thesis, UPC 2016 (hdl:2117/89943),
// section II.B of its short version.
//
// A task with no such predecessor, for instance one on data that the program has made, follows its data.
#include "place/built_in.hpp"
#include "place/planning.hpp"

namespace weir::place {
namespace {

class partition_propagate final : public dividing {
 public:
  explicit partition_propagate(policy_parameters& p) : dividing(p, planning::how::once) {}
  wish place(const task_view& task, const asker& who) override {
    const int node = task.planned() >= 0 ? here : node_of_predecessors(task.frame());
    const wish w = node >= 0 ? wish(node) : dividing::place(task, who);
    if (w.node >= 0) remember(task.frame(), w.node);
    return w;
  }

 private:
  // -1: it has none that was placed. A program's own placement counts, too.
  int node_of_predecessors(flow::frame& f) const {
    int heaviest = here;
    if ((f.unusual & flow::frame::has_streams) != 0) return heaviest;
    flow::node_shares<16> shares;
    flow::for_each_source(f, [&](flow::version& v, std::uint64_t bytes) {
      if (v.kind == detail::version_kind::ground) return;
      if (const int node = flow::placed_node(*v.producer()); node >= 0) shares.add(bytes, node);
    });
    std::uint64_t most = 0;
    shares.for_each([&](std::uint64_t bytes, int node) {
      if (node < 0 || (heaviest >= 0 && bytes <= most)) return;
      most = bytes;
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
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(partition_propagate, ::weir::place::partition_propagate, "partition-propagate")
