// From lists of ranges to calls of spawn(), which wants their number and their modes at compile time.
#include "tests/oracle/spawn_ranges.hpp"

#include <stdexcept>
#include <type_traits>
#include <utility>

namespace weir::test {
namespace {

struct task_body {
  std::vector<named_bytes> named;
  ranges_body body;

  template <class... Bytes>
  void operator()(std::span<Bytes>... given) const {
    check(given...);
    body(nullptr);
  }
  template <class... Bytes>
  void operator()(views<const word> in, views<word> out, views<word> inout, std::span<Bytes>... given) const {
    check(given...);
    const data_views all{in, out, inout};
    body(&all);
  }

 private:
  template <class... Bytes>
  void check(std::span<Bytes>... given) const {
    ASSERT_EQ(sizeof...(given), named.size());
    [[maybe_unused]] std::size_t i = 0;
    [[maybe_unused]] const auto same = [&](const byte* first, std::size_t count) {
      EXPECT_EQ(first, named[i].bytes.data()) << "access " << i;
      EXPECT_EQ(count, named[i].bytes.size()) << "access " << i;
      i++;
    };
    (same(given.data(), given.size()), ...);
  }
};

// Turns the first of `rest` into an access, until none is left. `Last`: the mode of the one before.
template <int Last, bool Sorted, class Spawn, class... Made>
void name_rest(const Spawn& spawn, std::span<const named_bytes> rest, const Made&... made) {
  if (rest.empty()) return spawn(made...);
  constexpr std::size_t before = sizeof...(Made);
  const auto go_on = [&]<int Mode>(std::integral_constant<int, Mode>, const auto& access) {
    constexpr bool sorted = Sorted && Mode >= Last;
    if constexpr (before < most_ranges && (sorted || before < most_ranges_in_any_order))
      name_rest<Mode, sorted>(spawn, rest.subspan(1), made..., access);
    else throw std::logic_error("more ranges than a test's task can name in this order");
  };
  const std::span<byte> bytes = rest.front().bytes;
  switch (rest.front().how) {
    case mode::in: go_on(std::integral_constant<int, 0>(), in(ref(std::span<const byte>(bytes)))); break;
    case mode::out: go_on(std::integral_constant<int, 1>(), out(ref(bytes))); break;
    case mode::inout: go_on(std::integral_constant<int, 2>(), inout(ref(bytes))); break;
  }
}

}  // namespace

void spawn_ranges(runtime& rt, scope* s, const std::vector<named_bytes>& ranges, const named_data* named,
                  ranges_body body) {
  task_body task{ranges, std::move(body)};
  const auto spawn = [&](const auto&... accesses) {
    if (s != nullptr) s->spawn(accesses..., std::move(task));
    else rt.spawn(accesses..., std::move(task));
  };
  const auto spawn_with_data = [&](const auto&... accesses) {
    spawn(in(named->in), out(named->out), inout(named->inout), accesses...);
  };
  if (named != nullptr) name_rest<-1, true>(spawn_with_data, ranges);
  else name_rest<-1, true>(spawn, ranges);
}

}  // namespace weir::test
