// The checker itself: it must find what the memory model allows, and only that.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "base/model/model_gtest.hpp"

namespace weir::model {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;
constexpr auto seq_cst = std::memory_order_seq_cst;

// These are small enough for every run to be made.
void expect_passes(const std::function<void()>& body) {
  limits all;
  all.runs = 2'000'000;
  const result r = check(body, all);
  EXPECT_TRUE(r.passed) << r.report;
  EXPECT_TRUE(r.exhausted);
}

// ---- Message passing.

std::function<void()> message_passing(std::memory_order store, std::memory_order load) {
  return [=] {
    plain<int> data{0};
    atomic<int> flag{0};
    parallel(
        [&] {
          data.write(42);
          flag.store(1, store);
        },
        [&] {
          if (flag.load(load) == 1) require(data.read() == 42, "old data");
        });
  };
}

TEST(message_passing, release_acquire_synchronises) { expect_passes(message_passing(release, acquire)); }
TEST(message_passing, seq_cst_synchronises) { expect_passes(message_passing(seq_cst, seq_cst)); }
TEST(message_passing, relaxed_store_races) { expect_fails(message_passing(relaxed, acquire), "data race"); }
TEST(message_passing, relaxed_load_races) { expect_fails(message_passing(release, relaxed), "data race"); }

TEST(message_passing, between_atomics_needs_order_too) {
  auto body = [](std::memory_order store, std::memory_order load) {
    return [=] {
      atomic<int> data{0}, flag{0};
      parallel([&] { data.store(1, relaxed), flag.store(1, store); },
               [&] {
                 if (flag.load(load) == 1) require(data.load(relaxed) == 1, "old data");
               });
    };
  };
  expect_fails(body(relaxed, relaxed), "old data");
  expect_fails(body(release, relaxed), "old data");
  expect_passes(body(release, acquire));
}

TEST(message_passing, fences_synchronise) {
  auto body = [](bool fence_after_load) {
    return [=] {
      plain<int> data{0};
      atomic<int> flag{0};
      parallel(
          [&] {
            data.write(42);
            model_atomics::fence(release);
            flag.store(1, relaxed);
          },
          [&] {
            if (flag.load(relaxed) != 1) return;
            if (fence_after_load) model_atomics::fence(acquire);
            require(data.read() == 42, "old data");
          });
    };
  };
  expect_passes(body(true));
  expect_fails(body(false), "data race");
}

TEST(message_passing, release_sequence_goes_through_a_read_modify_write_but_not_a_store) {
  auto body = [](bool by_store) {
    return [=] {
      plain<int> data{0};
      atomic<int> flag{0};
      parallel([&] { data.write(42), flag.store(1, release); },
               [&] {
                 if (flag.load(relaxed) != 1) return;
                 if (by_store) flag.store(2, relaxed);
                 else flag.fetch_add(1, relaxed);
               },
               [&] {
                 if (flag.load(acquire) == 2) require(data.read() == 42, "old data");
               });
    };
  };
  expect_passes(body(false));
  expect_fails(body(true), "data race");
}

// ---- Store buffering (Dekker).

std::function<void()> store_buffering(std::memory_order store, std::memory_order load, bool fences) {
  return [=] {
    atomic<int> x{0}, y{0};
    int saw_y = -1, saw_x = -1;
    parallel(
        [&] {
          x.store(1, store);
          if (fences) model_atomics::fence(seq_cst);
          saw_y = y.load(load);
        },
        [&] {
          y.store(1, store);
          if (fences) model_atomics::fence(seq_cst);
          saw_x = x.load(load);
        });
    require(saw_x == 1 || saw_y == 1, "both missed the other's store");
  };
}

TEST(store_buffering, relaxed_misses) { expect_fails(store_buffering(relaxed, relaxed, false), "both missed"); }
TEST(store_buffering, release_acquire_misses) { expect_fails(store_buffering(release, acquire, false), "both missed"); }
TEST(store_buffering, seq_cst_store_with_acquire_load_misses) { expect_fails(store_buffering(seq_cst, acquire, false), "both missed"); }
TEST(store_buffering, seq_cst_passes) { expect_passes(store_buffering(seq_cst, seq_cst, false)); }
TEST(store_buffering, seq_cst_fences_pass) { expect_passes(store_buffering(relaxed, relaxed, true)); }

TEST(store_buffering, one_fence_and_seq_cst_operations_on_the_other_side) {
  auto body = [](std::memory_order other) {
    return [=] {
      atomic<int> x{0}, y{0};
      int saw_y = -1, saw_x = -1;
      parallel([&] { x.store(1, relaxed), model_atomics::fence(seq_cst), saw_y = y.load(relaxed); },
               [&] { y.store(1, other), saw_x = x.load(other == seq_cst ? seq_cst : acquire); });
      require(saw_x == 1 || saw_y == 1, "both missed the other's store");
    };
  };
  expect_passes(body(seq_cst));
  expect_fails(body(release), "both missed");
}

TEST(store_buffering, a_fence_orders_but_does_not_synchronise) {
  expect_fails(
      [] {
        plain<int> data{0};
        atomic<int> flag{0};
        parallel([&] { data.write(1), model_atomics::fence(seq_cst), flag.store(1, relaxed); },
                 [&] {
                   model_atomics::fence(seq_cst);
                   if (flag.load(relaxed) == 1) data.read();
                 });
      },
      "data race");
}

// ---- Asymmetric fences.

std::function<void()> asymmetric(bool light, bool heavy) {
  return [=] {
    atomic<int> x{0}, y{0};
    int saw_y = -1, saw_x = -1;
    parallel(
        [&] {
          x.store(1, relaxed);
          if (light) model_atomics::light_fence();
          saw_y = y.load(relaxed);
        },
        [&] {
          y.store(1, relaxed);
          if (heavy) model_atomics::heavy_fence();
          else model_atomics::light_fence();
          saw_x = x.load(relaxed);
        });
    require(saw_x == 1 || saw_y == 1, "both missed the other's store");
  };
}

TEST(asymmetric_fences, a_light_and_a_heavy_one_are_two_fences) { expect_passes(asymmetric(true, true)); }
TEST(asymmetric_fences, the_light_one_is_needed) { expect_fails(asymmetric(false, true), "both missed"); }
TEST(asymmetric_fences, two_light_ones_are_nothing) { expect_fails(asymmetric(true, false), "both missed"); }

TEST(asymmetric_fences, two_heavy_ones_are_two_fences_and_so_is_one_with_a_full_one) {
  auto body = [](bool other_is_full) {
    return [=] {
      atomic<int> x{0}, y{0};
      int saw_y = -1, saw_x = -1;
      parallel([&] { x.store(1, relaxed), model_atomics::heavy_fence(), saw_y = y.load(relaxed); },
               [&] {
                 y.store(1, relaxed);
                 if (other_is_full) model_atomics::fence(seq_cst);
                 else model_atomics::heavy_fence();
                 saw_x = x.load(relaxed);
               });
      require(saw_x == 1 || saw_y == 1, "both missed the other's store");
    };
  };
  expect_passes(body(true));
  expect_passes(body(false));
}

TEST(asymmetric_fences, a_light_one_is_nothing_to_a_full_one) {
  expect_fails(
      [] {
        atomic<int> x{0}, y{0};
        int saw_y = -1, saw_x = -1;
        parallel([&] { x.store(1, relaxed), model_atomics::light_fence(), saw_y = y.load(relaxed); },
                 [&] { y.store(1, relaxed), model_atomics::fence(seq_cst), saw_x = x.load(relaxed); });
        require(saw_x == 1 || saw_y == 1, "both missed the other's store");
      },
      "both missed");
}

// Who asks a third thread for its heavy fence is as if it had passed one itself (sched/shared_fence.hpp).
TEST(asymmetric_fences, a_heavy_one_serves_who_asked_for_it) {
  expect_passes([] {
    atomic<int> x{0}, y{0}, asked{0}, passed{0};
    int saw_y = -1, saw_x = -1;
    parallel([&] { x.store(1, relaxed), model_atomics::light_fence(), saw_y = y.load(relaxed); },
             [&] {
               y.store(1, relaxed);
               asked.store(1, release);
               if (passed.load(acquire) == 1) saw_x = x.load(relaxed);
             },
             [&] {
               if (asked.load(acquire) == 0) return;
               model_atomics::heavy_fence();
               passed.store(1, release);
             });
    require(saw_x != 0 || saw_y == 1, "both missed the other's store");
  });
}

// ---- Independent reads of independent writes.

std::function<void()> independent_reads(std::memory_order store, std::memory_order load, bool fences) {
  return [=] {
    atomic<int> x{0}, y{0};
    int a = 0, b = 0, c = 0, d = 0;
    parallel([&] { x.store(1, store); }, [&] { y.store(1, store); },
             [&] {
               a = x.load(load);
               if (fences) model_atomics::fence(seq_cst);
               b = y.load(load);
             },
             [&] {
               c = y.load(load);
               if (fences) model_atomics::fence(seq_cst);
               d = x.load(load);
             });
    require(!(a == 1 && b == 0 && c == 1 && d == 0), "the readers disagree about the order of the writes");
  };
}

TEST(independent_reads, acquire_disagrees) { expect_fails(independent_reads(release, acquire, false), "disagree"); }
TEST(independent_reads, seq_cst_agrees) { expect_passes(independent_reads(seq_cst, seq_cst, false)); }
TEST(independent_reads, fences_agree) { expect_passes(independent_reads(relaxed, relaxed, true)); }

// ---- Coherence: one location alone is sequential.

TEST(coherence, a_thread_never_reads_backwards) {
  expect_passes([] {
    atomic<int> x{0};
    parallel([&] { x.store(1, relaxed), x.store(2, relaxed); },
             [&] {
               const int first = x.load(relaxed);
               require(x.load(relaxed) >= first, "read an older store after a newer one");
             });
  });
}

TEST(coherence, reads_of_another_thread_count_once_they_happened_before) {
  expect_passes([] {
    atomic<int> x{0}, seen{0};
    parallel([&] { x.store(1, relaxed); },
             [&] {
               if (x.load(relaxed) == 1) seen.store(1, release);
             },
             [&] {
               if (seen.load(acquire) == 1) require(x.load(relaxed) == 1, "older than what happened before");
             });
  });
}

TEST(coherence, a_thread_sees_its_own_stores) {
  expect_passes([] {
    atomic<int> x{0};
    parallel([&] { x.store(1, relaxed), require(x.load(relaxed) != 0, "own store overwritten by an older one"); },
             [&] { x.store(2, relaxed); });
  });
}

TEST(coherence, read_modify_writes_lose_nothing) {
  expect_passes([] {
    atomic<int> x{0};
    auto add = [&] { x.fetch_add(1, relaxed); };
    parallel(add, add, add);
    require(x.load(relaxed) == 3, "an increment was lost");
  });
}

TEST(coherence, load_and_store_lose_updates) {
  expect_fails(
      [] {
        atomic<int> x{0};
        auto add = [&] { x.store(x.load(seq_cst) + 1, seq_cst); };
        parallel(add, add);
        require(x.load(relaxed) == 2, "an increment was lost");
      },
      "an increment was lost");
}

// ---- Compare-exchange.

TEST(compare_exchange, only_one_wins) {
  expect_passes([] {
    atomic<int> x{0};
    atomic<int> wins{0};
    auto attempt = [&] {
      int expected = 0;
      if (x.compare_exchange_strong(expected, 1, acq_rel, relaxed)) wins.fetch_add(1, relaxed);
      else require(expected == 1, "failed although the value was as expected");
    };
    parallel(attempt, attempt);
    require(wins.load(relaxed) == 1, "not exactly one winner");
  });
}

TEST(compare_exchange, weak_may_fail_for_no_reason) {
  expect_fails(
      [] {
        atomic<int> x{0};
        int expected = 0;
        require(x.compare_exchange_weak(expected, 1, relaxed, relaxed), "failed");
      },
      "failed");
}

TEST(compare_exchange, failure_order_counts) {
  auto body = [](std::memory_order failure) {
    return [=] {
      plain<int> data{0};
      atomic<int> flag{0};
      parallel([&] { data.write(42), flag.store(1, release); },
               [&] {
                 int expected = 7;
                 flag.compare_exchange_strong(expected, 8, acq_rel, failure);
                 if (expected == 1) data.read();
               });
    };
  };
  expect_passes(body(acquire));
  expect_fails(body(relaxed), "data race");
}

// ---- Mutual exclusion.

std::function<void()> dekker(std::memory_order order) {
  return [=] {
    atomic<int> wants[2];
    plain<int> inside{0};
    auto enter = [&](int me) {
      wants[me].store(1, order == seq_cst ? seq_cst : release);
      if (wants[1 - me].load(order == seq_cst ? seq_cst : acquire) == 0) inside.write(me);
    };
    parallel([&] { enter(0); }, [&] { enter(1); });
  };
}

TEST(mutual_exclusion, dekker_needs_seq_cst) {
  expect_passes(dekker(seq_cst));
  expect_fails(dekker(acq_rel), "data race");
}

TEST(mutual_exclusion, spin_lock) {
  auto body = [](std::memory_order unlock) {
    return [=] {
      atomic<bool> locked{false};
      plain<int> count{0};
      auto add = [&] {
        while (locked.exchange(true, acquire)) model_atomics::pause();
        count.write(count.read() + 1);
        locked.store(false, unlock);
      };
      parallel(add, add, add);
      require(count.read() == 3, "an increment was lost");
    };
  };
  expect_passes(body(release));
  expect_fails(body(relaxed), "data race");
}

// ---- Lifetime.

TEST(lifetime, an_object_published_without_release) {
  auto body = [](std::memory_order publish) {
    return [=] {
      atomic<atomic<int>*> shared{nullptr};
      atomic<int> object{5};
      parallel(
          [&] {
            auto* made = new atomic<int>(5);
            shared.store(made, publish);
          },
          [&] {
            if (auto* found = shared.load(acquire)) require(found->load(relaxed) == 5, "not constructed");
          });
      delete shared.load(relaxed);
    };
  };
  expect_passes(body(release));
  expect_fails(body(relaxed), "construction has not happened before");
}

TEST(lifetime, reference_count_needs_acquire_before_destruction) {
  auto body = [](std::memory_order drop) {
    return [=] {
      struct object {
        atomic<int> references{2};
        atomic<int> value{0};
      };
      auto* o = new object;
      auto use = [=] {
        o->value.load(relaxed);
        if (o->references.fetch_sub(1, drop) == 1) delete o;
      };
      parallel(use, use);
    };
  };
  expect_passes(body(acq_rel));
  expect_fails(body(relaxed), "destroyed while another thread may be using it");
}

// ---- Blocking.

TEST(blocking, naive_sleep_loses_the_wake_up) {
  expect_fails(
      [] {
        atomic<std::uint32_t> asleep{0}, work{0};
        parallel(
            [&] {
              work.store(1, release);
              if (asleep.load(acquire) == 1) {
                asleep.store(0, release);
                model_atomics::wake_one(asleep);
              }
            },
            [&] {
              if (work.load(acquire) == 1) return;
              asleep.store(1, release);  // the work may come just before this
              while (asleep.load(acquire) == 1) model_atomics::wait(asleep, 1);
            });
      },
      "deadlock: T0 joins T2");
}

TEST(blocking, wait_compares_in_one_step) {
  expect_passes([] {
    atomic<std::uint32_t> gate{0};
    parallel(
        [&] {
          gate.store(1, release);
          model_atomics::wake_all(gate);
        },
        [&] {
          while (gate.load(acquire) == 0) model_atomics::wait(gate, 0);
        },
        [&] {
          while (gate.load(acquire) == 0) model_atomics::wait(gate, 0);
        });
  });
}

TEST(blocking, wake_one_wakes_one) {
  expect_fails(
      [] {
        atomic<std::uint32_t> gate{0};
        auto wait = [&] {
          while (gate.load(acquire) == 0) model_atomics::wait(gate, 0);
        };
        parallel([&] { gate.store(1, release), model_atomics::wake_one(gate); }, wait, wait);
      },
      "deadlock");
}

TEST(blocking, spinning_ends_when_the_store_comes) {
  expect_passes([] {
    atomic<int> go{0};
    parallel([&] { go.store(1, relaxed); },
             [&] {
               while (go.load(relaxed) == 0) model_atomics::pause();
             });
  });
}

TEST(blocking, spinning_for_what_never_comes_is_a_livelock) {
  expect_fails(
      [] {
        atomic<int> go{0};
        while (go.load(relaxed) == 0) model_atomics::pause();
      },
      "livelock");
}

// ---- The explorer.

TEST(explorer, relaxed_load_buffering_is_not_modelled) {
  // Allowed by C++, and by no execution that goes step by step: README.md, "what it does not find".
  expect_passes([] {
    atomic<int> x{0}, y{0};
    int a = 0, b = 0;
    parallel([&] { a = x.load(relaxed), y.store(1, relaxed); }, [&] { b = y.load(relaxed), x.store(1, relaxed); });
    require(!(a == 1 && b == 1), "both loads read the later stores");
  });
}

TEST(explorer, an_exception_fails_the_run) {
  expect_fails([] { throw std::runtime_error("no good"); }, "uncaught exception: no good");
}

TEST(explorer, random_runs_find_what_needs_more_preemptions_than_the_bound) {
  limits no_preemption;
  no_preemption.preemptions = 0;
  no_preemption.seed = 1;
  const result r = check(store_buffering(seq_cst, acquire, false), no_preemption);
  EXPECT_FALSE(r.passed);
}

TEST(explorer, a_report_names_the_operations_and_can_be_replayed) {
  const result first = check(message_passing(relaxed, acquire));
  ASSERT_FALSE(first.passed);
  EXPECT_NE(first.report.find("litmus_test.cpp:"), std::string::npos) << first.report;
  EXPECT_NE(first.report.find("relaxed"), std::string::npos) << first.report;
  const std::string key = "WEIR_MODEL_REPLAY=\"";
  const auto from = first.report.find(key) + key.size();
  setenv("WEIR_MODEL_REPLAY", first.report.substr(from, first.report.find('"', from) - from).c_str(), 1);
  const result again = check(message_passing(relaxed, acquire));
  unsetenv("WEIR_MODEL_REPLAY");
  EXPECT_EQ(again.runs, 1u);
  EXPECT_EQ(again.report, first.report);
}

TEST(explorer, more_threads_than_a_test_may_have) {
  expect_fails(
      [] {
        std::vector<std::unique_ptr<thread>> threads;
        for (int i = 0; i < max_threads; i++) threads.push_back(std::make_unique<thread>([] {}));
      },
      "at most 8 threads");
}

TEST(explorer, a_broken_invariant_fails_the_run) {
  expect_fails(
      [] {
        atomic<int> x{0};
        parallel([&] { x.store(1, relaxed); }, [&] { WEIR_ASSERT(x.load(relaxed) == 0); });
      },
      "invariant broken: x.load(relaxed) == 0");
}

}  // namespace
}  // namespace weir::model
