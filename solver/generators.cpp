// Descriptions of matrices to be made, and the Laplacian of a cube.
#include <weir/solver/generators.hpp>

#include "grid.hpp"

#include <charconv>
#include <string_view>

namespace weir::solver {
namespace {

[[noreturn]] void fail(const std::string& description, const std::string& what) {
  throw matrix_error("matrix \"" + description + "\": " + what + "; expected cube:N, spe10-like:NXxNYxNZ, spe10-like:NXxNYxNZ,seed=S or spe10:FILE");
}

// Takes words and numbers from the front of what is left of a description.
class parser {
 public:
  explicit parser(const std::string& description) : whole_(description), left_(description) {}

  bool skip(std::string_view word) {
    if (!left_.starts_with(word)) return false;
    left_.remove_prefix(word.size());
    return true;
  }
  template <class T>
  T number() {
    T value{};
    const auto [end, problem] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
    if (problem != std::errc() || value < 0) fail(whole_, "\"" + std::string(left_.substr(0, 40)) + "\" should begin with a number that fits");
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return value;
  }
  void expect(std::string_view word) {
    if (!skip(word)) fail(whole_, "\"" + std::string(word) + "\" is missing before \"" + std::string(left_.substr(0, 40)) + "\"");
  }
  void end() const {
    if (!left_.empty()) fail(whole_, "\"" + std::string(left_.substr(0, 40)) + "\" is too much");
  }
  std::string rest() const { return std::string(left_); }

 private:
  const std::string& whole_;
  std::string_view left_;
};

matrix parse_spe10_like(parser& p) {
  const auto nx = p.number<index>();
  p.expect("x");
  const auto ny = p.number<index>();
  p.expect("x");
  const auto nz = p.number<index>();
  const std::uint64_t seed = p.skip(",seed=") ? p.number<std::uint64_t>() : 1;
  p.end();
  return reservoir(channelled(nx, ny, nz, seed));
}

}  // namespace

matrix cube(index n) {
  const detail::box b{n, n, n};
  detail::check_box(b, "cube");
  return detail::make_grid_matrix(b, 1, static_cast<std::size_t>(b.cells()), [](detail::side s, index, index, double* value) { *value = s == detail::itself ? 6 : -1; });
}

matrix generate(const std::string& description) {
  parser p(description);
  if (p.skip("cube:")) {
    const auto n = p.number<index>();
    p.end();
    return cube(n);
  }
  if (p.skip("spe10-like:")) return parse_spe10_like(p);
  if (p.skip("spe10:") && !p.rest().empty()) return reservoir(read_spe10(p.rest()));
  fail(description, "there is no such generator");
}

}  // namespace weir::solver
