// partition-window: all tasks are divided onto the nodes by graph partitioning, window by window. The last tasks of a
// window are seen again in the next one, with where they were placed. This is RIP-MW: Graph partitioning for the
// reduction of data transfer in task-based programming models, master thesis, UPC 2016 (hdl:2117/89943), section II.B
// of its short version.
#include "place/built_in.hpp"
#include "place/planning.hpp"

namespace weir::place {
namespace {

class partition_window final : public dividing {
 public:
  explicit partition_window(policy_parameters& p) : dividing(p, planning::how::again) {}
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(partition_window, ::weir::place::partition_window, "partition-window")
