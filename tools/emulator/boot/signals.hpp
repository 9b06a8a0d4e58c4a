// Signals that ask a program to end, as something to wait for.
#pragma once

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

#include "descriptors.hpp"

namespace weir::emulator {

// SIGINT, SIGTERM and SIGHUP are read from a descriptor instead, until this goes; but for those that are ignored, as SIGHUP
// is under nohup: a blocked signal would be kept for the reader all the same.
class signals_held {
 public:
  signals_held() {
    ::sigemptyset(&mask_);
    for (int s : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction how{};
      if (::sigaction(s, nullptr, &how) != 0 || how.sa_handler != SIG_IGN) ::sigaddset(&mask_, s);
    }
    ::pthread_sigmask(SIG_BLOCK, &mask_, &before_);
    reader_ = descriptor(::signalfd(-1, &mask_, SFD_CLOEXEC));
  }
  ~signals_held() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_held(const signals_held&) = delete;
  signals_held& operator=(const signals_held&) = delete;

  const descriptor& reader() const { return reader_; }
  // What a child is to have.
  const sigset_t& before() const { return before_; }
  // The number of a signal that has come.
  int take() const {
    signalfd_siginfo info{};
    return ::read(reader_.number(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : SIGTERM;
  }

 private:
  sigset_t mask_{}, before_{};
  descriptor reader_;
};

}  // namespace weir::emulator
