// PNG images as luminance. Any colour type, bit depth and interlacing can be read; 8-bit grey is written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace weir::bench {

// luminance[y * width + x] is in 0..1, in the file's own encoding (no gamma conversion): what 8 bits can hold comes
// back exactly from write_png(). Colour is weighted as in ITU-R BT.709; transparent pixels are blended over white.
struct image {
  std::size_t width = 0, height = 0;  // pixels
  std::vector<double> luminance;
};

// Throws input_error (one line with the file's name): no such file, not a PNG, damaged, cut short, or more pixels
// than the file can hold or than 2^30. Nothing is allocated for pixels before their number was checked.
image read_png(const std::filesystem::path& path);

// Writes width * height values as 8-bit grey; values outside 0..1 are clamped, not-a-number becomes 0. The target is
// replaced in one step once everything is written. Throws input_error.
void write_png(const std::filesystem::path& path, std::size_t width, std::size_t height, std::span<const double> luminance);

}  // namespace weir::bench
