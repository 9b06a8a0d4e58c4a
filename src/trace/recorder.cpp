// A recorder's file: checked before the run, written after it.
#include "trace/recorder.hpp"

#include "os/os.hpp"
#include "trace/chrome.hpp"

#include <weir/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>
#include <numeric>

namespace weir::trace {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

std::string checked(std::string path) {
  struct stat before{};
  const bool was_there = ::stat(path.c_str(), &before) == 0;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) throw configuration_error("trace file " + path + ": cannot be written: " + std::strerror(errno));
  ::close(file);
  if (!was_there) ::unlink(path.c_str());
  return path;
}

// How many traces this process has written to a path. Kept to the end: a runtime may be a static object.
int next_number(const std::string& path) {
  const os::fork_shield shield;
  static std::mutex& mutex = *new std::mutex;
  static auto& numbers = *new std::map<std::string, int>;
  std::lock_guard guard(mutex);
  return ++numbers[path];
}

// trace.json, trace.2.json, trace.3.json
std::string numbered(const std::string& path, int number) {
  if (number == 1) return path;
  const fs::path p(path);
  return os::join_paths(p.parent_path().native(),
                        p.stem().native() + "." + std::to_string(number) + p.extension().native());
}

// Places that a worker's log samples: its own node; worker 0's also those that nobody else looks at.
std::vector<int> places_of(int worker, int node) {
  std::vector<int> places{node};
  if (worker == 0) places.insert(places.end(), {memory::place_interleaved, memory::place_unknown});
  return places;
}

}  // namespace

recorder::recorder(std::string path, std::size_t most_memory_bytes) : path_(checked(std::move(path))), common_(folder_of(path_), most_memory_bytes / log::chunk_bytes) {}

log& recorder::make_log(int worker, int node, int nodes, const memory::pools& buffers,
                        const memory::regions& user_memory) {
  auto made = std::make_unique<log>(common_, worker, nodes, buffers, user_memory, places_of(worker, node));
  std::lock_guard guard(mutex_);
  return *logs_.emplace_back(std::move(made));
}

void recorder::write(const about& a) try {
  std::vector<log*> logs;
  std::uint64_t tasks = 0;
  for (const auto& l : logs_) {
    logs.push_back(l.get());
    tasks += l->tasks();
  }
  if (tasks == 0) return;
  common_.clock.synchronize();
  write_chrome(numbered(path_, next_number(path_)), a, common_, logs);
} catch (const std::bad_alloc&) {
  throw error("trace file " + path_ + ": cannot be written: there is no memory left");
}

}  // namespace weir::trace
