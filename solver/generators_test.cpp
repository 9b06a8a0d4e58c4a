// Generators: sizes and values, determinism, and what descriptions are refused.
#include <weir/solver/generators.hpp>

#include "test_support.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace weir::solver {
namespace {

bool has_symmetric_pattern(const matrix& a) {
  const auto columns = [&](index row) { return std::span(a.columns).subspan(static_cast<std::size_t>(a.row_begin[row]), static_cast<std::size_t>(a.row_begin[row + 1] - a.row_begin[row])); };
  for (index i = 0; i < a.rows; i++)
    for (const index j : columns(i))
      if (!std::ranges::binary_search(columns(j), i)) return false;
  return true;
}

TEST(generators, cube_is_the_laplacian) {
  const matrix a = cube(4);
  check(a);
  EXPECT_EQ(a.rows, 64);
  EXPECT_EQ(a.entries(), 64u * 7 - 6 * 16);  // Rossignon et al., PDSEC 2013, section IV, Table I: 6,940,000 for 100
  const dense d(a);
  for (std::size_t i = 0; i < 64; i++)
    for (std::size_t j = 0; j < 64; j++) {
      const auto apart = [&](std::size_t scale) { return std::abs(static_cast<int>(i / scale % 4) - static_cast<int>(j / scale % 4)); };
      const int distance = apart(1) + apart(4) + apart(16);
      EXPECT_EQ(d.at(i, j), distance == 0 ? 6 : distance == 1 ? -1 : 0);
    }
}

TEST(generators, reservoirs_have_blocks_and_wide_permeabilities) {
  const permeability k = channelled(30, 60, 20, 1);
  const auto [least, most] = std::ranges::minmax_element(k.kx);
  EXPECT_GT(*least, 0);
  EXPECT_GT(*most / *least, 1e4);
  const matrix a = reservoir(k);
  check(a);
  EXPECT_EQ(a.block, 3);
  EXPECT_EQ(a.rows, 30 * 60 * 20 - 903);  // 30 x 60 x 12 cells times 27,579 / 660,000
  EXPECT_NO_THROW(check_structural_rank(a));
  EXPECT_TRUE(has_symmetric_pattern(a));
}

TEST(generators, the_project_has_as_many_active_cells_as_in_the_paper) {
  const permeability k = channelled(60, 220, 85, 1);
  EXPECT_EQ(std::ranges::count_if(k.porosity, [](double p) { return p > 0; }), 1'094'421);
  EXPECT_TRUE(std::ranges::all_of(std::span(k.porosity).first(60 * 220 * 35), [](double p) { return p > 0; }));
}

// Entry by entry: cells with pores are beside each other as they were in the box.
TEST(generators, cells_without_pores_have_no_rows) {
  permeability k = channelled(3, 4, 5, 2);
  std::ranges::fill(k.porosity, 0.2);
  const matrix whole = reservoir(k);
  const std::size_t closed[] = {0, 17, 18, 30, 59};  // corners, two side by side, one inside
  for (const std::size_t c : closed) k.porosity[c] = 0;
  const matrix a = reservoir(k);
  check(a);
  EXPECT_EQ(a.rows, 55);
  std::vector<std::size_t> cells;
  for (std::size_t c = 0; c < 60; c++)
    if (k.porosity[c] > 0) cells.push_back(c);
  const dense d(a), e(whole);
  for (std::size_t i = 0; i < d.n; i++) {
    EXPECT_NE(d.at(i, i), 0);
    for (std::size_t j = 0; j < d.n; j++) {
      if (i / 3 == j / 3) continue;
      EXPECT_EQ(d.at(i, j), e.at(3 * cells[i / 3] + i % 3, 3 * cells[j / 3] + j % 3));
    }
  }
  EXPECT_TRUE(has_symmetric_pattern(a));
}

TEST(generators, reservoirs_without_pores_are_refused) {
  permeability k = channelled(2, 2, 2, 1);
  std::ranges::fill(k.porosity, 0.0);
  EXPECT_THROW(reservoir(k), matrix_error);
  k.porosity.pop_back();
  EXPECT_THROW(reservoir(k), matrix_error);
}

// What leaves a cell arrives next door: over all rows of a phase, derivatives by an unknown add up to what accumulates.
TEST(generators, reservoirs_conserve_each_phase) {
  const matrix a = reservoir(channelled(4, 5, 6, 3)), alone = reservoir(channelled(1, 1, 1, 3));
  const dense d(a), accumulation(alone);
  for (std::size_t j = 0; j < d.n; j++)
    for (std::size_t phase = 0; phase < 3; phase++) {
      double sum = 0, largest = 0;
      for (std::size_t i = phase; i < d.n; i += 3) sum += d.at(i, j), largest = std::max(largest, std::abs(d.at(i, j)));
      EXPECT_NEAR(sum, accumulation.at(phase, j % 3), 1e-12 * largest);
    }
}

TEST(generators, seeds_decide) {
  EXPECT_EQ(channelled(6, 7, 8, 5).kx, channelled(6, 7, 8, 5).kx);
  EXPECT_NE(channelled(6, 7, 8, 5).kx, channelled(6, 7, 8, 6).kx);
  EXPECT_EQ(generate("spe10-like:3x4x5").values, generate("spe10-like:3x4x5,seed=1").values);
}

TEST(generators, descriptions) {
  EXPECT_EQ(generate("cube:3").values, cube(3).values);
  for (const char* bad : {"", "cube", "cube:", "cube:x", "cube:-3", "cube:0", "cube:3x3", "cube:99999999999", "cube:100000", "spe10-like:3", "spe10-like:3x4", "spe10-like:3x4x", "spe10-like:3x4x5x6",
                          "spe10-like:3x4x5,seed=", "spe10-like:3x4x5,seed=-1", "spe10-like:3x4x5,grain=1", "spe10-like:0x4x5", "spe10-like:2000000000x2000000000x2000000000", "spe10:", "spe10:/no/such/file", "sphere:3"})
    EXPECT_THROW(generate(bad), matrix_error) << bad;
}

class spe10_file : public testing::Test {
 protected:
  ~spe10_file() override { std::filesystem::remove(path); }
  void write(std::size_t count, const std::string& end) {
    std::ofstream out(path);
    for (std::size_t k = 0; k < count; k++) out << (k % 6 == 0 ? " \n" : "\t") << (k < cells ? "1.5" : k < 2 * cells ? "2" : "0.0000");
    out << end;
  }
  static constexpr std::size_t cells = 60 * 220 * 85;
  const std::filesystem::path path = std::filesystem::temp_directory_path() / ("weir-spe10-" + std::to_string(::getpid()));
};

TEST_F(spe10_file, is_read) {
  write(3 * cells, "\n");
  const permeability k = read_spe10(path);
  EXPECT_EQ(k.nx, 60);
  EXPECT_EQ(k.kx[cells - 1], 1.5);
  EXPECT_EQ(k.ky[0], 2);
  EXPECT_EQ(k.kz[5], 1e-6);
}

TEST_F(spe10_file, of_another_length_or_with_words_is_refused) {
  write(3 * cells - 1, "");
  EXPECT_THROW(read_spe10(path), matrix_error);
  for (const char* end : {" 1", " -1", " x", " nan"}) {
    write(3 * cells - (end[1] == '1' ? 0 : 1), end);
    EXPECT_THROW(read_spe10(path), matrix_error) << end;
  }
}

}  // namespace
}  // namespace weir::solver
