// Reading the values of command-line options.
#include <bench/common/options.hpp>

#include <bench/common/kernel.hpp>

#include <charconv>

namespace weir::bench {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace

std::vector<std::size_t> parse_size(std::string_view option, std::string_view text) {
  std::vector<std::size_t> size;
  for (std::string_view part : split(text, 'x')) {
    std::size_t n = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), n);
    const std::string where = std::string(option) + " " + std::string(text);
    if (error == std::errc::result_out_of_range) throw input_error(where + ": " + std::string(part) + " is too large");
    if (error != std::errc() || end != part.data() + part.size()) throw input_error(where + ": expected whole numbers of 1 or more with x between them, such as 768x768");
    size.push_back(n);
  }
  return size;
}

std::vector<std::string> parse_names(std::string_view option, std::string_view text) {
  std::vector<std::string> names;
  for (std::string_view part : split(text, ',')) {
    if (part.empty()) throw input_error(std::string(option) + " \"" + std::string(text) + "\": a name is missing; expected names with commas between them");
    names.emplace_back(part);
  }
  return names;
}

std::vector<std::string> parse_policies(std::string_view text) {
  std::vector<std::string> policies;
  for (std::string& part : parse_names("--policy", text)) {
    const bool parameter = part.find('=') != std::string::npos && part.find(':') == std::string::npos;
    if (parameter && policies.empty()) throw input_error("--policy " + std::string(text) + ": \"" + part + "\" is a parameter without a policy before it");
    if (parameter)
      policies.back() += "," + part;
    else if (part == "all")
      for (const char* name : {"local", "deferred", "push-weighted", "push-outputs", "push-inputs", "node-queues",
                               "steal", "interleave", "fifo"})
        policies.emplace_back(name);
    else
      policies.push_back(std::move(part));
  }
  return policies;
}

}  // namespace weir::bench
