// All small task graphs, and the sequential oracle they are compared with.
//
// A graph is a list of tasks; what a task does with a datum is one of five patterns. A datum's column is the list of
// what the tasks do with it; graphs that differ in the order of their columns only are the same graph, so what is
// enumerated are multisets of columns.
#pragma once

#include "tests/support/support.hpp"

#include <array>
#include <memory>
#include <optional>

namespace weir::test {

enum pattern : std::uint8_t { none, reads, writes, reads_and_writes, updates };
inline constexpr std::size_t patterns = 5;

constexpr bool does_read(pattern p) { return p == reads || p == reads_and_writes || p == updates; }
constexpr bool does_write(pattern p) { return p == writes || p == reads_and_writes || p == updates; }

inline constexpr std::size_t max_data = 3, max_tasks = 6;
inline constexpr std::size_t elements = 3;  // of each datum; all take part

struct graph {
  std::size_t tasks = 0, data = 0;
  bool given = false;  // data have values before the first task; else reading them first is an error
  std::array<std::array<pattern, max_data>, max_tasks> access{};

  void set_column(std::size_t datum, std::size_t column) {
    for (std::size_t t = 0; t < tasks; t++, column /= patterns) access[t][datum] = static_cast<pattern>(column % patterns);
  }
  std::string text() const {
    static const char* const names[] = {"-", "in", "out", "in+out", "inout"};
    std::string all = given ? "given;" : "empty;";
    for (std::size_t t = 0; t < tasks; t++) {
      all += " task " + std::to_string(t) + "(";
      for (std::size_t d = 0; d < data; d++) all += std::string(d ? "," : "") + names[access[t][d]];
      all += ")";
    }
    return all;
  }
};

inline std::uint64_t given_value(std::size_t datum, std::size_t element) { return mix(datum + 1000, element); }
inline std::uint64_t written_value(std::uint64_t hash, std::size_t datum, std::size_t element) { return mix(hash, datum * elements + element); }

// What every task must have read, whether its spawn must have thrown, and what must be left.
struct expectation {
  std::array<std::uint64_t, max_tasks> hash{};
  std::array<bool, max_tasks> refused{};
  std::array<std::array<std::uint64_t, elements>, max_data> last{};
  std::array<bool, max_data> written{};
};

inline expectation run_oracle(const graph& g) {
  expectation e;
  for (std::size_t d = 0; d < g.data; d++) {
    e.written[d] = g.given;
    for (std::size_t i = 0; i < elements; i++) e.last[d][i] = given_value(d, i);
  }
  for (std::size_t t = 0; t < g.tasks; t++) {
    std::uint64_t hash = t + 1;
    for (std::size_t d = 0; d < g.data; d++) {
      if (!does_read(g.access[t][d])) continue;
      e.refused[t] |= !e.written[d];
      for (std::uint64_t value : e.last[d]) hash = mix(hash, value);
    }
    if (e.refused[t]) continue;
    e.hash[t] = hash;
    for (std::size_t d = 0; d < g.data; d++) {
      if (!does_write(g.access[t][d])) continue;
      e.written[d] = true;
      for (std::size_t i = 0; i < elements; i++) e.last[d][i] = written_value(hash, d, i);
    }
  }
  return e;
}

// One graph being run: its data, and what its tasks found.
class running_graph {
 public:
  running_graph(runtime& rt, const graph& g) : graph_(g) {
    for (std::size_t d = 0; d < g.data; d++) data_[d] = g.given ? rt.make_data(std::span<const std::uint64_t>(initial(d))) : rt.make_data<std::uint64_t>(elements);
    for (std::size_t t = 0; t < g.tasks; t++) {
      try {
        spawn(rt, t);
      } catch (const usage_error&) {
        refused_[t] = true;
      }
    }
  }

  // After all tasks are done. Empty, or what is wrong.
  std::string difference() const {
    const expectation e = run_oracle(graph_);
    for (std::size_t t = 0; t < graph_.tasks; t++) {
      if (refused_[t] != e.refused[t]) return "task " + std::to_string(t) + (refused_[t] ? " was refused" : " was not refused");
      if (hash_[t] != e.hash[t]) return "task " + std::to_string(t) + " read something else";
    }
    for (std::size_t d = 0; d < graph_.data; d++) {
      if (!e.written[d]) continue;
      const auto now = data_[d].read();
      if (!std::equal(now.begin(), now.end(), e.last[d].begin(), e.last[d].end())) return "datum " + std::to_string(d) + " has another value at the end";
    }
    return {};
  }

 private:
  static std::array<std::uint64_t, elements> initial(std::size_t d) {
    std::array<std::uint64_t, elements> values;
    for (std::size_t i = 0; i < elements; i++) values[i] = given_value(d, i);
    return values;
  }

