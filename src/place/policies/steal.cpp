// steal: work stealing in order of distance, and memory where tasks are created: what runtimes without placement do.
#include "place/built_in.hpp"
#include "place/immediate.hpp"

namespace weir::place {
namespace {

class steal final : public policy {
 public:
  explicit steal(policy_parameters& p) : outputs_(allocate_parameter(p)) {}
  memory outputs() const override { return outputs_; }

 private:
  const memory outputs_;
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(steal, ::weir::place::steal, "steal")
