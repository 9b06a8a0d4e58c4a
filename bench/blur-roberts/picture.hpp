// The picture blur-roberts works on: from a PNG file, or made up.
#pragma once

#include <bench/common/kernel.hpp>

#include <span>

namespace weir::bench {

// Writes rows [first_row, last_row) of the picture into `whole` (all its pixels, row by row; luminance 0..1): the
// loaded image, or rings of different brightness under some noise.
void paint(const configuration&, std::size_t first_row, std::size_t last_row, std::span<double> whole);

// Reads configuration::input, if there is one, and takes the size from it. Throws input_error.
void load_picture(configuration&);

}  // namespace weir::bench
