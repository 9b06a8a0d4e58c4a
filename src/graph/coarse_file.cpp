// Saved aggregations. Four lines of text, then numbers of four bytes, the lowest byte first:
//
//   weir aggregation 1
//   graph TASKS EDGES FINGERPRINT
//   algorithms CD(4)
//   aggregates COUNT
//   COUNT numbers: the tasks in each; TASKS numbers: which, aggregate by aggregate
//
// The edges between aggregates are those of the graph, so a damaged file can be refused but not give a wrong order.
#include "graph/coarse.hpp"
#include "graph/graph.hpp"

#include <weir/error.hpp>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>

#include <unistd.h>

namespace weir::detail {
namespace {

using graphs::index;

void append(std::string& to, index value) {
  for (int shift = 0; shift < 32; shift += 8) to += static_cast<char>(value >> shift & 0xff);
}

std::string hexadecimal(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string graph_line(const graphs::bulk& g) { return "graph " + std::to_string(g.tasks()) + " " + std::to_string(g.edges()) + " " + hexadecimal(graphs::fingerprint(g)); }

class file_reader {
 public:
  file_reader(const std::string& contents, const std::string& path) : text_(contents), path_(path) {}

  std::string line(const char* expected) {
    constexpr std::size_t longest = 2000;
    const std::size_t end = text_.substr(0, at_ + longest).find('\n', at_);
    if (end == std::string_view::npos) fail(std::string("expected ") + expected);
    const std::string found(text_.substr(at_, end - at_));
    at_ = end + 1;
    return found;
  }
  // What comes after the word.
  std::string after(const char* word, const char* expected) {
    const std::size_t begin = at_;
    const std::string found = line(expected);
    const std::string start = std::string(word) + " ";
    if (!found.starts_with(start)) {
      at_ = begin;
      fail(std::string("expected ") + expected);
    }
    return found.substr(start.size());
  }
  std::size_t left() const { return text_.size() - at_; }
  index number() {
    index value = 0;
    for (int shift = 0; shift < 32; shift += 8) value |= static_cast<index>(static_cast<unsigned char>(text_[at_++])) << shift;
    return value;
  }
  [[noreturn]] void fail(const std::string& what) const { throw error(path_ + ": byte " + std::to_string(at_) + ": " + what); }

 private:
  const std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
};

std::size_t count_of(file_reader& file, std::size_t tasks) {
  const std::string text = file.after("aggregates", "\"aggregates COUNT\"");
  std::size_t count = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (problem != std::errc() || end != text.data() + text.size() || count > tasks || (count == 0) != (tasks == 0))
    file.fail("\"" + text.substr(0, 40) + "\" aggregates of " + std::to_string(tasks) + " tasks; expected a number from " + (tasks == 0 ? "0" : "1") + " to that of the tasks");
  return count;
}

graphs::own_lists read_members(file_reader& file, std::size_t tasks, std::size_t count) {
  const std::size_t bytes = sizeof(index) * (count + tasks);
  if (file.left() != bytes) file.fail(std::to_string(file.left()) + " bytes are left, expected " + std::to_string(bytes) + " for " + std::to_string(count) + " aggregates of " + std::to_string(tasks) + " tasks");
  graphs::own_lists members;
  members.offset.reserve(count + 1);
  for (std::size_t a = 0; a < count; a++) {
    const index size = file.number();
    if (size == 0) file.fail("aggregate " + std::to_string(a) + " has no tasks");
    members.offset.push_back(members.offset.back() + size);
  }
  if (members.offset.back() != tasks) file.fail("the aggregates have " + std::to_string(members.offset.back()) + " tasks together, the graph " + std::to_string(tasks));
  members.item.reserve(tasks);
  std::vector<char> seen(tasks, 0);
  for (std::size_t i = 0; i < tasks; i++) {
    const index t = file.number();
    if (t >= tasks) file.fail("there is no task " + std::to_string(t) + ", the graph has " + std::to_string(tasks));
    if (seen[t] != 0) file.fail("task " + std::to_string(t) + " is in two places");
    seen[t] = 1;
    members.item.push_back(t);
  }
  return members;
}

// Which aggregate each task is in; refused if a task comes before one it depends on.
graphs::partition partition_of(const file_reader& file, const graphs::own_lists& members, const graphs::lists& before) {
  const std::size_t count = members.offset.size() - 1;
  graphs::partition p{std::vector<index>(members.item.size()), count};
  std::vector<index> place(members.item.size());
  for (std::size_t a = 0; a < count; a++)
    for (std::size_t m = members.offset[a]; m < members.offset[a + 1]; m++) {
      p.of[members.item[m]] = static_cast<index>(a);
      place[members.item[m]] = static_cast<index>(m);
    }
  for (index t : members.item)
    for (index b : before.of(t))
      if (p.of[b] == p.of[t] && place[b] > place[t])
        file.fail("aggregate " + std::to_string(p.of[t]) + " has task " + std::to_string(t) + " before task " + std::to_string(b) + ", on which it depends");
  return p;
}

}  // namespace

void coarse_state::save(const std::string& path) const {
  std::string contents = "weir aggregation 1\n" + graph_line(fine.in_bulk()) + "\nalgorithms " + algorithms + "\naggregates " + std::to_string(aggregates.tasks()) + "\n";
  contents.reserve(contents.size() + sizeof(index) * (aggregates.tasks() + fine_tasks));
  for (std::size_t a = 0; a < aggregates.tasks(); a++) append(contents, static_cast<index>(members.offset[a + 1] - members.offset[a]));
  for (index t : members.item) append(contents, t);
  const std::string unfinished = path + ".part" + std::to_string(::getpid());
  const auto fail = [&] {
    const std::string why = std::strerror(errno);
    std::remove(unfinished.c_str());
    throw error(path + ": cannot be written: " + why);
  };
  std::FILE* const file = std::fopen(unfinished.c_str(), "wb");
  if (file == nullptr) fail();
  const bool written = std::fwrite(contents.data(), 1, contents.size(), file) == contents.size();
  if (std::fclose(file) != 0 || !written || std::rename(unfinished.c_str(), path.c_str()) != 0) fail();
}

std::unique_ptr<coarse_state> coarse_state::parse(const std::string& contents, const std::string& path, graph_state& fine) {
  file_reader file(contents, path);
  graphs::bulk& graph = fine.in_bulk();
  if (file.line("\"weir aggregation 1\"") != "weir aggregation 1") throw error(path + ": not a saved aggregation; expected \"weir aggregation 1\" in the first line");
  const std::string saved = file.after("graph", "\"graph TASKS EDGES FINGERPRINT\""), own = graph_line(graph).substr(6);
  if (saved != own) throw error(path + ": made from another graph: its tasks, edges and fingerprint are " + saved.substr(0, 80) + ", those of this one " + own);
  std::string algorithms = file.after("algorithms", "\"algorithms COARSE-STRING\"");
  algorithms = graphs::to_string(graphs::parse_coarse_string(algorithms));
  const std::size_t tasks = graph.tasks(), count = count_of(file, tasks);
  graphs::own_lists members = read_members(file, tasks, count);
  const graphs::partition p = partition_of(file, members, graph.before());
  std::vector<index> order;
  graphs::own_lists before = graphs::quotient(graphs::input_of(graph, order), p, members);
  const graphs::own_lists after = graphs::transposed(before.view(), count);
  const std::vector<index> sorted = graphs::topological_order(before.view(), after.view(), count);
  if (sorted.size() < count) file.fail("the aggregates make " + graphs::cycle_text(graphs::find_cycle(before.view(), sorted, count), [](index a) { return "aggregate " + std::to_string(a); }));
  return std::make_unique<coarse_state>(fine, algorithms, graphs::aggregation{std::move(members), std::move(before)});
}

std::unique_ptr<coarse_state> coarse_state::load(const std::string& path, graph_state& fine) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw error(path + ": cannot be read: " + std::strerror(errno));
  std::string contents;
  char part[1 << 16];
  for (std::size_t n; (n = std::fread(part, 1, sizeof part, file)) > 0;) contents.append(part, n);
  const bool whole = std::ferror(file) == 0;
  const std::string why = std::strerror(errno);
  std::fclose(file);
  if (!whole) throw error(path + ": cannot be read: " + why);
  return parse(contents, path, fine);
}

}  // namespace weir::detail
