// Policies: where tasks run, and where and when their data get memory. Those that come with weir are written against
// this header, one file each (src/place/policies), and so can a program's own be: derive from weir::policy, register
// it under a name, and choose it by that (examples/policy.cpp).
//
//   class mine final : public weir::policy {
//    public:
//     double cost(const weir::task_view& task, int node) const override { ... }  // nanoseconds
//   };
//   const weir::policy_registration<mine> here("mine");
//
//   weir::runtime rt({.policy = "mine"});  // or WEIR_POLICY=mine
//
// A policy says what it prefers, and nothing more. That no worker is idle beside a task is the scheduler's affair: an
// idle worker takes a task from another node when the time that it has been idle for, and the time that the task would
// wait there, have grown to what taking it costs.
#pragma once

#include <weir/detail/frame.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace weir {
namespace memory {
class regions;
}
namespace flow {
class user_places;
}
namespace place {
class data_balance;
class window_builder;
}

// The machine, as a policy sees it. Nodes and workers are numbered from 0 up.
struct policy_machine {
  static constexpr std::size_t line_bytes = 64;

  int nodes = 1;
  // Of a line: nodes x nodes, [node of the CPU][node of the memory]. Where latencies are unknown they
  // follow the distances that the firmware tells.
  std::vector<double> read_ns, write_ns;
  std::vector<char> has_worker;     // by node
  std::vector<int> node_of_worker;  // by worker

  double read(int from, int to) const { return read_ns[index(from, to)]; }
  double write(int from, int to) const { return write_ns[index(from, to)]; }

 private:
  std::size_t index(int from, int to) const {
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(nodes) + static_cast<std::size_t>(to);
  }
};

// A task that is ready, or runs. To look at, as long as the policy is asked about it.
class task_view {
 public:
  struct part {
    std::uint64_t bytes;
    int node;      // where they lie; negative: nowhere yet, or on several nodes
    bool updated;  // an inout(), commutative() or concurrent() of data: they are written there, too
  };

  // `known`: where the program's own memory lies; null: nobody keeps that. `found`: what of it was looked up for this
  // task; null: nothing yet. `balance`: how evenly data lie; null: they stay where they are.
  explicit task_view(detail::frame& f, const memory::regions* known = nullptr,
                     const flow::user_places* found = nullptr, const place::data_balance* balance = nullptr)
      : frame_(&f), regions_(known), found_(found), balance_(balance) {}
  const char* name() const { return frame_->display_name(); }
  int priority() const { return frame_->priority; }
  bool has_data() const { return !frame_->has_no_data(); }
  // Calls f(part) for each datum, and each element of a stream, that the task reads, and for each node that memory of
  // the program's own lies on, named with weir::ref, that it reads.
  template <class F>
  void for_each_input(F&& f) const {
    visit_inputs([](void* to, const part& p) { (*static_cast<std::remove_reference_t<F>*>(to))(p); }, erased(f));
  }
  // Of what it writes. An inout() is here, too, as being nowhere yet: it will be where the input is that is `updated`. Of
  // the program's own memory, nowhere yet means that this task is the first to write it.
  template <class F>
  void for_each_output(F&& f) const {
    visit_outputs([](void* to, const part& p) { (*static_cast<std::remove_reference_t<F>*>(to))(p); }, erased(f));
  }
  // The node that it was placed on in a window; negative: none.
  int planned() const;
  // Most of what it has in common with others, or with nodes, was to be there by then, as they were placed. If other
  // workers have taken the tasks that write that, it is elsewhere.
  bool planned_with_data() const;
  detail::frame& frame() const { return *frame_; }             // weir's own
  const memory::regions* regions() const { return regions_; }  // likewise
  const flow::user_places* found() const { return found_; }    // likewise
  const place::data_balance* balance() const { return balance_; }  // likewise

 private:
  template <class F>
  static void* erased(F& f) {
    return const_cast<void*>(static_cast<const void*>(std::addressof(f)));
  }
  void visit_inputs(void (*f)(void*, const part&), void* to) const;
  void visit_outputs(void (*f)(void*, const part&), void* to) const;

