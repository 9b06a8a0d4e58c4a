// A simulation with one kind of event: a task is done.
#include "partition/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

namespace weir::partition {
namespace {

class run {
 public:
  run(const successors& s, std::span<const std::uint64_t> cost, const target& t, std::span<const int> part,
      double cost_of_byte)
      : s_(s), cost_(cost), target_(t), part_(part), cost_of_byte_(cost_of_byte), ready_(t.capacity.size()),
        steps_(t.capacity.size()), waits_for_(s.tasks(), 0), has_waited_(s.tasks(), 0), reads_(s.tasks(), 0.0) {
    for (const double c : t.capacity) {
      free_.push_back(static_cast<int>(std::ceil(c)));
      result_.workers += free_.back();
    }
    // Where tasks are fixed on a part without workers, somebody has to execute them.
    for (const int p : part) free_[static_cast<std::size_t>(p)] = std::max(free_[static_cast<std::size_t>(p)], 1);
    for (const vertex v : s.task) waits_for_[v]++;
  }

  timetable take(std::span<const vertex> order) {
    for (const vertex v : order)
      if (waits_for_[v] == 0) make_ready(v);
    while (!running_.empty()) {
      const event e = running_.top();
      running_.pop();
      now_ = e.at;
      end(e.task);
    }
    result_.length = now_;
    for (const span_of_time& t : steps_) result_.steady = std::max(result_.steady, t.end - std::max(t.begin, 0.0));
    return result_;
  }

 private:
  struct event {
    double at;
    vertex task;
    bool operator<(const event& b) const { return at != b.at ? at > b.at : task > b.task; }
  };

  struct span_of_time {
    double begin = -1, end = 0;  // -1: not yet
  };

  std::size_t place(vertex v) const { return static_cast<std::size_t>(part_[v]); }
  void make_ready(vertex v) {
    if (free_[place(v)] > 0) begin(v);
    else ready_[place(v)].push(v);
  }
  void begin(vertex v) {
    free_[place(v)]--;
    const double c = static_cast<double>(cost_[v]);
    result_.work += c;
    result_.transfer += reads_[v];
    if (span_of_time& t = steps_[place(v)]; has_waited_[v] != 0 && t.begin < 0) t.begin = now_;
    running_.push({now_ + c + reads_[v], v});
  }
  void end(vertex v) {
    free_[place(v)]++;
    steps_[place(v)].end = now_;
    if (auto& waiting = ready_[place(v)]; !waiting.empty()) {
      const vertex next = waiting.front();
      waiting.pop();
      begin(next);
    }
    for (std::uint32_t i = s_.begin[v]; i < s_.begin[v + 1]; i++) {
      const vertex n = s_.task[i];
      reads_[n] += static_cast<double>(s_.bytes[i]) * cost_of_byte_ * target_.between(part_[v], part_[n]);
      if (--waits_for_[n] != 0) continue;
      has_waited_[n] = 1;
      make_ready(n);
    }
  }

  const successors& s_;
  const std::span<const std::uint64_t> cost_;
  const target& target_;
  const std::span<const int> part_;
  const double cost_of_byte_;
  std::vector<std::queue<vertex>> ready_;
  std::vector<int> free_;
  std::vector<span_of_time> steps_;  // by part: from its first task that has waited for one
  std::vector<std::uint32_t> waits_for_;
  std::vector<char> has_waited_;
  std::vector<double> reads_;
  std::priority_queue<event> running_;
  double now_ = 0;
  timetable result_;
};

}  // namespace

timetable schedule(const successors& s, std::span<const vertex> order, std::span<const std::uint64_t> cost,
                   const target& t, std::span<const int> part, double cost_of_byte) {
  return run(s, cost, t, part, cost_of_byte).take(order);
}

double average_share(std::span<const std::uint32_t> depth, std::span<const std::uint64_t> weight, int parts,
                     std::span<const int> part) {
  if (depth.empty()) return 0;
  const auto n = static_cast<std::size_t>(parts);
  std::vector<double> at((*std::max_element(depth.begin(), depth.end()) + std::size_t{1}) * n, 0.0);
  for (std::size_t v = 0; v < depth.size(); v++)
    at[depth[v] * n + static_cast<std::size_t>(part[v])] += static_cast<double>(weight[v]);
  double most = 0, all = 0;
  for (std::size_t d = 0; d < at.size(); d += n) {
    most += *std::max_element(at.begin() + static_cast<std::ptrdiff_t>(d),
                              at.begin() + static_cast<std::ptrdiff_t>(d + n));
    all += std::accumulate(at.begin() + static_cast<std::ptrdiff_t>(d),
                           at.begin() + static_cast<std::ptrdiff_t>(d + n), 0.0);
  }
  return all > 0 ? most / all : 0;
}

}  // namespace weir::partition
