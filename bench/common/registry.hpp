// The kernels' descriptions, each from its folder's weir.cpp; registry.cpp collects them.
#pragma once

#include <bench/common/kernel.hpp>

namespace weir::bench {

kernel jacobi_1d();
kernel jacobi_2d();
kernel jacobi_3d();
kernel seidel_1d();
kernel seidel_2d();
kernel seidel_3d();
kernel blur_roberts();
kernel kmeans();
kernel bitonic();
kernel cholesky();
kernel red_black();
kernel nstream_kernel();
kernel conjugate_gradient_kernel();
kernel integral_histogram_kernel();
kernel qr();
kernel symmetric_inverse();

// Sequential programs, from the folders' serial.cpp. The values of the results are std::vector<double>, row major.
serial_result solve_jacobi_1d(const configuration&);
serial_result solve_jacobi_2d(const configuration&);
serial_result solve_jacobi_3d(const configuration&);
serial_result solve_seidel_1d(const configuration&);
serial_result solve_seidel_2d(const configuration&);
serial_result solve_seidel_3d(const configuration&);
serial_result solve_blur_roberts(const configuration&);

}  // namespace weir::bench