  detail::frame* frame_;
  const memory::regions* regions_;
  const flow::user_places* found_;
  const place::data_balance* balance_;
};

// Tasks that wait until a policy has seen them together, in the order in which they were created, with what they have
// in common. What they wait for may be among them, and none of them runs before it was placed.
class task_window {
 public:
  // Task `to` uses bytes that `from` leaves behind. What is written on in place counts twice.
  struct link {
    std::uint32_t from, to;
    std::uint64_t bytes;
  };
  // A task uses bytes that lie on a node, or that a task leaves behind which was placed there before.
  struct bond {
    std::uint32_t task;
    int node;
    std::uint64_t bytes;
    bool own_memory = false;  // the program's, which may move (policy::migrates())
  };
  // What a task names of memory of the program's own.
  struct named_memory {
    std::uintptr_t most = 0;  // where the largest part begins that it names; 0: it names none
    // The page where the largest begins that it writes, 0 if it writes none. Those that begin on the same page share
    // more than that one, and belong together.
    std::uintptr_t written_page = 0;
    bool is_new = false;      // nobody has written most of what it writes
  };

  std::size_t size() const { return tasks_.size(); }
  const task_view& task(std::size_t i) const { return tasks_[i]; }
  // What tasks of its function took; of one none of which has finished, what it takes to read as much as it names.
  const std::vector<std::uint64_t>& cost_ns() const { return cost_ns_; }
  // All that each names.
  const std::vector<std::uint64_t>& bytes() const { return bytes_; }
  // By task.
  const std::vector<named_memory>& own_memory() const { return own_memory_; }
  // By `to`, and by task, in ascending order.
  const std::vector<link>& links() const { return links_; }
  const std::vector<bond>& bonds() const { return bonds_; }
  // It was ended before it was full: somebody waits for its tasks, or workers have nothing else to do.
  bool is_cut() const { return cut_; }
  // Nanoseconds from some point on, for a policy that is to know how long it has been at it. In a simulated machine
  // policies take no time, and this one stands still.
  std::uint64_t now_ns() const { return clock_ != nullptr ? clock_() : 0; }
  // Where it was placed so far: by this window, or, if it was kept, by the one before. -1: nowhere.
  int node(std::size_t i) const { return nodes_[i]; }

  // -1: place() is asked when it is ready. Throws usage_error for a node that there is not.
  void place(std::size_t i, int node);
  // Tasks from this one on are seen again, in the next window; the first never is. Of one that is cut none are kept,
  // for somebody waits for them.
  void keep_from(std::size_t i);
  std::size_t kept_from() const { return kept_from_; }
  // Memory of the program's own is to go where its tasks were placed (policy::migrates()). Under a policy that sees
  // windows none is moved before it has said so: arrays that lie well would only be disturbed. `uses`: how often what
  // its tasks use from elsewhere is expected to be used in all. If more than once, all of that counts as lost already,
  // so that pages move before the first use; else each use counts when it comes.
  void move_memory(std::uint32_t uses = 1) { moving_uses_ = uses; }
  std::uint32_t moving_uses() const { return moving_uses_; }
  bool moves_memory() const { return moving_uses_ != 0; }

 private:
  friend class place::window_builder;
  task_window() = default;
  bool cut_ = false;
  std::uint64_t (*clock_)() = nullptr;
  std::vector<task_view> tasks_;
  std::vector<std::uint64_t> cost_ns_, bytes_;
  std::vector<named_memory> own_memory_;
  std::vector<link> links_;
  std::vector<bond> bonds_;
  std::vector<int> nodes_;
  std::size_t kept_from_ = 0;
  std::uint32_t moving_uses_ = 0;
};

// One object for each runtime. Questions are asked by all threads at once, so what a policy remembers is its own to
// protect. A question that a policy leaves unanswered costs nothing. What it throws, and what makes no sense, is said
// once on standard error, and the task stays where it became ready.
class policy {
 public:
  // Where ready tasks wait.
  enum class queues : std::uint8_t {
    own,      // with the worker that made them ready, or that they were sent to; others steal
    nodes,    // in a container for each node, shared by its workers
    central,  // in one queue for all, first in first out
  };
  // When and where what a task writes gets memory.
  enum class memory : std::uint8_t {
    deferred,     // when the task runs, on the node of the worker that runs it
    at_creation,  // when it is created, on the creator's node
    at_consumer,  // when the task runs, on the node where the first task that reads it was created; on its own creator's
                  // node if none had been by then
    first_touch,  // at creation, and the system decides where when it is first written
    interleaved,  // at creation, page by page over all nodes
  };

