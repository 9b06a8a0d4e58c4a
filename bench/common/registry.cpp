// The table of kernels.
#include <bench/common/registry.hpp>

#include <weir/detail/nearest.hpp>

#include <algorithm>

namespace weir::bench {

const std::vector<kernel>& kernels() {
  static const std::vector<kernel> all = {
      jacobi_1d(), jacobi_2d(), jacobi_3d(), seidel_1d(), seidel_2d(), seidel_3d(), blur_roberts(), kmeans(),
      bitonic(),   cholesky(),  red_black(), nstream_kernel(), conjugate_gradient_kernel(),
      integral_histogram_kernel(), qr(), symmetric_inverse(),
  };
  return all;
}

const kernel& find_kernel(std::string_view name) {
  const auto& all = kernels();
  const auto found = std::find_if(all.begin(), all.end(), [&](const kernel& k) { return k.name == name; });
  if (found != all.end()) return *found;
  std::string known;
  std::vector<std::string_view> names;
  for (const kernel& k : all) {
    names.push_back(k.name);
    known += (known.empty() ? "" : ", ") + std::string(k.name);
  }
  throw input_error("unknown kernel \"" + std::string(name) + "\"; known: " + known +
                    weir::detail::proposal(name, names));
}

void instance::write_output() const { throw input_error("this kernel has no output to write"); }

}  // namespace weir::bench
