// Damaged coarse strings: refused with the place, or algorithms whose text is read back as they are.
#include "mutation.hpp"

#include "graph/graph.hpp"

namespace weir::fuzz {
namespace {

constexpr std::string_view words[] = {"S", "C", "F(", "D(", "C(", ")", "(", "32", "1000000000", "auto", " ", "none", "\n"};
constexpr std::string_view good[] = {"S", "C", "CD(4)", "SD(300)F(32)", "F(32)", "D(400)D(30)", "C(16)CSF(1)"};

void expect_harmless(const std::string& text) {
  try {
    const std::vector<graphs::coarsening> steps = graphs::parse_coarse_string(text);
    ASSERT_FALSE(steps.empty());
    const std::string again = graphs::to_string(steps);
    ASSERT_EQ(graphs::to_string(graphs::parse_coarse_string(again)), again);
    for (const graphs::coarsening& s : steps) ASSERT_NE(std::string_view("SCDF").find(s.algorithm), std::string_view::npos);
  } catch (const configuration_error& e) {
    const std::string message = e.what();
    expect_readable(message, "coarse string: ");
    // The last line is blank but for the caret, under a character of the string or behind its end.
    const std::string last = message.substr(message.rfind('\n') + 1);
    ASSERT_EQ(last.back(), '^') << message;
  }
}

TEST(fuzz, coarse_strings) {
  mutator m(test::new_seed(), words);
  for (std::size_t i = 0; i < inputs(); i++) {
    const std::string text = m.damaged(std::string(good[m.up_to(std::size(good) - 1)]));
    expect_harmless(text);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "input " << i << ": " << testing::PrintToString(text);
  }
}

}  // namespace
}  // namespace weir::fuzz
