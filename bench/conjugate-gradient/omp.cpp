// conjugate-gradient under OpenMP: tasks with dependences, or static loops. The first element of a block's part of a
// vector or of the matrix stands for it.
#include <bench/conjugate-gradient/system.hpp>
#include <bench/peers/openmp_application.hpp>

namespace {

using namespace weir::bench;
using conjugate_gradient::linear_system;

void fills(const linear_system& s) {
  for (std::size_t b = 0; b < s.parts(); b++) {
    [[maybe_unused]] const double *const a = s.values(b).data(), *const x = s.x(b).data(), *const r = s.r(b).data(),
                                  *const p = s.p(b).data(), *const q = s.q(b).data(), *const rr = &s.rr(b);
#pragma omp task firstprivate(b) shared(s) depend(out : a[0], x[0], r[0], p[0], q[0], rr[0])
    s.fill(b);
  }
}

void multiply_all(const linear_system& s) {
  for (std::size_t b = 0; b < s.parts(); b++) {
    const std::size_t before = b == 0 ? b : b - 1, after = b + 1 == s.parts() ? b : b + 1;
    [[maybe_unused]] const double *const a = s.values(b).data(), *const north = s.p(before).data(),
                                  *const p = s.p(b).data(), *const south = s.p(after).data(), *const q = s.q(b).data(),
                                  *const pq = &s.pq(b);
#pragma omp task firstprivate(b) shared(s) depend(in : a[0], north[0], p[0], south[0]) depend(out : q[0], pq[0])
    s.multiply(b);
  }
}

void advance_all(const linear_system& s) {
  [[maybe_unused]] const double* const alpha = &s.alpha();
  for (std::size_t b = 0; b < s.parts(); b++) {
    [[maybe_unused]] const double *const p = s.p(b).data(), *const q = s.q(b).data(), *const x = s.x(b).data(),
                                  *const r = s.r(b).data(), *const rr = &s.rr(b);
#pragma omp task firstprivate(b) shared(s) depend(in : alpha[0], p[0], q[0]) depend(inout : x[0], r[0]) \
    depend(out : rr[0])
    s.advance(b);
  }
}

void turn_all(const linear_system& s) {
  [[maybe_unused]] const double* const beta = &s.beta();
  for (std::size_t b = 0; b < s.parts(); b++) {
    [[maybe_unused]] const double *const r = s.r(b).data(), *const p = s.p(b).data();
#pragma omp task firstprivate(b) shared(s) depend(in : beta[0], r[0]) depend(inout : p[0])
    s.turn(b);
  }
}

void tasks(const linear_system& s, int iterations) {
  [[maybe_unused]] const double *const rho = &s.rho(), *const alpha = &s.alpha(), *const beta = &s.beta();
  const std::size_t n = s.parts();
#pragma omp task shared(s) depend(iterator(std::size_t b = 0 : n), in : s.rr(b)) depend(out : rho[0])
  s.begin();
  for (int t = 0; t < iterations; t++) {
    multiply_all(s);
#pragma omp task shared(s) depend(iterator(std::size_t b = 0 : n), in : s.pq(b)) depend(in : rho[0]) \
    depend(out : alpha[0])
    s.step_length();
    advance_all(s);
#pragma omp task shared(s) depend(iterator(std::size_t b = 0 : n), in : s.rr(b)) depend(inout : rho[0]) \
    depend(out : beta[0])
    s.step_direction();
    turn_all(s);
  }
}

void loop(const linear_system& s, int iterations) {
#pragma omp single
  s.begin();
  for (int t = 0; t < iterations; t++) {
#pragma omp for schedule(static)
    for (std::size_t b = 0; b < s.parts(); b++) s.multiply(b);
#pragma omp single
    s.step_length();
#pragma omp for schedule(static)
    for (std::size_t b = 0; b < s.parts(); b++) s.advance(b);
#pragma omp single
    s.step_direction();
#pragma omp for schedule(static)
    for (std::size_t b = 0; b < s.parts(); b++) s.turn(b);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const peers::program_form form{.block_dimensions = 1,
                                 .defaults = {.size = {1, 1024, 1024}, .block = {1, 16, 1024}}};
  return peers::run_application<linear_system>(argc, argv, form, "conjugate-gradient", solve_conjugate_gradient,
                                        {.fills = fills, .tasks = tasks, .loop = loop});
}
