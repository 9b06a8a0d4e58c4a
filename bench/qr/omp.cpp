// qr under OpenMP: the operations as tasks with dependences. The first element of a tile, of a T and of the reflectors
// stands for them.
#include <bench/peers/openmp_application.hpp>
#include <bench/qr/matrix.hpp>

namespace {

using namespace weir::bench;
using orthogonal::matrix;

void fills(const matrix& a) {
  for (std::size_t part = 0; part < a.parts(); part++) {
    const std::size_t i = part / a.tiles(), j = part % a.tiles();
    [[maybe_unused]] const double *const tile = a.tile(i, j).data(), *const t = i >= j ? a.t(i, j).data() : tile,
                                  *const v = i == j ? a.reflectors(i).data() : tile;
#pragma omp task firstprivate(part) shared(a) depend(out : tile[0], t[0], v[0])
    a.fill(part);
  }
}

// Tile (i, k) goes into the R of its column, and then the tiles to the right of both follow.
void create_row(const matrix& a, std::size_t i, std::size_t k) {
  [[maybe_unused]] const double *const r = a.tile(k, k).data(), *const below = a.tile(i, k).data(),
                                *const t = a.t(i, k).data();
#pragma omp task firstprivate(i, k) shared(a) depend(inout : r[0], below[0]) depend(out : t[0]) priority(1)
  a.tsqrt(i, k);
  for (std::size_t j = k + 1; j < a.tiles(); j++) {
    [[maybe_unused]] const double *const upper = a.tile(k, j).data(), *const lower = a.tile(i, j).data();
#pragma omp task firstprivate(i, j, k) shared(a) depend(in : below[0], t[0]) depend(inout : upper[0], lower[0])
    a.tsmqr(i, j, k);
  }
}

void tasks(const matrix& a, int) {
  for (std::size_t k = 0; k < a.tiles(); k++) {
    [[maybe_unused]] const double *const diagonal = a.tile(k, k).data(), *const t = a.t(k, k).data(),
                                  *const v = a.reflectors(k).data();
#pragma omp task firstprivate(k) shared(a) depend(inout : diagonal[0]) depend(out : t[0], v[0]) priority(1)
    a.geqrt(k);
    for (std::size_t j = k + 1; j < a.tiles(); j++) {
      [[maybe_unused]] const double* const tile = a.tile(k, j).data();
#pragma omp task firstprivate(k, j) shared(a) depend(in : t[0], v[0]) depend(inout : tile[0])
      a.unmqr(k, j);
    }
    for (std::size_t i = k + 1; i < a.tiles(); i++) create_row(a, i, k);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const peers::program_form form{.dimensions = 1, .block_dimensions = 1, .iterations = false,
                                 .defaults = {.size = {1, 1024, 1}, .block = {1, 128, 1}}};
  return peers::run_application<matrix>(argc, argv, form, "qr", solve_qr, {.fills = fills, .tasks = tasks});
}
