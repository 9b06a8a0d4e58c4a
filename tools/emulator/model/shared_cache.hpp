// The last-level caches that the CPUs of a node share, one a node. Only what a private cache misses comes here.
#pragma once

#include "cache.hpp"
#include "directory.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace weir::emulator {

class shared_caches {
 public:
  // Without any if bytes is 0.
  shared_caches(std::size_t nodes, std::uint64_t bytes, std::uint64_t lines) : holders_(bytes == 0 ? 0 : lines) {
    if (bytes == 0) return;
    for (std::size_t n = 0; n < nodes; n++) caches_.push_back(std::make_unique<guarded>(bytes));
  }

  bool present() const { return !caches_.empty(); }

  // Whether an access of one of the node's CPUs that missed its own cache is served within the node. A write is, if no
  // other node may have a copy that must be told.
  bool serve(int node, std::uint32_t line, directory::outcome o, bool write) {
    std::atomic<std::uint8_t>& holder = holders_[line];
    const auto mine = static_cast<std::uint8_t>(node + 1);
    const std::uint8_t held = holder.load(std::memory_order_relaxed);
    const bool alone = held == 0 || held == mine;
    if (write || alone) holder.store(mine, std::memory_order_relaxed);
    else holder.store(several, std::memory_order_relaxed);
    guarded& g = *caches_[static_cast<std::size_t>(node)];
    const std::uint32_t set = g.lines.set_of(line);
    const guard lock(g.locks[set % g.locks.size()]);
    return g.lines.use(line, set, o.before, o.after) && (!write || alone);
  }

  // What CPUs put in meanwhile may stay or go.
  void clear() {
    for (auto& g : caches_) {
      for (auto& lock : g->locks) lock.lock();
      g->lines.clear();
      for (auto& lock : g->locks) lock.unlock();
    }
    for (auto& h : holders_) h.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint8_t several = 0xff;

  class spin {
   public:
    void lock() {
      while (taken_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    void unlock() { taken_.clear(std::memory_order_release); }

   private:
    std::atomic_flag taken_;
  };
  class guard {
   public:
    explicit guard(spin& lock) : lock_(lock) { lock_.lock(); }
    ~guard() { lock_.unlock(); }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

   private:
    spin& lock_;
  };
  struct guarded {
    explicit guarded(std::uint64_t bytes) : lines(bytes) {}
    cache lines;
    std::array<spin, 64> locks;
  };

  std::vector<std::unique_ptr<guarded>> caches_;
  std::vector<std::atomic<std::uint8_t>> holders_;   // by line: node + 1, `several`, or 0 for none
};

}  // namespace weir::emulator
