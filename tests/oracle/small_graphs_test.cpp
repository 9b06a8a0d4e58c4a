// All graphs of up to three tasks on three data, four on two and six on one; random ones beyond.
#include "small_graphs.hpp"

#include <tuple>

namespace weir::test {
namespace {

// Under sanitizers every twelfth graph, from a random one on.
std::size_t stride() { return sanitized ? 12 : 1; }

void run_all(std::size_t tasks, std::size_t data, bool given, std::size_t per_configuration) {
  watchdog dog(120, "enumerating small graphs");
  graph_runner runner(per_configuration / stride() + 1);
  enumerate(tasks, data, given, runner, stride(), sanitized ? new_seed() % stride() : 0);
  std::printf("%zu graphs of %zu tasks on %zu data\n", runner.total(), tasks, data);
}

TEST(small_graphs, one_task) {
  run_all(1, 3, false, 1);
  run_all(1, 3, true, 1);
}
TEST(small_graphs, two_tasks_on_three_data) { run_all(2, 3, true, 80); }
TEST(small_graphs, two_tasks_on_three_data_nobody_wrote) { run_all(2, 3, false, 80); }
TEST(small_graphs, three_tasks_on_three_data) { run_all(3, 3, true, 7000); }
TEST(small_graphs, three_tasks_on_two_data_nobody_wrote) { run_all(3, 2, false, 200); }
TEST(small_graphs, four_tasks_on_two_data) { run_all(4, 2, true, 4200); }
TEST(small_graphs, six_tasks_on_one_datum) { run_all(6, 1, true, 330); }

TEST(small_graphs, four_and_five_tasks_at_random) {
  watchdog dog(120, "sampling small graphs");
  std::mt19937_64 random(new_seed());
  graph_runner runner(effort(1'600));
  sample(4, effort(40'000), random, runner);
  sample(5, effort(40'000), random, runner);
}

// The same with one argument per access instead of groups: every pair of patterns for one task after another.
template <pattern P>
auto accesses_of(const data<std::uint64_t>& d) {
  if constexpr (P == none) return std::tuple<>();
  if constexpr (P == reads) return std::make_tuple(in(d));
  if constexpr (P == writes) return std::make_tuple(out(d));
  if constexpr (P == reads_and_writes) return std::make_tuple(in(d), out(d));
  if constexpr (P == updates) return std::make_tuple(inout(d));
}

// Hash of all that is read, then the writing. A span of const is read, one that comes alone is updated.
template <pattern A, pattern B>
void spawn_pair(runtime& rt, std::size_t task, const data<std::uint64_t>& a, const data<std::uint64_t>& b, std::uint64_t* hash) {
  const auto body = [task, hash](auto... spans) {
    std::uint64_t h = task + 1;
    const auto read = [&]<class T>(std::span<T> s) {
      if constexpr (std::is_const_v<T>)
        for (std::uint64_t value : s) h = mix(h, value);
    };
    const auto views = std::make_tuple(spans...);
    // The first `count` of the views are those of pattern P.
    const auto for_pattern = [&]<pattern P, std::size_t First>(std::integral_constant<pattern, P>, std::integral_constant<std::size_t, First>, std::size_t datum, bool writing) {
      if constexpr (P == reads || P == reads_and_writes)
        if (!writing) read(std::get<First>(views));
      if constexpr (P == updates)
        if (!writing) read(std::span<const std::uint64_t>(std::get<First>(views)));
      if constexpr (does_write(P)) {
        constexpr std::size_t target = First + (P == reads_and_writes ? 1 : 0);
        if (writing)
          for (std::size_t i = 0; i < elements; i++) std::get<target>(views)[i] = written_value(h, datum, i);
      }
    };
    constexpr std::size_t of_a = A == none ? 0 : A == reads_and_writes ? 2 : 1;
    for (bool writing : {false, true}) {
      for_pattern(std::integral_constant<pattern, A>(), std::integral_constant<std::size_t, 0>(), 0, writing);
      for_pattern(std::integral_constant<pattern, B>(), std::integral_constant<std::size_t, of_a>(), 1, writing);
    }
    *hash = h;
  };
  std::apply([&](auto&&... all) { rt.spawn(all..., body); }, std::tuple_cat(accesses_of<A>(a), accesses_of<B>(b)));
}

using spawn_function = void (*)(runtime&, std::size_t, const data<std::uint64_t>&, const data<std::uint64_t>&, std::uint64_t*);

template <std::size_t... I>
std::array<spawn_function, sizeof...(I)> spawn_table(std::index_sequence<I...>) {
  return {&spawn_pair<static_cast<pattern>(I % patterns), static_cast<pattern>(I / patterns)>...};
}

TEST(small_graphs, three_tasks_with_an_argument_per_access) {
  watchdog dog(60, "graphs with an argument per access");
  const auto table = spawn_table(std::make_index_sequence<patterns * patterns>());
  const std::size_t graphs = power(table.size(), 3);
  const std::vector<runtime_options> all = configurations();
  const std::size_t first = sanitized ? new_seed() % 12 : 0;
  for (std::size_t c = 0; c < all.size(); c++) {
    runtime rt(all[c]);
    for (std::size_t n = c + first * all.size(); n < graphs && !HasFailure(); n += all.size() * (sanitized ? 12 : 1)) {
      graph g{.tasks = 3, .data = 2, .given = true};
      std::array<std::uint64_t, elements> values[2];
      for (std::size_t d = 0; d < 2; d++)
        for (std::size_t i = 0; i < elements; i++) values[d][i] = given_value(d, i);
      const auto a = rt.make_data(std::span<const std::uint64_t>(values[0])), b = rt.make_data(std::span<const std::uint64_t>(values[1]));
      std::array<std::uint64_t, 3> hash{};
      for (std::size_t t = 0, rest = n; t < 3; t++, rest /= table.size()) {
        const std::size_t pair = rest % table.size();
        g.access[t][0] = static_cast<pattern>(pair % patterns);
        g.access[t][1] = static_cast<pattern>(pair / patterns);
        table[pair](rt, t, a, b, &hash[t]);
      }
      rt.wait();
      const expectation e = run_oracle(g);
      for (std::size_t t = 0; t < 3; t++) EXPECT_EQ(hash[t], e.hash[t]) << "task " << t << "; " << g.text() << "; " << text(all[c]);
      for (std::size_t d = 0; d < 2; d++) {
        const auto now = (d == 0 ? a : b).read();
        EXPECT_TRUE(std::equal(now.begin(), now.end(), e.last[d].begin())) << "datum " << d << "; " << g.text() << "; " << text(all[c]);
      }
    }
  }
}

}  // namespace
}  // namespace weir::test
