// Matrix Market files: text to entries, entries to rows, and back to text.
#include <weir/solver/matrix_market.hpp>

#include "text.hpp"

#include <cctype>
#include <limits>
#include <numeric>
#include <vector>

namespace weir::solver {
namespace {

using detail::shortened;
using detail::text_reader;

constexpr std::int64_t most_entries = std::numeric_limits<index>::max();
constexpr std::int64_t most_rows = std::numeric_limits<index>::max() - 1;

// ---------------------------------------------------------------- header

struct header {
  bool coordinate = false, symmetric = false;
};

std::string lower_case(std::string_view w) {
  std::string s(w);
  for (char& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return s;
}

void check_field(const text_reader& in, const std::string& field) {
  if (field == "real" || field == "integer" || field == "double") return;
  if (field == "pattern") in.fail("a pattern has no values, so there is nothing to solve: expected field real or integer");
  if (field == "complex") in.fail("complex numbers are not supported: expected field real or integer");
  in.fail("field \"" + shortened(field) + "\": expected real or integer");
}

void check_symmetry(const text_reader& in, const std::string& symmetry) {
  if (symmetry == "general" || symmetry == "symmetric") return;
  in.fail("symmetry \"" + shortened(symmetry) + "\" is not supported: expected general or symmetric");
}

header read_header(text_reader& in) {
  if (!in.next_line() || lower_case(in.word()) != "%%matrixmarket") in.fail("expected a Matrix Market header: %%MatrixMarket matrix coordinate real general");
  if (const std::string_view object = in.word(); lower_case(object) != "matrix") in.fail("object \"" + shortened(object) + "\": expected matrix");
  const std::string format = lower_case(in.word()), field = lower_case(in.word()), symmetry = lower_case(in.word());
  if (format != "coordinate" && format != "array") in.fail("format \"" + shortened(format) + "\": expected coordinate or array");
  check_field(in, field);
  check_symmetry(in, symmetry);
  in.end_of_line();
  return {format == "coordinate", symmetry == "symmetric"};
}

// ---------------------------------------------------------------- entries

struct entry_list {
  index rows = 0;
  std::vector<index> row, column;
  std::vector<double> value;

  void reserve(std::size_t n) {
    row.reserve(n);
    column.reserve(n);
    value.reserve(n);
  }
  void add(index i, index j, double v) {
    row.push_back(i);
    column.push_back(j);
    value.push_back(v);
  }
};

std::string place(std::int64_t i, std::int64_t j) { return "entry (" + std::to_string(i + 1) + ", " + std::to_string(j + 1) + ")"; }

index read_index(text_reader& in, const char* what, index rows) {
  const auto i = in.number<std::int64_t>(what);
  if (i < 1 || i > rows) in.fail(std::string("the ") + what + " is " + std::to_string(i) + ": expected 1 to " + std::to_string(rows));
  return static_cast<index>(i - 1);
}

struct sizes {
  std::int64_t rows, entries;
};

sizes read_sizes(text_reader& in) {
  if (!in.next_content()) in.fail("the line with the numbers of rows, columns and entries is missing");
  const auto rows = in.number<std::int64_t>("number of rows"), columns = in.number<std::int64_t>("number of columns"), entries = in.number<std::int64_t>("number of entries");
  in.end_of_line();
  if (rows != columns) in.fail("the matrix has " + std::to_string(rows) + " rows and " + std::to_string(columns) + " columns: expected a square one");
  if (rows < 1 || rows > most_rows) in.fail(std::to_string(rows) + " rows: expected 1 to " + std::to_string(most_rows));
  if (entries < 0 || entries > most_entries) in.fail(std::to_string(entries) + " entries: expected 0 to " + std::to_string(most_entries));
  return {rows, entries};
}

// Before memory is asked for: a line of an entry has six characters or more, its end included, which the last one may lack.
void check_sizes(const text_reader& in, const sizes& s, bool symmetric) {
  const auto room = static_cast<std::int64_t>((in.bytes_left() + 1) / 6);
  if (s.entries > room) in.fail("too few entries: " + std::to_string(s.entries) + " are announced, and the rest of the file has room for " + std::to_string(room) + " at most");
  if (s.rows > (symmetric ? 2 * s.entries : s.entries)) in.fail("structurally singular: " + std::to_string(s.entries) + " entries for " + std::to_string(s.rows) + " rows leave a row empty");
}

entry_list read_entries(text_reader& in, bool symmetric) {
  const sizes s = read_sizes(in);
  check_sizes(in, s, symmetric);
  entry_list e;
  e.rows = static_cast<index>(s.rows);
  e.reserve(static_cast<std::size_t>(symmetric ? 2 * s.entries : s.entries));
  for (std::int64_t k = 0; k < s.entries; k++) {
    if (!in.next_content()) in.fail("too few entries: " + std::to_string(s.entries) + " are announced, and the file ends after " + std::to_string(k));
    const index i = read_index(in, "row", e.rows), j = read_index(in, "column", e.rows);
    const double v = in.finite_number("value");
    in.end_of_line();
    if (symmetric && i < j) in.fail(place(i, j) + " of a symmetric matrix is above the diagonal: expected the lower triangle only");
    e.add(i, j, v);
    if (symmetric && i != j) e.add(j, i, v);
  }
  if (in.next_content()) in.fail("too many entries: " + std::to_string(s.entries) + " are announced");
  if (std::cmp_greater(e.row.size(), most_entries)) in.fail(std::to_string(e.row.size()) + " entries in both triangles: expected at most " + std::to_string(most_entries));
  return e;
}

// ---------------------------------------------------------------- rows

// Where each key's entries begin, for keys 0 to n - 1.
array<index> beginnings(const std::vector<index>& keys, index n) {
  array<index> begin(static_cast<std::size_t>(n) + 1, 0);
  for (const index k : keys) begin[k + 1]++;
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  return begin;
}

// Reads again until the entry comes for the second time, to name that line.
[[noreturn]] void fail_duplicate(std::string_view text, const std::string& name, index i, index j) {
  text_reader in(text, name);
  read_header(in);
  in.next_content();
  std::int64_t first = 0;
  while (in.next_content()) {
    if (in.number<std::int64_t>("row") != i + 1 || in.number<std::int64_t>("column") != j + 1) continue;
    if (first != 0) break;
    first = in.line_number();
  }
  in.fail(place(i, j) + " is there twice, first on line " + std::to_string(first));
}

// Two counting sorts: by column, then by row.
matrix to_rows(const entry_list& e) {
  matrix a;
  a.rows = e.rows;
  std::vector<index> by_column(e.row.size());
  array<index> next = beginnings(e.column, e.rows);
  for (std::size_t k = 0; k < e.row.size(); k++) by_column[next[e.column[k]]++] = static_cast<index>(k);
  a.row_begin = beginnings(e.row, e.rows);
  a.columns = array<index>(e.row.size());
  a.values = array<double>(e.row.size());
  next = a.row_begin;
  for (const index k : by_column) {
    const index p = next[e.row[k]]++;
    a.columns[p] = e.column[k];
    a.values[p] = e.value[k];
  }
  return a;
}

void check_duplicates(const matrix& a, bool symmetric, std::string_view text, const std::string& name) {
  for (index i = 0; i < a.rows; i++)
    for (index p = a.row_begin[i] + 1; p < a.row_begin[i + 1]; p++)
      if (const index j = a.columns[p]; j == a.columns[p - 1]) symmetric ? fail_duplicate(text, name, std::max(i, j), std::min(i, j)) : fail_duplicate(text, name, i, j);
}

}  // namespace

matrix parse_matrix_market(std::string_view text, const std::string& name) {
  text_reader in(text, name);
  const header h = read_header(in);
  if (!h.coordinate) in.fail("an array is a dense matrix: expected format coordinate");
  matrix a = to_rows(read_entries(in, h.symmetric));
  check_duplicates(a, h.symmetric, text, name);
  return a;
}

matrix read_matrix_market(const std::filesystem::path& file) { return parse_matrix_market(detail::read_file(file), file.string()); }

array<double> parse_vector(std::string_view text, const std::string& name) {
  text_reader in(text, name);
  const header h = read_header(in);
  if (h.coordinate || h.symmetric) in.fail("expected a vector: %%MatrixMarket matrix array real general");
  if (!in.next_content()) in.fail("the line with the numbers of rows and columns is missing");
  const auto rows = in.number<std::int64_t>("number of rows"), columns = in.number<std::int64_t>("number of columns");
  in.end_of_line();
  if (columns != 1) in.fail("the array has " + std::to_string(columns) + " columns: expected 1");
  // A line of a value has two characters or more, its end included, which the last one may lack.
  if (const auto room = static_cast<std::int64_t>((in.bytes_left() + 1) / 2); rows < 1 || rows > room) in.fail(std::to_string(rows) + " values are announced, and the rest of the file has room for " + std::to_string(room) + " at most");
  array<double> values;
  values.reserve(static_cast<std::size_t>(rows));
  for (std::int64_t k = 0; k < rows; k++) {
    if (!in.next_content()) in.fail("too few values: " + std::to_string(rows) + " are announced, and the file ends after " + std::to_string(k));
    values.push_back(in.finite_number("value"));
    in.end_of_line();
  }
  if (in.next_content()) in.fail("too many values: " + std::to_string(rows) + " are announced");
  return values;
}

array<double> read_vector(const std::filesystem::path& file) { return parse_vector(detail::read_file(file), file.string()); }

// ---------------------------------------------------------------- writing

namespace {

// Text in pieces of some kilobytes, numbers in the fewest digits that read back the same.
class text_writer {
 public:
  explicit text_writer(const std::function<void(std::string_view)>& append) : append_(append) {}
  ~text_writer() { append_(text_); }
  text_writer(const text_writer&) = delete;
  text_writer& operator=(const text_writer&) = delete;

