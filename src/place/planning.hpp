// Placement of windows of tasks by graph partitioning, for the policies that use it: "runtime informed partitioning"
// (RIP), Graph partitioning for the reduction of data transfer in task-based programming models, master thesis, UPC
// 2016 (hdl:2117/89943), section II.B of its short version.
#pragma once

#include "partition/partition.hpp"
#include "place/dealing.hpp"
#include "place/following.hpp"
#include "place/place.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weir::place {

class planning {
 public:
  enum class how { once, again };  // the first window only, or all
  planning(policy_parameters&, how);

  void begin(const policy_machine&);
  // For policy::window(). Once: none, after tasks were divided that have something in common.
  std::size_t window() const { return over_.load(std::memory_order_relaxed) ? 0 : window_; }
  // Once: another one, of what comes.
  void begin_again() { over_.store(false, std::memory_order_relaxed); }
  // For policy::created().
  void divide(task_window&);
  // Of a task that was placed: there. What it is the first to write will lie there, too.
  static policy::wish as_planned(const task_view&, int node);

  // For policy::recognises().
  bool recognises() const { return recognises_; }
  // Whether tasks that were placed with their data go with these if they have come to lie elsewhere. Once: all that
  // comes later follows them anyway.
  bool corrects() const { return how_ == how::again; }
  std::uint64_t seed() const { return seed_; }
  policy::migration migrates() const { return migrates_; }

 private:
  class divisions;
  class in_pieces;
  class shares;
  struct amounts {
    std::vector<double> ns;         // of all tasks
    std::vector<double> new_bytes;  // that tasks name which are the first to write memory
  };
  void deal_in_order(task_window&);
  void note_placed(const task_window&);

  const how how_;
  const std::size_t window_, overlap_;
  const bool recognises_;
  const double imbalance_, effort_;
  const std::uint64_t seed_;
  const policy::migration migrates_;
  const std::unique_ptr<partition::partitioner> with_;
  partition::target onto_;
  double cost_of_byte_ = 0;  // ns, from the nearest other node
  double move_of_byte_ = 0;  // ns, for good
  amounts dealt_;  // of what was placed, by node
  dealing pages_;
  std::size_t placed_ = 0, workers_ = 1;  // tasks; those that there are
  atomic<bool> over_{false};
};

// What divides windows, and has all tasks that are in none, or came after the last one, follow their data.
class dividing : public policy {
 public:
  void begin(const policy_machine& m) override {
    policy::begin(m);
    plans_.begin(m);
    follows_.begin(m);
  }
  std::size_t window() const override { return plans_.window(); }
  migration migrates() const override { return plans_.migrates(); }
  void created(task_window& w) override { plans_.divide(w); }
  bool recognises() const override { return plans_.recognises(); }
  wish place(const task_view& task, const asker& who) override {
    const int node = task.planned();
    if (node < 0) return follows_.place(task, who);
    const bool may_go = plans_.corrects() && task.planned_with_data();
    return planning::as_planned(task, may_go ? follows_.unless_elsewhere(task, node) : node);
  }

 protected:
  dividing(policy_parameters& p, planning::how h) : plans_(p, h), follows_(1, plans_.seed()) {}

 private:
  planning plans_;
  following follows_;
};

}  // namespace weir::place
