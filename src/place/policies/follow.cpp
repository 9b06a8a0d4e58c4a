// follow: a task goes to the node on which most of its dependences lie, what it writes as well as what it reads. Tasks
// without inputs, most of whose output has no memory yet, go to the nodes in turn, `stride` of them in a row; between
// nodes that hold as much, chance decides. This is "dependence easy placement" (DEP): Graph partitioning for the
// reduction of data transfer in task-based programming models, master thesis, UPC 2016 (hdl:2117/89943), section II.A
// of its short version.
//
// There the first address of a block tells where all of it is; here each page does, or each version. What has no
// length weighs one byte: then the number of dependences decides.
#include "place/built_in.hpp"
#include "place/following.hpp"
#include "place/migrating.hpp"

namespace weir::place {
namespace {

class follow final : public policy {
 public:
  explicit follow(policy_parameters& p) : follows_(p), migrates_(migrate_parameter(p, migration::off)) {}
  migration migrates() const override { return migrates_; }
  void begin(const policy_machine& m) override {
    policy::begin(m);
    follows_.begin(m);
  }
  wish place(const task_view& task, const asker& who) override { return follows_.place(task, who); }

 private:
  following follows_;
  const migration migrates_;
};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(follow, ::weir::place::follow, "follow")
