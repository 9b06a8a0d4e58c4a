// Random graphs of hundreds of tasks: groups, slices, data of many sizes, handles that come and go, and tasks that
// spawn tasks and wait for them, against the same tasks executed one after the other.
#include "tests/support/support.hpp"

#include <algorithm>
#include <numeric>

namespace weir::test {
namespace {

using word = std::uint64_t;

// What one task does. The members are indices of data.
struct step {
  std::vector<std::size_t> in_group, out_group, inout_group;
  std::size_t in_slice, in_offset, in_count;        // a part of one more datum
  std::size_t inout_slice, inout_offset, inout_count;
  std::size_t children;                             // tasks it spawns and waits for
};

struct program {
  std::vector<std::size_t> sizes;
  std::vector<step> steps;
};

template <class Random>
program random_program(Random& random, std::size_t tasks) {
  program p;
  const std::size_t data = between(random, 3, 24);
  for (std::size_t d = 0; d < data; d++) p.sizes.push_back(between(random, 0, 3) == 0 ? between(random, 0, 3000) : between(random, 0, 40));
  for (std::size_t t = 0; t < tasks; t++) {
    std::vector<std::size_t> order(data);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random);
    // From one end what is updated, which nothing else of the task may name; from the other what is written.
    step s{};
    s.inout_slice = order.front();
    const std::size_t updated = between(random, 0, std::min<std::size_t>(3, data - 2));
    s.inout_group.assign(order.begin() + 1, order.begin() + 1 + static_cast<std::ptrdiff_t>(updated));
    const std::vector<std::size_t> free(order.begin() + 1 + static_cast<std::ptrdiff_t>(updated), order.end());
    s.out_group.assign(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(between(random, 0, std::min<std::size_t>(3, free.size()))));
    for (std::size_t n = between(random, 0, 5); n > 0; n--) s.in_group.push_back(free[between(random, 0, free.size() - 1)]);  // twice is allowed
    s.in_slice = free[between(random, 0, free.size() - 1)];
    s.in_offset = between(random, 0, p.sizes[s.in_slice]);
    s.in_count = between(random, 0, p.sizes[s.in_slice] - s.in_offset);
    s.inout_offset = between(random, 0, p.sizes[s.inout_slice]);
    s.inout_count = between(random, 0, p.sizes[s.inout_slice] - s.inout_offset);
    s.children = between(random, 0, 9) == 0 ? between(random, 1, 6) : 0;
    p.steps.push_back(std::move(s));
  }
  return p;
}

template <class Range>
word hash_of(word h, const Range& values) {
  for (word v : values) h = mix(h, v);
  return h;
}

template <class Span>
void fill(Span target, word h, std::size_t salt) {
  for (std::size_t i = 0; i < target.size(); i++) target[i] = mix(h, salt * 10'000 + i);
}

// What children add: every second one takes part in a sum of sums.
word child_value(word h, std::size_t child) { return mix(h, child + 77); }
word children_oracle(word h, std::size_t n) {
  word sum = 0;
  for (std::size_t c = 0; c < n; c++) sum += child_value(h, c);
  return n == 0 ? h : mix(h, sum);
}
word children_as_tasks(runtime& rt, word h, std::size_t n) {
  if (n == 0) return h;
  scope s(rt);
  std::vector<data<word>> parts;
  for (std::size_t c = 0; c < n; c++) {
    parts.push_back(rt.make_data<word>(1));
    s.spawn(out(parts.back()), [h, c](std::span<word> part) { part[0] = child_value(h, c); });
  }
  const auto total = rt.make_data<word>(1);
  s.spawn(in(parts), out(total), [](auto all, std::span<word> sum) {
    sum[0] = 0;
    for (std::size_t i = 0; i < all.size(); i++) sum[0] += all[i][0];
  });
  if (n % 2 == 0) s.wait();
  return mix(h, total.read()[0]);
}

std::vector<std::vector<word>> run_in_order(const program& p, std::vector<word>& hashes) {
  std::vector<std::vector<word>> data;
  for (std::size_t d = 0; d < p.sizes.size(); d++) {
    data.emplace_back(p.sizes[d]);
    fill(std::span<word>(data.back()), 1, d);
  }
  for (const step& s : p.steps) {
    word h = 1;
    for (std::size_t d : s.in_group) h = hash_of(h, data[d]);
    h = hash_of(h, std::span<word>(data[s.in_slice]).subspan(s.in_offset, s.in_count));
    const auto updated = std::span<word>(data[s.inout_slice]).subspan(s.inout_offset, s.inout_count);
    h = hash_of(h, updated);
    for (std::size_t d : s.inout_group) h = hash_of(h, data[d]);
    h = children_oracle(h, s.children);
    hashes.push_back(h);
    std::size_t salt = 0;
    for (std::size_t d : s.out_group) fill(std::span<word>(data[d]), h, salt++);
    fill(updated, h, salt++);
    for (std::size_t d : s.inout_group) fill(std::span<word>(data[d]), h, salt++);
  }
  return data;
}

// Views of a version in the middle of the program, kept while later tasks write.
struct kept_view {
  view<word> values;
  std::vector<word> expected;
};

void run_as_tasks(const program& p, runtime& rt, std::vector<data<word>>& data, std::vector<word>& hashes) {
  for (std::size_t d = 0; d < p.sizes.size(); d++) {
    std::vector<word> initial(p.sizes[d]);
    fill(std::span<word>(initial), 1, d);
    data.push_back(rt.make_data(initial));
  }
  hashes.assign(p.steps.size(), 0);
  const auto group = [&](const std::vector<std::size_t>& members) {
    std::vector<weir::data<word>> g;
    for (std::size_t d : members) g.push_back(data[d]);
    return g;
  };
  for (std::size_t t = 0; t < p.steps.size(); t++) {
    const step& s = p.steps[t];
    rt.spawn({.name = "step", .priority = t % 5 == 0 ? priority::high : priority::normal}, in(group(s.in_group)), in(data[s.in_slice].slice(s.in_offset, s.in_count)),
             inout(data[s.inout_slice].slice(s.inout_offset, s.inout_count)), inout(group(s.inout_group)), out(group(s.out_group)),
             [&rt, children = s.children, hash = &hashes[t]](auto reads, std::span<const word> part, std::span<word> updated, auto updates, auto writes) {
               word h = 1;
               for (std::size_t i = 0; i < reads.size(); i++) h = hash_of(h, reads[i]);
               h = hash_of(h, part);
               h = hash_of(h, updated);
               for (std::size_t i = 0; i < updates.size(); i++) h = hash_of(h, updates[i]);
               h = children_as_tasks(rt, h, children);
               *hash = h;
               std::size_t salt = 0;
               for (std::size_t i = 0; i < writes.size(); i++) fill(writes[i], h, salt++);
               fill(updated, h, salt++);
               for (std::size_t i = 0; i < updates.size(); i++) fill(updates[i], h, salt++);
             });
  }
}

TEST(large_graphs, random_programs_do_what_they_would_do_in_order) {
  watchdog dog(120, "random large graphs");
  std::mt19937_64 random(new_seed());
  std::vector<runtime_options> all = configurations();
  std::shuffle(all.begin(), all.end(), random);
  for (const runtime_options& o : all) {
    runtime rt(o);
    for (std::size_t repeat = 0; repeat < effort(8) && !HasFailure(); repeat++) {
      const program p = random_program(random, between(random, 1, 400));
      std::vector<word> hashes, expected_hashes;
      std::vector<data<word>> data;
      run_as_tasks(p, rt, data, hashes);
      const std::vector<std::vector<word>> expected = run_in_order(p, expected_hashes);
      for (std::size_t d = 0; d < data.size(); d++) {
        const auto now = data[d].read();
        EXPECT_TRUE(std::equal(now.begin(), now.end(), expected[d].begin(), expected[d].end())) << "datum " << d << "; " << text(o);
      }
      rt.wait();
      EXPECT_EQ(hashes, expected_hashes) << text(o);
    }
  }
}

TEST(large_graphs, views_taken_on_the_way_keep_their_version) {
  watchdog dog(60, "views of versions on the way");
  std::mt19937_64 random(new_seed());
  for (const runtime_options& o : configurations()) {
    runtime rt(o);
    std::vector<kept_view> kept;
    std::vector<word> now(50);
    const auto d = rt.make_data(now);
    for (std::size_t t = 0; t < effort(240); t++) {
      if (t % 2 == 0) {
        rt.spawn(inout(d), [t](std::span<word> s) { fill(s, s[0] + t, t); });
        fill(std::span<word>(now), now[0] + t, t);
      } else {
        rt.spawn(in(d), out(d), [](std::span<const word> before, std::span<word> after) {
          for (std::size_t i = 0; i < after.size(); i++) after[i] = before[i] * 3 + 1;
        });
        for (word& v : now) v = v * 3 + 1;
      }
      if (between(random, 0, 7) == 0) kept.push_back({d.read(), now});
      if (kept.size() > 5) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(between(random, 0, 5)));
    }
    rt.wait();
    for (const kept_view& k : kept) EXPECT_TRUE(std::equal(k.values.begin(), k.values.end(), k.expected.begin(), k.expected.end())) << text(o);
  }
}

}  // namespace
}  // namespace weir::test