  // Groups, so that one instantiation serves every pattern. They come in the order of the data, as the oracle reads.
  void spawn(runtime& rt, std::size_t t) {
    std::vector<data<std::uint64_t>> in_group, out_group, update_group;
    for (std::size_t d = 0; d < graph_.data; d++) {
      const pattern p = graph_.access[t][d];
      if (p == reads || p == reads_and_writes) in_group.push_back(data_[d]);
      if (p == writes || p == reads_and_writes) out_group.push_back(data_[d]);
      if (p == updates) update_group.push_back(data_[d]);
    }
    const auto access = graph_.access[t];
    const std::size_t count = graph_.data;
    rt.spawn(in(in_group), out(out_group), inout(update_group), [access, count, t, hash = &hash_[t]](auto read, auto write, auto update) {
      std::uint64_t h = t + 1;
      std::size_t next_in = 0, next_out = 0, next_update = 0;
      for (std::size_t d = 0; d < count; d++) {
        if (access[d] == updates)
          for (std::uint64_t value : update[next_update]) h = mix(h, value);
        if (access[d] == reads || access[d] == reads_and_writes)
          for (std::uint64_t value : read[next_in++]) h = mix(h, value);
        if (access[d] == updates) next_update++;
      }
      next_update = 0;
      for (std::size_t d = 0; d < count; d++) {
        if (!does_write(access[d])) continue;
        const std::span<std::uint64_t> target = access[d] == updates ? update[next_update++] : write[next_out++];
        for (std::size_t i = 0; i < elements; i++) target[i] = written_value(h, d, i);
      }
      *hash = h;
    });
  }

  graph graph_;
  std::array<data<std::uint64_t>, max_data> data_;
  std::array<std::uint64_t, max_tasks> hash_{};
  std::array<bool, max_tasks> refused_{};
};

// Runs graphs in batches that overlap, and moves on to the next configuration now and then.
class graph_runner {
 public:
  explicit graph_runner(std::size_t graphs_per_configuration) : each_(graphs_per_configuration), all_(configurations()) {}
  ~graph_runner() { finish_batch(); }

  void add(const graph& g) {
    if (::testing::Test::HasFailure()) return;
    if (!runtime_ || run_ >= each_) next_configuration();
    batch_.push_back(std::make_unique<running_graph>(*runtime_, g));
    graphs_.push_back(g);
    run_++;
    total_++;
    if (batch_.size() >= batch_size) finish_batch();
  }
  std::size_t total() const { return total_; }

 private:
  static constexpr std::size_t batch_size = 128;

  void next_configuration() {
    finish_batch();
    runtime_.reset();
    options_ = all_[next_++ % all_.size()];
    runtime_ = std::make_unique<runtime>(options_);
    run_ = 0;
  }
  void finish_batch() {
    if (batch_.empty()) return;
    runtime_->wait();
    for (std::size_t i = 0; i < batch_.size(); i++) {
      const std::string wrong = batch_[i]->difference();
      if (!wrong.empty()) ADD_FAILURE() << wrong << "; graph: " << graphs_[i].text() << "; " << text(options_);
    }
    batch_.clear();
    graphs_.clear();
  }

  std::size_t each_, run_ = 0, next_ = 0, total_ = 0;
  std::vector<runtime_options> all_;
  runtime_options options_;
  std::unique_ptr<runtime> runtime_;
  std::vector<std::unique_ptr<running_graph>> batch_;
  std::vector<graph> graphs_;
};

inline std::size_t power(std::size_t base, std::size_t exponent) { return exponent == 0 ? 1 : base * power(base, exponent - 1); }

// Every multiset of columns, or every stride-th of them from `first` on. The last task may not be idle: graphs with
// fewer tasks are enumerated as such.
inline void enumerate(std::size_t tasks, std::size_t data, bool given, graph_runner& runner, std::size_t stride = 1, std::size_t first = 0) {
  const std::size_t columns = power(patterns, tasks);
  std::size_t index = 0;
  const auto one = [&](std::initializer_list<std::size_t> chosen) {
    if (index++ % stride != first % stride) return;
    graph g{.tasks = tasks, .data = data, .given = given};
    std::size_t d = 0;
    for (std::size_t column : chosen) g.set_column(d++, column);
    runner.add(g);
  };
  for (std::size_t a = 0; a < columns; a++) {
    if (data == 1) one({a});
    for (std::size_t b = a; data > 1 && b < columns; b++) {
      if (data == 2) one({a, b});
      for (std::size_t c = b; data > 2 && c < columns; c++) one({a, b, c});
    }
  }
}

// Random graphs, one in four of them with data nobody has written.
template <class Random>
void sample(std::size_t tasks, std::size_t count, Random& random, graph_runner& runner) {
  for (std::size_t i = 0; i < count; i++) {
    graph g{.tasks = tasks, .data = max_data, .given = between(random, 0, 3) != 0};
    for (std::size_t d = 0; d < max_data; d++) g.set_column(d, between(random, 0, power(patterns, tasks) - 1));
    runner.add(g);
  }
}

}  // namespace weir::test
