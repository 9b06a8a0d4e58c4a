// Typed access to TOML values whose errors name file, line and key. Only file_reader.cpp includes it.
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "machine/detail.hpp"
#include "toml/toml.hpp"
#include "weir/error.hpp"

namespace weir::machine::detail {

// A table of a file. Every getter throws weir::machine_error: FILE:LINE: key "KEY": expected WHAT, got WHAT.
class toml_table {
 public:
  toml_table(const toml::table& table, std::string file) : table_(table), file_(std::move(file)) {}

  [[noreturn]] void refuse(const toml::node& at, std::string_view key, const std::string& expected, const std::string& got) const {
    throw machine_error(where(at) + "key \"" + std::string(key) + "\": expected " + expected + ", got " + got);
  }
  [[noreturn]] void refuse_missing(std::string_view key, const std::string& expected) const {
    throw machine_error(where(table_) + "key \"" + std::string(key) + "\" is missing: expected " + expected);
  }

  void allow_only(std::initializer_list<std::string_view> known) const {
    for (auto&& [key, value] : table_) {
      if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
      std::string list;
      for (std::string_view each : known) list += (list.empty() ? "" : ", ") + std::string(each);
      throw machine_error(where(value) + "key \"" + std::string(key.str()) + "\" is unknown: expected one of " + list);
    }
  }

  bool has(std::string_view key) const { return table_.contains(key); }
  const toml::node& get(std::string_view key, const std::string& expected) const {
    const toml::node* found = table_.get(key);
    if (found == nullptr) refuse_missing(key, expected);
    return *found;
  }

  std::string text(std::string_view key) const {
    const toml::node& n = get(key, "a string");
    auto value = n.value_exact<std::string>();
    if (!value || value->empty()) refuse(n, key, "a string", value ? "an empty one" : describe(n));
    return *value;
  }

  std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most) const {
    return integer(get(key, range(least, most)), key, least, most);
  }
  std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most, std::int64_t otherwise) const {
    return has(key) ? integer(key, least, most) : otherwise;
  }
  std::int64_t integer(const toml::node& n, std::string_view key, std::int64_t least, std::int64_t most) const {
    auto value = n.value_exact<std::int64_t>();
    if (!value) refuse(n, key, range(least, most), describe(n));
    if (*value < least || *value > most) refuse(n, key, range(least, most), std::to_string(*value));
    return *value;
  }

  // Bytes: "8 GiB", "512 KiB", or a plain number of bytes.
  std::uint64_t bytes(std::string_view key) const {
    static const std::string expected = "a size such as \"8 GiB\" (B, KiB, MiB, GiB or TiB, up to 1024 TiB)";
    const toml::node& n = get(key, expected);
    constexpr double most = 0x1p50;
    double value = -1;
    if (auto plain = n.value_exact<std::int64_t>()) value = static_cast<double>(*plain);
    if (auto with_unit = n.value_exact<std::string>()) value = parse_size(*with_unit);
    if (!(value >= 0 && value <= most)) refuse(n, key, expected, describe(n));
    return static_cast<std::uint64_t>(std::llround(value));
  }

  const toml::array& array(std::string_view key, const std::string& expected) const {
    const toml::node& n = get(key, expected);
    if (!n.is_array()) refuse(n, key, expected, describe(n));
    return *n.as_array();
  }

  // Exactly `count` positive finite numbers. `at` is the array itself or one row of it.
  std::vector<double> positive_numbers(const toml::node& at, std::string_view key, std::size_t count, const std::string& each) const {
    std::string expected = count_of(count, "number") + each;
    if (!at.is_array()) refuse(at, key, expected, describe(at));
    if (at.as_array()->size() != count) refuse(at, key, expected, std::to_string(at.as_array()->size()));
    std::vector<double> numbers;
    for (const toml::node& n : *at.as_array()) {
      double value = n.is_number() ? n.value<double>().value_or(-1) : -1;
      if (!(value > 0 && std::isfinite(value))) refuse(n, key, "positive numbers", describe(n));
      numbers.push_back(value);
    }
    return numbers;
  }

  static std::string describe(const toml::node& n) {
    if (auto v = n.value_exact<std::string>()) return "\"" + *v + '"';
    if (auto v = n.value_exact<std::int64_t>()) return std::to_string(*v);
    if (auto v = n.value_exact<double>()) return number(*v);
    if (auto v = n.value_exact<bool>()) return *v ? "true" : "false";
    return n.is_array() ? "an array" : n.is_table() ? "a table" : "a date or time";
  }

 private:
  static std::string range(std::int64_t least, std::int64_t most) { return "a whole number from " + std::to_string(least) + " to " + std::to_string(most); }

  static double parse_size(const std::string& text) {
    char* end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    std::string unit(end);
    if (end == text.c_str() || !std::isdigit(static_cast<unsigned char>(text[0]))) return -1;
    if (unit.starts_with(' ')) unit.erase(0, 1);
    static constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    for (int i = 0; i < 5; i++)
      if (unit == units[i]) return value * std::pow(1024.0, i);
    return -1;
  }

  std::string where(const toml::node& at) const { return file_ + ':' + std::to_string(std::max<std::uint32_t>(1, at.source().begin.line)) + ": "; }

  const toml::table& table_;
  std::string file_;
};

}  // namespace weir::machine::detail
