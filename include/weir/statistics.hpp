// What a runtime did: counts since it was made, or since runtime::reset_statistics().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

// Why workers had nothing to run while others had.
enum class idle_reason {
  dependent,  // no second task was ready: all that were left depended on the one that ran
  uncreated,  // there was no second task
  required,   // the tasks that were ready required a node
  small,      // they are so short that moving one takes longer than running it
  distant,    // their data lay where they waited, and moving a task would have cost more than its wait
  brief,      // they were ready for less time than it takes others to come for them
};
inline constexpr std::size_t idle_reasons = 6;
std::string_view name_of(idle_reason);  // "dependent"
// What was so, as a clause, and what can be done about it, as a sentence. `node`: where the tasks ran.
struct explanation {
  std::string what, advice;
};
explanation explain(idle_reason, int node);

// Of one worker. Threads of the program that have its place are counted with it.
struct worker_statistics {
  int node = 0;
  std::uint64_t tasks = 0;  // executed
  // While it ran tasks it looked now and then whether others were idle. The time up to such looks; of that the time up
  // to those when all other workers were; and when all of other nodes were at least, by reason.
  std::uint64_t watched_ns = 0;
  std::uint64_t alone_ns = 0;
  std::array<std::uint64_t, idle_reasons> beside_idle_ns = {};
};

// One worker, or those of one node, ran nearly all tasks, or only one worker at a time did.
struct one_sidedness {
  enum class who { worker, node, one_at_a_time } ran = who::worker;
  int node = 0;
  int worker = 0;    // who::node and one_at_a_time: the one that ran most
  double share = 0;  // of the tasks; one_at_a_time: of the time that was looked at
  idle_reason why = idle_reason::brief;
};

struct statistics {
  std::string policy = {};
  std::string policy_explanation = {};  // what it has chosen, and why (policy::explanation()): lines
  int workers = 0;
  int nodes = 0;
  std::uint64_t tasks = 0;                                   // executed, skipped ones included
  double seconds = 0;                                        // since the start of the count
  std::uint64_t pushes = 0;                                  // tasks handed to another node's inbox
  std::uint64_t pushes_refused = 0;                          // inbox full: the task stayed
  std::vector<std::uint64_t> steals_by_distance = {};        // by distance class, see distance_classes
  std::vector<double> distance_classes = {};                 // firmware distances (local 10), ascending; [0]: itself
  std::vector<std::uint64_t> read_bytes_by_distance = {};    // dependence bytes, from worker's node to version's
  std::vector<std::uint64_t> write_bytes_by_distance = {};
  std::vector<std::uint64_t> peak_buffer_bytes_by_node = {}; // bytes in version buffers; exact to 64 KiB per worker
  std::uint64_t peak_buffer_bytes = 0;                       // of all nodes together, same precision
  std::uint64_t live_buffer_bytes = 0;
  std::vector<worker_statistics> by_worker = {};
  // Where the policy places tasks in windows: how many it has seen, tasks in them, how long it took to place those
  // beyond what was looked at while they came; and tasks that went where one like them had been placed.
  std::uint64_t windows = 0;
  std::uint64_t window_tasks = 0;
  std::uint64_t planning_ns = 0;
  std::uint64_t recognised_tasks = 0;
  // Where the policy has pages of the program's own memory moved to the nodes that use them: how many have moved, and
  // how many the system has not moved; how long that took, of all threads together; and by how much longer tasks had
  // taken because those that moved lay elsewhere, which is what they are expected to save from then on, at least.
  std::uint64_t pages_moved = 0;
  std::uint64_t pages_refused = 0;
  std::uint64_t moving_ns = 0;
  std::uint64_t lost_before_moving_ns = 0;

  std::uint64_t steals() const;
  std::uint64_t read_local() const;
  std::uint64_t read_remote() const;
  std::uint64_t write_local() const;
  std::uint64_t write_remote() const;
  // Share of dependence bytes on the executing worker's node; nothing if the runtime knows of none, as of memory that
  // no task names. The metric R_loc^RT of Drebes, Pop, Heydemann, Cohen and Drach, PACT 2016, section 5.1.
  std::optional<double> locality() const;
  std::uint64_t tasks_of_busiest_worker() const;
  // If one worker, or one node's, ran at least 90 % of the tasks while the others were idle for most of the time that
  // was looked at; or if in 90 % of that time one worker at a time ran tasks. And this for a millisecond at least.
  std::optional<weir::one_sidedness> one_sidedness() const;
  // For people, aligned, several lines.
  std::string to_string() const;
};

}  // namespace weir
