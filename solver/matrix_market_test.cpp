// Matrix Market files: what they mean, what is refused and on which line, that files come back as they were, and random bytes.
#include <weir/solver/matrix_market.hpp>

#include "test_support.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace weir::solver {
namespace {

const std::string general = "%%MatrixMarket matrix coordinate real general\n";

// The message of the refusal; empty if there was none.
std::string refusal(const std::string& text) {
  try {
    check(parse_matrix_market(text, "a.mtx"));
    return "";
  } catch (const matrix_error& e) {
    return e.what();
  }
}

void expect_refused(const std::string& text, const std::string& place, const std::string& says) {
  const std::string message = refusal(text);
  EXPECT_EQ(message.substr(0, place.size()), place) << message;
  EXPECT_NE(message.find(says), std::string::npos) << message;
}

TEST(matrix_market, entries_come_in_any_order) {
  const matrix a = parse_matrix_market("%%MatrixMarket  MATRIX coordinate Real general\r\n% comment\n\n 2 2 3\n2 2 -3e-1\n\n1 2 +1\n 1\t1 4 \n% end\n", "a");
  EXPECT_EQ(a.rows, 2);
  EXPECT_EQ(a.row_begin, (array<index>{0, 2, 3}));
  EXPECT_EQ(a.columns, (array<index>{0, 1, 1}));
  EXPECT_EQ(a.values, (array<double>{4, 1, -0.3}));
}

TEST(matrix_market, symmetric_matrices_are_expanded) {
  const matrix a = parse_matrix_market("%%MatrixMarket matrix coordinate integer symmetric\n2 2 3\n1 1 4\n2 1 5\n2 2 6", "a");
  EXPECT_EQ(a.columns, (array<index>{0, 1, 0, 1}));
  EXPECT_EQ(a.values, (array<double>{4, 5, 5, 6}));
}

TEST(matrix_market, refusals_say_line_and_reason) {
  expect_refused("", "a.mtx:1:", "header");
  expect_refused("hello\n", "a.mtx:1:", "header");
  expect_refused("%%MatrixMarket vector coordinate real general\n", "a.mtx:1:", "vector");
  expect_refused("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", "a.mtx:1:", "pattern");
  expect_refused("%%MatrixMarket matrix coordinate complex general\n", "a.mtx:1:", "complex");
  expect_refused("%%MatrixMarket matrix coordinate quaternion general\n", "a.mtx:1:", "quaternion");
  expect_refused("%%MatrixMarket matrix coordinate real skew-symmetric\n", "a.mtx:1:", "skew-symmetric");
  expect_refused("%%MatrixMarket matrix array real general\n1 1\n1\n", "a.mtx:1:", "dense");
  expect_refused("%%MatrixMarket matrix coordinate real general extra\n", "a.mtx:1:", "extra");
  expect_refused(general, "a.mtx:1:", "missing");
  expect_refused(general + "2 3 2\n1 1 1\n2 2 1\n", "a.mtx:2:", "square");
  expect_refused(general + "0 0 0\n", "a.mtx:2:", "0 rows");
  expect_refused(general + "2 2\n", "a.mtx:2:", "missing");
  expect_refused(general + "2 2 two\n", "a.mtx:2:", "two");
  expect_refused(general + "2 2 -1\n", "a.mtx:2:", "-1 entries");
  expect_refused(general + "2 2 1 1\n", "a.mtx:2:", "too much");
  expect_refused(general + "2 2 1\n1 1 1\n", "a.mtx:2:", "structurally singular");
  expect_refused(general + "2 2 3\n1 1 1.0000\n2 2 1.0000\n", "a.mtx:4:", "too few");
  expect_refused(general + "2 2 3000\n1 1 1\n2 2 1\n", "a.mtx:2:", "too few");
  expect_refused(general + "2 2 2\n1 1 1\n2 2 1\n1 2 1\n", "a.mtx:5:", "too many");
  expect_refused(general + "2 2 2\n1 1 1\n3 2 1\n", "a.mtx:4:", "the row is 3");
  expect_refused(general + "2 2 2\n1 1 1\n2 0 1\n", "a.mtx:4:", "the column is 0");
  expect_refused(general + "2 2 2\n1 1 1\n2 2\n    ", "a.mtx:4:", "value is missing");
  expect_refused(general + "2 2 2\n1 1 nan\n2 2 1\n", "a.mtx:3:", "not finite");
  expect_refused(general + "2 2 2\n1 1 -inf\n2 2 1\n", "a.mtx:3:", "not finite");
  expect_refused(general + "2 2 2\n1 1 1e999\n2 2 1\n", "a.mtx:3:", "1e999");
  expect_refused(general + "2 2 2\n1 1 1x\n2 2 1\n", "a.mtx:3:", "1x");
  expect_refused(general + "2 2 2\n1 1 1 2\n2 2 1\n", "a.mtx:3:", "too much");
  expect_refused(general + "2 2 3\n1 1 1\n2 2 1\n1 1 2\n", "a.mtx:5:", "twice, first on line 3");
  expect_refused(general + "99999999999 99999999999 1\n1 1 1\n", "a.mtx:2:", "rows");
  expect_refused("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n1 2 1\n", "a.mtx:4:", "above the diagonal");
  expect_refused("%%MatrixMarket matrix coordinate real symmetric\n2 2 4\n1 1 1\n2 1 1\n2 2 1\n2 1 3\n", "a.mtx:6:", "twice, first on line 4");
}

TEST(matrix_market, vectors) {
  EXPECT_EQ(parse_vector("%%MatrixMarket matrix array real general\n%\n3 1\n1\n-2.5\n1e3\n", "b"), (array<double>{1, -2.5, 1000}));
  const auto refused = [](const std::string& rest, const char* says) {
    try {
      parse_vector("%%MatrixMarket matrix " + rest, "b");
      ADD_FAILURE() << rest;
    } catch (const matrix_error& e) {
      EXPECT_NE(std::string(e.what()).find(says), std::string::npos) << e.what();
    }
  };
  refused("coordinate real general\n1 1 1\n1 1 1\n", "expected a vector");
  refused("array real general\n3 2\n", "2 columns");
  refused("array real general\n3 1\n1.0\n2.0\n", "too few");
  refused("array real general\n300 1\n1\n2\n", "room");
  refused("array real general\n1 1\n1\n2\n", "too many");
  refused("array real general\n1 1\nnan\n", "finite");
  refused("array real general\n0 1\n", "0 values");
}

class temporary_folder {
 public:
  temporary_folder() : path_(std::filesystem::temp_directory_path() / ("weir-solver-" + std::to_string(::getpid()))) { std::filesystem::create_directories(path_); }
  ~temporary_folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

TEST(matrix_market, files_come_back_as_they_were) {
  std::mt19937_64 random(test_seed());
  const temporary_folder folder;
  for (int block = 1; block <= largest_block; block++) {
    const matrix a = random_matrix(9, block, 3, random);
    write_matrix_market(folder / "a.mtx", a);
    EXPECT_EQ(dense(read_matrix_market(folder / "a.mtx")).values, dense(a).values);
  }
  const array<double> v = random_vector(1000, random);
  write_vector(folder / "v.mtx", v);
  EXPECT_EQ(read_vector(folder / "v.mtx"), v);
  EXPECT_THROW(read_vector(folder / "none.mtx"), matrix_error);
  EXPECT_THROW(read_matrix_market(folder / "."), matrix_error);
  EXPECT_THROW(write_vector(folder / "none/v.mtx", v), matrix_error);
}

// Valid files with random damage: each is a sound matrix or refused, and nothing else happens.
TEST(matrix_market, random_damage_is_refused_or_harmless) {
  std::mt19937_64 random(test_seed());
  const std::string files[] = {
      general + "% a comment\n4 4 6\n1 1 1.5\n2 2 2e1\n3 3 -3\n4 4 4\n1 4 0.25\n4 1 7\n",
      "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 2 2\n3 3 3\n3 1 -1\n",
      "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n",
  };
  const std::string words[] = {"symmetric", "skew-symmetric", "integer", "pattern", "complex", "array", "% a comment\n", "1 1 1\n", "\r\n", "inf", "nan", general};
  const std::string numbers[] = {"0", "1", "-1", "007", "2147483647", "2147483648", "9223372036854775808", "99999999999999999999999", "1e999", "1e-400", "0x10"};
  const std::string alphabet = "0123456789 \n\t\r%.-+eEnaifxM,\0\xff";
  const auto at_most = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n)(random); };
  int accepted = 0, refused = 0;
  for (std::size_t k = test_effort(30000); k > 0; k--) {
    std::string text = files[at_most(2)];
    for (std::size_t changes = at_most(4); changes-- > 0 && !text.empty();) {
      const std::size_t at = at_most(text.size() - 1);
      switch (at_most(6)) {
        case 0: text[at] = alphabet[at_most(alphabet.size() - 1)]; break;
        case 1: text.insert(at, 1, alphabet[at_most(alphabet.size() - 1)]); break;
        case 2: text.erase(at, 1 + at_most(8)); break;
        case 3: text.resize(at); break;
        case 4: text.insert(at, text.substr(at_most(text.size() - 1), at_most(20))); break;
        case 5: text.insert(at, words[at_most(std::size(words) - 1)]); break;
        default:  // the next number becomes another one
          if (const std::size_t begin = text.find_first_of("0123456789", at); begin != std::string::npos)
            text.replace(begin, std::min(text.find_first_not_of("0123456789", begin), text.size()) - begin, numbers[at_most(std::size(numbers) - 1)]);
      }
    }
    try {
      check(parse_matrix_market(text, "a"));
      accepted++;
    } catch (const matrix_error&) {
      refused++;
    }
    try {
      parse_vector(text, "a");
      accepted++;
    } catch (const matrix_error&) {
      refused++;
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace weir::solver
