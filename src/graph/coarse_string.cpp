// Coarse strings (Rossignon et al., PDSEC 2013, section III.A): read and written.
#include "graph/aggregate.hpp"

#include <weir/error.hpp>

#include <algorithm>

namespace weir::graphs {
namespace {

struct algorithm {
  char letter;
  bool takes_parameter, needs_parameter;
  index least;  // smaller ones would change nothing, or leave nothing
  const char* meaning;
};

constexpr algorithm known[] = {
    {'S', false, false, 0, "sequences"},
    {'C', true, false, 2, "tasks in an aggregate"},
    {'D', true, true, 2, "tasks in an aggregate"},
    {'F', true, true, 1, "aggregates in a level"},
    {'T', true, true, 2, "tasks in an aggregate"},
};
constexpr const char* usage = "S, C or C(n), D(m), F(n), T(n)";
constexpr std::uint64_t largest_parameter = 1'000'000'000;
constexpr std::size_t longest = 1000;  // characters; a longer one is a mistake, and its error would fill the screen

bool is_digit(char c) { return c >= '0' && c <= '9'; }
// As it can be printed in one column.
char shown(char c) { return c >= 0x20 && c < 0x7f ? c : '?'; }

class reader {
 public:
  explicit reader(std::string_view text) : text_(text) {
    if (text.size() > longest) throw configuration_error("coarse string: " + std::to_string(text.size()) + " characters, at most " + std::to_string(longest) + " are read");
  }

  std::vector<coarsening> all() {
    if (text_.empty()) fail(std::string("it is empty; expected one or more of ") + usage);
    std::vector<coarsening> steps;
    while (at_ < text_.size()) steps.push_back(one());
    return steps;
  }

 private:
  coarsening one() {
    const char letter = text_[at_];
    const auto* a = std::find_if(std::begin(known), std::end(known), [&](const algorithm& k) { return k.letter == letter; });
    if (a == std::end(known)) fail(std::string("there is no algorithm '") + shown(letter) + "'; expected " + usage);
    at_++;
    coarsening step{letter, {}};
    const bool opens = at_ < text_.size() && text_[at_] == '(';
    if (opens && !a->takes_parameter) fail(std::string(1, letter) + " takes no parameter");
    if (!opens && a->needs_parameter) fail(std::string(1, letter) + " needs a parameter, the most " + a->meaning + ": " + letter + "(" + std::to_string(std::max(a->least, index{32})) + ")");
    if (opens) step.parameter = parameter(*a);
    return step;
  }

  index parameter(const algorithm& a) {
    const std::size_t begin = ++at_;
    std::uint64_t value = 0;
    while (at_ < text_.size() && is_digit(text_[at_])) {
      const auto digit = static_cast<std::uint64_t>(text_[at_++] - '0');
      value = std::min<std::uint64_t>(largest_parameter + 1, 10 * value + digit);
    }
    if (at_ == begin) fail(std::string("expected the most ") + a.meaning + ", a number");
    if (at_ == text_.size() || text_[at_] != ')') fail("expected ')'");
    const std::size_t close = at_;
    at_ = begin;
    if (value < a.least || value > largest_parameter)
      fail(std::string("the most ") + a.meaning + " of " + a.letter + " must be " + std::to_string(a.least) + " to " +
           std::to_string(largest_parameter));
    at_ = close + 1;
    return static_cast<index>(value);
  }

  [[noreturn]] void fail(const std::string& what) const {
    std::string line(text_.size(), ' ');
    std::transform(text_.begin(), text_.end(), line.begin(), shown);
    throw configuration_error("coarse string: " + what + "\n  " + line + "\n  " + std::string(at_, ' ') + "^");
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<coarsening> parse_coarse_string(std::string_view text) { return reader(text).all(); }

std::string to_string(const std::vector<coarsening>& steps) {
  std::string text;
  for (const coarsening& s : steps) {
    text += s.algorithm;
    if (s.parameter) text += "(" + std::to_string(*s.parameter) + ")";
  }
  return text;
}

}  // namespace weir::graphs
