// steal: work stealing in order of distance, and memory where tasks are created: what runtimes without placement do.
#include "place/built_in.hpp"

namespace weir::place {
namespace {

class steal final : public policy {
 public:
  memory outputs() const override { return memory::at_creation; }
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(steal, ::weir::place::steal, "steal")
