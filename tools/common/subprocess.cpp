// Runs a program: two pipes, a deadline, and no zombie.
#include "subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

extern char** environ;

namespace weir::tools {
namespace {

using deadline = std::chrono::steady_clock::time_point;

void check(int error, const std::string& what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

// What a child writes.
class pipe_end {
 public:
  pipe_end() { check(::pipe2(ends_, O_CLOEXEC) == 0 ? 0 : errno, "pipe"); }
  ~pipe_end() {
    close_writer();
    ::close(ends_[0]);
  }
  pipe_end(const pipe_end&) = delete;
  pipe_end& operator=(const pipe_end&) = delete;

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  // False at the end.
  bool read_some(std::string& text) const {
    char buffer[4096];
    ssize_t n = 0;
    do n = ::read(ends_[0], buffer, sizeof(buffer));
    while (n < 0 && errno == EINTR);
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    return n > 0;
  }

 private:
  int ends_[2];
};

// What a child reads: a file in memory, so that nobody has to write while it runs.
class input_file {
 public:
  explicit input_file(const std::string& text) : number_(::memfd_create("input", MFD_CLOEXEC)) {
    check(number_ >= 0 ? 0 : errno, "memfd_create");
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(number_, text.data() + done, text.size() - done);
      check(n >= 0 || errno == EINTR ? 0 : errno, "write");
      if (n > 0) done += static_cast<std::size_t>(n);
    }
    ::lseek(number_, 0, SEEK_SET);
  }
  ~input_file() { ::close(number_); }
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

pid_t start(const std::vector<std::string>& arguments, int input, int output, int errors) {
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  check(::posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
  int error = ::posix_spawn_file_actions_adddup2(&actions, input, 0);
  if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions, output, 1);
  if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions, errors, 2);
  pid_t child = 0;
  if (error == 0) error = ::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  check(error, arguments[0]);
  return child;
}

int milliseconds_until(deadline end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
  return left < 0 ? 0 : static_cast<int>(left);
}

// Reads both pipes to their ends. False if the deadline passed.
bool collect(const pipe_end& output, const pipe_end& errors, finished_process& result, deadline end) {
  pollfd open[] = {{output.reader(), POLLIN, 0}, {errors.reader(), POLLIN, 0}};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    const int ready = ::poll(open, 2, milliseconds_until(end));
    if (ready == 0) return false;
    if (ready < 0 && errno != EINTR) check(errno, "poll");
    if (ready < 0) continue;
    if (open[0].revents != 0 && !output.read_some(result.output)) open[0].fd = -1;
    if (open[1].revents != 0 && !errors.read_some(result.errors)) open[1].fd = -1;
  }
  return true;
}

}  // namespace

finished_process run_process(const std::vector<std::string>& arguments, std::chrono::milliseconds limit,
                             const std::string& input) {
  finished_process result;
  const input_file text(input);
  pipe_end output, errors;
  const pid_t child = start(arguments, text.number(), output.writer(), errors.writer());
  output.close_writer();
  errors.close_writer();
  result.timed_out = !collect(output, errors, result, std::chrono::steady_clock::now() + limit);
  if (result.timed_out) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace weir::tools
