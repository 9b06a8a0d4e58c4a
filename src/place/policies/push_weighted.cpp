// push-weighted: a ready task goes to the node from which inputs and outputs together are cheapest to reach; a byte
// written may weigh more than a byte read, because writes cost more. Drebes et al., PACT 2016, section 2.3: Algorithm
// 1 with the heuristic "weighted". What is updated in place is an input and an output.
#include "place/built_in.hpp"
#include "place/by_inputs.hpp"
#include "place/byte_tally.hpp"
#include "place/immediate.hpp"

namespace weir::place {
namespace {

class push_weighted final : public policy {
 public:
  explicit push_weighted(policy_parameters& p)
      : outputs_(allocate_parameter(p)),
        weight_in_(p.number("in", 1, 0, 1e18, "weight of a byte that is read")),
        weight_out_(p.number("out", 2, 0, 1e18, "weight of a byte that is written")),
        push_threshold_bytes_(p.bytes("threshold", usual_push_threshold_bytes,
                                      "a task that reads and writes less stays where it became ready")) {}
  memory outputs() const override { return outputs_; }
  wish place(const task_view& task, const asker& who) override {
    byte_tally tally;
    flow::for_each_input(user_memory_of(task), &task.frame(),
                         [&](std::uint64_t bytes, int node) { tally.add(bytes, node, weight_in_); });
    flow::for_each_output_to_be(user_memory_of(task), &task.frame(),
                                [&](std::uint64_t bytes, int node) { tally.add(bytes, node, weight_out_); });
    if (tally.total_bytes() < push_threshold_bytes_) return here;
    return tally.cheapest_node(machine(), who.node, false);
  }

 private:
  const memory outputs_;
  const double weight_in_, weight_out_;
  const std::uint64_t push_threshold_bytes_;
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(push_weighted, ::weir::place::push_weighted, "push-weighted")
