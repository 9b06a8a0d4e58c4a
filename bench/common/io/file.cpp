// Reading files whole, replacing files whole.
#include <bench/common/io/file.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <string_view>

namespace weir::bench {
namespace fs = std::filesystem;
namespace {

std::string reason(int error_number) { return std::strerror(error_number); }

// A new file beside `target`. The process id and a count make the name; O_EXCL makes it ours.
std::FILE* create_beside(const fs::path& target, fs::path& created) {
  for (int attempt = 0; attempt < 100; attempt++) {
    created = target;
    created += ".part-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    const int fd = ::open(created.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) return ::fdopen(fd, "wb");
    if (errno != EEXIST) break;
  }
  created.clear();
  return nullptr;
}

}  // namespace

file_handle open_for_reading(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw input_error(path.string() + ": cannot be opened: " + reason(errno));
  file_handle file(::fdopen(fd, "rb"));
  if (!file) {
    ::close(fd);
    throw input_error(path.string() + ": cannot be opened: " + reason(errno));
  }
  struct stat status;
  if (::fstat(fd, &status) != 0) throw input_error(path.string() + ": cannot be examined: " + reason(errno));
  if (S_ISDIR(status.st_mode)) throw input_error(path.string() + ": is a directory, expected a file");
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) throw input_error(path.string() + ": is a device, expected a file");
  return file;
}

std::string read_file(const fs::path& path) {
  const file_handle file = open_for_reading(path);
  std::string content;
  try {
    char chunk[1 << 16];
    while (const std::size_t n = std::fread(chunk, 1, sizeof chunk, file.get())) content.append(chunk, n);
  } catch (const std::bad_alloc&) {
    throw input_error(path.string() + ": is too large for the memory there is");
  }
  if (std::ferror(file.get())) throw input_error(path.string() + ": cannot be read: " + reason(errno));
  return content;
}

replacement_file::replacement_file(const fs::path& target) : shown_(target), target_(target) {
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status)) throw input_error(shown_.string() + ": is a directory, expected a file to write");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    stream_.reset(std::fopen(target.c_str(), "wb"));
  } else {
    if (fs::exists(status)) target_ = fs::canonical(target, ignored);
    stream_.reset(create_beside(target_, temporary_));
  }
  if (!stream_) fail("cannot be written", errno);
}

replacement_file::~replacement_file() {
  stream_.reset();
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void replacement_file::commit() {
  const bool written = std::fflush(stream_.get()) == 0 && !std::ferror(stream_.get());
  const int error_number = errno;
  const bool closed = std::fclose(stream_.release()) == 0;
  if (!written) fail("cannot be written", error_number);
  if (!closed) fail("cannot be written", errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be replaced", errno);
  temporary_.clear();
}

void replacement_file::fail(const char* what, int error_number) const {
  // The destructor does not run when the constructor throws.
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  throw input_error(shown_.string() + ": " + what + ": " + reason(error_number));
}

std::string printable(std::string_view text) {
  static constexpr std::size_t longest_bytes = 40;
  static constexpr char digits[] = "0123456789abcdef";
  std::string shown;
  for (const char c : text.substr(0, longest_bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      shown += c;
    } else {
      shown += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return text.size() > longest_bytes ? shown + "..." : shown;
}

}  // namespace weir::bench
