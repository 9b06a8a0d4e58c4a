// A walk along the name that copies what is outside of brackets.
#include "short_name.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace weir::emulator {
namespace {

constexpr std::string_view opening = "<({[", closing = ">)}]";
constexpr std::string_view unnamed_namespace = "(anonymous namespace)::", keyword = "operator";

// Operators that hold a bracket. What of others is no bracket is copied as any character.
constexpr std::string_view longest_first[] = {"<=>", "<<=", ">>=", "->*", "()", "[]", "<<",
                                              ">>", "<=", ">=", "->", "<", ">"};

bool of_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

class shortening {
 public:
  explicit shortening(std::string_view name) : name_(name) {}

  std::string result() {
    while (at_ < name_.size() && !ended_) step();
    return out_.empty() ? std::string(name_) : out_ + std::string(clone());
  }

 private:
  bool ahead(std::string_view text) const { return name_.substr(at_).starts_with(text); }

  void copy(std::size_t characters) {
    out_ += name_.substr(at_, characters);
    at_ += characters;
  }

  void step() {
    if (ahead(unnamed_namespace)) {
      at_ += unnamed_namespace.size();
      return;
    }
    if (at_operator()) return copy_operator();
    switch (name_[at_]) {
      case '<': at_ = behind_bracket(at_); return;
      case '{': return copy_braces();
      case '(': return pass_parameters();
      case ' ': return pass_space();
      default: copy(1);
    }
  }

  bool at_operator() const {
    const std::string_view behind = name_.substr(at_).substr(std::min(keyword.size(), name_.size() - at_));
    const bool begins = at_ == 0 || !of_identifier(name_[at_ - 1]);
    return ahead(keyword) && begins && (behind.empty() || !of_identifier(behind.front()));
  }

  // operator<<, operator(), operator bool: the symbols are no brackets, and a type goes up to the parameters.
  void copy_operator() {
    copy(keyword.size());
    if (ahead(" ")) return copy(std::min(name_.find('(', at_), name_.size()) - at_);
    for (const std::string_view symbol : longest_first)
      if (ahead(symbol)) {
        copy(symbol.size());
        break;
      }
    while (ahead(" <")) at_++;
  }

  // {lambda(int)#1} becomes {lambda#1}.
  void copy_braces() {
    const std::size_t end = behind_bracket(at_);
    copy(1);
    while (at_ < end) {
      if (name_[at_] == '(' || name_[at_] == '<') at_ = behind_bracket(at_);
      else copy(1);
    }
  }

  // Parameters of a function that something is local to; of the one that is named, where the name ends; or a part of a
  // type that is returned.
  void pass_parameters() {
    std::size_t end = behind_bracket(at_);
    for (const std::string_view qualifier : {" const", " volatile", " &&", " &"})
      if (name_.substr(end).starts_with(qualifier)) end += qualifier.size();
    const std::string_view rest = name_.substr(end);
    ended_ = rest.empty() || rest.starts_with(" [");
    if (!ended_ && !rest.starts_with("::")) out_.clear();
    at_ = end;
  }

  // What comes before is the type that is returned.
  void pass_space() {
    at_++;
    if (!ahead("[")) out_.clear();
    else ended_ = true, at_--;
  }

  // " [clone .cold]" and the like tell functions apart that the compiler has made of one.
  std::string_view clone() const { return ended_ ? name_.substr(at_) : std::string_view(); }

  // Past the bracket that belongs to the one at `from`. An arrow's head is none, nor is anything compared within
  // parentheses.
  std::size_t behind_bracket(std::size_t from) const {
    std::string open;
    for (std::size_t k = from; k < name_.size(); k++) {
      const std::size_t opens = opening.find(name_[k]), closes = closing.find(name_[k]);
      const bool angle = name_[k] == '<' || name_[k] == '>';
      const bool compares = angle && ((k > 0 && name_[k - 1] == '-') || (!open.empty() && open.back() == ')'));
      if (compares) continue;
      if (opens != std::string_view::npos) open += closing[opens];
      if (closes != std::string_view::npos && !open.empty() && open.back() == name_[k]) open.pop_back();
      if (open.empty()) return k + 1;
    }
    return name_.size();
  }

  std::string_view name_;
  std::string out_;
  std::size_t at_ = 0;
  bool ended_ = false;   // what is left belongs to no name
};

}  // namespace

std::string short_name(std::string_view demangled) { return shortening(demangled).result(); }

}  // namespace weir::emulator
