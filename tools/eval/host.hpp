// What an evaluation asks of the machine it runs on: CPUs of some of its nodes, and the kernel's moving of pages.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weir::tools {

// Where Linux says, and is told, whether it moves pages to those who use them.
inline constexpr const char* numa_balancing_file = "/proc/sys/kernel/numa_balancing";

struct host_facts {
  int nodes = 1;                            // with or without CPUs
  std::vector<std::vector<int>> node_cpus;  // of each node that has some that we may use, the system's numbers
};

host_facts read_host();

// Why numa_balancing cannot be on, or off, while something runs; empty: it can. Whether the file can be written is found
// out by writing what is in it, if that is not what is wanted.
std::string why_no_numa_balancing(bool wanted, const std::filesystem::path& file = numa_balancing_file);

// Switches numa_balancing on or off, and back when it goes. What is not wanted, or is so already, is not written.
class numa_balancing_setting {
 public:
  explicit numa_balancing_setting(std::optional<bool> wanted, std::filesystem::path file = numa_balancing_file);
  ~numa_balancing_setting();
  numa_balancing_setting(const numa_balancing_setting&) = delete;
  numa_balancing_setting& operator=(const numa_balancing_setting&) = delete;

  bool done() const { return done_; }

 private:
  std::filesystem::path file_;
  std::string before_;  // empty: nothing was changed
  bool done_ = true;
};

}  // namespace weir::tools
