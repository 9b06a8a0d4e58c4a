// Begins, ends, and a region's figures as text on their way from the plugin to the command.
#include "regions.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace weir::emulator {

// A profile has thousands of these: without names.
static void to_json(nlohmann::json& json, const code_counts& c) {
  json = {c.instructions, c.read_lines, c.write_lines, c.own_lines, c.wait_ps};
}
static void from_json(const nlohmann::json& json, code_counts& c) {
  c = {json.at(0), json.at(1), json.at(2), json.at(3), json.at(4)};
}

namespace {

// One list of the fields for both directions.
template <class Report, class Visit>
void each_field(Report& r, Visit visit) {
  visit("number", r.number);
  visit("run", r.run);
  visit("complete", r.complete);
  visit("begin_ps", r.begin_ps);
  visit("end_ps", r.end_ps);
  auto& c = r.counted;
  visit("instructions", c.instructions);
  visit("kernel_instructions", c.kernel_instructions);
  visit("accesses", c.accesses);
  visit("shared_cache_hits", c.shared_cache_hits);
  visit("page_faults", c.page_faults);
  visit("migrations", c.migrations);
  visit("system_calls", c.system_calls);
  visit("queue_ps", c.queue_ps);
  visit("idle_ps", c.idle_ps);
  visit("skew_breaks", c.skew_breaks);
  visit("read_lines", c.read_lines);
  visit("write_lines", c.write_lines);
  visit("code", c.code);
}

}  // namespace

std::vector<int> regions::open_numbers() const {
  std::vector<int> numbers;
  for (int n = 0; n < max_regions; n++)
    if (open(n)) numbers.push_back(n);
  return numbers;
}

void regions::begin(int number, std::uint64_t now_ps, totals so_far) {
  if (open(number)) return;
  runs_[index(number)].begun = start{now_ps, std::move(so_far)};
  open_count_++;
}

std::optional<region_report> regions::end(int number, std::uint64_t now_ps, const totals& so_far, bool complete) {
  if (!open(number)) return std::nullopt;
  state& s = runs_[index(number)];
  region_report report{number, s.run++, complete, s.begun->ps, now_ps, so_far - s.begun->counted};
  s.begun.reset();
  open_count_--;
  return report;
}

std::string to_text(const region_report& report) {
  nlohmann::json json;
  each_field(report, [&](const char* name, const auto& value) { json[name] = value; });
  return json.dump();
}

region_report report_from_text(const std::string& text) {
  region_report report;
  const auto json = nlohmann::json::parse(text);
  each_field(report, [&](const char* name, auto& value) { json.at(name).get_to(value); });
  return report;
}

}  // namespace weir::emulator
