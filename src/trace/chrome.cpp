// Trace events: a process is a node, a thread is a worker, one line an event.
#include "trace/chrome.hpp"

#include "os/os.hpp"
#include "trace/merge.hpp"

#include <weir/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <string_view>
#include <unordered_map>

namespace weir::trace {
namespace {

// Bytes in buffers are written down when they have changed, this many times in a run at most: a screen shows no more.
constexpr std::uint64_t most_samples = 2000;

// A file written from front to back. Failures are remembered and reported by close().
class output {
 public:
  explicit output(std::string path) : path_(std::move(path)) {
    struct stat before{};
    regular_ = ::stat(path_.c_str(), &before) != 0 || S_ISREG(before.st_mode);
    text_.reserve(buffer_bytes + 4096);
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) fail();
  }
  ~output() {
    if (file_ < 0) return;
    ::close(file_);  // something was thrown: half a file is none
    if (regular_) ::unlink(path_.c_str());
  }
  output(const output&) = delete;
  output& operator=(const output&) = delete;

  output& operator<<(std::string_view s) {
    text_ += s;
    return *this;
  }
  template <class Integer>
    requires std::is_integral_v<Integer>
  output& operator<<(Integer n) {
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
    return *this;
  }
  void end_line() {
    if (text_.size() >= buffer_bytes) flush();
  }
  void close() {
    flush();
    const int closed = ::close(std::exchange(file_, -1));
    if (error_ == 0 && closed != 0) error_ = errno;
    if (error_ == 0) return;
    errno = error_;
    if (regular_) ::unlink(path_.c_str());
    fail();
  }

 private:
  static constexpr std::size_t buffer_bytes = 1 << 20;
  [[noreturn]] void fail() const { throw error("trace file " + path_ + ": cannot be written: " + std::strerror(errno)); }
  void flush() {
    for (std::size_t done = 0; done < text_.size() && error_ == 0;) {
      const ssize_t n = ::write(file_, text_.data() + done, text_.size() - done);
      if (n >= 0) done += static_cast<std::size_t>(n);
      else if (errno != EINTR) error_ = errno;
    }
    text_.clear();
  }

  const std::string path_;
  bool regular_;
  int file_, error_ = 0;
  std::string text_;
};

// Bytes of the valid UTF-8 sequence at the start of `s`; 0 if there is none.
std::size_t utf8_length(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const std::size_t n = byte(0) < 0x80 ? 1 : byte(0) >= 0xc2 && byte(0) < 0xe0 ? 2 : byte(0) >= 0xe0 && byte(0) < 0xf0 ? 3 : byte(0) >= 0xf0 && byte(0) < 0xf5 ? 4 : 0;
  if (n == 0 || s.size() < n) return 0;
  for (std::size_t i = 1; i < n; i++)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool wrong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xed && byte(1) > 0x9f) || (byte(0) == 0xf0 && byte(1) < 0x90) || (byte(0) == 0xf4 && byte(1) > 0x8f);
  return wrong ? 0 : n;
}

// A JSON string, quotes included; what is no UTF-8 becomes U+FFFD.
std::string json_string(std::string_view s) {
  std::string text = "\"";
  while (!s.empty()) {
    std::size_t n = utf8_length(s);
    const char c = s.front();
    if (n == 0) {
      text += "\xef\xbf\xbd";
      n = 1;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      text += escape;
    } else {
      if (c == '"' || c == '\\') text += '\\';
      text += s.substr(0, n);
    }
    s.remove_prefix(n);
  }
  return text + '"';
}

// Processes are numbered from 1: to some viewers 0 is the system's idle thread.
constexpr int first_process = 1, first_thread = 1;

class writer : public visitor {
 public:
  writer(output& to, const about& a, common& c) : out_(to), about_(a), clock_(c.clock), gap_ns_(ns(c.clock.now() - c.clock.start_ticks()) / most_samples) {}

  void begin(const std::vector<log*>& logs) {
    header(logs);
    tracks();
  }
  void end() {
    for (const auto& [place, s] : samples_)
      if (s.pending) counter(place, s.time, s.bytes);
    out_ << "\n]}\n";
  }

  void task(int worker, const std::string& name, const task_record& r, const std::uint64_t* edges) override {
    const std::uint64_t end = ns(r.end), begin = begin_of(ns(r.begin), end);
    find_predecessors(worker, r, edges);
    event("X", worker, begin);
    out_ << ",\"dur\":";
    time(end - begin);
    out_ << ",\"cat\":\"task\",\"name\":" << quoted_name(name);
    arguments(worker, r);
    out_ << "}}";
    out_.end_line();
    for (const task_id p : before_) arrow(p, worker, begin);
  }
  void sleep(int worker, const sleep_record& r) override {
    const std::uint64_t end = ns(r.end), begin = begin_of(ns(r.begin), end);
    event("X", worker, begin);
    out_ << ",\"dur\":";
    time(end - begin);
    out_ << ",\"cat\":\"sleep\",\"name\":\"sleep\"" << (r.nested != 0 ? ",\"args\":{\"nested\":true}}" : "}");
    out_.end_line();
  }
  void buffers(const buffers_record& r) override {
    sample& s = samples_[static_cast<int>(r.place)];
    const std::uint64_t now = ns(r.time);
    const std::int64_t bytes = std::max<std::int64_t>(0, r.bytes);  // counts of several workers arrive one by one
    if (bytes == s.bytes) return;
    s.bytes = bytes;
    s.time = now;
    s.pending = s.written && now - s.written_at < gap_ns_;
    if (s.pending) return;
    s.written = true;
    s.written_at = now;
    counter(static_cast<int>(r.place), now, bytes);
  }

