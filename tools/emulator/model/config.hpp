// What the model is told about the machine it stands for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::emulator {

// Bytes of a cache line, and of a page as the guest's kernel has them.
inline constexpr std::uint64_t line_bytes = 64, page_bytes = 4096;
// An owner is kept in eight bits, of which one value means "shared"; the emulated interrupt controller ends there too.
inline constexpr int max_cpus = 255;
inline constexpr int max_nodes = 64;

// Matrices are row major, nodes x nodes, [from CPU node][to memory node]. Times in nanoseconds.
struct model_config {
  std::vector<int> node_of_cpu;            // by CPU
  std::vector<std::uint64_t> node_bytes;   // memory by node, whole MiB
  std::vector<double> read_ns, write_ns;   // latency of one line
  std::vector<double> service_ns;          // by node: how long its controller is busy with one line
  std::uint64_t cache_bytes = 1 << 20;     // private, by CPU
  std::uint64_t shared_cache_bytes = 0;    // last level, by node; 0: none
  double shared_cache_ns = 20;             // latency of a line found there
  double instruction_ns = 0.25;
  // Kernel work is charged by the fault and by the call. The rest is for the emulator's sake: a CPU in the kernel must
  // move on, or those ahead of it wait for ever; much more, and the timer ticks of slow emulation are what is measured.
  double kernel_instruction_ns = 0.016;
  double page_fault_ns = 1000;
  double system_call_ns = 150;
  double wake_ns = 2000;                   // from the event an idle CPU waits for to its first instruction
  // How far clocks may be apart. Smaller: CPUs wait for each other all the time. Larger: contention is seen less well.
  double quantum_ns = 20000;
  std::vector<int> profiled_cpus;          // those that count by the address of the code, too

  std::size_t cpus() const { return node_of_cpu.size(); }
  std::size_t nodes() const { return node_bytes.size(); }
};

// As JSON text, and back. from_text throws std::runtime_error with one sentence on anything unusable.
std::string to_text(const model_config& config);
model_config config_from_text(const std::string& text);

}  // namespace weir::emulator
