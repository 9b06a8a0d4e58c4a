// Dependence easy placement: bytes by node, and chance between equals.
#include "place/following.hpp"

#include <array>

namespace weir::place {
namespace {

std::uint64_t weight(std::uint64_t bytes) { return bytes != 0 ? bytes : 1; }

// By node. What has no place, or is spread page by page, is nowhere.
class tally {
 public:
  explicit tally(const std::vector<int>& served_by) : served_by_(served_by) {}
  void add(std::uint64_t bytes, int node) {
    if (node < 0) return;
    node = served_by_[static_cast<std::size_t>(node)];
    for (std::size_t i = 0; i < used_; i++)
      if (entries_[i].node == node) {
        entries_[i].bytes += bytes;
        return;
      }
    // Of a task on more nodes than this the first ones count; no node holds much of it.
    if (used_ < entries_.size()) entries_[used_++] = {bytes, node};
  }
  bool nothing() const { return used_ == 0; }
  // The first of those with most bytes, if it has twice those of this node; else this one.
  int unless_elsewhere(int node) const {
    std::uint64_t there = 0, most_bytes = 0;
    int best = node;
    for (std::size_t i = 0; i < used_; i++) {
      if (entries_[i].node == node) there = entries_[i].bytes;
      if (entries_[i].bytes <= most_bytes) continue;
      most_bytes = entries_[i].bytes;
      best = entries_[i].node;
    }
    return most_bytes >= 2 * there ? best : node;
  }
  template <class Choose>
  int heaviest(Choose&& choose) const {
    std::array<int, most> best;
    std::uint64_t bytes = 0;
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < used_; i++) {
      if (entries_[i].bytes < bytes) continue;
      if (entries_[i].bytes > bytes) n = 0;
      bytes = entries_[i].bytes;
      best[n++] = entries_[i].node;
    }
    return best[n == 1 ? 0 : choose(n)];
  }

 private:
  static constexpr std::size_t most = 32;
  struct entry {
    std::uint64_t bytes;
    int node;
  };
  const std::vector<int>& served_by_;
  std::array<entry, most> entries_;
  std::size_t used_ = 0;
};

}  // namespace

following::following(policy_parameters& p)
    : following(static_cast<std::uint32_t>(
                    p.count("stride", 1, 1, 1'000'000'000,
                            "tasks in a row, of those that only write new memory, that go to one node")),
                p.count("seed", 1, 0, 1'000'000'000'000, "of the choice between nodes that hold as much of a task")) {}

// What lies on a node without workers is served by the one that reads it fastest.
void following::begin(const policy_machine& m) {
  for (int n = 0; n < m.nodes; n++)
    if (m.has_worker[static_cast<std::size_t>(n)]) nodes_.push_back(n);
  for (int of = 0; of < m.nodes; of++) {
    int nearest = nodes_.front();
    for (const int n : nodes_)
      if (n == of || (nearest != of && m.read(n, of) < m.read(nearest, of))) nearest = n;
    served_by_.push_back(nearest);
  }
}

policy::wish following::place(const task_view& task, const policy::asker& who) {
  tally all(served_by_);
  flow::frame* const f = &task.frame();
  bool has_inputs = false;
  std::uint64_t written = 0, unplaced = 0;
  flow::for_each_moved_input(user_memory_of(task), f,
                             [&](std::uint64_t bytes, int node) { all.add(weight(bytes), node); });
  flow::for_each_input(nullptr, f, [&](std::uint64_t, int) { has_inputs = true; });
  flow::for_each_output(user_memory_of(task), f, [&](std::uint64_t bytes, int node) {
    written += weight(bytes);
    unplaced += node == detail::node_unknown ? weight(bytes) : 0;
  });
  if (2 * unplaced > written && (!has_inputs || all.nothing())) return {dealt(f, who), true};
  return all.nothing() ? policy::wish()
                       : policy::wish(all.heaviest([&](std::uint32_t n) { return chance(who.index, n); }));
}

int following::unless_elsewhere(const task_view& task, int node) const {
  tally all(served_by_);
  flow::for_each_moved_input(user_memory_of(task), &task.frame(),
                             [&](std::uint64_t bytes, int at) { all.add(weight(bytes), at); });
  return all.unless_elsewhere(node);
}

// Who shares pages of the program's own memory takes one turn together, so each thread may have only a few: they begin
// with another node for each.
int following::dealt(flow::frame* task, const policy::asker& who) {
  const auto turn = [&](std::size_t first) {
    return nodes_[(first + turns_.next(who.index) / stride_) % nodes_.size()];
  };
  if (!flow::names_user_memory(task)) return turn(0);
  return dealing_.node_for(task, [&] { return turn(static_cast<std::size_t>(who.index)); });
}

// One of n: of the seed, the thread, and how often it has asked.
std::uint32_t following::chance(int thread, std::uint32_t n) {
  return rng(seed_ ^ (static_cast<std::uint64_t>(thread) << 32 | asked_.next(thread))).below(n);
}

}  // namespace weir::place
