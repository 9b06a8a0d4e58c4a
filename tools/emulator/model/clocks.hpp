// A virtual clock for each CPU, kept near each other: a CPU that is ahead waits for the slowest one. This is the lax
// synchronization of parallel simulators such as Graphite: no order of events within the quantum, no drift beyond it.
#pragma once

#include "config.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace weir::emulator {

// Times in picoseconds. A clock is written by its own CPU alone; others read it.
class clocks {
 public:
  clocks(std::size_t cpus, std::uint64_t quantum_ps, std::uint64_t wake_ps) : cpus_(cpus), quantum_ps_(quantum_ps), wake_ps_(wake_ps) {}

  std::uint64_t now(std::size_t cpu) const { return cpus_[cpu].ps.load(std::memory_order_relaxed); }
  void advance(std::size_t cpu, std::uint64_t ps) { set(cpu, now(cpu) + ps); }

  // All clocks to one time, not before any of them: the time a measurement begins. A CPU takes it over with join().
  std::uint64_t align();
  void join(std::size_t cpu);

  // An idle CPU holds nobody back; it comes back at the time of the others and a little later, or at its own.
  void sleep(std::size_t cpu) { cpus_[cpu].active.store(false, std::memory_order_relaxed); }
  // Returns how long it slept.
  std::uint64_t wake(std::size_t cpu, bool costs);

  bool ahead(std::size_t cpu) const { return now(cpu) > floor_ps_.load(std::memory_order_relaxed) + quantum_ps_; }
  // Waits, in real time, until the clock is at most a quantum ahead. Returns false if it gave up, because nobody moved
  // for some 50 ms: the slowest CPU may be waiting for this one to leave its translated code.
  bool wait_for_others(std::size_t cpu);

  // The slowest active CPU's time; what it was before if none is active. Never goes back.
  std::uint64_t update_floor();

 private:
  struct alignas(64) clock {
    std::atomic<std::uint64_t> ps{0};
    std::atomic<std::uint64_t> epoch{0};   // of align(): the clock of another epoch is not read
    std::atomic<bool> active{true};
  };

  void set(std::size_t cpu, std::uint64_t ps) { cpus_[cpu].ps.store(ps, std::memory_order_relaxed); }

  std::vector<clock> cpus_;
  std::uint64_t quantum_ps_, wake_ps_;
  std::atomic<std::uint64_t> floor_ps_{0}, epoch_{0}, epoch_begin_ps_{0};
};

}  // namespace weir::emulator
