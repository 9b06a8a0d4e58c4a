// Model tests of claimed CPUs: each claim is ended once, by its thread or by the worker, and nobody sleeps for ever.
#include "base/model/model_gtest.hpp"
#include "sched/creator_claim.hpp"

namespace weir::sched {
namespace {

using model::expect_passes;
using model::model_atomics;
using model::parallel;
using model::require;

constexpr std::uint64_t ns_of_a_claim = std::uint64_t{1000} * creator_claim<model_atomics>::lasts_us;

// A thread of the program, with what engines count of claims.
struct creator {
  creator_claim<model_atomics>& of;
  int& begun;
  int& ended;

  void renew(std::uint64_t now_ns) { begun += of.renew(now_ns) ? 1 : 0; }
  void end() { ended += of.end() ? 1 : 0; }
};

// `ns_a_look`: how fast time goes for the worker.
void a_creator_and_its_worker(std::uint64_t ns_a_look, bool ends) {
  creator_claim<model_atomics> claim;
  int begun = 0, ended = 0, ended_by_worker = 0;
  parallel(
      [&] {
        creator c{claim, begun, ended};
        c.renew(0);
        c.renew(ns_of_a_claim / 2);
        if (ends) c.end();
      },
      [&] {
        std::uint64_t now_ns = 0;
        ended_by_worker += claim.wait_out([&] { return now_ns += ns_a_look; }, [] { return false; }) ? 1 : 0;
      });
  if (claim.is_made()) ended += claim.end() ? 1 : 0;
  require(begun == ended + ended_by_worker, "a claim was ended twice, or never");
  require(!claim.is_made(), "a claim that nobody has made");
}

TEST(creator_claim_model, is_ended_by_its_thread) {
  expect_passes([] { a_creator_and_its_worker(1000, true); });
}

TEST(creator_claim_model, is_over_by_itself) {
  expect_passes([] { a_creator_and_its_worker(ns_of_a_claim, false); });
}

TEST(creator_claim_model, is_ended_once) {
  expect_passes([] { a_creator_and_its_worker(ns_of_a_claim, true); });
}

TEST(creator_claim_model, belongs_to_one_of_two_creators_at_a_time) {
  expect_passes([] {
    creator_claim<model_atomics> claim;
    int begun[2] = {}, ended[2] = {};
    const auto create = [&](int i) {
      creator c{claim, begun[i], ended[i]};
      c.renew(0);
      c.end();
    };
    parallel([&] { create(0); }, [&] { create(1); });
    require(begun[0] + begun[1] == ended[0] + ended[1] && !claim.is_made(), "a claim was ended twice, or never");
  });
}

// What only this worker can do is found although the claim is renewed for ever.
TEST(creator_claim_model, leaves_what_nobody_else_can_do) {
  expect_passes([] {
    creator_claim<model_atomics> claim;
    model_atomics::atomic<bool> required{false};
    claim.renew(0);
    parallel([&] { required.store(true, std::memory_order_relaxed); },
             [&] {
               const auto look = [&] { return required.load(std::memory_order_relaxed); };
               require(!claim.wait_out([] { return std::uint64_t{0}; }, look), "ended by nobody");
             });
    require(claim.end(), "not there any more");
  });
}

}  // namespace
}  // namespace weir::sched
