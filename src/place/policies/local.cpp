// local: a ready task goes to the node from which its inputs are cheapest to read, and what it writes
// gets memory where it runs. Drebes, Pop, Heydemann, Cohen and Drach, PACT 2016: Algorithm 1 with the heuristic "input
// only" (section 2.3) and deferred allocation (section 3.3), the paper's DSA-OPT (section 5.1).
//
// Tasks that only write decide where everything after them lives, and no data say where they should be. Left to
// stealing, as in the paper (section 3.2), the initial data are spread by chance: whoever is idle first gets most.
// Instead they go to the workers' nodes in turn, as under "dependence easy placement", a round robin with a stride
// (../README.md says whose). Children of a task that has data of its own stay with it: it has been placed, and they
// are part of it. Those of a task that the program has placed go to the node that it named. The same is done with
// memory of the program's own that no task has written yet (weir::ref): where it is first written is where it stays.
#include "place/built_in.hpp"
#include "place/migrating.hpp"
#include "place/near_inputs.hpp"

namespace weir::place {
namespace {

class local final : public policy {
 public:
  explicit local(policy_parameters& p) : places_(p), migrates_(migrate_parameter(p, migration::off)) {}
  migration migrates() const override { return migrates_; }
  void begin(const policy_machine& m) override {
    policy::begin(m);
    places_.begin(m);
  }
  wish place(const task_view& task, const asker& who) override { return places_.place(task, who); }

 private:
  near_inputs places_;
  const migration migrates_;
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(local, ::weir::place::local, "local")
