// What runs of graphs and of what was aggregated from them share.
#pragma once

#include "runtime/runtime.hpp"

namespace weir::detail {

// One run at a time.
class run_guard {
 public:
  run_guard(atomic<std::uint32_t>& running, const char* what) : running_(running) {
    if (running.exchange(1, std::memory_order_acquire) != 0) throw usage_error(std::string(what) + " was called while the graph runs; wait for the other run, or make another graph");
  }
  ~run_guard() { running_.store(0, std::memory_order_release); }
  run_guard(const run_guard&) = delete;
  run_guard& operator=(const run_guard&) = delete;

 private:
  atomic<std::uint32_t>& running_;
};

// Runs it and waits; throws what went wrong in its scope.
void run_in_bulk(engine::engine&, engine::bulk_run&&);

}  // namespace weir::detail
