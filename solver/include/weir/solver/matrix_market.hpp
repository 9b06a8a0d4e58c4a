// Matrix Market files, https://math.nist.gov/MatrixMarket/formats.html: square real matrices and vectors.
#pragma once

#include <weir/solver/matrix.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace weir::solver {

// Format "coordinate", field real or integer, symmetry general or symmetric (expanded; only the lower triangle may be
// stored). Entries in any order. Refused with file, line and what was expected: another header, pattern and complex
// fields, rectangular matrices, too few or too many entries, indices out of range, an entry given twice, values that are
// no finite numbers, more entries than 2^31 - 1. The matrix has block size 1. O(entries), 3 times its memory meanwhile.
// Throws matrix_error.
matrix read_matrix_market(const std::filesystem::path& file);
// The same for text in memory; `name` stands for the file in messages.
matrix parse_matrix_market(std::string_view text, const std::string& name);

// A vector: format "array", field real or integer, one column.
array<double> read_vector(const std::filesystem::path& file);
array<double> parse_vector(std::string_view text, const std::string& name);

// Written beside the file and then renamed: an error (matrix_error) leaves what was there. Numbers read back as they are.
// Blocks are written as the scalar entries they are made of.
void write_matrix_market(const std::filesystem::path& file, const matrix&);
void write_vector(const std::filesystem::path& file, std::span<const double>);

}  // namespace weir::solver
