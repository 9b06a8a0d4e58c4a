// Reading, mending and adding to a file of results.
#include "store.hpp"

#include <bench/common/kernel.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

namespace weir::tools {
namespace {

using bench::input_error;
using json = nlohmann::ordered_json;

constexpr const char* remedy = "; give another --out, or remove the file";

json header_of(const plan& p) {
  json header = {{"eval", p.name}, {"version", results_version}, {"weir", WEIR_VERSION}, {"machine", p.machine}, {"quick", p.quick}, {"title", p.title}, {"source", p.source}, {"scaling", p.scaling}, {"figures", p.figures}};
  if (p.full) header["full"] = true;
  return header;
}

std::string text(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, json::error_handler_t::replace); }

[[noreturn]] void cannot(const std::string& path, const char* what) { throw input_error(fmt::format("{}: cannot be {}: {}", path, what, std::strerror(errno))); }

std::string dumped(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"; }

// Of a header that was cut off, and of nothing else that somebody may want to keep.
bool begins_a_header(std::string_view line) {
  constexpr std::string_view begin = "{\"eval\":";
  return line.starts_with(begin.substr(0, line.size()));
}

void write_whole(int file, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(file, content.data(), content.size());
    if (n < 0 && errno != EINTR) cannot(path, "written");
    if (n > 0) content.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

result_store::result_store(const std::string& path, const plan& p) : path_(path), plan_(p), header_(header_of(p)) {
  lock_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (lock_ < 0) cannot(path_, "opened");
  try {
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) throw input_error(path_ + ": another weir eval is writing to it");
    read();
    if (damaged_) rewrite();
  } catch (...) {
    ::close(lock_);
    throw;
  }
}

result_store::~result_store() { ::close(lock_); }

void result_store::read() {
  std::ifstream in(path_, std::ios::binary);
  if (!in) cannot(path_, "read");
  std::size_t number = 0;
  json first;
  for (std::string line; std::getline(in, line);) {
    number++;
    const bool whole = !in.eof();
    json j = json::parse(line, nullptr, false);
    if (!whole && (number > 1 || begins_a_header(line))) {
      damaged_ = true;
      break;
    }
    if (j.is_discarded() || !j.is_object()) throw input_error(fmt::format("{}: line {} is no result of weir eval{}", path_, number, remedy));
    if (number == 1) {
      check_header(j);
      first = std::move(j);
      continue;
    }
    lines_.push_back(std::move(j));
    numbers_.push_back(number);
  }
  if (in.bad()) cannot(path_, "read");
  keep_whole_groups();
  damaged_ |= first != header_;
}

void result_store::check_header(const json& first) const {
  const auto refuse = [&](const std::string& what) { throw input_error(path_ + ": " + what + remedy); };
  if (!first.contains("eval") || !first.contains("version")) refuse("line 1 is no result of weir eval");
  if (first["version"] != header_["version"]) refuse(fmt::format("results of version {}, this weir writes version {}", text(first["version"]), results_version));
  constexpr std::pair<const char*, const char*> must_agree[] = {
      {"eval", "evaluation"}, {"machine", "machine"}, {"quick", "--quick:"}, {"full", "--full:"}, {"weir", "weir"}};
  for (const auto& [key, what] : must_agree)
    if (const json then = first.value(key, json()), now = header_.value(key, json()); then != now)
      refuse(fmt::format("results of {} {}, not {}", what, text(then), text(now)));
}

void result_store::keep_whole_groups() {
  std::set<std::string> known;
  for (const run_group& g : plan_.groups) known.insert(g.command());
  using identity = std::pair<std::string, int>;
  const auto identity_of = [](const json& line) {
    return identity(line.value("command", std::string()), line.value("turn", 0));
  };
  std::map<identity, std::size_t> counts;
  for (std::size_t i = 0; i < lines_.size(); i++) {
    const std::string command = lines_[i].value("command", std::string());
    if (!known.contains(command)) throw input_error(fmt::format("{}: line {}: \"{}\" is no run of {} as it is now{}", path_, numbers_[i], command, plan_.name, remedy));
    counts[identity_of(lines_[i])]++;
  }
  const auto partial = [&](const json& line) {
    return line.value("runs", std::size_t{0}) != counts[identity_of(line)];
  };
  damaged_ |= std::erase_if(lines_, partial) > 0;
}

// A new file in place of the old one; the lock goes over to it.
void result_store::rewrite() const {
  const std::string part = fmt::format("{}.{}.part", path_, ::getpid());
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) cannot(part, "written");
  try {
    std::string content = dumped(header_);
    for (const json& line : lines_) content += dumped(line);
    write_whole(file, part, content);
    if (::flock(file, LOCK_EX | LOCK_NB) != 0 || ::fsync(file) != 0 || std::rename(part.c_str(), path_.c_str()) != 0) cannot(path_, "written");
    ::dup3(file, lock_, O_CLOEXEC);
    ::close(file);
  } catch (...) {
    ::close(file);
    ::unlink(part.c_str());
    throw;
  }
}

bool result_store::has(const run_group& g) const { return seconds_of(g) > 0; }

bool result_store::belongs(const json& line, const run_group& g) {
  return line.value("turn", 0) == g.turn && line.value("command", std::string()) == g.command();
}

double result_store::seconds_of(const run_group& g) const {
  const auto found = std::ranges::find_if(lines_, [&](const json& line) { return belongs(line, g); });
  return found == lines_.end() ? 0 : std::max(1e-3, found->value("group_seconds", 0.0));
}

void result_store::add(const run_group& g, const std::vector<json>& lines, double seconds) {
  std::string content;
  for (const json& line : lines) {
    json whole = {{"experiment", g.experiment}, {"command", g.command()}, {"runs", lines.size()}, {"group_seconds", seconds}};
    if (g.turn != 0) whole["turn"] = g.turn;
    for (const auto& [key, value] : g.fields) whole[key] = value;
    whole.update(line);
    content += dumped(whole);
    lines_.push_back(std::move(whole));
  }
  write_whole(lock_, path_, content);
  ::fsync(lock_);
}

}  // namespace weir::tools
