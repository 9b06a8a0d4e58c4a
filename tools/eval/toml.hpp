// Typed access to TOML values whose errors name file, line and key.
#pragma once

#include <bench/common/kernel.hpp>
#include <toml/toml.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace weir::tools {

// A table of a file. Getters throw bench::input_error: FILE:LINE: key "KEY": expected WHAT.
class toml_reader {
 public:
  toml_reader(const toml::table& table, std::string file) : table_(&table), file_(std::move(file)) {}

  std::string where(const toml::node& at) const { return fmt::format("{}:{}: ", file_, std::max<std::uint32_t>(1, at.source().begin.line)); }
  [[noreturn]] void refuse(const toml::node& at, std::string_view key, std::string_view expected) const { throw bench::input_error(fmt::format("{}key \"{}\": expected {}", where(at), key, expected)); }
  [[noreturn]] void refuse(std::string_view what) const { throw bench::input_error(where(*table_) + std::string(what)); }

  void allow_only(std::initializer_list<std::string_view> known) const {
    for (auto&& [key, value] : *table_)
      if (std::find(known.begin(), known.end(), key.str()) == known.end()) refuse(value, key.str(), fmt::format("one of {} instead", fmt::join(known, ", ")));
  }

  const toml::table& raw() const { return *table_; }
  const std::string& file() const { return file_; }
  bool has(std::string_view key) const { return table_->contains(key); }

  std::string text(std::string_view key) const {
    const toml::node& n = get(key, "a text");
    const auto value = n.value_exact<std::string>();
    if (!value || value->empty()) refuse(n, key, "a text");
    return *value;
  }
  std::string text(std::string_view key, std::string otherwise) const { return has(key) ? text(key) : std::move(otherwise); }

  // A text or a whole number, as text.
  std::string word(std::string_view key) const {
    const toml::node& n = get(key, "a text or a whole number");
    if (const auto number = n.value_exact<std::int64_t>()) return std::to_string(*number);
    if (!n.is_string()) refuse(n, key, "a text or a whole number");
    return n.as_string()->get();
  }

  // A text or a whole number, or a list of them, as texts.
  std::vector<std::string> words(std::string_view key) const {
    const toml::node& n = get(key, "a text or a whole number, or a list of them");
    if (!n.is_array()) return {word(key)};
    std::vector<std::string> list;
    for (const toml::node& each : *n.as_array()) {
      if (const auto number = each.value_exact<std::int64_t>()) list.push_back(std::to_string(*number));
      else if (each.is_string()) list.push_back(each.as_string()->get());
      else refuse(each, key, "a text or a whole number, or a list of them");
    }
    return list;
  }

  bool truth(std::string_view key, bool otherwise) const {
    if (!has(key)) return otherwise;
    const auto value = table_->get(key)->value_exact<bool>();
    if (!value) refuse(*table_->get(key), key, "true or false");
    return *value;
  }

  double positive(std::string_view key, double otherwise) const {
    if (!has(key)) return otherwise;
    const toml::node& n = *table_->get(key);
    const double value = n.is_number() ? n.value<double>().value_or(-1) : -1;
    if (!(value > 0)) refuse(n, key, "a number larger than 0");
    return value;
  }

  // A text or a list of texts.
  std::vector<std::string> texts(std::string_view key) const {
    if (!has(key)) return {};
    const toml::node& n = *table_->get(key);
    if (n.is_string()) return {n.as_string()->get()};
    std::vector<std::string> list;
    if (!n.is_array()) refuse(n, key, "a text or a list of texts");
    for (const toml::node& each : *n.as_array()) {
      if (!each.is_string()) refuse(each, key, "a text or a list of texts");
      list.push_back(each.as_string()->get());
    }
    return list;
  }

  // An empty one if there is none.
  toml_reader table(std::string_view key) const {
    static const toml::table none;
    if (!has(key)) return {none, file_};
    const toml::node& n = *table_->get(key);
    if (!n.is_table()) refuse(n, key, "a table");
    return {*n.as_table(), file_};
  }

  std::vector<toml_reader> tables(std::string_view key) const {
    std::vector<toml_reader> all;
    if (!has(key)) return all;
    const toml::node& n = *table_->get(key);
    if (!n.is_array()) refuse(n, key, "tables");
    for (const toml::node& each : *n.as_array()) {
      if (!each.is_table()) refuse(each, key, "tables");
      all.emplace_back(*each.as_table(), file_);
    }
    return all;
  }

 private:
  const toml::node& get(std::string_view key, std::string_view expected) const {
    const toml::node* found = table_->get(key);
    if (found == nullptr) refuse(fmt::format("key \"{}\" is missing: expected {}", key, expected));
    return *found;
  }

  const toml::table* table_;
  std::string file_;
};

}  // namespace weir::tools
