// The trace as a stream of JSON tokens.
#include "trace_file.hpp"

#include <bench/common/kernel.hpp>
#include <trace/trace.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

namespace weir::tools {
namespace {

using bench::input_error;
using json = nlohmann::json;

// A file in memory, page by page as it is looked at.
class mapped_file {
 public:
  explicit mapped_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(path, errno);
    struct stat s{};
    if (::fstat(file, &s) != 0 || !S_ISREG(s.st_mode)) {
      ::close(file);
      throw input_error(path + ": expected a file with a trace that weir wrote");
    }
    bytes_ = static_cast<std::size_t>(s.st_size);
    if (bytes_ != 0) data_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
    const int error = errno;
    ::close(file);
    if (data_ == MAP_FAILED) fail(path, error);
    if (bytes_ != 0) ::madvise(data_, bytes_, MADV_SEQUENTIAL);
  }
  ~mapped_file() {
    if (bytes_ != 0) ::munmap(data_, bytes_);
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  std::string_view text() const { return {static_cast<const char*>(data_), bytes_}; }

 private:
  [[noreturn]] static void fail(const std::string& path, int error) { throw input_error(path + ": cannot be read: " + std::strerror(error)); }
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

trace_about about_of(const std::string& path, const json& j) {
  if (!j.is_object() || j.value("format", json()) != trace::format_name) throw input_error(path + ": no trace that weir wrote (its \"otherData\" does not say \"format\": \"" + trace::format_name + "\")");
  if (const json version = j.value("version", json()); version != trace::format_version)
    throw input_error(fmt::format("{}: a trace of version {}, this weir reads version {}", path, version.dump(), trace::format_version));
  try {
    trace_about a;
    j.at("policy").get_to(a.policy);
    j.at("machine").get_to(a.machine);
    a.chosen = j.value("chosen", "");
    j.at("nodes").get_to(a.nodes);
    j.at("workers").get_to(a.workers);
    j.at("tasks").get_to(a.tasks);
    j.at("tasks_lost").get_to(a.tasks_lost);
    j.at("run_ns").get_to(a.run_ns);
    j.at("worker_nodes").get_to(a.worker_nodes);
    j.at("bytes_read").get_to(a.bytes_read);
    j.at("bytes_written").get_to(a.bytes_written);
    const auto square = [&](const auto& m) { return m.size() == static_cast<std::size_t>(a.nodes) && std::ranges::all_of(m, [&](const auto& row) { return row.size() == m.size(); }); };
    const bool right = a.nodes > 0 && a.workers > 0 && a.worker_nodes.size() == static_cast<std::size_t>(a.workers) && square(a.bytes_read) && square(a.bytes_written) &&
                       std::ranges::all_of(a.worker_nodes, [&](int n) { return n >= 0 && n < a.nodes; });
    if (!right) throw input_error(path + ": \"otherData\" does not fit together: nodes, workers, worker_nodes, bytes_read, bytes_written");
    return a;
  } catch (const json::exception& e) {
    throw input_error(path + ": \"otherData\": " + e.what());
  }
}

// "3.12345"
std::optional<trace_task_id> id_of(std::string_view text) {
  trace_task_id id;
  const char* const end = text.data() + text.size();
  const auto worker = std::from_chars(text.data(), end, id.worker);
  if (worker.ec != std::errc() || worker.ptr == end || *worker.ptr != '.') return std::nullopt;
  const auto rest = std::from_chars(worker.ptr + 1, end, id.end);
  if (rest.ec != std::errc() || rest.ptr != end) return std::nullopt;
  return id;
}

// The text without the arrows: the tasks say the same, in less than half of the bytes. Each event is on a line of its own.
class without_arrows {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  without_arrows() = default;
  without_arrows(const char* at, const char* end) : at_(at), end_(end) {}
  reference operator*() const { return *at_; }
  without_arrows& operator++() {
    at_++;
    while (at_ != end_ && *at_ == ',' && at_arrow()) pass_event();
    return *this;
  }
  without_arrows operator++(int) {
    without_arrows before = *this;
    ++*this;
    return before;
  }
  bool operator==(const without_arrows& other) const { return at_ == other.at_; }
  bool operator!=(const without_arrows& other) const { return at_ != other.at_; }

 private:
  bool at_arrow() const {
    static constexpr std::string_view begin = ",\n{\"ph\":\"";
    return static_cast<std::size_t>(end_ - at_) > begin.size() && std::string_view(at_, begin.size()) == begin && (at_[begin.size()] == 's' || at_[begin.size()] == 'f');
  }
  // From the comma before an event to the one behind it, or to the end of its line if it is the last.
  void pass_event() {
    const char* const line = at_ + 2;
    const auto* const line_end = static_cast<const char*>(std::memchr(line, '\n', static_cast<std::size_t>(end_ - line)));
    at_ = line_end == nullptr ? end_ : line_end[-1] == ',' ? line_end - 1 : line_end;
  }
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

// Gets tokens from the parser. Three places are of interest: the value of "otherData", the events, and in an event its
// fields, "args" and "after"; the rest is passed over by its depth.
class reader : public nlohmann::json_sax<json> {
 public:
  reader(const std::string& path, std::string_view text, const trace_handlers& handlers) : path_(path), text_(text), to_(handlers) {}

  void finish() const {
    if (!has_about_) throw input_error(path_ + ": no trace that weir wrote: there is no \"otherData\"");
    if (tasks_ != about_.tasks) throw input_error(fmt::format("{}: {} tasks, but its head says {}", path_, tasks_, about_.tasks));
  }

  bool null() override { return value(nullptr); }
  bool boolean(bool b) override {
    if (depth_ == args_depth && at(field::nested)) task_.nested = sleep_.nested = b;
    if (depth_ == args_depth && at(field::required)) task_.required = b;
    return value(b);
  }
  bool number_integer(number_integer_t n) override { return number(static_cast<double>(n), n, n); }
  bool number_unsigned(number_unsigned_t n) override { return number(static_cast<double>(n), static_cast<std::int64_t>(n), n); }
  bool number_float(number_float_t x, const string_t&) override { return number(x, static_cast<std::int64_t>(x), x); }
  bool string(string_t& s) override {
    if (in_events_ && depth_ == event_depth && at(field::phase)) phase_ = s.size() == 1 ? s[0] : '?';
    else if (in_events_ && depth_ == event_depth && at(field::name)) name_ = s;
    else if (in_events_ && depth_ == event_depth && at(field::category)) is_task_ = s == "task", is_sleep_ = s == "sleep";
    else if (in_events_ && depth_ == args_depth && at(field::id)) task_.id = id(s);
    else if (in_events_ && depth_ == args_depth && at(field::outcome)) task_.failed = s == "failed", task_.skipped = s == "skipped";
    else if (in_events_ && depth_ == after_depth && at(field::after)) task_.after.push_back(id(s));
    return value(s);
  }
  bool binary(binary_t&) override { return true; }

  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& s) override {
    if (!in_events_ && depth_ == 1) top_ = s;
    if (in_events_ && (depth_ == event_depth || depth_ == args_depth)) field_ = field_of(s);
    if (!building_.empty()) key_ = s;
    return true;
  }
  bool parse_error(std::size_t, const std::string& last_token, const nlohmann::detail::exception&) override {
    std::string_view end = text_;
    while (!end.empty() && (end.back() == '\n' || end.back() == ' ' || end.back() == '\0')) end.remove_suffix(1);
    if (!has_about_ && !end.starts_with('{')) throw input_error(path_ + ": no trace that weir wrote: it does not begin with \"{\"");
    if (!end.ends_with("]}")) throw input_error(fmt::format("{}: ends in the middle, after {} events: the file is truncated", path_, events_));
    throw input_error(fmt::format("{}: no JSON after {} events, at \"{}\": the file is damaged", path_, events_, last_token.substr(0, 40)));
  }

 private:
  // { traceEvents [ event { args { after [
  static constexpr int event_depth = 3, args_depth = 4, after_depth = 5;
  enum class field { other, phase, process, thread, time, duration, name, category, args, id, node, home, read_local,
                     read_remote, write_local, write_remote, stolen_from, pushed_from, nested, required, outcome,
                     after, bytes };

  static field field_of(std::string_view key) {
    static constexpr std::pair<std::string_view, field> known[] = {
        {"ph", field::phase}, {"pid", field::process}, {"tid", field::thread}, {"ts", field::time}, {"dur", field::duration}, {"name", field::name}, {"cat", field::category}, {"args", field::args},
        {"id", field::id}, {"node", field::node}, {"home", field::home}, {"read_local", field::read_local}, {"read_remote", field::read_remote}, {"write_local", field::write_local},
        {"write_remote", field::write_remote}, {"stolen_from", field::stolen_from},
        {"pushed_from", field::pushed_from}, {"nested", field::nested}, {"required", field::required},
        {"outcome", field::outcome}, {"after", field::after},
        {"bytes", field::bytes}};
    for (const auto& [name, f] : known)
      if (key == name) return f;
    return field::other;
  }
  bool at(field f) const { return field_ == f; }

  trace_task_id id(std::string_view s) const {
    const auto found = id_of(s);
    if (!found || found->worker < 0 || found->worker >= about_.workers) throw input_error(path_ + ": \"" + std::string(s) + "\" is no task: expected WORKER.NANOSECONDS");
    return *found;
  }
  template <class Number>
  bool number(double x, std::int64_t n, Number exact) {
    if (in_events_ && depth_ == event_depth) event_number(x, n);
    else if (in_events_ && depth_ == args_depth) argument(static_cast<std::uint64_t>(n), static_cast<int>(n));
    return value(exact);
  }
  static std::uint64_t ns(double us) { return us <= 0 ? 0 : static_cast<std::uint64_t>(std::llround(us * 1000)); }
  void event_number(double x, std::int64_t n) {
    switch (field_) {
      case field::process: process_ = static_cast<int>(n); break;
      case field::thread: thread_ = static_cast<int>(n); break;
      case field::time: begin_ = ns(x); break;
      case field::duration: duration_ = ns(x); break;
      default: break;
    }
  }
  void argument(std::uint64_t bytes, int n) {
    switch (field_) {
      case field::node: task_.node = n; break;
      case field::home: task_.home = n; break;
      case field::read_local: task_.read_local = bytes; break;
      case field::read_remote: task_.read_remote = bytes; break;
      case field::write_local: task_.write_local = bytes; break;
      case field::write_remote: task_.write_remote = bytes; break;
      case field::stolen_from: task_.from = trace_task::origin::stolen, task_.from_worker = n; break;
      case field::pushed_from: task_.from = trace_task::origin::pushed, task_.from_worker = n; break;
      case field::bytes: buffers_.bytes = bytes; break;
      default: break;
    }
  }

  bool open(json&& container) {
    if (depth_ == 1 && top_ == "otherData") {
      other_ = std::move(container);
      building_ = {&other_};
    } else if (!building_.empty()) {
      building_.push_back(put(std::move(container)));
    }
    if (depth_ == 1 && top_ == "traceEvents") {
      in_events_ = true;
      if (!has_about_) throw input_error(path_ + ": no trace that weir wrote: its events come before \"otherData\"");
    }
    depth_++;
    if (in_events_ && depth_ == event_depth) start_event();
    return true;
  }
  bool close() {
    if (in_events_ && depth_ == event_depth) end_event();
    if (in_events_ && depth_ == event_depth - 1) in_events_ = false;
    depth_--;
    if (!building_.empty()) {
      building_.pop_back();
      if (building_.empty()) end_about();
    }
    return true;
  }
  template <class Value>
  bool value(const Value& v) {
    if (!building_.empty()) put(json(v));
    return true;
  }
  json* put(json&& v) {
    json& in = *building_.back();
    if (in.is_array()) {
      in.push_back(std::move(v));
      return &in.back();
    }
    return &(in[key_] = std::move(v));
  }
  void end_about() {
    about_ = about_of(path_, other_);
    has_about_ = true;
    if (to_.about) to_.about(about_);
  }

  void start_event() {
    task_.after.clear();
    std::vector<trace_task_id> room = std::move(task_.after);
    task_ = {};
    task_.after = std::move(room);
    sleep_ = {};
    buffers_ = {};
    phase_ = '?';
    process_ = thread_ = 0;
    begin_ = duration_ = 0;
    is_task_ = is_sleep_ = false;
  }
  void end_event() {
    events_++;
    if (phase_ == 'X' && (is_task_ || is_sleep_)) {
      const int worker = thread_ - 1;
      if (worker < 0 || worker >= about_.workers) throw input_error(fmt::format("{}: event {}: there is no worker {}", path_, events_, worker));
      is_task_ ? emit_task(worker) : emit_sleep(worker);
    } else if (phase_ == 'C') {
      buffers_.node = process_ - 1 < about_.nodes ? process_ - 1 : -1;
      buffers_.name = name_;
      buffers_.time = begin_;
      if (to_.buffers) to_.buffers(buffers_);
    }
  }
  void emit_task(int worker) {
    tasks_++;
    task_.name = name_;
    task_.worker = worker;
    task_.begin = begin_;
    task_.end = begin_ + duration_;
    if (task_.node < 0 || task_.node >= about_.nodes || task_.home >= about_.nodes || task_.from_worker >= about_.workers) throw input_error(fmt::format("{}: event {}: it names a node or worker that the head does not", path_, events_));
    if (to_.task) to_.task(task_);
  }
  void emit_sleep(int worker) {
    sleep_.worker = worker;
    sleep_.begin = begin_;
    sleep_.end = begin_ + duration_;
    if (to_.sleep) to_.sleep(sleep_);
  }

  const std::string& path_;
  const std::string_view text_;
  const trace_handlers& to_;
  int depth_ = 0;
  bool in_events_ = false, has_about_ = false, is_task_ = false, is_sleep_ = false;
  std::string top_, key_, name_;
  json other_;
  std::vector<json*> building_;
  field field_ = field::other;
  trace_about about_;
  std::uint64_t events_ = 0, tasks_ = 0, begin_ = 0, duration_ = 0;
  char phase_ = '?';
  int process_ = 0, thread_ = 0;
  trace_task task_;
  trace_sleep sleep_;
  trace_buffers buffers_;
};

}  // namespace

void read_trace(const std::string& path, const trace_handlers& handlers) {
  const mapped_file file(path);
  if (file.text().empty()) throw input_error(path + ": empty; expected a trace that weir wrote");
  reader r(path, file.text(), handlers);
  const char *const begin = file.text().data(), *const end = begin + file.text().size();
  json::sax_parse(without_arrows(begin, end), without_arrows(end, end), &r);
  r.finish();
}

std::string time_text(double ns) {
  const char* unit = "ns";
  for (const char* larger : {"us", "ms", "s"}) {
    if (ns < 999.5) break;
    ns /= 1000;
    unit = larger;
  }
  const int decimals = unit[0] == 'n' || ns >= 99.95 ? 0 : ns >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", ns, decimals, unit);
}

}  // namespace weir::tools
