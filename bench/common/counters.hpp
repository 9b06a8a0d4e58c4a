// What weir emulate counts in a region, counted by the processor: lines from memory, and instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::bench {

// An event as perf_event_open() takes it.
struct counter_event {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
};

// Of one processor. What it has no event for is missing.
struct counter_events {
  std::optional<counter_event> instructions;
  std::optional<counter_event> misses;        // of the last level of cache
  std::optional<counter_event> local_lines;   // from the CPU's own node's memory
  std::optional<counter_event> remote_lines;  // from other nodes' memory
  bool local_means_all = false;               // local_lines counts those from other nodes, too
};

// From the content of /proc/cpuinfo.
counter_events events_of(std::string_view cpuinfo);

// A counter's state. Where there are more events than counters the kernel counts each for a part of the time.
struct counter_reading {
  std::uint64_t value = 0, wanted_ns = 0, counted_ns = 0;
};

// The system's counters. Tests bring others.
class counter_source {
 public:
  virtual ~counter_source() = default;
  // Counts what the calling thread, and those that it and they start, do from now on in user mode. A number for the
  // other calls, or the negative errno.
  virtual int open(const counter_event&) = 0;
  virtual std::optional<counter_reading> read(int counter) = 0;
  virtual void close(int counter) = 0;
};

counter_source& system_counters();

// What was counted; nothing where that counter is missing.
struct region_counts {
  std::optional<double> instructions, misses, local_lines, remote_lines;

  // Lines from memory. Misses of the last cache count prefetched lines, too; without them those that loads waited for.
  std::optional<double> lines() const;
  std::optional<double> memory_locality() const;  // share of the node's own lines; nothing if there were none

  // Those that are there, named as weir emulate names them.
  std::vector<std::pair<std::string, double>> fields() const;
};

// To be made before the threads that are to be counted are started: they inherit its counters.
class region_counters {
 public:
  region_counters();
  region_counters(counter_source& source, const counter_events& events);
  ~region_counters();
  region_counters(const region_counters&) = delete;
  region_counters& operator=(const region_counters&) = delete;

  void begin();
  region_counts end();
  // Which counters are missing, and why, in words without a full stop; empty: none.
  const std::string& missing() const { return missing_; }

 private:
  struct counter {
    std::optional<double> region_counts::*count;
    int number = -1;
    std::optional<counter_reading> before = {};
  };
  void add(const char* name, const std::optional<counter_event>& event, std::optional<double> region_counts::*count);

  counter_source& source_;
  bool local_means_all_;
  std::vector<counter> counters_;
  std::vector<std::pair<std::string, std::string>> refused_;  // names, reason
  std::string missing_;
};

}  // namespace weir::bench
