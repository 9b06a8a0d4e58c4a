// System calls, with their interruptions.
#include "descriptors.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace weir::emulator {
namespace {

void check(bool done, const char* what) {
  if (!done) throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

descriptor& descriptor::operator=(descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

void descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

pipe_ends make_pipe() {
  int ends[2];
  check(::pipe2(ends, O_CLOEXEC) == 0, "pipe");
  return {descriptor(ends[0]), descriptor(ends[1])};
}

descriptor make_memory_file(const char* name, const std::string& content) {
  descriptor file(::memfd_create(name, MFD_CLOEXEC));
  check(file.open(), "memfd_create");
  write_all(file.number(), content);
  return file;
}

std::string read_memory_file(const descriptor& file) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::pread(file.number(), buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

bool read_some(const descriptor& reader, std::string& text) {
  char buffer[1 << 16];
  ssize_t n = 0;
  do n = ::read(reader.number(), buffer, sizeof buffer);
  while (n < 0 && errno == EINTR);
  if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
  return n > 0;
}

void write_all(int number, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(number, text.data(), text.size());
    check(n >= 0 || errno == EINTR, "write");
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace weir::emulator