 private:
  struct sample {
    std::int64_t bytes = 0;
    std::uint64_t time = 0, written_at = 0;
    bool written = false, pending = false;
  };
  std::uint64_t ns(std::uint64_t since_start) const { return clock_.ns(clock_.start_ticks() + since_start); }
  // Nothing is shorter than a nanosecond: arrows would miss it.
  static std::uint64_t begin_of(std::uint64_t begin, std::uint64_t end) { return begin < end ? begin : end == 0 ? 0 : end - 1; }
  int process_of(int worker) const { return first_process + about_.worker_nodes[static_cast<std::size_t>(worker)]; }

  // Microseconds with three decimals.
  void time(std::uint64_t t) {
    const std::uint64_t part = t % 1000;
    out_ << t / 1000 << (part < 10 ? ".00" : part < 100 ? ".0" : ".") << part;
  }
  // The common beginning; the caller goes on with a comma or a brace.
  void event(std::string_view phase, int worker, std::uint64_t at) {
    out_ << ",\n{\"ph\":\"" << phase << "\",\"pid\":" << process_of(worker) << ",\"tid\":" << first_thread + worker << ",\"ts\":";
    time(at);
  }
  void metadata(std::string_view what, int process, int thread, std::string_view arguments) {
    out_ << (first_ ? "\n" : ",\n") << "{\"ph\":\"M\",\"pid\":" << process << ",\"tid\":" << thread << ",\"name\":\"" << what << "\",\"args\":{" << arguments << "}}";
    first_ = false;
  }
  const std::string& quoted_name(const std::string& name) {
    constexpr std::size_t most = 4096;  // of a program that makes up names
    if (quoted_.size() >= most) quoted_.clear();
    const auto [at, fresh] = quoted_.try_emplace(name);
    if (fresh) at->second = json_string(name);
    return at->second;
  }

  void header(const std::vector<log*>& logs) {
    std::uint64_t tasks = 0, lost = 0;
    for (const log* l : logs) tasks += l->tasks(), lost += l->lost();
    out_ << "{\"otherData\":{\"format\":" << json_string(format_name) << ",\"version\":" << format_version << ",\"policy\":" << json_string(about_.policy) << ",\"machine\":" << json_string(about_.machine)
         << ",\"nodes\":" << about_.nodes << ",\"workers\":" << about_.worker_nodes.size() << ",\"tasks\":" << tasks - lost << ",\"tasks_lost\":" << lost << ",\"run_ns\":" << ns(clock_.now() - clock_.start_ticks())
         << ",\"worker_nodes\":[";
    for (std::size_t w = 0; w < about_.worker_nodes.size(); w++) out_ << (w == 0 ? "" : ",") << about_.worker_nodes[w];
    out_ << "]";
    if (!about_.chosen.empty()) out_ << ",\"chosen\":" << json_string(about_.chosen);
    matrix("bytes_read", logs, &log::reads);
    matrix("bytes_written", logs, &log::writes);
    out_ << "},\n\"displayTimeUnit\":\"ns\",\n\"traceEvents\":[";
  }
  // Rows: node of the worker; columns: node of the memory.
  void matrix(std::string_view name, const std::vector<log*>& logs, const traffic_matrix& (log::*which)() const) {
    const auto nodes = static_cast<std::size_t>(about_.nodes);
    out_ << ",\"" << name << "\":[";
    for (std::size_t row = 0; row < nodes; row++) {
      out_ << (row == 0 ? "[" : ",[");
      for (std::size_t column = 0; column < nodes; column++) {
        std::uint64_t sum = 0;
        for (const log* l : logs) sum += (l->*which)().bytes[row * nodes + column];
        out_ << (column == 0 ? "" : ",") << sum;
      }
      out_ << "]";
    }
    out_ << "]";
  }
  void tracks() {
    for (int n = 0; n < about_.nodes; n++) {
      metadata("process_name", first_process + n, 0, "\"name\":\"node " + std::to_string(n) + "\"");
      metadata("process_sort_index", first_process + n, 0, "\"sort_index\":" + std::to_string(n));
    }
    for (std::size_t w = 0; w < about_.worker_nodes.size(); w++) {
      const int thread = first_thread + static_cast<int>(w), process = process_of(static_cast<int>(w));
      const std::vector<int>& cpus = about_.worker_cpus[w];
      const std::string cpu =
          about_.bound ? (cpus.size() == 1 ? " (CPU " : " (CPUs ") + os::format_index_list(cpus) + ")" : "";
      metadata("thread_name", process, thread, "\"name\":\"worker " + std::to_string(w) + cpu + "\"");
      metadata("thread_sort_index", process, thread, "\"sort_index\":" + std::to_string(w));
    }
  }