  // What becomes of the program's own memory (weir::ref) that tasks use from other nodes than it lies on. What moves
  // are pages, once what using them from elsewhere has cost so far is what moving them takes, to the node whose tasks
  // have paid most of that.
  enum class migration : std::uint8_t {
    off,          // nothing: it stays where it is
    automatic,    // when a task has run, by its worker
    at_barriers,  // in runtime::wait(), by the thread that waits
  };

  // Where a task should run.
  static constexpr int here = -1;  // with the worker that made it ready
  struct wish {
    int node = here;
    // All that follows will lie where this task runs, which only writes: it waits there in a queue of its own, however
    // many there are of its kind.
    bool initial = false;
    // Of what the task reads, how much lies there, so that it costs more elsewhere. unknown: the runtime finds out,
    // which means a look at each input.
    std::uint64_t bytes = unknown;
    static constexpr std::uint64_t unknown = ~std::uint64_t{0};

    constexpr wish(int wished_node = here, bool decides_for_others = false, std::uint64_t bytes_there = unknown)
        : node(wished_node), initial(decides_for_others), bytes(bytes_there) {}
    bool operator==(const wish&) const = default;
  };
  // Who asks: the thread that made the task ready; or, of what a thread of the program has created while workers had
  // nothing to do, the worker that has taken it from there, as one that runs no task.
  struct asker {
    int index;                 // its worker, or, of a thread of the program, a number above those
    int node;                  // -1: unknown
    detail::frame* running;    // the task it is executing, or null
  };
  // What has happened. By the worker that it happened to.
  struct event {
    enum class kind : std::uint8_t { task_done, becomes_idle } what;
    int worker, node;
    const task_view* task;  // task_done: which
  };

  virtual ~policy() = default;
  // Before anything else is asked.
  virtual void begin(const policy_machine& m) { machine_ = &m; }
  // Under `central` nothing is placed, and under `nodes` and `central` nobody is robbed: a policy that answers these
  // questions all the same is refused when it is chosen.
  virtual queues where_tasks_wait() const { return queues::own; }
  virtual memory outputs() const { return memory::deferred; }
  // Of the program's own memory. Asked once.
  virtual migration migrates() const { return migration::off; }
  // What running the task on this node costs, in nanoseconds, beyond what it costs anywhere. It is placed where that
  // is least; `here` if it is the same there. Asked for each node that has workers.
  virtual double cost(const task_view&, int node) const;
  // The same in one question, for policies that know a shorter way. Default: where it was placed in a window, else the
  // least of cost().
  virtual wish place(const task_view&, const asker&);
  // How many tasks it wants to see together before they are placed; 0: none, or no more. A window ends earlier when
  // half of its tasks have come since the last one that was the first to name what it writes, when a thread waits that
  // would create others, when workers have been idle for as long as a plan can save, and when workers are idle and
  // nobody creates any. Asked at first, after each window, and, if there were to be no more and joins() is overridden,
  // by idle workers. Tasks that a program places itself, tasks without data and stages of streams are in none.
  virtual std::size_t window() const { return 0; }
  // Whether a window ends only when it is full, or when a thread waits that would create others: for who wants to see
  // whole programs. Not for speed: workers are idle beside tasks meanwhile. Asked once, at first.
  virtual bool waits_for_creators() const { return false; }
  // Whether tasks that name no memory of the program's own (weir::ref) are seen in windows. Asked once, at first.
  virtual bool sees_tasks_on_data() const { return true; }
  // While windows are wanted: whether this task is to be seen in one. By who creates it, before it is known what it
  // waits for. Of others place() is asked when they are ready. If there are to be no more windows since, the one that
  // is open ends without created().
  virtual bool joins(const task_view&) { return true; }
  // A window is full, or must not wait: says where its tasks belong. By one thread at a time, while others create and
  // run tasks. A task that is then placed is still asked about by place(), which may know more: task_view::planned().
  virtual void created(task_window&) {}
  // Whether a task like one that it has placed in a window, with the same function on the same data or memory, goes
  // where that one was placed, and is in no window. Programs that iterate create the same tasks again and again. Tasks
  // that are alike and were placed on several nodes are told apart by those before them. Asked once, at first.
  virtual bool recognises() const { return false; }
  // Whom to rob, in this order, first its own node's workers: nearest first unless said otherwise. Workers that are
  // not named are never robbed by this one. Asked once.
  virtual std::vector<int> victims(int worker) const;
  // Not of chunks of loops, nor of tasks of graphs in bulk.
  virtual void observe(const event&);
  // What it has chosen so far, and why, for people who read statistics: one line each. Empty: there was no choice.
  virtual std::string explanation() const { return {}; }

