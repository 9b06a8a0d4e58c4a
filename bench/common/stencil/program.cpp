// The stencil kernels: result and description.
#include <bench/common/stencil/program.hpp>

#include <bench/common/check.hpp>
#include <bench/common/verify.hpp>

#include <algorithm>

namespace weir::bench::stencil {

template <int Dimensions, method Method>
void program<Dimensions, Method>::fill_block(std::size_t b, std::span<double> block) const {
  stencil::fill_block<Dimensions>(grid_, options_.seed, b, block);
  written(options_.pages, block);
}

template <int Dimensions, method Method>
void program<Dimensions, Method>::copy_out(std::size_t b, const double* from, std::size_t plane_stride, std::size_t row_stride) {
  const extent o = grid_.origin(b), shape = grid_.shape(b);
  for (std::size_t p = 0; p < shape.planes; p++)
    for (std::size_t r = 0; r < shape.rows; r++) std::copy_n(from + p * plane_stride + r * row_stride, shape.columns, result_.data() + grid_.index(o, p, r));
}

template <int Dimensions, method Method>
verification program<Dimensions, Method>::verify(const std::any& expected) const {
  return compare_bits(result_, std::any_cast<const std::vector<double>&>(expected));
}

namespace {

// Two arrays and the version being written, one to load from and one to store to, and for the sequential program's one
// or two arrays and the two results.
template <int Dimensions, method Method>
std::uint64_t memory_bytes(const configuration& c) {
  constexpr std::uint64_t arrays = Method == method::jacobi ? 9 : 7;
  return saturating_product(c.size, arrays * sizeof(double));
}

}  // namespace

template <int Dimensions, method Method>
kernel describe() {
  static constexpr std::string_view meaning[] = {"ELEMENTS", "ROWSxCOLUMNS", "PLANESxROWSxCOLUMNS"};
  kernel k;
  k.size_meaning = k.block_meaning = meaning[Dimensions - 1];
  k.uses = {.iterations = true,
            .parallel_control = true,
            .creators = true,
            .shared = true,
            .own = true,
            .load_store = true};
  k.memory_bytes = memory_bytes<Dimensions, Method>;
  return k;
}

template class program<1, method::jacobi>;
template kernel describe<1, method::jacobi>();
template class program<2, method::jacobi>;
template kernel describe<2, method::jacobi>();
template class program<3, method::jacobi>;
template kernel describe<3, method::jacobi>();
template class program<1, method::seidel>;
template kernel describe<1, method::seidel>();
template class program<2, method::seidel>;
template kernel describe<2, method::seidel>();
template class program<3, method::seidel>;
template kernel describe<3, method::seidel>();

}  // namespace weir::bench::stencil