  void arguments(int worker, const task_record& r) {
    out_ << ",\"args\":{\"id\":\"" << worker << "." << ns(r.end) << "\",\"node\":" << r.node;
    if (r.home >= 0) out_ << ",\"home\":" << r.home;
    if (r.read_local + r.read_remote != 0) out_ << ",\"read_local\":" << r.read_local << ",\"read_remote\":" << r.read_remote;
    if (r.write_local + r.write_remote != 0) out_ << ",\"write_local\":" << r.write_local << ",\"write_remote\":" << r.write_remote;
    if (r.head.origin != origin::own) {
      // Threads of the program have no number that says anything.
      const int from = static_cast<std::size_t>(r.from) < about_.worker_nodes.size() ? r.from : -1;
      out_ << (r.head.origin == origin::stolen ? ",\"stolen_from\":" : ",\"pushed_from\":") << from;
    }
    if (r.nested != 0) out_ << ",\"nested\":true";
    if (r.required != 0) out_ << ",\"required\":true";
    if (r.head.outcome != outcome::done) out_ << (r.head.outcome == outcome::failed ? ",\"outcome\":\"failed\"" : ",\"outcome\":\"skipped\"");
    if (before_.empty()) return;
    out_ << ",\"after\":[";
    for (std::size_t i = 0; i < before_.size(); i++) out_ << (i == 0 ? "\"" : ",\"") << worker_of(before_[i]) << "." << ns(end_of(before_[i])) << "\"";
    out_ << "]";
  }

  // Fills before_. A graph's task is announced by its predecessors, which all ended before it began.
  void find_predecessors(int worker, const task_record& r, const std::uint64_t* edges) {
    before_.clear();
    if (r.of_graph == 0) {
      before_.assign(edges, edges + r.edges);
      return;
    }
    if (const auto own = announced_.find(edges[0]); own != announced_.end()) {
      before_ = std::move(own->second);
      announced_.erase(own);
    }
    const task_id id = make_id(worker, r.end);
    for (std::uint32_t i = 1; i < r.edges; i++) {
      std::vector<task_id>& before = announced_[edges[i]];
      if (before.empty() || before.back() != id) before.push_back(id);  // an edge may be named twice
    }
  }
  // From the last nanosecond of one task to the first of another. CPUs read the counter a little early at times.
  void arrow(task_id from, int to_worker, std::uint64_t begin) {
    const std::uint64_t end = ns(end_of(from));
    arrows_++;
    event("s", worker_of(from), std::min(end == 0 ? 0 : end - 1, begin));
    out_ << ",\"id\":" << arrows_ << ",\"cat\":\"dep\",\"name\":\"dep\"}";
    event("f", to_worker, begin);
    out_ << ",\"bp\":\"e\",\"id\":" << arrows_ << ",\"cat\":\"dep\",\"name\":\"dep\"}";
    out_.end_line();
  }
  void counter(int place, std::uint64_t at, std::int64_t bytes) {
    const bool node = place >= 0;
    const int process = first_process + (node ? place : about_.nodes);
    if (!node && !elsewhere_named_) {
      elsewhere_named_ = true;
      metadata("process_name", process, 0, "\"name\":\"several nodes\"");
      metadata("process_sort_index", process, 0, "\"sort_index\":" + std::to_string(about_.nodes));
    }
    out_ << ",\n{\"ph\":\"C\",\"pid\":" << process << ",\"tid\":0,\"ts\":";
    time(at);
    out_ << ",\"name\":\"" << (node ? "bytes in buffers" : place == memory::place_interleaved ? "bytes in interleaved buffers" : "bytes in first-touch buffers") << "\",\"args\":{\"bytes\":" << bytes << "}}";
    out_.end_line();
  }

  output& out_;
  const about& about_;
  const os::tick_clock& clock_;
  const std::uint64_t gap_ns_;
  bool first_ = true, elsewhere_named_ = false;
  std::uint64_t arrows_ = 0;
  std::vector<task_id> before_;
  std::unordered_map<std::string, std::string> quoted_;
  std::unordered_map<std::uint64_t, std::vector<task_id>> announced_;  // by address
  std::map<int, sample> samples_;
};

}  // namespace

void write_chrome(const std::string& path, const about& a, common& c, const std::vector<log*>& logs) {
  for (log* l : logs) l->finish();  // only then it is known what was lost
  output out(path);
  writer w(out, a, c);
  w.begin(logs);
  const std::size_t unreadable = merge(c, logs, w);
  w.end();
  out.close();
  std::uint64_t lost = 0;
  for (const log* l : logs) lost += l->lost();
  if (lost > 0)
    throw error("trace file " + path + ": " + std::to_string(lost) + (lost == 1 ? " task is" : " tasks are") +
                " missing, there was no room for them in memory or beside it");
  if (unreadable > 0) throw error("trace file " + path + ": incomplete, what was laid aside on disk could not be read back");
}

}  // namespace weir::trace
