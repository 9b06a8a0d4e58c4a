// Matrices made from a few words.
#pragma once

#include <weir/solver/matrix.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

namespace weir::solver {

// The Laplacian of a cube of n x n x n points by 7-point differences, zero on the boundary: 6 on the diagonal, -1 for each
// neighbour; symmetric and positive definite. Point (x, y, z) is row x + n * (y + n * z). Cube_100 of Rossignon, Henon,
// Aumage and Thibault, PDSEC 2013, section IV, is n = 100.
matrix cube(index n);

// Permeabilities of a box of cells, in millidarcy, x fastest, then y, then z downwards; all positive and finite. Of a cell with
// porosity 0 they do not matter: nothing flows through it.
struct permeability {
  index nx = 0, ny = 0, nz = 0;
  array<double> kx = {}, ky = {}, kz = {};
  array<double> porosity = {};  // share of the cell's volume, 0 to 1
};

// Made-up permeabilities with the character of the tenth SPE comparative solution project, model 2 (Christie and Blunt,
// SPE 66599, 2001): in the upper 35/85 of the layers smoothly varying over about four decades, below them winding channels
// of sand, along y, in tight rock, over about six. There the tightest cells have porosity 0, 4.2 % of them, so that of 60 x 220 x 85
// cells 1,094,421 are left, as in Rossignon et al., PDSEC 2013, Table I; the others have 0.2. The same for the same sizes and
// seed, on every machine up to rounding.
permeability channelled(index nx, index ny, index nz, std::uint64_t seed);

// The project's own file (spe_perm.dat): 60 x 220 x 85 values of kx, then as many of ky and of kz, as text. Zeros, which
// kz may have, become 1e-6. Porosity is in another file: here it is 0.2 everywhere. Throws matrix_error with the line of a value that is missing, negative or no number.
permeability read_spe10(const std::filesystem::path& file);

// One Newton step of an implicit three-phase flow simulation on the cells with pores, a row of blocks each: 7-point finite volumes with 3 x 3 blocks, rows
// for water, oil and gas, columns for pressure and the saturations of water and gas. Cells are 20 x 10 x 2 feet, as the
// project's; flow follows a pressure gradient along y, upstream weighted. Not symmetric.
matrix reservoir(const permeability&);

// cube:N, spe10-like:NXxNYxNZ[,seed=S] or spe10:FILE. Throws matrix_error that lists these.
matrix generate(const std::string& description);

}  // namespace weir::solver
