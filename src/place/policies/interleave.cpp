// interleave: work stealing, and memory spread over all nodes page by page: no node's memory is a bottleneck, and
// nothing is near.
#include "place/built_in.hpp"

namespace weir::place {
namespace {

class interleave final : public policy {
 public:
  memory outputs() const override { return memory::interleaved; }
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(interleave, ::weir::place::interleave, "interleave")
