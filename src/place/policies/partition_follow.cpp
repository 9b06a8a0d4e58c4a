// partition-follow: the first window of tasks is divided onto the nodes by graph partitioning; from then on tasks
// follow their data, which lie where the first ones have put them. This is RIP-DEP: Graph partitioning for the
// reduction of data transfer in task-based programming models, master thesis, UPC 2016 (hdl:2117/89943), section II.B
// of its short version.
//
// Tasks that have nothing in common, such as those that write arrays before a barrier, say nothing of what comes: they
// are dealt out in pieces, by address or as they were created, and what comes can follow that.
#include "place/built_in.hpp"
#include "place/planning.hpp"

namespace weir::place {
namespace {

class partition_follow final : public dividing {
 public:
  explicit partition_follow(policy_parameters& p) : dividing(p, planning::how::once) {}
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(partition_follow, ::weir::place::partition_follow, "partition-follow")
