// Events by processor, and perf_event_open().
#include <bench/common/counters.hpp>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

namespace weir::bench {

namespace {

// Of a line "KEY  : VALUE", the first one.
std::string_view value_in(std::string_view cpuinfo, std::string_view key) {
  for (std::size_t at = 0; at < cpuinfo.size();) {
    const std::size_t end = std::min(cpuinfo.find('\n', at), cpuinfo.size());
    const std::string_view line = cpuinfo.substr(at, end - at);
    at = end + 1;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !line.starts_with(key)) continue;
    if (line.substr(key.size(), colon - key.size()).find_first_not_of(" \t") != std::string_view::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
  }
  return {};
}

int number_in(std::string_view cpuinfo, std::string_view key) {
  const std::string_view text = value_in(cpuinfo, key);
  int n = -1;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

constexpr counter_event node_loads(std::uint64_t result) {
  return {PERF_TYPE_HW_CACHE,
          PERF_COUNT_HW_CACHE_NODE | (PERF_COUNT_HW_CACHE_OP_READ << 8) | (result << 16)};
}

// Nehalem, Westmere, Sandy Bridge and Ivy Bridge: what the kernel calls a node's loads are all loads from memory. Since
// Haswell they are those from the own node (arch/x86/events/intel/core.c, tables hw_cache_extra_regs).
bool counts_all_as_loads(int model) {
  constexpr int models[] = {0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f, 0x2a, 0x2d, 0x3a, 0x3e};
  return std::ranges::find(models, model) != std::end(models);
}

// Zen and later: event 0x43, fills of the data cache that loads and stores waited for, by source; 0x08 the own node's
// memory, 0x40 another's (perf list: ls_dmnd_fills_from_sys).
constexpr int first_zen_family = 0x17;
constexpr counter_event zen_local = {PERF_TYPE_RAW, 0x0843}, zen_remote = {PERF_TYPE_RAW, 0x4043};

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string reason_of(int error) {
  switch (error) {
    case EPERM:
    case EACCES: {
      std::string level = text_of("/proc/sys/kernel/perf_event_paranoid");
      level.erase(std::min(level.find('\n'), level.size()));
      return "not permitted" + (level.empty() ? "" : " (kernel.perf_event_paranoid is " + level + ")");
    }
    case ENOSYS: return "the kernel has no perf_event_open";
    case EMFILE: return "too many open files";
    default: return "the processor has none, or a virtual machine hides it";
  }
}

class perf_events final : public counter_source {
 public:
  int open(const counter_event& e) override {
    perf_event_attr a{};
    a.size = sizeof a;
    a.type = e.type;
    a.config = e.config;
    a.inherit = 1;
    a.exclude_kernel = 1;   // else a system may refuse it to all but root
    a.exclude_hv = 1;
    a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    const long file = ::syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return file < 0 ? -errno : static_cast<int>(file);
  }
  std::optional<counter_reading> read(int counter) override {
    std::array<std::uint64_t, 3> values{};
    if (::read(counter, values.data(), sizeof values) != static_cast<ssize_t>(sizeof values)) return std::nullopt;
    return counter_reading{values[0], values[1], values[2]};
  }
  void close(int counter) override { ::close(counter); }
};

// What would have been counted if the event had had a counter all the time; nothing if it had none.
std::optional<double> between(const counter_reading& before, const counter_reading& after) {
  const auto value = static_cast<double>(after.value - before.value);
  const auto wanted = static_cast<double>(after.wanted_ns - before.wanted_ns);
  const auto counted = static_cast<double>(after.counted_ns - before.counted_ns);
  if (counted > 0) return value * wanted / counted;
  return wanted > 0 ? std::nullopt : std::optional(value);
}

}  // namespace

counter_events events_of(std::string_view cpuinfo) {
  counter_events e;
  e.instructions = counter_event{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS};
  const std::string_view vendor = value_in(cpuinfo, "vendor_id");
  if (vendor == "AuthenticAMD" || vendor == "HygonGenuine") {
    // What the kernel calls cache misses there are those of the second level.
    if (number_in(cpuinfo, "cpu family") >= first_zen_family) e.local_lines = zen_local, e.remote_lines = zen_remote;
    return e;
  }
  e.misses = counter_event{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES};
  e.local_lines = node_loads(PERF_COUNT_HW_CACHE_RESULT_ACCESS);
  e.remote_lines = node_loads(PERF_COUNT_HW_CACHE_RESULT_MISS);
  e.local_means_all = vendor == "GenuineIntel" && counts_all_as_loads(number_in(cpuinfo, "model"));
  return e;
}

counter_source& system_counters() {
  static perf_events events;
  return events;
}

std::optional<double> region_counts::lines() const {
  if (misses) return misses;
  return local_lines && remote_lines ? std::optional(*local_lines + *remote_lines) : std::nullopt;
}

std::optional<double> region_counts::memory_locality() const {
  if (!local_lines || !remote_lines || *local_lines + *remote_lines <= 0) return std::nullopt;
  return *local_lines / (*local_lines + *remote_lines);
}

std::vector<std::pair<std::string, double>> region_counts::fields() const {
  std::vector<std::pair<std::string, double>> all;
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) all.emplace_back(name, *value);
  };
  add("user_minsns", instructions ? std::optional(*instructions * 1e-6) : std::nullopt);
  add("lines", lines());
  add("local_lines", local_lines);
  add("remote_lines", remote_lines);
  add("memory_locality", memory_locality());
  return all;
}

region_counters::region_counters() : region_counters(system_counters(), events_of(text_of("/proc/cpuinfo"))) {}

region_counters::region_counters(counter_source& source, const counter_events& events)
    : source_(source), local_means_all_(events.local_means_all) {
  add("user instructions", events.instructions, &region_counts::instructions);
  if (events.misses || !events.local_lines) add("misses of the last cache", events.misses, &region_counts::misses);
  add("lines from the node's own memory", events.local_lines, &region_counts::local_lines);
  add("lines from other nodes' memory", events.remote_lines, &region_counts::remote_lines);
  for (const auto& [names, reason] : refused_) missing_ += (missing_.empty() ? "" : "; ") + names + ": " + reason;
}

region_counters::~region_counters() {
  for (const counter& c : counters_) source_.close(c.number);
}

// Those that are missing for the same reason are named together.
void region_counters::add(const char* name, const std::optional<counter_event>& event,
                          std::optional<double> region_counts::*count) {
  const int number = event ? source_.open(*event) : -ENOENT;
  if (number >= 0) return counters_.push_back({count, number});
  const std::string reason = reason_of(-number);
  if (!refused_.empty() && refused_.back().second == reason) refused_.back().first += std::string(", ") + name;
  else refused_.emplace_back(name, reason);
}

void region_counters::begin() {
  for (counter& c : counters_) c.before = source_.read(c.number);
}

region_counts region_counters::end() {
  region_counts counts;
  for (const counter& c : counters_)
    if (const auto after = source_.read(c.number); after && c.before) counts.*c.count = between(*c.before, *after);
  if (local_means_all_ && counts.local_lines && counts.remote_lines)
    counts.local_lines = std::max(0.0, *counts.local_lines - *counts.remote_lines);
  return counts;
}

}  // namespace weir::bench
