// Reading points and writing labels.
#include <bench/common/io/csv.hpp>

#include <bench/common/io/file.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>

namespace weir::bench {
namespace {

constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view unquoted(std::string_view cell) {
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') return trimmed(cell.substr(1, cell.size() - 2));
  return cell;
}

// Takes the next line, without its end, off `text`.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Position of the first of `separators` that stands outside quotes.
std::size_t find_separator(std::string_view text, std::string_view separators) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); i++) {
    if (text[i] == '"') quoted = !quoted;
    if (!quoted && separators.find(text[i]) != separators.npos) return i;
  }
  return text.npos;
}

char separator_of(std::string_view line) {
  for (const char s : {';', '\t', ','})
    if (find_separator(line, std::string_view(&s, 1)) != line.npos) return s;
  return ' ';
}

void split(std::string_view line, char separator, std::vector<std::string_view>& cells) {
  cells.clear();
  const std::string_view separators = separator == ' ' ? blanks : std::string_view(&separator, 1);
  if (separator == ' ') line = trimmed(line);
  for (;;) {
    const std::size_t end = find_separator(line, separators);
    cells.push_back(unquoted(trimmed(line.substr(0, end))));
    if (end == line.npos) return;
    line.remove_prefix(end + 1);
    if (separator == ' ') line = trimmed(line);  // a run of blanks separates once
  }
}

std::optional<double> number(std::string_view cell) {
  if (cell.starts_with('+')) cell.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc::invalid_argument || end != cell.data() + cell.size()) return std::nullopt;
  return error == std::errc() ? value : std::numeric_limits<double>::infinity();
}

class point_reader {
 public:
  explicit point_reader(const std::filesystem::path& path) : name_(path.string()), content_(read_file(path)) {}

  point_table read() {
    std::string_view rest = content_;
    if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
    bool first = true;
    while (!rest.empty()) {
      const std::string_view line = take_line(rest);
      line_++;
      if (trimmed(line).empty()) continue;
      if (first) separator_ = separator_of(line);
      split(line, separator_, cells_);
      if (first) table_.columns = cells_.size();
      if (!first || !is_header()) add_point();
      first = false;
    }
    if (table_.rows == 0) throw input_error(name_ + (first ? ": is empty, expected points" : ": has a header but no points"));
    return std::move(table_);
  }

 private:
  bool is_header() const {
    return std::ranges::none_of(cells_, [](std::string_view c) { return number(c).has_value(); });
  }

  void add_point() {
    if (cells_.size() != table_.columns)
      fail_line("has " + std::to_string(cells_.size()) + (cells_.size() == 1 ? " cell" : " cells") + ", expected " + std::to_string(table_.columns) + " as in the first line");
    for (std::size_t c = 0; c < cells_.size(); c++) table_.values.push_back(coordinate(c));
    table_.rows++;
  }

  float coordinate(std::size_t column) const {
    const std::string_view cell = cells_[column];
    if (cell.empty()) fail_cell(column, "is empty, expected a number");
    const std::optional<double> value = number(cell);
    if (!value) fail_cell(column, "'" + printable(cell) + "' is not a number");
    if (!(std::abs(*value) <= std::numeric_limits<float>::max())) fail_cell(column, "'" + printable(cell) + "' is not a finite number of single precision");
    return static_cast<float>(*value);
  }

  [[noreturn]] void fail_cell(std::size_t column, const std::string& what) const {
    throw input_error(name_ + ", line " + std::to_string(line_) + ", column " + std::to_string(column + 1) + ": " + what);
  }
  [[noreturn]] void fail_line(const std::string& what) const { throw input_error(name_ + ", line " + std::to_string(line_) + ": " + what); }

  std::string name_, content_;
  std::size_t line_ = 0;
  char separator_ = ',';
  std::vector<std::string_view> cells_;
  point_table table_;
};

}  // namespace

point_table read_points(const std::filesystem::path& path) {
  try {
    return point_reader(path).read();
  } catch (const std::bad_alloc&) {
    throw input_error(path.string() + ": is too large for the memory there is");
  }
}

void write_labels(const std::filesystem::path& path, std::span<const std::int32_t> labels) {
  replacement_file file(path);
  std::fputs("label\n", file.stream());
  for (const std::int32_t label : labels) std::fprintf(file.stream(), "%d\n", label);
  file.commit();  // finds errors of all writes
}

}  // namespace weir::bench
