// Tasks on overlapping ranges of user memory, against the same tasks executed one after the other.
#include "tests/support/support.hpp"

#include <algorithm>

namespace weir::test {
namespace {

using word = std::uint64_t;

struct range {
  std::size_t first, count;
};
struct step {
  range in, out, inout;  // count 0: none; may overlap in any way, also each other
};

template <class Random>
range random_range(Random& random, std::size_t cells) {
  if (between(random, 0, 2) == 0) return {0, 0};
  const std::size_t first = between(random, 0, cells - 1);
  return {first, between(random, 1, std::min<std::size_t>(cells - first, between(random, 0, 5) == 0 ? cells : 9))};
}

word run(std::size_t task, std::span<const word> in, std::span<word> out, std::span<word> inout) {
  word h = task + 1;
  for (word v : in) h = mix(h, v);
  for (word v : inout) h = mix(h, v);
  for (std::size_t i = 0; i < out.size(); i++) out[i] = mix(h, i);
  for (std::size_t i = 0; i < inout.size(); i++) inout[i] = mix(inout[i], h);
  return h;
}

TEST(addresses, overlapping_ranges_order_tasks_as_in_sequence) {
  watchdog dog(60, "random address ranges");
  std::mt19937_64 random(new_seed());
  for (const runtime_options& o : configurations()) {
    runtime rt(o);
    for (std::size_t repeat = 0; repeat < effort(12) && !HasFailure(); repeat++) {
      const std::size_t cells = between(random, 1, 80), tasks = between(random, 1, 300);
      std::vector<word> memory(cells, 5), expected(cells, 5);
      std::vector<word> hash(tasks), expected_hash(tasks);
      const auto part = [](std::vector<word>& v, range r) { return std::span<word>(v).subspan(r.first, r.count); };
      for (std::size_t t = 0; t < tasks; t++) {
        const step s{random_range(random, cells), random_range(random, cells), random_range(random, cells)};
        rt.spawn(in(ref(std::span<const word>(part(memory, s.in)))), out(ref(part(memory, s.out))), inout(ref(part(memory, s.inout))),
                 [t, h = &hash[t]](std::span<const word> a, std::span<word> b, std::span<word> c) { *h = run(t, a, b, c); });
        expected_hash[t] = run(t, part(expected, s.in), part(expected, s.out), part(expected, s.inout));
        if (between(random, 0, 99) == 0) rt.wait();  // ranges are forgotten and made anew
      }
      rt.wait();
      EXPECT_EQ(hash, expected_hash) << text(o);
      EXPECT_EQ(memory, expected) << text(o);
    }
  }
}

// Ranges whose ends lie within elements of another type, and ranges and data in one task.
TEST(addresses, bytes_count_not_elements) {
  watchdog dog(60);
  std::mt19937_64 random(new_seed());
  runtime rt({.workers = 3});
  for (std::size_t repeat = 0; repeat < effort(50) && !HasFailure(); repeat++) {
    std::vector<unsigned char> memory(64), expected(64);
    const auto sum = rt.make_data(std::vector<word>{0});
    word expected_sum = 0;
    for (std::size_t t = 0; t < 60; t++) {
      const range a = random_range(random, 64), b = random_range(random, 64);
      const auto body = [t](std::span<const unsigned char> from, std::span<unsigned char> to, word& s) {
        unsigned h = static_cast<unsigned>(t);
        for (unsigned char c : from) h = h * 31 + c;
        for (unsigned char& c : to) c = static_cast<unsigned char>(h++);
        s = mix(s, h);
      };
      // The written range as one of 32-bit words around it: it touches more bytes than it writes.
      const std::size_t first = b.first / 4 * 4, end = std::min<std::size_t>(64, (b.first + b.count + 3) / 4 * 4);
      auto* words = reinterpret_cast<std::uint32_t*>(memory.data() + first);
      rt.spawn(in(ref(std::span<const unsigned char>(memory).subspan(a.first, a.count))), inout(ref(std::span<std::uint32_t>(words, b.count == 0 ? 0 : (end - first) / 4))), inout(sum),
               [body, target = std::span<unsigned char>(memory).subspan(b.first, b.count)](auto from, auto, std::span<word> s) { body(from, target, s[0]); });
      body(std::span<const unsigned char>(expected).subspan(a.first, a.count), std::span<unsigned char>(expected).subspan(b.first, b.count), expected_sum);
    }
    rt.wait();
    EXPECT_EQ(memory, expected);
    EXPECT_EQ(sum.read()[0], expected_sum);
  }
}

// A task that threw poisons who reads or updates what it should have written, not who overwrites it.
TEST(addresses, failures_follow_the_ranges) {
  runtime rt({.workers = 2});
  std::vector<int> v(30);
  std::atomic<int> ran{0};
  const auto part = [&](std::size_t first, std::size_t n) { return ref(std::span<int>(v).subspan(first, n)); };
  rt.spawn({.name = "bad"}, out(part(0, 10)), [](auto) { throw std::runtime_error("no"); });
  rt.spawn(in(part(5, 1)), [&](auto) { ran += 1; });
  rt.spawn(inout(part(0, 3)), [&](auto) { ran += 10; });
  rt.spawn(in(part(10, 5)), [&](auto) { ran += 100; });
  rt.spawn(out(part(5, 5)), [&](auto) { ran += 1000; });
  rt.spawn(in(part(5, 5)), [&](auto) { ran += 10000; });
  WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { rt.wait(); }), "bad");
  EXPECT_EQ(ran, 11100);
}

}  // namespace
}  // namespace weir::test
