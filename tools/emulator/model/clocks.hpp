// A virtual clock for each CPU, kept near each other: a CPU that is ahead waits for the slowest one. This is the lax
// synchronization of parallel simulators such as Graphite: no order of events within the quantum, no drift beyond it.
#pragma once

#include "config.hpp"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace weir::emulator {

// The clock of one CPU. `ps` comes first: programs in the guest read it (include/weir/region.h), and only that.
struct alignas(64) cpu_clock {
  std::atomic<std::uint64_t> ps{0};
  std::atomic<std::uint64_t> epoch{0};   // of align(): the clock of another epoch is not read
  std::atomic<bool> active{true};
  std::uint64_t alone_ps = 0;            // its own: how much of its last sleep all CPUs slept, by this machine's clock
};
static_assert(sizeof(cpu_clock) == 64);

// What the guest sees is a PCI device's memory, whose size is a power of two.
inline constexpr std::size_t clock_memory_bytes = 256 * sizeof(cpu_clock);
static_assert(max_cpus * sizeof(cpu_clock) <= clock_memory_bytes);

// Times in picoseconds. A clock is written by its own CPU alone; others read it.
class clocks {
 public:
  // `memory`: for the CPUs' clocks, clock_memory_bytes that others may read; none: nobody does.
  clocks(std::size_t cpus, std::uint64_t quantum_ps, std::uint64_t wake_ps, void* memory = nullptr);
  clocks(const clocks&) = delete;
  clocks& operator=(const clocks&) = delete;

  std::uint64_t now(std::size_t cpu) const { return cpus_[cpu].ps.load(std::memory_order_relaxed); }
  void advance(std::size_t cpu, std::uint64_t ps) { set(cpu, now(cpu) + ps); }

  // All clocks to one time, not before any of them nor before `earliest`: the time a measurement begins. A CPU takes
  // it over with join().
  std::uint64_t align(std::uint64_t earliest = 0);
  void join(std::size_t cpu);

  // An idle CPU holds nobody back; it comes back at the time of the others and a little later, or at its own.
  void sleep(std::size_t cpu);
  // Returns how long it slept.
  std::uint64_t wake(std::size_t cpu, bool costs);
  // The sleep that `cpu` has woken from was a wait for time to pass. While others ran it has: clocks went on. While
  // all slept they stood, and time passes as on this machine.
  void timed_out(std::size_t cpu);

  bool ahead(std::size_t cpu) const { return now(cpu) > floor_ps_.load(std::memory_order_relaxed) + quantum_ps_; }
  // Waits, in real time, until the clock is at most a quantum ahead. Returns false if it gave up, because nobody moved
  // for some 50 ms: the slowest CPU may be waiting for this one to leave its translated code.
  bool wait_for_others(std::size_t cpu);

  // The slowest active CPU's time; what it was before if none is active. Never goes back.
  std::uint64_t update_floor();

 private:
  void set(std::size_t cpu, std::uint64_t ps) { cpus_[cpu].ps.store(ps, std::memory_order_relaxed); }

  std::vector<cpu_clock> own_;   // if nobody else reads
  std::span<cpu_clock> cpus_;
  std::uint64_t quantum_ps_, wake_ps_;
  std::atomic<std::uint64_t> floor_ps_{0}, epoch_{0}, epoch_begin_ps_{0};
  // How many CPUs do not sleep; and when the last one fell asleep, by this machine's clock.
  std::atomic<std::size_t> awake_;
  std::atomic<std::uint64_t> asleep_since_ps_{0};
};

}  // namespace weir::emulator
