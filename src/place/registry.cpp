// The table of policies, and reading "NAME:parameter=value,...".
#include "place/place.hpp"

#include <weir/error.hpp>

#include <array>
#include <charconv>
#include <cmath>

namespace weir::place {
namespace {

using flow::allocation;

struct entry {
  std::string_view name;
  queues discipline;
  placement_rule rule;
  allocation outputs;
  std::string_view parameters;  // names it takes, separated by spaces
};

// The three heuristics that Drebes et al. evaluate one by one (PACT 2016, section 5.1) are all here, so that each can
// be measured alone.
constexpr std::array<entry, 9> table{{
    {"fifo", queues::central, nullptr, allocation::first_touch, ""},
    {"steal", queues::deques, nullptr, allocation::at_creation, ""},
    {"push-inputs", queues::inboxes, push_inputs, allocation::at_creation, "threshold"},
    {"push-outputs", queues::inboxes, push_outputs, allocation::at_creation, "threshold"},
    {"push-weighted", queues::inboxes, push_weighted, allocation::at_creation, "in out threshold"},
    {"deferred", queues::deques, nullptr, allocation::deferred, ""},
    {"local", queues::inboxes, push_inputs, allocation::deferred, "threshold stride"},
    {"interleave", queues::deques, nullptr, allocation::interleaved, ""},
    {"node-queues", queues::nodes, nullptr, allocation::deferred, ""},
}};

std::string known_names() {
  std::string all;
  for (const entry& e : table) all += (all.empty() ? "" : ", ") + std::string(e.name);
  return all;
}

[[noreturn]] void bad(std::string_view policy, const std::string& what) { throw configuration_error("policy " + std::string(policy) + ": " + what); }

// A number, for byte counts with an optional KiB, MiB or GiB.
double number(std::string_view policy, std::string_view key, std::string_view text, bool bytes) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  double factor = 1;
  if (bytes && unit == "KiB") factor = 1024;
  else if (bytes && unit == "MiB") factor = 1024.0 * 1024;
  else if (bytes && unit == "GiB") factor = 1024.0 * 1024 * 1024;
  else if (!unit.empty()) value = -1;
  if (error != std::errc() || !std::isfinite(value) || value < 0 || value * factor > 1e18)
    bad(policy, "parameter " + std::string(key) + "=" + std::string(text) + ": expected a number of 0 or more" + (bytes ? ", in bytes or with KiB, MiB, GiB" : ""));
  return value * factor;
}

bool takes(const entry& e, std::string_view key) {
  std::string_view rest = e.parameters;
  while (!rest.empty()) {
    const auto space = rest.find(' ');
    if (rest.substr(0, space) == key) return true;
    rest = space == std::string_view::npos ? "" : rest.substr(space + 1);
  }
  return false;
}

void set(policy& p, const entry& e, std::string_view assignment) {
  const auto equals = assignment.find('=');
  const std::string_view key = assignment.substr(0, equals);
  if (!takes(e, key)) bad(p.name, "unknown parameter \"" + std::string(key) + "\"; " + (e.parameters.empty() ? "it takes none" : "it takes: " + std::string(e.parameters)));
  if (equals == std::string_view::npos) bad(p.name, "parameter " + std::string(key) + " has no value; write " + std::string(key) + "=VALUE");
  const std::string_view text = assignment.substr(equals + 1);
  if (key == "threshold") p.chosen.push_threshold_bytes = static_cast<std::uint64_t>(number(p.name, key, text, true));
  if (key == "stride") {
    const double stride = number(p.name, key, text, false);
    if (stride < 1 || stride > 1e9) bad(p.name, "parameter stride=" + std::string(text) + ": expected 1 to 1000000000");
    p.chosen.stride = static_cast<std::uint32_t>(stride);
  }
  if (key == "in") p.chosen.weight_in = number(p.name, key, text, false);
  if (key == "out") p.chosen.weight_out = number(p.name, key, text, false);
}

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const entry& e : table) all.emplace_back(e.name);
  return all;
}

policy parse(std::string_view specification) {
  const auto colon = specification.find(':');
  const std::string_view name = specification.substr(0, colon);
  for (const entry& e : table) {
    if (e.name != name) continue;
    policy p{std::string(name), e.discipline, e.rule, e.outputs, {}};
    std::string_view rest = colon == std::string_view::npos ? "" : specification.substr(colon + 1);
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      set(p, e, rest.substr(0, comma));
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    }
    return p;
  }
  throw configuration_error("unknown policy \"" + std::string(name) + "\"; known: " + known_names());
}

}  // namespace weir::place
