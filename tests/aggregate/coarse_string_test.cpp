// Coarse strings: what they mean, and where a mistake is.
#include "graph/graph.hpp"

#include "tests/support/support.hpp"

#include <weir/error.hpp>

namespace weir::graphs {
namespace {

std::string refusal(const std::string& text) {
  return test::message_of<configuration_error>([&] { parse_coarse_string(text); });
}

TEST(coarse_string, names_algorithms_in_order) {
  const std::vector<coarsening> steps = parse_coarse_string("SD(300)CF(32)C(1000000000)");
  ASSERT_EQ(steps.size(), 5u);
  const char letters[] = {'S', 'D', 'C', 'F', 'C'};
  const std::optional<index> parameters[] = {{}, 300, {}, 32, 1000000000};
  for (std::size_t i = 0; i < 5; i++) {
    EXPECT_EQ(steps[i].algorithm, letters[i]);
    EXPECT_EQ(steps[i].parameter, parameters[i]);
  }
  EXPECT_EQ(to_string(steps), "SD(300)CF(32)C(1000000000)");
  EXPECT_EQ(to_string(parse_coarse_string("F(0032)")), "F(32)");
}

TEST(coarse_string, mistakes_are_pointed_at) {
  EXPECT_EQ(refusal(""), "coarse string: it is empty; expected one or more of S, C or C(n), D(m), F(n), T(n)\n  \n  ^");
  EXPECT_EQ(refusal("SX(3)"), "coarse string: there is no algorithm 'X'; expected S, C or C(n), D(m), F(n), T(n)\n  SX(3)\n   ^");
  EXPECT_EQ(refusal("CD"), "coarse string: D needs a parameter, the most tasks in an aggregate: D(32)\n  CD\n    ^");
  EXPECT_EQ(refusal("DF(4)"), "coarse string: D needs a parameter, the most tasks in an aggregate: D(32)\n  DF(4)\n   ^");
  EXPECT_EQ(refusal("S(3)"), "coarse string: S takes no parameter\n  S(3)\n   ^");
  EXPECT_EQ(refusal("D()"), "coarse string: expected the most tasks in an aggregate, a number\n  D()\n    ^");
  EXPECT_EQ(refusal("F(-3)"), "coarse string: expected the most aggregates in a level, a number\n  F(-3)\n    ^");
  EXPECT_EQ(refusal("D(3"), "coarse string: expected ')'\n  D(3\n     ^");
  EXPECT_EQ(refusal("D(3 )"), "coarse string: expected ')'\n  D(3 )\n     ^");
  EXPECT_EQ(refusal("SF(0)"), "coarse string: the most aggregates in a level of F must be 1 to 1000000000\n  SF(0)\n     ^");
  EXPECT_EQ(refusal("D(1)"), "coarse string: the most tasks in an aggregate of D must be 2 to 1000000000\n  D(1)\n    ^");
  EXPECT_EQ(refusal("C(1)"), "coarse string: the most tasks in an aggregate of C must be 2 to 1000000000\n  C(1)\n    ^");
  EXPECT_EQ(refusal("F(99999999999999999999999)"), "coarse string: the most aggregates in a level of F must be 1 to 1000000000\n  F(99999999999999999999999)\n    ^");
  EXPECT_EQ(refusal("S D(3)"), "coarse string: there is no algorithm ' '; expected S, C or C(n), D(m), F(n), T(n)\n  S D(3)\n   ^");
  EXPECT_EQ(refusal(std::string("S\n\0", 3)), "coarse string: there is no algorithm '?'; expected S, C or C(n), D(m), F(n), T(n)\n  S??\n   ^");
  EXPECT_EQ(refusal(std::string(1001, 'S')), "coarse string: 1001 characters, at most 1000 are read");
}

// Whatever is read: it is refused with a caret that lies within the string, or it means what it says.
TEST(coarse_string, anything_is_read_or_refused) {
  std::mt19937_64 random(test::new_seed());
  const std::string usual = "SCDF()0123456789";
  std::size_t good = 0;
  for (std::size_t i = 0; i < test::effort(200000); i++) {
    std::string text;
    for (std::size_t n = test::between(random, 0, 12); n > 0; n--)
      text += test::between(random, 0, 20) == 0 ? static_cast<char>(test::between(random, 0, 255)) : usual[test::between(random, 0, usual.size() - 1)];
    try {
      const std::vector<coarsening> steps = parse_coarse_string(text);
      good++;
      EXPECT_EQ(to_string(parse_coarse_string(to_string(steps))), to_string(steps));
      EXPECT_LE(to_string(steps).size(), text.size());
    } catch (const configuration_error& e) {
      const std::string message = e.what();
      const std::size_t last = message.rfind('\n');
      ASSERT_NE(last, std::string::npos) << message;
      ASSERT_EQ(message.back(), '^');
      EXPECT_LE(message.size() - last - 4, text.size()) << message;
    }
  }
  EXPECT_GT(good, 0u);
}

}  // namespace
}  // namespace weir::graphs
