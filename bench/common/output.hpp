// Standard output, which may be full or closed: results are shown, or it is said that they could not be. No library of
// ours is needed for it.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <system_error>

namespace weir::bench {

// For the beginning of main(). A standard stream that is closed would be opened again as the first file that is
// written, and what is printed would get into it. What stands in for it here cannot be used in its direction.
inline void occupy_standard_streams() {
  for (int stream = 0; stream <= 2; stream++)
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
}

// What was printed is on its way. Throws std::system_error, so that what prints more and more ends at once.
inline void flush_output() {
  if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "standard output");
}

// For the end of main(): the exit status. Results that were not written are no success, whatever the program thought of
// itself; then one line on standard error says so. `reason` is known if an exception told it.
inline int close_output(const char* program, int status, std::string reason = "") {
  const bool broken = std::ferror(stdout) != 0;
  errno = 0;
  const bool closed = std::fclose(stdout) == 0;
  if (!broken && closed) return status;
  if (reason.empty()) reason = errno != 0 ? std::strerror(errno) : "an earlier write failed";
  std::fprintf(stderr, "%s: standard output cannot be written: %s\n", program, reason.c_str());
  return status == 0 ? 1 : status;
}

}  // namespace weir::bench
