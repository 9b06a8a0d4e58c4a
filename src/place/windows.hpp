// Windows: tasks that wait until the policy has seen them together (policy::created). README.md, "Windows", says who
// does what, and why nothing is lost.
#pragma once

#include "flow/flow.hpp"
#include "place/recognition.hpp"

#include <weir/policy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weir::place {

// What a plan saves is saved again each time that data are used where they were placed. With 1, workers that have
// nothing to do at the beginning cut windows of a few tasks, which decide where arrays lie for good.
inline constexpr std::uint32_t uses_expected = 8;

class windows {
 public:
  // Both must outlive it, and so must what is set.
  // `chooses`: the policy overrides joins().
  windows(policy&, const policy_machine&, bool chooses);
  ~windows();
  void set_user_memory(memory::regions& known) { user_memory_ = &known; }
  void set_migration(memory::migration& m) { migration_ = &m; }
  // For task_window::now_ns(), which stands still until then.
  void set_clock(std::uint64_t (*now_ns)()) { clock_ = now_ns; }

  // By who creates tasks: whether this one belongs into a window. If so it is marked before anybody knows of it, and
  // added when it was matched. add() is true if the window is full: somebody should be woken for it. If there is no
  // memory the task is in no window, and, if it is ready and was held, in `ready`.
  bool wants(const flow::frame& f) const {
    constexpr std::uint8_t others = flow::frame::has_streams | flow::frame::of_graph;
    return most_.load(std::memory_order_relaxed) != 0 && f.affinity == detail::node_unknown && !f.required &&
           !f.has_no_data() && (f.unusual & others) == 0 && (sees_data_ || flow::names_user_memory(&f));
  }
  // Of one that is wanted: whether the policy wants to see it. `wake`: the window that is open is over.
  bool joins(flow::frame& f, bool& wake) { return !chooses_ || ask_joins(f, wake); }
  static void mark(flow::frame& f) { flow::set_affinity(f, flow::awaits_plan); }
  // `signature`: of a task that was looked for (recognise()), 0 where nobody looks. `node`: its creator's, -1 if that
  // is not known.
  bool add(flow::frame&, std::uint64_t signature, int node, flow::ready_list& ready);
  // Before a wanted task is marked: whether one like it was placed before. Then this one is, and is in no window.
  bool recognise(flow::frame& f, recognition::reader& creators) const {
    if (!recognises_) return false;
    const int place = known_.place_of(signature_of(f), creators);
    if (place >= 0) flow::set_affinity(f, affinity_of_place(place));
    return place >= 0;
  }

  // By who has made a task ready. True: it is not placed yet, and is kept until it is.
  bool hold(flow::frame* f) { return flow::affinity_of(*f) == flow::awaits_plan && hold_marked(f); }
  bool holds_any() const { return held_count_.load(std::memory_order_relaxed) != 0; }
  // After hold(): nobody who has looked before may know that somebody is to look again. True once.
  bool is_news() {
    if (!holds_any() || !news_.load(std::memory_order_relaxed)) return false;
    return news_.exchange(false, std::memory_order_relaxed);
  }

  // Somebody waits for its tasks, or cannot create others. True: somebody should be woken for it.
  bool cut();
  // As long as somebody waits.
  void add_waiting(int n) { waiting_.fetch_add(n, std::memory_order_relaxed); }
  // Whether somebody is to look at the window now. `idle`: so many workers have nothing to do. Ready tasks are not
  // kept from them for longer than it takes all tasks of the window to read everything from other nodes some times:
  // that is what a plan can save; no longer than it takes to see that nobody creates any; and not at all if all workers
  // are idle and somebody waits, for nobody creates others then. `look_again_ns`: where it is not due, when it will be
  // if nothing is created.
  static constexpr std::uint64_t never_ns = ~std::uint64_t{0};
  bool is_due(std::uint64_t now_ns, int idle, std::uint64_t& look_again_ns);
  // The node of who created the last task, -1 if that is not known. Who plans reads and writes all tasks of the window.
  int created_on() const { return created_on_.load(std::memory_order_relaxed); }
  // It is due, and somebody is looking who is nearer to the tasks than who asks. False: nobody has come for too long.
  bool waits_for_nearer(std::uint64_t now_ns, std::uint64_t& look_again_ns);
  // Shows the policy the window. True: it has, and tasks that are placed now and ready are in `ready`. One thread at a
  // time; others return at once.
  bool plan(flow::ready_list& ready);

  bool has_unseen() const {
    return size_.load(std::memory_order_relaxed) > seen_ahead_.load(std::memory_order_relaxed);
  }
  // By a worker with this number that has nothing else to do: a window that is not due yet is looked at as far as its
  // tasks have come, so that less is left when it is. True: at some. Else `look_again_ns` becomes less if this one is
  // to look for others.
  bool look_ahead(std::uint64_t now_ns, int who, std::uint64_t& look_again_ns);

  // A plan wants memory of the program's own to go where its tasks are.
  bool memory_moves() const { return memory_moves_.load(std::memory_order_relaxed); }

  // So far.
  struct counts {
    std::uint64_t windows = 0, tasks = 0;  // that were placed: a task that was kept counts once
    std::uint64_t recognised = 0;          // others, after they were created
  };
  counts so_far() const {
    return {windows_.load(std::memory_order_relaxed), tasks_.load(std::memory_order_relaxed),
            recognised_.load(std::memory_order_relaxed)};
  }
  std::size_t wanted() const { return most_.load(std::memory_order_relaxed); }

