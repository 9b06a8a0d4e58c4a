// Tables of numbers as CSV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace weir::bench {

// values[r * columns + c].
struct point_table {
  std::size_t rows = 0, columns = 0;
  std::vector<float> values;
};

// Reads points, one a line, their coordinates separated by commas, semicolons, tabs or spaces (the first line decides,
// in the order semicolon, tab, comma, space). A first line in which no cell is a number is a header. Lines end in LF
// or CR LF; empty lines and a byte order mark are skipped; a cell may be quoted.
// Throws input_error naming line and column: a cell that is empty, no finite number or beyond single precision, a line
// with more or fewer cells than the first; or no points at all.
point_table read_points(const std::filesystem::path& path);

// Writes a header `label` and one label a line; the target is replaced in one step. Throws input_error.
void write_labels(const std::filesystem::path& path, std::span<const std::int32_t> labels);

}  // namespace weir::bench
