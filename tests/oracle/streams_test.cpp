// Random networks of streams against a first-in-first-out oracle. Consumers are created before, between and after their
// producers, sizes need not divide each other, and networks may be circular: the oracle knows which tasks can run.
#include "tests/support/support.hpp"

#include <algorithm>
#include <optional>

namespace weir::test {
namespace {

using word = std::uint64_t;

struct use {
  std::size_t stream, count;
};
// One task: windows onto streams, and what it appends to streams. Its pushes depend on all it sees.
struct step {
  std::vector<use> pops, peeks, ticks, pushes;
  std::vector<std::size_t> each_pop, each_push, each_peek;  // arrays of streams, the same count on each
  std::size_t each_pop_count = 0, each_push_count = 0, each_peek_count = 0;
};

// What a step sees of a stream, as positions in it.
struct window {
  std::size_t stream, first, count;
};

// The sequential oracle: positions in creation order, values as far as they can be computed at all.
struct oracle {
  explicit oracle(std::size_t streams) : elements(streams), read(streams) {}

  void create(const step& s) {
    std::vector<window> w;
    const auto look = [&](std::size_t stream, std::size_t count, bool move_on) {
      w.push_back({stream, read[stream], count});
      if (move_on) read[stream] += count;
    };
    for (const use& u : s.pops) look(u.stream, u.count, true);
    for (std::size_t stream : s.each_pop) look(stream, s.each_pop_count, true);
    for (const use& u : s.peeks) look(u.stream, u.count, false);
    for (std::size_t stream : s.each_peek) look(stream, s.each_peek_count, false);
    for (const use& u : s.ticks) read[u.stream] += u.count;
    std::vector<window> p;
    const auto append = [&](std::size_t stream, std::size_t count) {
      p.push_back({stream, elements[stream].size(), count});
      elements[stream].resize(elements[stream].size() + count);
    };
    for (const use& u : s.pushes) append(u.stream, u.count);
    for (std::size_t stream : s.each_push) append(stream, s.each_push_count);
    windows.push_back(std::move(w));
    pushes.push_back(std::move(p));
    hashes.emplace_back();
  }

  // Executes what can be executed, in any order, until nothing changes.
  void run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t t = 0; t < windows.size(); t++) changed |= !hashes[t] && try_task(t);
    }
  }

  std::vector<std::vector<std::optional<word>>> elements;  // by stream
  std::vector<std::size_t> read;
  std::vector<std::vector<window>> windows, pushes;         // by task
  std::vector<std::optional<word>> hashes;                  // empty: it can never run

 private:
  bool try_task(std::size_t t) {
    word h = t + 1;
    for (const window& w : windows[t])
      for (std::size_t i = w.first; i < w.first + w.count; i++) {
        if (i >= elements[w.stream].size() || !elements[w.stream][i]) return false;
        h = mix(h, *elements[w.stream][i]);
      }
    hashes[t] = h;
    for (std::size_t n = 0; n < pushes[t].size(); n++)
      for (std::size_t i = 0; i < pushes[t][n].count; i++) elements[pushes[t][n].stream][pushes[t][n].first + i] = mix(h, n * 100 + i);
    return true;
  }
};

// One argument per access needs one instantiation per shape; two of each kind, which may be empty, and the arrays.
void spawn(runtime& rt, std::vector<stream<word>>& streams, const step& s, std::size_t t, word* hash) {
  const auto at = [&](const std::vector<use>& uses, std::size_t i) { return i < uses.size() ? uses[i] : use{0, 0}; };
  const auto group = [&](const std::vector<std::size_t>& members) {
    std::vector<stream<word>> g;
    for (std::size_t m : members) g.push_back(streams[m]);
    return g;
  };
  const use pop0 = at(s.pops, 0), pop1 = at(s.pops, 1), peek0 = at(s.peeks, 0), tick0 = at(s.ticks, 0), push0 = at(s.pushes, 0), push1 = at(s.pushes, 1);
  rt.spawn({.name = "step"}, streams[pop0.stream].pop(pop0.count), streams[pop1.stream].pop(pop1.count), pop_each(group(s.each_pop), s.each_pop_count),
           streams[peek0.stream].peek(peek0.count), peek_each(group(s.each_peek), s.each_peek_count), streams[tick0.stream].tick(tick0.count), streams[push0.stream].push(push0.count),
           streams[push1.stream].push(push1.count), push_each(group(s.each_push), s.each_push_count),
           [t, hash, n = s.pushes.size()](std::span<const word> a, std::span<const word> b, auto pops, std::span<const word> c, auto peeks, std::span<word> first, std::span<word> second,
                                          auto pushes) {
             word h = t + 1;
             const auto see = [&](std::span<const word> values) {
               for (word v : values) h = mix(h, v);
             };
             see(a);
             see(b);
             for (std::size_t i = 0; i < pops.size(); i++) see(pops[i]);
             see(c);
             for (std::size_t i = 0; i < peeks.size(); i++) see(peeks[i]);
             const auto write = [&](std::span<word> values, std::size_t index) {
               for (std::size_t i = 0; i < values.size(); i++) values[i] = mix(h, index * 100 + i);
             };
             write(first, 0);
             write(second, 1);
             for (std::size_t i = 0; i < pushes.size(); i++) write(pushes[i], n + i);
             *hash = h;
           });
}

