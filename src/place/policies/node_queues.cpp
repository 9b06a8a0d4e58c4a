// node-queues: a container of ready tasks for each node, shared by its workers. A task goes to the node of its
// affinity, or to the nodes in turn. Rossignon, Hénon, Aumage and Thibault, A NUMA-aware fine grain parallelization
// framework for multi-core architecture, PDSEC 2013, section VI.
#include "place/built_in.hpp"

namespace weir::place {
namespace {

class node_queues final : public policy {
 public:
  queues where_tasks_wait() const override { return queues::nodes; }
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(node_queues, ::weir::place::node_queues, "node-queues")
