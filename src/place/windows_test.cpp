// Windows looked at ahead: what a policy sees is the same, however far somebody has looked before.
#include <gtest/gtest.h>

#include "place/test_task.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weir::place {
namespace {

using detail::access_mode;

// As text, to be compared.
std::string described(const task_window& w) {
  std::string all;
  const auto add = [&](auto... numbers) {
    ((all += std::to_string(numbers) + ' '), ...);
    all += '\n';
  };
  for (std::size_t i = 0; i < w.size(); i++)
    add(w.bytes()[i], w.cost_ns()[i], w.node(i), w.own_memory()[i].most, w.own_memory()[i].written_page);
  for (const task_window::link& l : w.links()) add(l.from, l.to, l.bytes);
  for (const task_window::bond& b : w.bonds()) add(b.task, b.node, b.bytes, b.own_memory);
  return all;
}

class looked_at_ahead : public testing::Test {
 protected:
  looked_at_ahead() {
    lasting_1_ms.note(detail::task_length::long_, 1'000'000);
    known.placed(array, 1 << 20, 1);
  }
  static constexpr std::uintptr_t array = std::uintptr_t{1} << 40;

  // Each reads what the one before leaves behind, a datum that lies somewhere, and a page.
  void make_chain(std::size_t length, std::uintptr_t memory = array) {
    for (std::size_t i = 0; i < length; i++) {
      const range page{memory + i % 256 * 4096, 4096, access_mode::in};
      tasks.push_back(std::make_unique<test_task>(
          std::vector<part>{{1000, static_cast<int>(i % 4)}, {100 + i, detail::node_unknown}},
          std::vector<part>{{100, detail::node_unknown}}, std::vector<range>{page}));
      frames.push_back(tasks.back()->of_function(lasting_1_ms).get());
      flow::version& made = *frames.back()->version_at(0);
      made.frame_offset =
          static_cast<std::uint32_t>(reinterpret_cast<char*>(&made) - reinterpret_cast<char*>(frames.back()));
      if (i != 0) frames.back()->access_at(1)->source = frames[i - 1]->version_at(0);
    }
  }
  std::vector<window_builder::member> members(std::size_t first, std::size_t end) const {
    std::vector<window_builder::member> some;
    for (std::size_t i = first; i < end; i++) some.push_back({frames[i], i < 5 ? static_cast<int>(i % 4) : -1});
    return some;
  }

  memory::regions known{os::pretended_memory(), {0, 1, 2, 3}};
  test_view v{machine::synthetic(4, 1)};
  detail::task_ops lasting_1_ms{nullptr, nullptr};
  std::vector<std::unique_ptr<test_task>> tasks;
  std::vector<flow::frame*> frames;
};

TEST_F(looked_at_ahead, in_pieces_it_is_the_same) {
  make_chain(300);
  window_builder at_once(v.seen(), &known), in_pieces(v.seen(), &known);
  EXPECT_TRUE(at_once.add(members(0, 250)));
  for (std::size_t i = 0; i < 300; i += 7) in_pieces.add(members(i, std::min<std::size_t>(i + 7, 300)));
  EXPECT_EQ(in_pieces.size(), 300u);
  in_pieces.end_at(250);
  const task_window expected = at_once.take(true), w = in_pieces.take(true);
  EXPECT_EQ(expected.links().size(), 249u);
  EXPECT_EQ(described(w), described(expected));
  EXPECT_EQ(w.kept_from(), 250u);
  EXPECT_TRUE(w.is_cut());
}

TEST_F(looked_at_ahead, says_what_has_no_place) {
  make_chain(20);
  test_task writes({}, {}, {{array + (std::uintptr_t{1} << 30), 4096, access_mode::out}});
  frames.push_back(writes.of_function(lasting_1_ms).get());
  window_builder b(v.seen(), &known);
  EXPECT_TRUE(b.add(members(0, 20)));
  EXPECT_FALSE(b.add(members(20, 21)));
  EXPECT_TRUE(b.add(members(1, 2))) << "of those that were added last";
}

// Sees windows of 100, and remembers what they were.
class watching final : public policy {
 public:
  explicit watching(bool knows = false) : knows_(knows) {}
  bool recognises() const override { return knows_; }
  std::size_t window() const override { return 100; }
  void created(task_window& w) override {
    seen.push_back(described(w));
    for (std::size_t i = 0; i < w.size(); i++) w.place(i, static_cast<int>(i % 4));
  }
  std::vector<std::string> seen;

