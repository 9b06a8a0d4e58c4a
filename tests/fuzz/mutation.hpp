// Damage to a good input: what typing errors, broken transfers and hostile files do to it.
#pragma once

#include "tests/support/support.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace weir::fuzz {

// Inputs of each kind.
inline std::size_t inputs() {
  const char* const text = std::getenv("WEIR_FUZZ_INPUTS");
  return test::effort(text != nullptr ? std::strtoul(text, nullptr, 10) : 4000);
}

class mutator {
 public:
  // `words`: what means something in the format; put in at any place.
  mutator(std::uint64_t seed, std::span<const std::string_view> words) : random_(seed), words_(words) {}

  // One to six kinds of damage, one upon the other.
  std::string damaged(std::string text) {
    for (std::size_t n = up_to(5) + 1; n > 0; n--) damage(text);
    return text;
  }
  std::size_t up_to(std::size_t most) { return test::between(random_, 0, most); }

 private:
  char byte() { return static_cast<char>(up_to(255)); }

  void damage(std::string& text) {
    if (text.empty()) text = words_[up_to(words_.size() - 1)];
    const std::size_t at = up_to(text.size() - 1), length = up_to(std::min<std::size_t>(text.size() - at, 12));
    switch (up_to(8)) {
      case 0: text[at] = byte(); return;
      case 1: text[at] = static_cast<char>(text[at] ^ 1 << up_to(7)); return;
      case 2: text.erase(at, length); return;
      case 3: text.insert(at, text.substr(at, length)); return;
      case 4: text.insert(at, up_to(8), byte()); return;
      case 5: text.insert(at, words_[up_to(words_.size() - 1)]); return;
      case 6: text.resize(at); return;
      case 7: replace_number(text, at); return;
      default: std::swap(text[at], text[up_to(text.size() - 1)]);
    }
  }
  // The digits at or after this place become another number.
  void replace_number(std::string& text, std::size_t at) {
    constexpr std::string_view digits = "0123456789", numbers[] = {"0", "1", "2", "-1", "007", "2147483647", "2147483648", "4294967296", "9223372036854775808", "99999999999999999999999", "1e999", "-0.0", "nan", "1e-400", "+3", "0x10"};
    const std::size_t begin = text.find_first_of(digits, at);
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(text.find_first_not_of(digits, begin), text.size());
    text.replace(begin, end - begin, numbers[up_to(std::size(numbers) - 1)]);
  }

  std::mt19937_64 random_;
  std::span<const std::string_view> words_;
};

// A refusal is for people: it names the input, and its first line ends.
inline void expect_readable(const std::string& message, const std::string& name) {
  ASSERT_TRUE(message.starts_with(name)) << message;
  ASSERT_GT(message.size(), name.size() + 5);
  ASSERT_LT(message.size(), 2000u + name.size()) << message;
}

}  // namespace weir::fuzz
