// Graphs in bulk: arrays checked, and counts set before a run.
#include "graph/bulk.hpp"

#include <weir/error.hpp>

#include <string>

namespace weir::graphs {
namespace {

[[noreturn]] void bad(const std::string& what) { throw usage_error("weir::graph: " + what); }
[[noreturn]] void bad(std::size_t task, const std::string& what) { bad("task " + std::to_string(task) + ": " + what); }

constexpr std::size_t most_tasks = 0xffffffffu;
constexpr std::size_t most_before = 0x7fffffffu;  // a count's highest bit says something else

std::size_t tasks_of(const bulk_tasks& given) {
  if (given.begin.size() != given.end.size())
    bad("`begin` has " + std::to_string(given.begin.size()) + " entries and `end` " + std::to_string(given.end.size()) + "; each task has one in both");
  if (given.begin.size() > most_tasks) bad(std::to_string(given.begin.size()) + " tasks are more than the 4294967295 it can hold");
  return given.begin.size();
}

}  // namespace

bulk::bulk(const bulk_tasks& given)
    : before_{given.begin.data(), given.end.data(), given.predecessors.data()}, tasks_(tasks_of(given)), cost_ns_(given.cost_ns) {
  check_lists(given);
  check_costs();
  ascending_ = is_ascending(before_, tasks_);
  after_ = transposed(before_, tasks_);
  if (ascending_) return;
  const std::vector<index> order = topological_order(before_, after_.view(), tasks_);
  if (order.size() == tasks_) return;
  const auto name_of = [](index t) { return "task " + std::to_string(t); };
  throw usage_error("weir::graph has " + cycle_text(find_cycle(before_, order, tasks_), name_of));
}

bulk::bulk(own_lists before)
    : own_before_(std::move(before)), before_(own_before_.view()), tasks_(own_before_.offset.size() - 1), ascending_(is_ascending(before_, tasks_)), after_(transposed(before_, tasks_)) {}

void bulk::check_lists(const bulk_tasks& given) const {
  for (std::size_t t = 0; t < tasks_; t++) {
    const std::size_t begin = given.begin[t], end = given.end[t], all = given.predecessors.size();
    if (begin > end || end > all)
      bad(t, "its predecessors are entries " + std::to_string(begin) + " to " + std::to_string(end) + " of an array of " + std::to_string(all) + (begin > end ? ": the end comes before the begin" : ""));
    if (end - begin > most_before) bad(t, "it has " + std::to_string(end - begin) + " predecessors, more than 2147483647");
    for (index b : before_.of(static_cast<index>(t))) {
      if (b >= tasks_) bad(t, "predecessor " + std::to_string(b) + " does not exist, the graph has " + std::to_string(tasks_) + " tasks");
      if (b == t) bad(t, "it is its own predecessor");
    }
  }
}

void bulk::check_costs() const {
  if (!cost_ns_.empty() && cost_ns_.size() != tasks_) bad(std::to_string(cost_ns_.size()) + " costs were given for " + std::to_string(tasks_) + " tasks");
  for (std::size_t t = 0; t < cost_ns_.size(); t++)
    if (!(cost_ns_[t] >= 0 && cost_ns_[t] <= 1e30f)) bad(t, "its cost is " + std::to_string(cost_ns_[t]) + "; expected a number of 0 or more");
}

direction& bulk::forward() {
  if (forward_ == nullptr) forward_ = std::make_unique<direction>(before_, after_.view(), tasks_, true);
  return *forward_;
}

direction& bulk::backward() {
  if (backward_ == nullptr) backward_ = std::make_unique<direction>(after_.view(), before_, tasks_, false);
  return *backward_;
}

direction::direction(const lists& before, const lists& after, std::size_t tasks, bool ascending) : after_(after), tasks_(tasks), counts_(std::make_unique<count[]>(tasks)) {
  for (std::size_t i = 0; i < tasks; i++) {
    const auto t = static_cast<index>(ascending ? i : tasks - 1 - i);
    counts_[t].all = static_cast<index>(before.size(t));
    if (counts_[t].all == 0) first_.push_back(t);
  }
  reset();
}

bool direction::counts_are_set() const {
  for (std::size_t t = 0; t < tasks_; t++)
    if (counts_[t].pending.load(std::memory_order_relaxed) != counts_[t].all) return false;
  return true;
}

void direction::reset() {
  for (std::size_t t = 0; t < tasks_; t++) counts_[t].pending.store(counts_[t].all, std::memory_order_relaxed);
}

}  // namespace weir::graphs
