// Permeabilities of a reservoir: made up, or read.
#include <weir/solver/generators.hpp>

#include "grid.hpp"
#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace weir::solver {
namespace {

// splitmix64 (Steele, Lea and Flood, OOPSLA 2014): the same numbers everywhere, unlike the standard distributions.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  double uniform(double low, double high) { return low + (high - low) * (static_cast<double>(next() >> 11) * 0x1p-53); }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

constexpr double two_pi = 2 * std::numbers::pi;

// A smooth field of mean 0 and variance 1: a sum of plane waves of random direction and phase.
class smooth_field {
 public:
  // Wavelengths in cells, shortest and longest, in each direction.
  smooth_field(random_numbers& random, double shortest, double longest) {
    for (wave& w : waves_) {
      const double angle = random.uniform(0, two_pi), frequency = two_pi / random.uniform(shortest, longest);
      w = {frequency * std::cos(angle), frequency * std::sin(angle), random.uniform(-1, 1) * two_pi / shortest, random.uniform(0, two_pi)};
    }
  }
  double operator()(index x, index y, index z) const {
    double sum = 0;
    for (const wave& w : waves_) sum += std::cos(w.x * x + w.y * y + w.z * z + w.phase);
    return sum * std::sqrt(2.0 / waves);
  }

 private:
  static constexpr int waves = 12;
  struct wave {
    double x, y, z, phase;
  };
  wave waves_[waves];
};

// A channel of sand in one layer: its middle swings about a line along y.
struct channel {
  double middle, swing, frequency, phase, half_width;

  channel(random_numbers& random, index nx, index ny)
      : middle(random.uniform(0, nx)), swing(random.uniform(0.03, 0.15) * nx), frequency(two_pi / (random.uniform(0.3, 1.0) * ny)), phase(random.uniform(0, two_pi)), half_width(random.uniform(0.01, 0.05) * nx + 0.5) {}
  bool holds(index x, index y) const { return std::abs(x - middle - swing * std::sin(frequency * y + phase)) < half_width; }
};

// In some layers there are few channels, in others sand prevails; every fourth layer starts a new set.
std::vector<channel> make_channels(random_numbers& random, index nx, index ny) {
  std::vector<channel> all;
  for (int n = static_cast<int>(random.uniform(2, 9)); n > 0; n--) all.emplace_back(random, nx, ny);
  return all;
}

constexpr index layers_of_a_set = 4;
constexpr double usual_porosity = 0.2;

// Of the project's 660,000 cells in its lower 50 layers, here all those without pores: 1,094,421 of 1,122,000 cells are active.
constexpr std::int64_t lower_cells_of_project = 60 * 220 * 50, inactive_cells_of_project = 1'122'000 - 1'094'421;

// Takes the pores from the tightest cells, from `begin` on: as large a share of them as in the project.
void close_tightest(const array<double>& k, std::size_t begin, array<double>& porosity) {
  const auto lower = static_cast<std::int64_t>(k.size() - begin);
  const std::int64_t closed = (2 * lower * inactive_cells_of_project + lower_cells_of_project) / (2 * lower_cells_of_project);
  std::vector<std::size_t> cells(k.size() - begin);
  std::iota(cells.begin(), cells.end(), begin);
  const auto end = cells.begin() + closed;
  std::ranges::nth_element(cells, end, {}, [&](std::size_t i) { return std::pair(k[i], i); });
  std::for_each(cells.begin(), end, [&](std::size_t i) { porosity[i] = 0; });
}

}  // namespace

permeability channelled(index nx, index ny, index nz, std::uint64_t seed) {
  const detail::box b{nx, ny, nz};
  detail::check_box(b, "spe10-like");
  const auto cells = static_cast<std::size_t>(b.cells());
  permeability k{nx, ny, nz, array<double>(cells), array<double>(cells), array<double>(cells), array<double>(cells, usual_porosity)};
  random_numbers random(seed);
  const smooth_field coarse(random, 15, 60), fine(random, 4, 12);
  const auto upper_layers = static_cast<index>(std::int64_t{nz} * 35 / 85);
  std::vector<channel> channels;
  for (index z = 0; z < nz; z++) {
    if ((z - upper_layers) % layers_of_a_set == 0) channels = make_channels(random, nx, ny);
    for (index y = 0; y < ny; y++)
      for (index x = 0; x < nx; x++) {
        const double smooth = 0.8 * coarse(x, y, z) + 0.6 * fine(x, y, z);
        const bool sand = z >= upper_layers && std::ranges::any_of(channels, [&](const channel& c) { return c.holds(x, y); });
        const double log10 = z < upper_layers ? 1.7 + 0.9 * smooth : sand ? 3.0 + 0.3 * smooth : -0.5 + 0.8 * smooth;
        const auto i = static_cast<std::size_t>(b.cell(x, y, z));
        k.kx[i] = k.ky[i] = std::pow(10.0, log10);
        // Vertically, sand conducts a third as well; elsewhere thin layers of shale stop most of the flow.
        k.kz[i] = k.kx[i] * (sand ? 0.3 : 1e-3);
      }
  }
  close_tightest(k.kx, static_cast<std::size_t>(b.cell(0, 0, upper_layers)), k.porosity);
  return k;
}

permeability read_spe10(const std::filesystem::path& file) {
  constexpr index nx = 60, ny = 220, nz = 85;
  constexpr std::size_t cells = std::size_t{nx} * ny * nz;
  constexpr double least = 1e-6;
  const std::string text = detail::read_file(file);
  detail::text_reader in(text, file.string());
  array<double> values;
  values.reserve(3 * cells);
  while (in.next_line())
    for (std::string_view w = in.word(); !w.empty(); w = in.word()) {
      double v = 0;
      const auto [end, problem] = std::from_chars(w.data(), w.data() + w.size(), v);
      if (problem != std::errc() || end != w.data() + w.size() || !std::isfinite(v) || v < 0) in.fail("\"" + detail::shortened(w) + "\": expected a permeability, a number that is not negative");
      if (values.size() == 3 * cells) in.fail("\"" + detail::shortened(w) + "\" is too much: expected 3 x 60 x 220 x 85 permeabilities");
      values.push_back(std::max(v, least));
    }
  if (values.size() != 3 * cells) in.fail("the file ends after " + std::to_string(values.size()) + " permeabilities: expected 3 x 60 x 220 x 85");
  const auto part = [&](std::size_t k) { return array<double>(values.begin() + static_cast<std::ptrdiff_t>(k * cells), values.begin() + static_cast<std::ptrdiff_t>((k + 1) * cells)); };
  return {nx, ny, nz, part(0), part(1), part(2), array<double>(cells, usual_porosity)};
}

}  // namespace weir::solver