 protected:
  const policy_machine& machine() const { return *machine_; }

 private:
  const policy_machine* machine_ = nullptr;
};

// What stands behind the name in "NAME:parameter=value,...". A policy asks for each of its parameters once, in its
// constructor, and so says which it has. Throws configuration_error: what is wrong, and what was expected.
class policy_parameters {
 public:
  struct description {
    std::string name, range, usual, meaning;
  };
  explicit policy_parameters(std::string_view policy, std::string_view assignments);

  // One of several words; the first is the usual one.
  std::string word(std::string_view name, const std::vector<std::string>& allowed, std::string_view meaning);
  double number(std::string_view name, double usual, double least, double most, std::string_view meaning);
  std::uint64_t count(std::string_view name, std::uint64_t usual, std::uint64_t least, std::uint64_t most,
                      std::string_view meaning);
  // With KiB, MiB or GiB, if it is written so.
  std::uint64_t bytes(std::string_view name, std::uint64_t usual, std::string_view meaning);
  const std::vector<description>& all() const { return all_; }  // those that were asked for
  void refuse_others() const;                                   // that were given, and not asked for

 private:
  struct given {
    std::string name, value;
    bool has_value, used = false;
  };
  [[noreturn]] void refuse(const std::string& what) const;
  double parse(const given&, bool bytes, const std::string& expected) const;
  given* find(std::string_view name);

  std::string policy_;
  std::vector<given> given_;
  std::vector<description> all_;
};

namespace detail {

struct policy_kind {
  std::string name;
  std::unique_ptr<policy> (*make)(policy_parameters&);
  bool places, orders_victims, observes, sees_windows, chooses_members;  // the questions that it answers
};
// Before main() or later, by any thread.
void register_policy(const policy_kind&);

template <class P>
std::unique_ptr<policy> make_policy(policy_parameters& p) {
  if constexpr (std::is_constructible_v<P, policy_parameters&>) return std::make_unique<P>(p);
  else return std::make_unique<P>();
}

// The type of &P::f says which class f is of.
template <class P>
policy_kind kind_of(std::string_view name) {
  return {.name = std::string(name),
          .make = &make_policy<P>,
          .places = !std::is_same_v<decltype(&P::cost), decltype(&policy::cost)> ||
                    !std::is_same_v<decltype(&P::place), decltype(&policy::place)>,
          .orders_victims = !std::is_same_v<decltype(&P::victims), decltype(&policy::victims)>,
          .observes = !std::is_same_v<decltype(&P::observe), decltype(&policy::observe)>,
          .sees_windows = !std::is_same_v<decltype(&P::created), decltype(&policy::created)>,
          .chooses_members = !std::is_same_v<decltype(&P::joins), decltype(&policy::joins)>};
}

}  // namespace detail

// As a constant of a source file: from before main() on there is a policy of this name.
template <class P>
class policy_registration {
 public:
  explicit policy_registration(std::string_view name) { detail::register_policy(detail::kind_of<P>(name)); }
};

// Of all that there are, in alphabetical order.
std::vector<std::string> policy_names();
// The parameters of one. Throws configuration_error if there is none of this name.
std::vector<policy_parameters::description> policy_parameters_of(std::string_view name);

}  // namespace weir
