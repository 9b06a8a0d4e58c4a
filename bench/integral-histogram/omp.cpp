// integral-histogram under OpenMP: tasks with dependences. What a tile's neighbours read, and its other counts, are
// each named by their first element.
#include <bench/blur-roberts/picture.hpp>
#include <bench/integral-histogram/histogram.hpp>
#include <bench/peers/openmp_application.hpp>

namespace {

using namespace weir::bench;
using integral_histogram::count;
using integral_histogram::tiles;

void fills(const tiles& x) {
  for (std::size_t b = 0; b < x.parts(); b++) {
    [[maybe_unused]] const float* const image = x.image(b).data();
    [[maybe_unused]] const count *const counts = x.counts(b).data(), *const column = x.last_column(b).data(),
                                 *const row = x.last_row(b).data();
#pragma omp task firstprivate(b) shared(x) depend(out : image[0], counts[0], column[0], row[0])
    x.fill(b);
  }
}

// Where the image ends, west and north are what the task writes itself.
void tasks(const tiles& x, int iterations) {
  for (int t = 0; t < iterations; t++) {
    for (std::size_t b = 0; b < x.parts(); b++) {
      [[maybe_unused]] const float* const image = x.image(b).data();
      [[maybe_unused]] const count *const counts = x.counts(b).data(), *const west = x.west_of(b).data(),
                                   *const column = x.last_column(b).data();
#pragma omp task firstprivate(b) shared(x) depend(in : image[0], west[0]) depend(out : counts[0], column[0])
      x.scan_rows(b);
    }
    for (std::size_t b = 0; b < x.parts(); b++) {
      [[maybe_unused]] const count *const counts = x.counts(b).data(), *const north = x.north_of(b).data(),
                                   *const row = x.last_row(b).data();
#pragma omp task firstprivate(b) shared(x) depend(in : north[0]) depend(inout : counts[0]) depend(out : row[0])
      x.scan_columns(b);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  peers::program_form form{
      .modes = std::span(peers::application_modes).first(1), .inits = peers::application_inits,
      .defaults = {.size = {1, 1024, 1024}, .block = {1, 64, 64}, .iterations = 4, .bins = 16}};
  peers::options o = peers::parse_options(argc, argv, form);
  configuration c = peers::configuration_of(o, form);
  try {
    load_picture(c);
  } catch (const input_error& e) {
    refuse(e.what());
  }
  o.size = stencil::extent::of(c.size);
  if (o.block.rows > o.size.rows || o.block.columns > o.size.columns) refuse("--block is larger than the image");
  return peers::run_application<tiles>(o, form, c, argv[0], "integral-histogram", solve_integral_histogram,
                                       {.fills = fills, .tasks = tasks});
}
