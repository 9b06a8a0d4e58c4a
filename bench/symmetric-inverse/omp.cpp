// symmetric-inverse under OpenMP: the operations as tasks with dependences. A tile's first element stands for it.
#include <bench/peers/openmp_application.hpp>
#include <bench/symmetric-inverse/matrix.hpp>

namespace {

using namespace weir::bench;
using inversion::kind;
using inversion::matrix;
using inversion::operation;

void fills(const matrix& a) {
  for (std::size_t part = 0; part < a.parts(); part++) {
    [[maybe_unused]] const double* const tile = a.tile(a.place_of(part)).data();
#pragma omp task firstprivate(part) shared(a) depend(out : tile[0])
    a.fill(part);
  }
}

void create(const matrix& a, operation o) {
  [[maybe_unused]] const double *const left = a.tile(o.left).data(), *const right = a.tile(o.right).data(),
                                *const to = a.tile(o.to).data();
  if (to == left) {
#pragma omp task firstprivate(o) shared(a) depend(inout : to[0]) priority(o.what == kind::potrf ? 1 : 0)
    a.execute(o);
  } else {
#pragma omp task firstprivate(o) shared(a) depend(in : left[0], right[0]) depend(inout : to[0])
    a.execute(o);
  }
}

void tasks(const matrix& a, int) {
  for (int step = 0; step < a.steps(); step++) a.for_each_operation(step, [&](const operation& o) { create(a, o); });
}

}  // namespace

int main(int argc, char** argv) {
  const peers::program_form form{.dimensions = 1, .block_dimensions = 1, .iterations = false,
                                 .defaults = {.size = {1, 1024, 1}, .block = {1, 128, 1}}};
  return peers::run_application<matrix>(argc, argv, form, "symmetric-inverse", solve_symmetric_inverse,
                                        {.fills = fills, .tasks = tasks});
}
