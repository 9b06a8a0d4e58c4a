// The slow side of virtual clocks: waiting, waking, a common beginning.
#include "clocks.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <thread>

namespace weir::emulator {
namespace {

// First a few turns for other threads of this machine, then sleep: with more CPUs emulated than there are, who waits
// must not take the time of who is waited for.
constexpr int yields = 4;
constexpr std::chrono::microseconds nap{20};
// About 50 ms of naps, which take some 70 us each. Fewer: clocks come apart for nothing. More: each such stall is felt.
constexpr int patience = 700;

std::uint64_t real_ps() {
  const std::chrono::nanoseconds ns = std::chrono::steady_clock::now().time_since_epoch();
  return 1000 * static_cast<std::uint64_t>(ns.count());
}

}  // namespace

clocks::clocks(std::size_t cpus, std::uint64_t quantum_ps, std::uint64_t wake_ps, void* memory)
    : own_(memory == nullptr ? cpus : 0), quantum_ps_(quantum_ps), wake_ps_(wake_ps), awake_(cpus) {
  cpus_ = memory == nullptr ? std::span(own_) : std::span(static_cast<cpu_clock*>(memory), cpus);
  if (memory != nullptr) std::uninitialized_default_construct(cpus_.begin(), cpus_.end());
}

std::uint64_t clocks::align(std::uint64_t earliest) {
  std::uint64_t latest = std::max(earliest, floor_ps_.load(std::memory_order_relaxed));
  for (const cpu_clock& c : cpus_) latest = std::max(latest, c.ps.load(std::memory_order_relaxed));
  epoch_begin_ps_.store(latest, std::memory_order_relaxed);
  floor_ps_.store(latest, std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_release);
  return latest;
}

void clocks::join(std::size_t cpu) {
  const std::uint64_t epoch = epoch_.load(std::memory_order_acquire);
  set(cpu, std::max(now(cpu), epoch_begin_ps_.load(std::memory_order_relaxed)));
  cpus_[cpu].epoch.store(epoch, std::memory_order_release);
}

void clocks::sleep(std::size_t cpu) {
  if (!cpus_[cpu].active.exchange(false, std::memory_order_relaxed)) return;
  asleep_since_ps_.store(real_ps(), std::memory_order_relaxed);   // of several at once any will do
  awake_.fetch_sub(1, std::memory_order_acq_rel);
}

std::uint64_t clocks::wake(std::size_t cpu, bool costs) {
  const std::uint64_t others = floor_ps_.load(std::memory_order_relaxed) + (costs ? wake_ps_ : 0), mine = now(cpu);
  set(cpu, std::max(mine, others));
  if (!cpus_[cpu].active.exchange(true, std::memory_order_relaxed)) {
    const bool alone = awake_.fetch_add(1, std::memory_order_acq_rel) == 0;
    cpus_[cpu].alone_ps = alone ? real_ps() - asleep_since_ps_.load(std::memory_order_relaxed) : 0;
  }
  return others > mine ? others - mine : 0;
}

void clocks::timed_out(std::size_t cpu) {
  advance(cpu, cpus_[cpu].alone_ps);
  cpus_[cpu].alone_ps = 0;
}

std::uint64_t clocks::update_floor() {
  const std::uint64_t epoch = epoch_.load(std::memory_order_acquire), begin = epoch_begin_ps_.load(std::memory_order_relaxed);
  std::uint64_t slowest = std::numeric_limits<std::uint64_t>::max();
  for (const cpu_clock& c : cpus_) {
    if (!c.active.load(std::memory_order_relaxed)) continue;
    const bool joined = c.epoch.load(std::memory_order_acquire) == epoch;
    slowest = std::min(slowest, joined ? c.ps.load(std::memory_order_relaxed) : begin);
  }
  std::uint64_t floor = floor_ps_.load(std::memory_order_relaxed);
  if (slowest == std::numeric_limits<std::uint64_t>::max()) return floor;
  while (slowest > floor && !floor_ps_.compare_exchange_weak(floor, slowest, std::memory_order_relaxed)) {}
  return std::max(slowest, floor);
}

bool clocks::wait_for_others(std::size_t cpu) {
  int turns = 0, stalled = 0;
  std::uint64_t last = 0;
  for (std::uint64_t floor = update_floor(); now(cpu) > floor + quantum_ps_; floor = update_floor()) {
    if (++turns < yields) std::this_thread::yield();
    else std::this_thread::sleep_for(nap);
    stalled = floor == last ? stalled + 1 : 0;
    last = floor;
    if (stalled > patience) return false;
  }
  return true;
}

}  // namespace weir::emulator
