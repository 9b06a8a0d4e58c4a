// The matrix of a reservoir simulation: conservation of water, oil and gas in each cell, linearised.
//
// In a cell, pore volume V, the balance of phase p over a time step dt is
//     V S_p (1 + c_p P) / dt + sum over neighbours of T m_p(S_p) (P - P') = known,
// with saturations S_w + S_o + S_g = 1, compressibilities c_p, mobilities m_p = S_p^2 / viscosity taken from the upstream
// cell, and T the transmissibility of the face: the harmonic mean of both permeabilities times its area over the distance.
// Derivatives by P, S_w and S_g give a 3 x 3 block for each cell and each of its faces.
#include <weir/solver/generators.hpp>

#include "grid.hpp"

#include <algorithm>

namespace weir::solver {
namespace {

constexpr int phases = 3;  // water, oil, gas
constexpr int unknowns = 3;  // pressure, saturation of water, saturation of gas
constexpr int block_numbers = phases * unknowns;

// Feet, psi, days, centipoise, millidarcy: the units of the project; the factor makes barrels a day of them.
constexpr double dx = 20, dy = 10, dz = 2;
constexpr double darcy_factor = 1.127e-3;
constexpr double barrels_of_a_cell = dx * dy * dz / 5.615;
constexpr double days = 1;
constexpr double viscosity[phases] = {0.3, 3, 0.03};
constexpr double compressibility[phases] = {3e-6, 1.4e-5, 5e-4};
constexpr double saturation[phases] = {0.35, 0.45, 0.2};
constexpr double pressure_gradient = 0.1;  // psi a cell along y, falling

double mobility(int p) { return saturation[p] * saturation[p] / viscosity[p]; }
double mobility_slope(int p) { return 2 * saturation[p] / viscosity[p]; }

// d S_p / d unknown: the saturation of oil is what the others leave.
double saturation_slope(int p, int unknown) {
  if (unknown == 0) return 0;
  if (p == 1) return -1;
  return (p == 0) == (unknown == 1) ? 1 : 0;
}

double transmissibility(double k, double other, double area, double distance) { return darcy_factor * area / distance * 2 * k * other / (k + other); }

class assembly {
 public:
  assembly(const permeability& k, const detail::box& b) : k_(k), box_(b) {}

  void operator()(detail::side s, index cell, index neighbour, double* block) const {
    std::fill_n(block, block_numbers, 0.0);
    if (s == detail::itself) diagonal(cell, block);
    else add_face(s, cell, neighbour, block, false);
  }

 private:
  void diagonal(index cell, double* block) const {
    const double volume = barrels_of_a_cell * k_.porosity[static_cast<std::size_t>(cell)] / days;
    for (int p = 0; p < phases; p++) {
      block[p] += volume * saturation[p] * compressibility[p];
      for (int u = 1; u < unknowns; u++) block[u * phases + p] += volume * saturation_slope(p, u);
    }
    const index x = cell % box_.nx, y = cell / box_.nx % box_.ny, z = cell / (box_.nx * box_.ny);
    detail::for_each_side(box_, x, y, z, [&](detail::side s, index neighbour) {
      if (s != detail::itself) add_face(s, cell, neighbour, block, true);
    });
  }

  // The derivatives of the flow from the cell to its neighbour, by the cell's own unknowns or by the neighbour's.
  void add_face(detail::side s, index cell, index neighbour, double* block, bool own) const {
    const double t = face_transmissibility(s, cell, neighbour);
    const double drop = s == detail::above_y ? pressure_gradient : s == detail::below_y ? -pressure_gradient : 0;  // P - P'
    const bool upstream = own ? drop > 0 : drop < 0;
    for (int p = 0; p < phases; p++) {
      block[p] += (own ? 1 : -1) * t * mobility(p);
      if (!upstream) continue;
      for (int u = 1; u < unknowns; u++) block[u * phases + p] += t * mobility_slope(p) * saturation_slope(p, u) * drop;
    }
  }
  double face_transmissibility(detail::side s, index cell, index neighbour) const {
    switch (s) {
      case detail::below_x:
      case detail::above_x: return transmissibility(k_.kx[cell], k_.kx[neighbour], dy * dz, dx);
      case detail::below_y:
      case detail::above_y: return transmissibility(k_.ky[cell], k_.ky[neighbour], dx * dz, dy);
      default: return transmissibility(k_.kz[cell], k_.kz[neighbour], dx * dy, dz);
    }
  }

  const permeability& k_;
  const detail::box& box_;
};

// The cells that hold something, numbered as they lie.
array<index> rows_of_cells(const array<double>& porosity) {
  array<index> rows(porosity.size());
  index next = 0;
  for (std::size_t i = 0; i < rows.size(); i++) rows[i] = porosity[i] > 0 ? next++ : detail::box::no_row;
  return rows;
}

}  // namespace

matrix reservoir(const permeability& k) {
  detail::box b{k.nx, k.ny, k.nz};
  detail::check_box(b, "reservoir");
  const auto cells = static_cast<std::size_t>(b.cells());
  if (k.kx.size() != cells || k.ky.size() != cells || k.kz.size() != cells) throw matrix_error("reservoir: expected a permeability for each of " + std::to_string(cells) + " cells in each direction");
  if (k.porosity.size() != cells) throw matrix_error("reservoir: expected a porosity for each of " + std::to_string(cells) + " cells");
  const auto active = static_cast<std::size_t>(std::ranges::count_if(k.porosity, [](double p) { return p > 0; }));
  if (active == 0) throw matrix_error("reservoir: no cell has pores; expected at least one");
  const array<index> rows = rows_of_cells(k.porosity);
  b.rows = rows;
  return detail::make_grid_matrix(b, unknowns, active, assembly(k, b));
}

}  // namespace weir::solver
