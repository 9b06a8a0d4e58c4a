// What a worker that looks for a task can see of others and do to their queues. With the time, and with what it
// remembers (thief.hpp), this is all that its decisions depend on: fed back the same answers, a thief decides the
// same.
#pragma once

#include "sched/ready_task.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::sched {

// Says, of the task that is first in a queue, whether to take it. It may be asked more than once for one theft.
class judgement {
 public:
  // `before`: how many tasks will be executed there before it, more or less.
  virtual bool takes(task_hint, std::size_t before) const = 0;

 protected:
  ~judgement() = default;
};

// What is first in each of somebody's queues.
class first_tasks {
 public:
  struct one {
    task_hint hint;
    std::size_t before;
  };
  void add(task_hint hint, std::size_t before) { all_[size_++] = {hint, before}; }
  const one* begin() const { return all_.data(); }
  const one* end() const { return all_.data() + size_; }

 private:
  std::array<one, 4> all_;
  std::size_t size_ = 0;
};

// How far a thread has got, and how long it took to read that, whose line it writes all the time.
struct pace {
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};
  std::uint64_t progress = 0;  // tasks finished and created
  std::uint64_t read_ns = unknown;
};

// Of one worker. Slots as in scheduler.hpp: workers, then threads of the program.
class surroundings {
 public:
  virtual ~surroundings() = default;

  // Null: there is none, or it is not to be taken.
  virtual frame* take_own() = 0;
  virtual frame* take_shared() = 0;  // of those that are nobody's
  virtual frame* take_from(int slot) = 0;
  virtual frame* take_from(int slot, const judgement&) = 0;
  // From another node's container; null: whatever is first. And from its initial tasks.
  virtual frame* take_from_container(int node, const judgement*) = 0;
  virtual frame* take_initial(int node, const judgement&) = 0;

  // A moment's picture, all of it.
  virtual int slots() const = 0;
  virtual bool anything_shared() const = 0;
  virtual bool anything_required_here() const = 0;
  virtual bool anything_sent() const = 0;  // to this worker, or to all that search
  virtual bool has_tasks(int slot) const = 0;
  virtual bool node_holds_tasks(int node) const = 0;  // in queues of its own
  virtual bool offers(int worker) const = 0;
  virtual bool rests(int worker) const = 0;
  virtual first_tasks first_of(int slot) const = 0;
  virtual first_tasks first_of_node(int node) const = 0;
  virtual std::uint64_t finished(int slot) const = 0;
  virtual pace pace_of(int slot) const = 0;
  // More or less: of data, in memory that moves with the tasks that write it. False if there is none.
  virtual bool holds_as_much(int node, int as_node) const = 0;
  virtual int place_of(int slot) const = 0;  // of a thread of the program: the worker whose place it has; -1: none
};

}  // namespace weir::sched