template <class Random>
step random_step(Random& random, std::size_t streams, std::size_t most) {
  step s;
  const auto uses = [&](std::size_t at_most, std::size_t odds) {
    std::vector<use> u;
    for (std::size_t i = 0; i < at_most; i++)
      if (between(random, 0, odds) == 0) u.push_back({between(random, 0, streams - 1), between(random, 0, most)});
    return u;
  };
  const auto members = [&] {
    std::vector<std::size_t> m;
    if (between(random, 0, 3) == 0)
      for (std::size_t i = 0; i < streams; i++)
        if (between(random, 0, 1) == 0) m.push_back(i);
    return m;
  };
  s.pops = uses(2, 2);
  s.peeks = uses(1, 2);
  s.ticks = uses(1, 4);
  s.pushes = uses(2, 1);
  s.each_pop = members();
  s.each_push = members();
  s.each_peek = members();
  s.each_pop_count = between(random, 0, 2);
  s.each_push_count = between(random, 0, 3);
  s.each_peek_count = between(random, 0, 4);
  return s;
}

// Pushes that bring every stream to where its windows end, so that what still cannot run is circular.
std::vector<step> feeding_steps(const oracle& o) {
  std::vector<std::size_t> needed = o.read;
  for (const auto& windows : o.windows)
    for (const window& w : windows) needed[w.stream] = std::max(needed[w.stream], w.first + w.count);
  std::vector<step> steps;
  for (std::size_t stream = 0; stream < needed.size(); stream++)
    for (std::size_t missing = needed[stream] > o.elements[stream].size() ? needed[stream] - o.elements[stream].size() : 0; missing > 0;) {
      const std::size_t n = std::min<std::size_t>(missing, 5);
      steps.push_back({.pushes = {{stream, n}}});
      missing -= n;
    }
  return steps;
}

// Ticks and pops that leave nothing behind, so that no warning is printed.
std::vector<step> draining_steps(const oracle& o) {
  std::vector<step> steps;
  for (std::size_t stream = 0; stream < o.read.size(); stream++)
    if (o.elements[stream].size() > o.read[stream]) steps.push_back({.ticks = {{stream, o.elements[stream].size() - o.read[stream]}}});
  return steps;
}

template <class Random>
void run_network(Random& random, runtime& rt, const std::string& where) {
  const std::size_t count = between(random, 1, 5), tasks = between(random, 1, 120), most = between(random, 1, 9);
  std::vector<stream<word>> streams;
  for (std::size_t i = 0; i < count; i++) streams.push_back(rt.make_stream<word>("s"));
  std::vector<word> hashes(2 * tasks + 10'000);
  oracle o(count);
  std::size_t t = 0;
  const auto create = [&](const step& s) {
    ASSERT_LT(t, hashes.size());
    spawn(rt, streams, s, t, &hashes[t]);
    o.create(s);
    t++;
  };
  for (std::size_t i = 0; i < tasks; i++) create(random_step(random, count, most));
  const bool fed = between(random, 0, 3) != 0;
  if (fed)
    for (const step& s : feeding_steps(o)) create(s);
  for (const step& s : draining_steps(o)) create(s);
  o.run();
  const bool all_can_run = std::all_of(o.hashes.begin(), o.hashes.end(), [](const auto& h) { return h.has_value(); });
  bool deadlock = false;
  try {
    rt.wait();
  } catch (const deadlock_error&) {
    deadlock = true;
  }
  EXPECT_EQ(deadlock, !all_can_run) << where;
  for (std::size_t i = 0; i < t; i++) EXPECT_EQ(hashes[i], o.hashes[i].value_or(0)) << "task " << i << (o.hashes[i] ? " saw something else; " : " cannot run; ") << where;
}

TEST(streams, random_networks_are_first_in_first_out) {
  watchdog dog(120, "random stream networks");
  std::mt19937_64 random(new_seed());
  for (const runtime_options& o : configurations()) {
    runtime rt(o);
    for (std::size_t repeat = 0; repeat < effort(24) && !HasFailure(); repeat++) run_network(random, rt, text(o));
  }
}

// One stream, every order of up to six operations with small counts.
TEST(streams, all_short_programs_on_one_stream) {
  watchdog dog(60, "short programs on a stream");
  const std::uint64_t first = sanitized ? new_seed() % 12 : 0;
  const std::vector<runtime_options> all = configurations();
  constexpr std::size_t length = 5, kinds = 7;  // push 1, 2, 3; pop 1, 2; peek 2; tick 1
  std::size_t programs = 1;
  for (std::size_t i = 0; i < length; i++) programs *= kinds;
  for (std::size_t c = 0; c < all.size(); c++) {
    runtime rt(all[c]);
    for (std::size_t n = c + first * all.size(); n < programs && !HasFailure(); n += all.size() * (sanitized ? 12 : 1)) {
      std::vector<stream<word>> streams{rt.make_stream<word>()};
      oracle o(1);
      std::vector<word> hashes(length + 10);
      std::size_t t = 0;
      const auto create = [&](const step& s) {
        spawn(rt, streams, s, t, &hashes[t]);
        o.create(s);
        t++;
      };
      for (std::size_t i = 0, rest = n; i < length; i++, rest /= kinds) {
        step s;
        switch (rest % kinds) {
          case 0: case 1: case 2: s.pushes = {{0, rest % kinds + 1}}; break;
          case 3: case 4: s.pops = {{0, rest % kinds - 2}}; break;
          case 5: s.peeks = {{0, 2}}; break;
          case 6: s.ticks = {{0, 1}}; break;
        }
        create(s);
      }
      for (const step& s : feeding_steps(o)) create(s);
      for (const step& s : draining_steps(o)) create(s);
      o.run();
      rt.wait();
      for (std::size_t i = 0; i < t; i++) {
        ASSERT_TRUE(o.hashes[i].has_value());
        EXPECT_EQ(hashes[i], *o.hashes[i]) << "program " << n << ", task " << i << "; " << text(all[c]);
      }
    }
  }
}

}  // namespace
}  // namespace weir::test
