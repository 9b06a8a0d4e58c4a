// The other engine: it carries out what the scheduler decides on virtual workers, one event after the other, in a time
// of its own. Queues, placement, the sleep protocol, data and their memory are those of the threads' engine; bodies
// are not run, they take the time that the program says, and longer where they read from far away.
//
// The same program, machine and costs give the same run, bit for bit, on any machine: so 192 workers can be watched
// on two CPUs, and what a constant of the scheduler is worth can be measured.
#pragma once

#include "engine/sim/frames.hpp"
#include "engine/sim/program.hpp"
#include "flow/flow.hpp"
#include "machine/machine.hpp"
#include "sched/sched.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

namespace weir::engine::sim {

// What the machine takes for things that are no bodies. Rough: of the order of what two CPUs of a server take.
struct costs {
  std::uint64_t create_ns = 100;  // a task
  std::uint64_t theft_ns = 500;   // from the moment that a thief looks until it has the task
  std::uint64_t wake_ns = 5'000;  // from the call that wakes a worker until it looks
  std::uint64_t plan_ns = 10'000;  // a window of tasks
  std::uint64_t pause_ns = 40;    // the shortest between two rounds: an eighth of the first one
};

struct result {
  std::uint64_t ns = 0;  // until the last task is done
  std::uint64_t tasks = 0, thefts = 0, events = 0, windows = 0;
  std::uint64_t windows_from_afar = 0;  // of these, planned by a worker of another node than their creator
  std::uint64_t recognised = 0;                // tasks, when they were created
  std::uint64_t transfer_ns = 0;               // of `ns` of all workers together, what reading from far away took
  std::vector<std::uint64_t> tasks_of_worker;
};

class simulation {
 public:
  // `node_of_worker`: of each worker. The machine and the program must outlive it. Throws configuration_error for what
  // is no policy.
  simulation(const machine::description&, std::vector<int> node_of_worker, const std::string& policy, const program&,
             std::uint64_t spin_ns = 0, costs = {}, const sched::tuning& = {});
  ~simulation();

  // Once. Throws error: tasks are left, and all workers sleep. O(events * log(workers)) and, for what ends a rest or
  // a pause, O(workers) an event.
  result run();

  // Called after each event; for whoever watches what the scheduler does.
  std::function<void(std::uint64_t now_ns)> after_event;
  // Called when a body begins and when it has run: task, worker, time.
  std::function<void(int task, int worker, std::uint64_t now_ns)> begins, ends;
  sched::scheduler& scheduler() { return scheduler_; }
  bool is_idle(int worker) const;  // it runs nothing

 private:
  struct event {
    std::uint64_t at_ns, order;
    int slot;
    std::uint64_t generation;  // of the slot's; another one: it is out of date
    bool operator>(const event& b) const { return at_ns != b.at_ns ? at_ns > b.at_ns : order > b.order; }
  };
  enum class doing : std::uint8_t { nothing, runs, searches, rests };
  struct actor {
    explicit actor(flow::shared&, int index, int node, bool is_worker);
    flow::context flow;
    place::recognition::reader known;
    doing what = doing::nothing;
    flow::frame* running = nullptr;
    sched::decision::kind rest{};
    bool pauses = false;  // between two rounds of its search
    bool has_planned = false;  // what it has let go comes before the next window
    std::uint64_t generation = 0, begin_ns = 0;
  };

  sched::slot_queues& queues(int slot) { return scheduler_.slot(slot); }
  void schedule(int slot, std::uint64_t at_ns);
  void happens(int slot);
  void create_next();
  void create(int slot, int task);
  void look(int worker);
  bool plan_window(int worker, std::uint64_t& look_again_ns);
  void begin(int worker, flow::frame*, std::uint64_t delay_ns);
  void end(int worker);
  void rest(int worker, const sched::decision&);
  void tell_policy(int worker, policy::event::kind, flow::frame*);
  void wake_who_was_told();
  std::uint64_t has_stolen(int worker);
  std::uint64_t pause_ns(int worker);
  std::uint64_t transfers_ns(int node, flow::frame*) const;

  const program& program_;
  const costs costs_;
  sched::scheduler scheduler_;
  flow::shared shared_;
  const policy_machine seen_;
  frame_maker frames_;
  std::vector<std::unique_ptr<actor>> slots_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  std::uint64_t now_ns_ = 1, order_ = 0;
  std::uint32_t wakes_seen_ = 0;
  std::size_t created_ = 0;
  const int guest_;
  result result_;
};

}  // namespace weir::engine::sim
