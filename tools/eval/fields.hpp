// Texts from the fields of a result line, and lines by their fields.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace weir::tools {

inline std::string field_text(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& each : value) text.append(text.empty() ? "" : "x").append(field_text(each));
  return text;
}

// Replaces {FIELD}; nothing if the line has no such field, and then `missing` says which one.
inline std::optional<std::string> filled_from(const nlohmann::ordered_json& line, const std::string& form,
                                              std::string* missing = nullptr) {
  std::string text;
  for (std::size_t i = 0; i < form.size(); i++) {
    const std::size_t end = form[i] == '{' ? form.find('}', i) : std::string::npos;
    if (end == std::string::npos) {
      text += form[i];
      continue;
    }
    const std::string name = form.substr(i + 1, end - i - 1);
    const auto field = line.find(name);
    if (field == line.end() || field->is_null()) {
      if (missing != nullptr) *missing = name;
      return std::nullopt;
    }
    text += field_text(*field);
    i = end;
  }
  return text;
}

// Does the line have these fields? A list means one of its values; a value may have the line's other fields in braces.
inline bool has_fields(const nlohmann::ordered_json& line, const nlohmann::ordered_json& where) {
  return std::ranges::all_of(where.items(), [&](const auto& wanted) {
    const auto field = line.find(wanted.key());
    if (field == line.end()) return false;
    const auto equal = [&](const auto& value) { return filled_from(line, field_text(value)) == field_text(*field); };
    return wanted.value().is_array() ? std::ranges::any_of(wanted.value(), equal) : equal(wanted.value());
  });
}

}  // namespace weir::tools
