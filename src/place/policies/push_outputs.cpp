// push-outputs: a ready task goes to the node from which its outputs are cheapest to write. Needs outputs that have
// memory, or a place for it, before the task runs: allocation at creation. Drebes et al., PACT 2016, section 2.3:
// Algorithm 1 with the heuristic "output only". What is updated in place is an output, too: where its datum lies.
#include "place/built_in.hpp"
#include "place/by_inputs.hpp"
#include "place/byte_tally.hpp"
#include "place/immediate.hpp"

namespace weir::place {
namespace {

class push_outputs final : public policy {
 public:
  explicit push_outputs(policy_parameters& p)
      : outputs_(allocate_parameter(p)),
        push_threshold_bytes_(
            p.bytes("threshold", usual_push_threshold_bytes, "a task that writes less stays where it became ready")) {}
  memory outputs() const override { return outputs_; }
  wish place(const task_view& task, const asker& who) override {
    byte_tally tally;
    flow::for_each_output_to_be(user_memory_of(task), &task.frame(),
                                [&](std::uint64_t bytes, int node) { tally.add(bytes, node, 1); });
    if (tally.total_bytes() < push_threshold_bytes_) return here;
    return tally.cheapest_node(machine(), who.node, true);
  }

 private:
  const memory outputs_;
  const std::uint64_t push_threshold_bytes_;
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(push_outputs, ::weir::place::push_outputs, "push-outputs")
