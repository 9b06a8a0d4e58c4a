// A program started by this one, with what it has started itself: it ends with the object, and with this process.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "descriptors.hpp"

namespace weir::emulator {

class child {
 public:
  // Calls connect() in the child: to give it its descriptors 0 to 2. `arguments`: the program first, looked for in PATH if it
  // has no slash. `signals`: blocked in the child. `last_signal`: it gets that when this process ends. Throws
  // std::system_error if there can be no further process. A program that cannot be started says so on descriptor 2, after
  // `complaint`, and has the status not_started.
  template <class Connect>
  child(const std::vector<std::string>& arguments, const sigset_t& signals, int last_signal, const std::string& complaint, const Connect& connect) {
    std::vector<char*> argv;
    for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid_ > 0) {
      ::setpgid(pid_, pid_);  // here too: a signal may be sent before the child has come so far
      return;
    }
    ::setpgid(0, 0);  // Ctrl-C is for this process to handle
    ::prctl(PR_SET_PDEATHSIG, last_signal);
    if (::getppid() != parent) ::_exit(not_started);
    ::pthread_sigmask(SIG_SETMASK, &signals, nullptr);
    connect();
    ::execvp(argv[0], argv.data());
    write_all(2, complaint + ": " + std::strerror(errno));
    ::_exit(not_started);
  }
  ~child() {
    signal(SIGKILL);
    wait();
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  // To the program and what it has started.
  void signal(int number) const {
    if (pid_ > 0) ::kill(-pid_, number);
  }
  // As a shell counts: its exit status, or 128 and the signal's number.
  int wait() {
    int status = 0;
    while (pid_ > 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  static constexpr int not_started = 127;

 private:
  pid_t pid_ = -1;
};

}  // namespace weir::emulator
