// From lists of ranges to calls of spawn(), which wants their number and their modes at compile time.
#include "tests/oracle/spawn_ranges.hpp"

#include <algorithm>
#include <array>
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

// The same of a task that names groups.
struct group_body {
  std::array<std::vector<named_bytes>, 3> groups;  // by mode
  std::vector<named_bytes> tiles;
  ranges_body body;

  template <class... Bytes>
  void operator()(views<const byte> in, views<byte> out, views<byte> inout, tile<Bytes>... given) const {
    check(in, out, inout, given...);
    body(nullptr);
  }
  template <class... Bytes>
  void operator()(views<const word> data_in, views<word> data_out, views<word> data_inout, views<const byte> in,
                  views<byte> out, views<byte> inout, tile<Bytes>... given) const {
    check(in, out, inout, given...);
    const data_views all{data_in, data_out, data_inout};
    body(&all);
  }

 private:
  template <class... Bytes>
  void check(views<const byte> in, views<byte> out, views<byte> inout, tile<Bytes>... given) const {
    same(in, groups[0]);
    same(out, groups[1]);
    same(inout, groups[2]);
    ASSERT_EQ(sizeof...(given), tiles.size());
    [[maybe_unused]] std::size_t i = 0;
    (same(tile<const byte>(given), tiles[i++]), ...);
  }
  template <class Byte>
  static void same(views<Byte> given, const std::vector<named_bytes>& named) {
    EXPECT_TRUE(std::ranges::equal(given, named, [](std::span<Byte> g, const named_bytes& n) {
      return g.data() == n.bytes.data() && g.size() == n.bytes.size();
    }));
  }
  static void same(tile<const byte> given, const named_bytes& named) {
    EXPECT_EQ(given.data(), named.bytes.data());
    EXPECT_EQ(given.rows(), named.rows);
    EXPECT_EQ(given.columns(), named.bytes.size());
    EXPECT_EQ(given.stride(), named.stride);
    EXPECT_EQ(given.row(given.rows() - 1).data(), named.bytes.data() + (named.rows - 1) * named.stride);
  }
};

// As name_rest, of tiles.
template <class Spawn, class... Made>
void name_tiles(const Spawn& spawn, std::span<const named_bytes> rest, const Made&... made) {
  if (rest.empty()) return spawn(made...);
  if constexpr (sizeof...(Made) < most_tiles) {
    const tile<byte> t = rest.front().as_tile();
    switch (rest.front().how) {
      case mode::in: return name_tiles(spawn, rest.subspan(1), made..., in(ref(t)));
      case mode::out: return name_tiles(spawn, rest.subspan(1), made..., out(ref(t)));
      case mode::inout: return name_tiles(spawn, rest.subspan(1), made..., inout(ref(t)));
    }
  } else {
    throw std::logic_error("more tiles than a test's task can name");
  }
}

void spawn_groups(runtime& rt, scope* s, const std::vector<named_bytes>& ranges, const named_data* named,
                  ranges_body body) {
  group_body task{{}, {}, std::move(body)};
  std::array<std::vector<memory_range<byte>>, 3> groups;
  for (const named_bytes& n : ranges) {
    const auto how = static_cast<std::size_t>(n.how);
    if (n.is_tile()) {
      task.tiles.push_back(n);
    } else {
      task.groups[how].push_back(n);
      groups[how].push_back(ref(n.bytes));
    }
  }
  const std::vector<named_bytes> tiles = task.tiles;
  const auto spawn = [&](const auto&... accesses) {
    if (s != nullptr) s->spawn(accesses..., std::move(task));
    else rt.spawn(accesses..., std::move(task));
  };
  name_tiles(
      [&](const auto&... named_tiles) {
        if (named == nullptr) return spawn(in(groups[0]), out(groups[1]), inout(groups[2]), named_tiles...);
        spawn(in(named->in), out(named->out), inout(named->inout), in(groups[0]), out(groups[1]), inout(groups[2]),
              named_tiles...);
      },
      std::span<const named_bytes>(tiles));
}

}  // namespace

void spawn_ranges(runtime& rt, scope* s, const std::vector<named_bytes>& ranges, const named_data* named,
                  ranges_body body, bool in_groups) {
  if (in_groups || std::ranges::any_of(ranges, &named_bytes::is_tile))
    return spawn_groups(rt, s, ranges, named, std::move(body));
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
