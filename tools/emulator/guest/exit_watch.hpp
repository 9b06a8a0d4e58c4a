// The code that a process has in its memory when it ends.
#pragma once

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

namespace weir::emulator {

// Lines of /proc/PID/maps that can be executed.
inline std::vector<std::string> code_of(const std::string& process) {
  std::vector<std::string> lines;
  std::ifstream maps("/proc/" + process + "/maps");
  for (std::string line; std::getline(maps, line);)
    if (const std::size_t space = line.find(' '); space != std::string::npos && line[space + 3] == 'x')
      lines.push_back(line);
  return lines;
}

// A zombie has no memory, so the kernel stops the process just before: by then all libraries are there, also those that
// were loaded late, and in whatever way it ends, each thread passes that point. Only the first thread is traced: others
// run as ever. Its signals stop it, too, and are passed on. PTRACE_SEIZE, because it changes neither what exec does nor
// what SIGSTOP does.
// Not seen: libraries that were unloaded, and those loaded after the first thread has ended alone.
class exit_watch {
 public:
  // False, with errno, if it cannot be traced.
  bool begin(pid_t process) {
    process_ = process;
    return ::ptrace(PTRACE_SEIZE, process, nullptr, reinterpret_cast<void*>(PTRACE_O_TRACEEXIT)) == 0;
  }

  // `status`: what wait() said of the process, which has stopped and goes on.
  void stopped(int status) {
    const int event = status >> 16, signal = WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXIT) code_ = code_of(std::to_string(process_));
    const bool to_stay = event == PTRACE_EVENT_STOP && signal != SIGTRAP;
    const long deliver = event == 0 ? signal : 0;
    ::ptrace(to_stay ? PTRACE_LISTEN : PTRACE_CONT, process_, nullptr, reinterpret_cast<void*>(deliver));
  }

  const std::vector<std::string>& code() const { return code_; }

 private:
  pid_t process_ = -1;
  std::vector<std::string> code_;
};

}  // namespace weir::emulator
