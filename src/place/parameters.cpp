// Parameters of a policy: "parameter=value,...".
#include <weir/error.hpp>
#include <weir/policy.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace weir {
namespace {

std::string text_of(double n) {
  if (n == std::floor(n) && std::abs(n) < 1e15) return std::to_string(static_cast<long long>(n));
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, n);
  return std::string(text, error == std::errc() ? end : text);
}

std::string range_of(double least, double most) {
  return most >= 1e18 ? text_of(least) + " and up" : text_of(least) + " to " + text_of(most);
}

}  // namespace

policy_parameters::policy_parameters(std::string_view policy, std::string_view assignments) : policy_(policy) {
  while (!assignments.empty()) {
    const auto comma = assignments.find(',');
    const std::string_view one = assignments.substr(0, comma);
    const auto equals = one.find('=');
    given_.push_back({std::string(one.substr(0, equals)),
                      std::string(equals == std::string_view::npos ? "" : one.substr(equals + 1)),
                      equals != std::string_view::npos});
    assignments = comma == std::string_view::npos ? "" : assignments.substr(comma + 1);
  }
}

void policy_parameters::refuse(const std::string& what) const {
  throw configuration_error("policy " + policy_ + ": " + what);
}

// Of several of one name the last counts.
policy_parameters::given* policy_parameters::find(std::string_view name) {
  given* found = nullptr;
  for (given& g : given_)
    if (g.name == name) {
      if (!g.has_value) refuse("parameter " + g.name + " has no value; write " + g.name + "=VALUE");
      g.used = true;
      found = &g;
    }
  return found;
}

double policy_parameters::parse(const given& g, bool bytes, const std::string& expected) const {
  double value = 0;
  const std::string_view text = g.value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  double factor = unit.empty() ? 1 : std::numeric_limits<double>::quiet_NaN();
  if (bytes && unit == "KiB") factor = 1024;
  if (bytes && unit == "MiB") factor = 1024.0 * 1024;
  if (bytes && unit == "GiB") factor = 1024.0 * 1024 * 1024;
  if (error != std::errc() || !std::isfinite(value * factor))
    refuse("parameter " + g.name + "=" + g.value + ": expected " + expected);
  return value * factor;
}

double policy_parameters::number(std::string_view name, double usual, double least, double most,
                                 std::string_view meaning) {
  all_.push_back({std::string(name), range_of(least, most), text_of(usual), std::string(meaning)});
  const given* const g = find(name);
  if (g == nullptr) return usual;
  const std::string expected = "a number, " + range_of(least, most);
  const double value = parse(*g, false, expected);
  if (value < least || value > most) refuse("parameter " + g->name + "=" + g->value + ": expected " + expected);
  return value;
}

std::uint64_t policy_parameters::count(std::string_view name, std::uint64_t usual, std::uint64_t least,
                                       std::uint64_t most, std::string_view meaning) {
  const double value =
      number(name, static_cast<double>(usual), static_cast<double>(least), static_cast<double>(most), meaning);
  if (value != std::floor(value))
    refuse("parameter " + std::string(name) + "=" + text_of(value) + ": expected a whole number");
  return static_cast<std::uint64_t>(value);
}

std::uint64_t policy_parameters::bytes(std::string_view name, std::uint64_t usual, std::string_view meaning) {
  all_.push_back(
      {std::string(name), "0 and up, in bytes or with KiB, MiB, GiB", std::to_string(usual), std::string(meaning)});
  const given* const g = find(name);
  if (g == nullptr) return usual;
  const std::string expected = "a number of 0 or more, in bytes or with KiB, MiB, GiB";
  const double value = parse(*g, true, expected);
  if (value < 0 || value > 1e18) refuse("parameter " + g->name + "=" + g->value + ": expected " + expected);
  return static_cast<std::uint64_t>(value);
}

std::string policy_parameters::word(std::string_view name, const std::vector<std::string>& allowed,
                                    std::string_view meaning) {
  std::string range;
  for (const std::string& w : allowed) range += (range.empty() ? "" : ", ") + w;
  all_.push_back({std::string(name), range, allowed.front(), std::string(meaning)});
  const given* const g = find(name);
  if (g == nullptr) return allowed.front();
  if (std::find(allowed.begin(), allowed.end(), g->value) == allowed.end())
    refuse("parameter " + g->name + "=" + g->value + ": expected one of " + range);
  return g->value;
}

void policy_parameters::refuse_others() const {
  std::string known;
  for (const description& d : all_) known += (known.empty() ? "" : " ") + d.name;
  for (const given& g : given_)
    if (!g.used)
      refuse("unknown parameter \"" + g.name + "\"; " + (known.empty() ? "it takes none" : "it takes: " + known));
}

}  // namespace weir
