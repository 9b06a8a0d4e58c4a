// Model tests of a domain's lock: who has it alone has it alone, and who shares it sees what was done before.
#include "base/model/model_gtest.hpp"
#include "flow/domain_lock.hpp"

namespace weir::flow {
namespace {

using model::expect_fails;
using model::expect_passes;
using model::parallel;
using model::require;

// A table, which the checker finds changed by one while others look at it, and records that each creator has for
// itself.
struct locked_table {
  domain_lock lock;
  model::plain<int> table{0};

  void change() {
    lock.lock();
    table.write(table.read() + 1);
    lock.unlock();
  }
  int look(std::uint32_t creator) {
    lock.lock_shared(creator);
    const int seen = table.read();
    lock.unlock_shared(creator);
    return seen;
  }
};

void one_changes_what_another_one_looks_at() {
  locked_table t;
  parallel([&] { t.change(), t.look(1); }, [&] { t.look(2), t.change(); });
  require(t.table.read() == 2, "a change was lost");
}

void two_that_share_a_line() {
  locked_table t;
  parallel([&] { t.look(1), t.look(1); }, [&] { t.look(17); }, [&] { t.change(); });
  require(t.table.read() == 1, "a change was lost");
}

TEST(domain_lock_model, one_changes_what_another_one_looks_at) {
  expect_passes(one_changes_what_another_one_looks_at);
}
TEST(domain_lock_model, two_that_share_a_line) { expect_passes(two_that_share_a_line); }
TEST(domain_lock_model, two_look_at_the_same_time) {
  expect_passes([] {
    locked_table t;
    t.lock.lock_shared(1);
    require(t.lock.try_lock_shared(2), "one who shares it keeps another one from doing so");
    t.lock.unlock_shared(2), t.lock.unlock_shared(1);
    t.change();
    require(t.look(1) == 1, "the change was not seen");
  });
}

// The tests above notice when an order is missing.
TEST(domain_lock_model, needs_seq_cst) {
  expect_fails(one_changes_what_another_one_looks_at, "", model::without(model::weakening::seq_cst));
}
TEST(domain_lock_model, needs_release) {
  expect_fails(one_changes_what_another_one_looks_at, "", model::without(model::weakening::release));
}
TEST(domain_lock_model, needs_acquire) {
  expect_fails(one_changes_what_another_one_looks_at, "", model::without(model::weakening::acquire));
}

}  // namespace
}  // namespace weir::flow