 private:
  // As it is kept by who recognises: never negative.
  static std::int16_t affinity_of_place(int place) { return static_cast<std::int16_t>(flow::first_planned - place); }
  static bool names_new(flow::frame&, flow::frame* parts);
  bool ask_joins(flow::frame&, bool& wake);
  bool is_paused(std::uint64_t now_ns, std::uint64_t& look_again_ns);
  bool hold_marked(flow::frame*);
  bool is_full() const { return size_.load(std::memory_order_relaxed) >= std::max<std::size_t>(wanted(), 1); }
  struct member {
    flow::frame* frame;
    std::uint64_t signature;
    std::uint32_t position;  // of one that was kept: in what is known
    int node;                // where it was placed so far, else -1
    bool has_parts;          // flow::parts_of(), which looks at lines of the frame that have long left the cache
    bool with_data = false;  // flow::planned_on()
    std::int16_t affinity() const {
      return node >= 0 ? flow::planned_on(node, with_data) : std::int16_t{detail::node_unknown};
    }
  };
  struct taken {
    std::vector<member> tasks;
    std::size_t most = 0;       // that a window has: seen together with more, they would be placed again and again
    std::size_t kept = 0;       // the first ones, by the window before
    bool cut = false;
    std::vector<member> later;  // those that came while nobody had time to plan
  };
  taken take();
  void leave_out(flow::frame&, flow::ready_list& ready);
  void let_go(flow::ready_list& ready);
  void place_all(taken&, flow::ready_list& ready);
  void begin_to_build();
  window_builder& built(const taken&);
  bool grows(std::size_t size, std::uint64_t now_ns);
  bool look_ahead_now(int who);
  bool look_at_some();
  void look_at_none();
  std::size_t end_of_new(const taken&) const;
  void set_later_apart(taken&);
  std::size_t place_known(std::vector<member>&, std::size_t from);
  std::size_t ask_about(taken&);
  std::size_t ask_policy(taken&);
  static void place(const member&, std::int16_t affinity);
  static void find_with_data(const task_window&, std::vector<member>&);
  void remember(taken&);
  void charge_memory(const task_window&, const taken&);
  bool keep(const taken&, std::size_t from);
  // Those before `end`; the others are kept for the next window, before those that came later.
  void release(const taken&, flow::ready_list& ready, std::size_t end);

  policy& policy_;
  const policy_machine& machine_;
  const bool chooses_;
  const bool sees_data_ = policy_.sees_tasks_on_data();
  const bool recognises_ = policy_.recognises();
  const bool waits_ = policy_.waits_for_creators();
  const int workers_ = static_cast<int>(machine_.node_of_worker.size());
  double far_ns_per_byte_ = 0;  // more than at home, on average
  memory::regions* user_memory_ = nullptr;
  memory::migration* migration_ = nullptr;
  std::uint64_t (*clock_)() = nullptr;
  atomic<bool> said_{false}, memory_moves_{false};
  atomic<std::size_t> most_;
  atomic<std::uint64_t> windows_{0}, tasks_{0}, recognised_{0};
  recognition known_;
  recognition::reader planners_;
  std::vector<flow::ready_list> going_to_;  // by node + 1; empty but while tasks are let go

  alignas(cache_line_bytes) spin_lock lock_;
  std::vector<member> tasks_of_it_;  // in the order of their creation; first those that were kept
  std::size_t kept_ = 0;             // so many
  flow::ready_list held_;            // those that are ready
  // As many tasks as this: none of the last ones was the first to name what it writes, so what is to be placed is
  // there. 0: there was none.
  std::size_t seen_all_at_ = 0;
  // Looked at by those who have nothing to do; written under the lock.
  atomic<std::size_t> size_{0}, held_count_{0};
  atomic<std::uint64_t> misplaced_ns_{0};  // beyond what it costs at home, if all that its tasks name lies elsewhere
  atomic<std::uint64_t> waited_since_ns_{0};  // when somebody first had nothing to do beside tasks that are held
  atomic<std::size_t> size_then_{0};          // and how many tasks there were when that was last seen to have changed
  atomic<std::uint64_t> size_since_ns_{0};    // and when that was
  atomic<int> created_on_{-1};
  atomic<std::uint64_t> due_since_ns_{0};     // when somebody first left it to who is nearer
  atomic<bool> cut_{false};
  atomic<bool> seen_all_{false};
  atomic<int> waiting_{0};
  enum class busy : std::uint8_t { no, looking, planning };
  atomic<busy> busy_{busy::no};  // what somebody does to a window, one at a time
  bool begins(busy);
  // Of the window that is open: its first tasks. Belongs to who is busy.
  std::unique_ptr<window_builder> ahead_;
  atomic<std::size_t> seen_ahead_{0};  // so many, or more than there ever are: no others before it is due
  atomic<int> watcher_{-1};            // who looks for others
  atomic<std::size_t> size_watched_{0};
  atomic<std::uint64_t> watched_since_ns_{0};  // that it is this
  atomic<bool> news_{true};  // the next task to be held is the first one
};

}  // namespace weir::place