 private:
  const bool knows_;
};

TEST_F(looked_at_ahead, a_window_is_seen_as_it_would_be) {
  make_chain(130);
  std::vector<std::string> seen;
  for (const bool ahead : {false, true}) {
    watching policy;
    policy.begin(v.seen());
    windows open(policy, v.seen(), false);
    open.set_user_memory(known);
    flow::ready_list ready;
    std::uint64_t look_again_ns = windows::never_ns;
    int looks = 0;
    for (std::size_t i = 0; i < frames.size(); i++) {
      windows::mark(*frames[i]);
      open.add(*frames[i], 0, 0, ready);
      while (ahead && open.look_ahead(1000 * i, 3, look_again_ns)) looks++;
      if (ahead && i == 98) {
        EXPECT_FALSE(open.look_ahead(1000 * i, 2, look_again_ns)) << "too few are new";
      }
    }
    EXPECT_EQ(looks, ahead ? 6 : 0) << "16 tasks each, of 100";
    EXPECT_EQ(look_again_ns, ahead ? 36'000u : windows::never_ns) << "since the seventeenth task";
    EXPECT_TRUE(open.plan(ready));
    for (std::size_t i = 0; i < frames.size(); i++) {
      EXPECT_EQ(flow::placed_node(*frames[i]), static_cast<int>(i % 4));
      flow::set_affinity(*frames[i], detail::node_unknown);
    }
    ASSERT_EQ(policy.seen.size(), 1u);
    seen.push_back(policy.seen[0]);
  }
  EXPECT_EQ(seen[1], seen[0]);
}

// Tasks that were looked at are recognised before the window is due, and are not in it.
TEST_F(looked_at_ahead, what_is_known_by_now_is_not_in_the_window) {
  make_chain(130);
  std::vector<std::string> seen;
  for (const bool ahead : {false, true}) {
    watching policy(true);
    policy.begin(v.seen());
    windows open(policy, v.seen(), false);
    open.set_user_memory(known);
    flow::ready_list ready;
    std::uint64_t look_again_ns = windows::never_ns;
    const auto add = [&](std::size_t i, std::uint64_t like) {
      windows::mark(*frames[i]);
      open.add(*frames[i], (like + 1) << recognition::place_bits, 0, ready);
      while (ahead && open.look_ahead(1000 * i, 0, look_again_ns)) continue;
    };
    for (std::size_t i = 0; i < 64; i++) add(i, i);
    EXPECT_TRUE(open.plan(ready));
    for (std::size_t i = 64; i < frames.size(); i++) add(i, i % 3 == 0 ? i - 64 : i);
    EXPECT_TRUE(open.plan(ready));
    for (std::size_t i = 66; i < frames.size(); i += 3)
      EXPECT_EQ(flow::placed_node(*frames[i]), static_cast<int>((i - 64) % 4));
    EXPECT_EQ(open.so_far().recognised, 22u);
    EXPECT_EQ(open.so_far().tasks, 64u + 44);
    ASSERT_EQ(policy.seen.size(), 2u);
    seen.push_back(policy.seen[1]);
    for (flow::frame* const f : frames) flow::set_affinity(*f, detail::node_unknown);
  }
  EXPECT_EQ(seen[1], seen[0]);
}

}  // namespace
}  // namespace weir::place
