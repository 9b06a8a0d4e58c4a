// GMRES(m), preconditioned from the right: x + M^-1 V y with the y that makes the residual smallest.
#include "krylov_run.hpp"

#include <cmath>
#include <vector>

namespace weir::solver::detail {
namespace {

// The Hessenberg matrix as Givens rotations have made it upper triangular, column by column, and the right side with it.
class least_squares {
 public:
  explicit least_squares(double beta) : g_{beta} {}

  // A column of the Hessenberg matrix: h, and `below` under its end. Returns the norm of the residual.
  double add_column(std::vector<double> h, double below) {
    for (std::size_t k = 0; k + 1 < h.size(); k++) {
      const double t = c_[k] * h[k] + s_[k] * h[k + 1];
      h[k + 1] = c_[k] * h[k + 1] - s_[k] * h[k];
      h[k] = t;
    }
    const double length = std::hypot(h.back(), below);
    c_.push_back(length > 0 ? h.back() / length : 1);
    s_.push_back(length > 0 ? below / length : 0);
    h.back() = length;
    const double last = g_.back();
    g_.back() = c_.back() * last;
    g_.push_back(-s_.back() * last);
    columns_.push_back(std::move(h));
    return std::abs(g_.back());
  }
  // The coefficients of the basis vectors. A column of zeros, which a singular matrix gives, takes no part.
  std::vector<double> solve() const {
    std::vector<double> y(g_.begin(), g_.end() - 1);
    for (std::size_t k = y.size(); k-- > 0;) {
      y[k] = columns_[k][k] != 0 ? y[k] / columns_[k][k] : 0;
      for (std::size_t i = 0; i < k; i++) y[i] -= columns_[k][i] * y[k];
    }
    return y;
  }

 private:
  std::vector<std::vector<double>> columns_;
  std::vector<double> c_, s_, g_;
};

// Subtracts from w its parts along the first n vectors, and returns them. Once more where most of w was cancelled and what is
// left is not orthogonal to working precision; 0.7 is the usual limit, about 1 / sqrt(2).
std::vector<double> orthogonalise(const vector_operations& on, const std::vector<array<double>>& basis, std::size_t n, out_vector w, double& norm) {
  constexpr double much_cancelled = 0.7;
  const double before = on.norm(w);
  std::vector<double> h = on.dots(basis, n, w);
  on.add_all(-1, h, basis, w);
  norm = on.norm(w);
  if (norm >= much_cancelled * before) return h;
  const std::vector<double> rest = on.dots(basis, n, w);
  on.add_all(-1, rest, basis, w);
  norm = on.norm(w);
  for (std::size_t k = 0; k < n; k++) h[k] += rest[k];
  return h;
}

// One cycle: at most `restart` iterations.
void cycle(krylov_run& run, std::vector<array<double>>& basis, array<double>& z) {
  const auto at = [&](std::size_t k) -> array<double>& {
    if (k == basis.size()) basis.push_back(run.new_vector());
    return basis[k];
  };
  double residual = run.true_residual(at(0));
  if (run.small(residual) || run.must_stop(residual)) return;
  run.on.scale(1 / residual, basis[0], basis[0]);
  least_squares problem(residual);
  std::size_t n = 0;
  for (bool last = false; !last && n < static_cast<std::size_t>(run.options.restart) && !run.small(residual) && !run.must_stop(residual); n++) {
    run.precondition(basis[n], z);
    array<double>& w = at(n + 1);
    run.on.multiply(run.a, z, w);
    double below = 0;
    std::vector<double> h = orthogonalise(run.on, basis, n + 1, w, below);
    residual = problem.add_column(std::move(h), below);
    run.result.iterations++;
    run.report(residual);
    // The space is exhausted: what it holds of the solution has been found.
    last = !(below > 0);
    if (!last) run.on.scale(1 / below, w, w);
  }
  const array<double> correction = [&] {
    array<double> u = run.new_vector();
    run.on.add_all(1, problem.solve(), basis, u);
    return u;
  }();
  run.precondition(correction, z);
  run.on.add(1, z, run.x);
}

}  // namespace

void gmres(krylov_run& run) {
  std::vector<array<double>> basis;
  array<double> z = run.new_vector();
  for (int before = -1; run.result.iterations != before && run.result.why[0] == '\0';) {
    before = run.result.iterations;
    cycle(run, basis, z);
  }
}

}  // namespace weir::solver::detail
