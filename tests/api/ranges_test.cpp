// Ranges of memory that are strange: of no bytes, of very many, named many times, gone when they are named again. What
// they hold is not touched where that is not said.
#include "tests/support/support.hpp"

#include <array>
#include <limits>
#include <utility>

#include <sys/mman.h>

namespace weir::test {
namespace {

using byte = unsigned char;

std::span<byte> at(std::uintptr_t address, std::size_t bytes) { return {reinterpret_cast<byte*>(address), bytes}; }

class ranges : public ::testing::Test {
 protected:
  // Nothing of a refused task is left, and what follows works.
  void TearDown() override {
    int word = 0;
    rt.spawn(out(ref(word)), [](auto w) { w[0] = 1; });
    rt.spawn(inout(ref(word)), [](auto w) { w[0]++; });
    rt.wait();
    EXPECT_EQ(word, 2);
    EXPECT_EQ(token.use_count(), 1) << "closures are left";
  }

  watchdog dog{60, "strange ranges"};
  runtime rt{{.workers = 3}};
  std::shared_ptr<int> token = std::make_shared<int>(0);
};

TEST_F(ranges, of_no_bytes_order_nothing) {
  std::vector<byte> memory(64);
  gate door;
  std::atomic<int> ran{0};
  rt.spawn(inout(ref(memory)), [&](auto) { door.pass(); });
  const std::span<byte> none, middle = std::span(memory).subspan(32, 0), end = std::span(memory).last(0);
  rt.spawn(in(ref(none)), out(ref(none)), inout(ref(none)), [&](auto a, auto b, auto c) {
    EXPECT_TRUE(a.empty() && b.empty() && c.empty());
    ran++;
  });
  rt.spawn(inout(ref(middle)), out(ref(end)), [&](auto m, auto e) {
    EXPECT_EQ(m.data(), memory.data() + 32);
    EXPECT_EQ(m.size() + e.size(), 0u);
    ran++;
  });
  rt.spawn(out(ref(middle)), [&](auto) { ran++; });
  while (ran != 3) std::this_thread::yield();
  door.open();
  rt.wait();
}

// 2^40 bytes: what is named is not counted byte by byte.
TEST_F(ranges, of_many_bytes) {
  constexpr std::uintptr_t first = std::uintptr_t{1} << 44;
  constexpr std::size_t bytes = std::size_t{1} << 40;
  gate door;
  std::atomic<bool> written{false};
  std::atomic<int> in_halves{0};
  rt.spawn(out(ref(at(first, bytes))), [&](auto all) {
    EXPECT_EQ(all.size(), bytes);
    door.pass();
    written = true;
  });
  // In the bodies of both at once.
  for (const std::uintptr_t half : {first, first + bytes / 2})
    rt.spawn(inout(ref(at(half, bytes / 2))), [&](auto) {
      EXPECT_TRUE(written);
      for (in_halves++; in_halves < 2;) std::this_thread::yield();
    });
  for (const std::uintptr_t distant : {first, first + 12345, first + bytes / 2, first + bytes - 1})
    rt.spawn(in(ref(at(distant, 1))), [&](auto) { EXPECT_EQ(in_halves, 2); });
  std::atomic<bool> beside{false};
  rt.spawn(out(ref(at(first + bytes, bytes))), out(ref(at(first - 8, 8))), [&](auto, auto) { beside = true; });
  while (!beside) std::this_thread::yield();
  EXPECT_FALSE(written);
  door.open();
  rt.wait();
}

// Fifty times the same range, or fifty that overlap their neighbours; or both ways.
template <std::size_t... I>
void spawn_with_fifty(runtime& rt, std::span<int> all, std::size_t step, int& seen, std::index_sequence<I...>) {
  const auto part = [&](std::size_t i) { return all.subspan(i * step, all.size() - 49 * step); };
  rt.spawn(inout(ref(part(I)))..., [&seen](auto first, auto...) { seen = first[0]++; });
  rt.spawn(in(ref(part(I)))..., out(ref(part(49 - I)))..., [&seen](auto first, auto...) { seen += first[0]; });
}

TEST_F(ranges, fifty_times_in_one_task) {
  for (const std::size_t step : {0, 1, 2}) {
    std::vector<int> memory(200, 0);
    int seen = 0;
    for (int round = 0; round < 20; round++) {
      rt.spawn(inout(ref(memory)), [](auto all) { all[0] += 10; });
      spawn_with_fifty(rt, memory, step, seen, std::make_index_sequence<50>());
      rt.spawn(in(ref(memory)), [round](auto all) { EXPECT_EQ(all[0], 11 * (round + 1)); });
    }
    rt.wait();
    EXPECT_EQ(seen, 10 + 19 * 11 + 11 * 20);
  }
}

// Waits of a scope do not forget addresses, and what is forgotten must not be needed: freed memory comes again with
// other sizes and types.
TEST_F(ranges, freed_between_tasks) {
  std::mt19937_64 random(new_seed());
  for (std::size_t round = 0; round < effort(3'000); round++) {
    scope s(rt);
    std::vector<std::uint16_t> memory(between(random, 1, 64), 0);
    const std::size_t tasks = between(random, 1, 6);
    for (std::size_t t = 0; t < tasks; t++) {
      const std::size_t first = between(random, 0, memory.size() - 1);
      s.spawn(inout(ref(std::span(memory).first(1))), in(ref(std::span(memory).subspan(first, 1))),
              [](auto counter, auto) { counter[0]++; });
    }
    s.wait();
    EXPECT_EQ(memory[0], tasks);
  }
}

TEST_F(ranges, unmapped_and_mapped_again_between_tasks) {
  constexpr std::size_t bytes = 1 << 16;
  void* wanted = nullptr;
  for (int round = 0; round < 50; round++) {
    void* const p = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(p, MAP_FAILED);
    wanted = p;  // a hint: the same addresses if they are free
    const std::span<byte> memory(static_cast<byte*>(p), bytes);
    scope s(rt);
    s.spawn(out(ref(memory.first(bytes / 2))), [](auto m) { m.back() = 1; });
    s.spawn(inout(ref(memory.subspan(bytes / 2 - 1))), [](auto m) { m.back() = static_cast<byte>(m.front() + 1); });
    s.spawn(in(ref(memory)), [](auto m) { EXPECT_EQ(m.back(), 2); });
    s.wait();
    ASSERT_EQ(round % 2 == 0 ? munmap(p, bytes) : mprotect(p, bytes, PROT_NONE), 0);
    // Nobody looks into memory that tasks only name.
    s.spawn(inout(ref(memory)), [](auto) {});
    s.spawn(in(ref(memory.subspan(100, 100))), [](auto) {});
    s.wait();
    if (round % 2 != 0) { ASSERT_EQ(munmap(p, bytes), 0); }
  }
}

// A datum's versions are ordered by the datum alone: to name the memory where one happens to lie orders tasks among
// those that name this memory, and nobody else.
TEST_F(ranges, of_the_memory_of_a_datum) {
  const auto d = rt.make_data(std::vector<int>{1, 2, 3});
  std::span<int> lies;
  rt.spawn(inout(d), [&](auto values) { lies = values; });
  rt.wait();
  gate door;
  std::atomic<int> beside{0};
  rt.spawn(in(d), in(ref(lies)), [&](auto, auto) { door.pass(); });
  rt.spawn(in(d), [&](auto) { beside++; });
  rt.spawn(in(ref(lies)), [&](auto) { beside++; });
  while (beside != 2) std::this_thread::yield();
  rt.spawn(inout(ref(lies.first(1))), [&](auto) { beside++; });
  rt.spawn(inout(d), inout(ref(lies)), [&](auto, auto) { beside++; });
  EXPECT_EQ(beside, 2);
  door.open();
  rt.wait();
  EXPECT_EQ(beside, 4);
}

// Around the end of the address space, or more elements than it has bytes.
TEST_F(ranges, that_wrap_are_refused) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  const std::span<std::uint64_t> words(reinterpret_cast<std::uint64_t*>(std::uintptr_t{4096}), most / 4);
  const auto refused = [&](const auto& access) {
    const std::string message =
        message_of<usage_error>([&] { rt.spawn({.name = "wraps"}, access, [t = token](auto) {}); });
    WEIR_EXPECT_CONTAINS(message, "wraps");
    WEIR_EXPECT_CONTAINS(message, "range");
  };
  refused(in(ref(at(4096, most))));
  refused(out(ref(at(4096, most - 4094))));
  refused(inout(ref(at(most - 7, 16))));
  refused(inout(ref(words)));
  std::vector<byte> memory(8);
  const std::string second = message_of<usage_error>([&] {
    rt.spawn({.name = "second"}, inout(ref(memory)), in(ref(at(most - 7, 16))), [t = token](auto, auto) {});
  });
  WEIR_EXPECT_CONTAINS(second, "second");
  rt.wait();
}

// Addresses of more than 48 bits, as large page tables and tagged pointers have them: they are as good as others, or
// refused.
TEST_F(ranges, of_addresses_of_more_than_48_bits) {
  for (const int bit : {48, 52, 56, 63}) {
    const std::uintptr_t first = (std::uintptr_t{1} << bit) + (std::uintptr_t{1} << 44);
    gate door;
    std::atomic<bool> written{false};
    try {
      rt.spawn({.name = "distant"}, out(ref(at(first, 64))), [&](auto m) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.data()), first);
        door.pass();
        written = true;
      });
      rt.spawn(in(ref(at(first + 63, 1))), [&](auto) { EXPECT_TRUE(written); });
    } catch (const usage_error& e) {
      WEIR_EXPECT_CONTAINS(std::string(e.what()), "distant");
    }
    door.open();
    rt.wait();
  }
}

}  // namespace
}  // namespace weir::test
