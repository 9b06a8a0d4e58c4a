// Text files: read whole, then line by line and word by word, with errors that name the line; written beside and renamed.
#pragma once

#include <weir/solver/matrix.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

namespace weir::solver::detail {

// Throws matrix_error if the file cannot be opened or read.
std::string read_file(const std::filesystem::path&);

// write(append) calls append with pieces of text, which then are the file. Throws matrix_error, and nothing has changed.
void write_file(const std::filesystem::path&, const std::function<void(const std::function<void(std::string_view)>&)>& write);

// At most 40 characters of a word, printable, for messages.
std::string shortened(std::string_view word);

// `name` stands for the file in messages. All failures are matrix_error.
class text_reader {
 public:
  text_reader(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}

  // The next line; false at the end.
  bool next_line() {
    if (at_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    line_ = text_.substr(at_, end - at_);
    at_ = end + 1;
    number_++;
    return true;
  }
  // The next line that is neither empty nor a comment.
  bool next_content() {
    while (next_line()) {
      skip_space();
      if (!line_.empty() && line_.front() != '%') return true;
    }
    return false;
  }
  // The next word of the line; empty at its end.
  std::string_view word() {
    skip_space();
    std::size_t n = 0;
    while (n < line_.size() && !is_space(line_[n])) n++;
    const std::string_view w = line_.substr(0, n);
    line_.remove_prefix(n);
    return w;
  }
  // The next word as a number of type T; `what` it is is for messages.
  template <class T>
  T number(const char* what) {
    const std::string_view w = word();
    if (w.empty()) fail(std::string("the ") + what + " is missing");
    const char* const begin = w.data() + (w.front() == '+');
    T value{};
    const auto [end, problem] = std::from_chars(begin, w.data() + w.size(), value);
    if (problem != std::errc() || end != w.data() + w.size()) fail(std::string("the ") + what + " is \"" + shortened(w) + "\": expected " + (std::is_integral_v<T> ? "an integer" : "a number"));
    return value;
  }
  double finite_number(const char* what);
  void end_of_line() {
    if (const std::string_view w = word(); !w.empty()) fail("\"" + shortened(w) + "\" is too much on this line");
  }

  [[noreturn]] void fail(const std::string& what) const;
  std::int64_t line_number() const { return number_; }
  std::size_t bytes_left() const { return text_.size() - std::min(at_, text_.size()); }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  void skip_space() {
    while (!line_.empty() && is_space(line_.front())) line_.remove_prefix(1);
  }

  std::string_view text_;
  std::string name_;
  std::string_view line_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
};

}  // namespace weir::solver::detail
