// Damaged Matrix Market files: refused with name and line, or a matrix whose arrays fit each other.
#include "mutation.hpp"

#include <weir/solver/matrix_market.hpp>

namespace weir::fuzz {
namespace {

using namespace weir::solver;

constexpr std::string_view words[] = {"%%MatrixMarket matrix coordinate real general\n", "%%MatrixMarket matrix array real general\n", "symmetric", "skew-symmetric", "integer", "pattern", "complex", "coordinate", "array", "%", "% a comment\n", "\n", "\r\n", "\t", " ", "1 1 1\n", "3 3 -4.5e-3\n", "1", "-", ".", "e", "inf", "nan"};
constexpr std::string_view matrices[] = {
    "%%MatrixMarket matrix coordinate real general\n% made up\n3 3 5\n1 1 4\n2 2 5\n3 3 6\n1 3 1\n3 1 2\n",
    "%%MatrixMarket matrix coordinate integer symmetric\n4 4 6\n1 1 4\n2 2 5\n3 3 6\n4 4 7\n3 1 2\n4 2 -1\n",
    "%%MatrixMarket matrix coordinate real general\r\n2 2 3\r\n\r\n1 1 1.5e+300\r\n2 2 -2.5E-300\r\n2 1 .5\r\n"};
constexpr std::string_view vectors[] = {"%%MatrixMarket matrix array real general\n3 1\n7\n10.25\n-2e3\n", "%%MatrixMarket matrix array integer general\n% one\n2 1\n1\n2\n"};

void expect_refusal(const matrix_error& e) {
  const std::string message = e.what();
  expect_readable(message, "FILE:");
  ASSERT_EQ(message.find('\n'), std::string::npos) << message;
}

void expect_harmless_matrix(const std::string& text) {
  try {
    const matrix a = parse_matrix_market(text, "FILE");
    check(a);
    ASSERT_GE(a.rows, 1);
    ASSERT_LE(a.entries(), text.size());
  } catch (const matrix_error& e) {
    expect_refusal(e);
  }
}

void expect_harmless_vector(const std::string& text) {
  try {
    const array<double> v = parse_vector(text, "FILE");
    ASSERT_GE(v.size(), 1u);
    ASSERT_LE(v.size(), text.size());
    for (const double x : v) ASSERT_TRUE(std::isfinite(x));
  } catch (const matrix_error& e) {
    expect_refusal(e);
  }
}

TEST(fuzz, matrices) {
  mutator m(test::new_seed(), words);
  for (std::size_t i = 0; i < inputs(); i++) {
    const std::string text = m.damaged(std::string(matrices[m.up_to(std::size(matrices) - 1)]));
    expect_harmless_matrix(text);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "input " << i << ": " << testing::PrintToString(text);
  }
}

TEST(fuzz, vectors) {
  mutator m(test::new_seed(), words);
  for (std::size_t i = 0; i < inputs(); i++) {
    const std::string text = m.damaged(std::string(vectors[m.up_to(std::size(vectors) - 1)]));
    expect_harmless_vector(text);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "input " << i << ": " << testing::PrintToString(text);
  }
}

}  // namespace
}  // namespace weir::fuzz