  text_writer& operator<<(std::string_view s) {
    text_ += s;
    return *this;
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  text_writer& operator<<(T v) {
    char digits[32];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, v).ptr);
    return *this;
  }
  void end_line() {
    text_ += '\n';
    if (text_.size() < 1 << 16) return;
    append_(text_);
    text_.clear();
  }

 private:
  const std::function<void(std::string_view)>& append_;
  std::string text_;
};

void write_block(text_writer& out, const matrix& a, index i, index p) {
  const int b = a.block;
  for (int c = 0; c < b; c++)
    for (int r = 0; r < b; r++) {
      out << std::int64_t{i} * b + r + 1 << " " << std::int64_t{a.columns[p]} * b + c + 1 << " " << a.values[(static_cast<std::size_t>(p) * b + c) * b + r];
      out.end_line();
    }
}

}  // namespace

void write_matrix_market(const std::filesystem::path& file, const matrix& a) {
  detail::write_file(file, [&](const auto& append) {
    text_writer out(append);
    out << "%%MatrixMarket matrix coordinate real general\n" << a.order() << " " << a.order() << " " << a.numbers();
    out.end_line();
    for (index i = 0; i < a.rows; i++)
      for (index p = a.row_begin[i]; p < a.row_begin[i + 1]; p++) write_block(out, a, i, p);
  });
}

void write_vector(const std::filesystem::path& file, std::span<const double> values) {
  detail::write_file(file, [&](const auto& append) {
    text_writer out(append);
    out << "%%MatrixMarket matrix array real general\n" << values.size() << " 1";
    out.end_line();
    for (const double v : values) {
      out << v;
      out.end_line();
    }
  });
}

}  // namespace weir::solver
