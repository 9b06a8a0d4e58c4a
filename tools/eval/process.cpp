// A child in a process group of its own, two pipes, and a descriptor for signals.
#include "process.hpp"

#include <tools/emulator/boot/child.hpp>
#include <tools/emulator/boot/descriptors.hpp>
#include <tools/emulator/boot/signals.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <system_error>

namespace weir::tools {
namespace {

using emulator::child, emulator::descriptor, emulator::make_pipe, emulator::pipe_ends, emulator::read_some, emulator::signals_held;
using clock = std::chrono::steady_clock;

// From SIGTERM to SIGKILL. Shorter, and a guest that is being ended would be left to the kernel to end.
constexpr std::chrono::seconds patience{20};

int milliseconds_until(clock::time_point end) {
  return static_cast<int>(std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(end - clock::now()).count(), 0, 1 << 30));
}

// In the child. Refused only if none of them is there any more; then it runs anywhere.
void bind_to(const std::vector<int>& cpus) {
  const auto most = static_cast<std::size_t>(*std::ranges::max_element(cpus)) + 1;
  const std::size_t bytes = CPU_ALLOC_SIZE(most);
  cpu_set_t* const set = CPU_ALLOC(most);
  if (set == nullptr) return;
  CPU_ZERO_S(bytes, set);
  for (const int c : cpus) CPU_SET_S(static_cast<std::size_t>(c), bytes, set);
  ::sched_setaffinity(0, bytes, set);
  CPU_FREE(set);
}

// Reads both channels to their ends; asks the program to end when it must, and makes it if it does not.
class watcher {
 public:
  watcher(const child& program, watched_process& result, const std::function<void(std::string_view)>& line) : program_(program), result_(result), line_(line) {}

  void watch(const descriptor& output, const descriptor& errors, const signals_held& signals, double limit_s) {
    std::array<pollfd, 3> open = {{{output.number(), POLLIN, 0}, {errors.number(), POLLIN, 0}, {signals.reader().number(), POLLIN, 0}}};
    clock::time_point end = limit_s > 0 ? clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(limit_s)) : clock::time_point::max();
    while (open[0].fd >= 0 || open[1].fd >= 0) {
      const int ready = ::poll(open.data(), open.size(), end == clock::time_point::max() ? -1 : milliseconds_until(end));
      if (ready < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
      if (ready < 0) continue;
      if (ready == 0) {
        if (asked_) return program_.signal(SIGKILL);
        result_.timed_out = true;
        ask(end);
      } else if (open[2].revents != 0) {
        result_.interrupted = signals.take();
        ask(end);
      }
      if (open[0].revents != 0 && !take(output, result_.output, seen_[0])) open[0].fd = -1;
      if (open[1].revents != 0 && !take(errors, result_.errors, seen_[1])) open[1].fd = -1;
    }
  }

 private:
  void ask(clock::time_point& end) {
    program_.signal(SIGTERM);
    asked_ = true;
    end = clock::now() + patience;
  }

  bool take(const descriptor& reader, std::string& text, std::size_t& seen) const {
    if (!read_some(reader, text)) return false;
    for (std::size_t at; (at = text.find('\n', seen)) != std::string::npos; seen = at + 1) line_(std::string_view(text).substr(seen, at - seen));
    return true;
  }

  const child& program_;
  watched_process& result_;
  const std::function<void(std::string_view)>& line_;
  std::array<std::size_t, 2> seen_{};
  bool asked_ = false;
};

}  // namespace

watched_process run_watched(const watched_program& what, const std::function<void(std::string_view)>& line) {
  watched_process result;
  const signals_held signals;
  pipe_ends output = make_pipe(), errors = make_pipe();
  // The program's own complaint about a failed start goes where its errors go.
  child program(what.arguments, signals.before(), SIGTERM, "cannot be started", [&] {
    if (!what.cpus.empty()) bind_to(what.cpus);
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    ::dup2(output.writer.number(), 1), ::dup2(errors.writer.number(), 2);
  });
  output.writer.close(), errors.writer.close();
  watcher(program, result, line).watch(output.reader, errors.reader, signals, what.limit_s);
  result.status = program.wait();
  return result;
}

}  // namespace weir::tools
