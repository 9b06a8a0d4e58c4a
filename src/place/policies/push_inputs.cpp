// push-inputs: a ready task goes to the node from which its inputs are cheapest to read. Drebes, Pop, Heydemann, Cohen
// and Drach, PACT 2016, section 2.3: Algorithm 1 with the heuristic "input only".
#include "place/built_in.hpp"
#include "place/by_inputs.hpp"
#include "place/immediate.hpp"

namespace weir::place {
namespace {

class push_inputs final : public policy {
 public:
  explicit push_inputs(policy_parameters& p)
      : outputs_(allocate_parameter(p)),
        push_threshold_bytes_(p.bytes("threshold", usual_push_threshold_bytes, push_threshold_meaning)) {}
  memory outputs() const override { return outputs_; }
  wish place(const task_view& task, const asker& who) override {
    const inputs_place at = cheapest_for_inputs(machine(), who.node, task, push_threshold_bytes_);
    return {at.node, false, at.bytes};
  }

 private:
  const memory outputs_;
  const std::uint64_t push_threshold_bytes_;
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(push_inputs, ::weir::place::push_inputs, "push-inputs")
