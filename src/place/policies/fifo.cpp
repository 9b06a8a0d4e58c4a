// fifo: one queue for all, and memory where the system puts it. A baseline: what a program gets that knows of no
// nodes.
#include "place/built_in.hpp"

namespace weir::place {
namespace {

class fifo final : public policy {
 public:
  queues where_tasks_wait() const override { return queues::central; }
  memory outputs() const override { return memory::first_touch; }
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(fifo, ::weir::place::fifo, "fifo")
