// Pages of the program's own memory move to the node whose tasks use them, once their debts are what that costs.
// README.md, "Pages that move".
#pragma once

#include "memory/regions.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weir::memory {

class migration {
 public:
  enum class when : std::uint8_t { at_once, at_barriers };
  // What has moved so far.
  struct counts {
    std::uint64_t pages = 0, refused = 0;
    std::uint64_t took_ns = 0;
    std::uint64_t debts_ns = 0;  // what their uses had cost before
  };

  // `os_nodes[i]` is the system's number of node i. What a line costs as tariff() has it. The others outlive it.
  migration(regions& known, os::memory_backend& os, std::vector<int> os_nodes, const std::vector<double>& read_ns,
            const std::vector<double>& write_ns, when w)
      : known_(known),
        os_(os),
        os_nodes_(std::move(os_nodes)),
        tariff_(os_nodes_.size(), read_ns, write_ns, known.page_bytes()),
        when_(w) {}

  bool is_off() const { return off_.load(std::memory_order_relaxed); }
  // As regions::used().
  void used(rows of, int node, use how, std::vector<misplaced_page>& due) { known_.used(of, node, how, tariff_, due); }
  // A task is about to run, and these are due: moves them, or leaves them for a barrier, or until there are enough for
  // a call.
  void task_begins(std::vector<misplaced_page>& due) {
    if (when_ == when::at_once && !due.empty() && !is_off()) move(due);
  }
  // A use that is certain to come is owed at once: who uses the pages then moves them. Throws std::bad_alloc.
  void will_use(rows of, int node, use how) {
    std::vector<misplaced_page> due;
    used(of, node, how, due);
  }
  // Nobody runs tasks. Moves all that are due, if that is left for barriers.
  void barrier();
  counts so_far() const;

 private:
  // More: more of the system's work at a time that nobody can interrupt. Fewer: more calls.
  static constexpr std::size_t pages_a_call = 1024;
  void move(std::vector<misplaced_page>& due);
  bool move_some(std::span<const misplaced_page>);
  void refuse(int error);

  regions& known_;
  os::memory_backend& os_;
  const std::vector<int> os_nodes_;
  tariff tariff_;
  const when when_;
  atomic<bool> off_{false};  // the system does not move pages
  atomic<std::uint64_t> pages_{0}, refused_{0}, took_ns_{0}, debts_ns_{0};
};

}  // namespace weir::memory
