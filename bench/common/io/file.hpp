// Files as the kernels use them: read whole, or replaced as a whole. What cannot be read or written is an input_error,
// one line that begins with the file's name.
#pragma once

#include <bench/common/kernel.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace weir::bench {

struct file_closer {
  void operator()(std::FILE* f) const noexcept { std::fclose(f); }
};
using file_handle = std::unique_ptr<std::FILE, file_closer>;

// Opens a regular file or a pipe for reading. Throws input_error, for directories and devices too.
file_handle open_for_reading(const std::filesystem::path& path);

// The whole content. Throws input_error.
std::string read_file(const std::filesystem::path& path);

// A file being written beside its target; commit() moves it there in one step. Without a commit nothing remains and
// the target is untouched. A target that is no regular file (a terminal, a pipe, /dev/null) is written directly.
class replacement_file {
 public:
  explicit replacement_file(const std::filesystem::path& target);  // throws input_error
  replacement_file(const replacement_file&) = delete;
  replacement_file& operator=(const replacement_file&) = delete;
  ~replacement_file();

  std::FILE* stream() const noexcept { return stream_.get(); }
  void commit();  // throws input_error if anything was not written

 private:
  [[noreturn]] void fail(const char* what, int error_number) const;

  std::filesystem::path shown_;      // as the user named it
  std::filesystem::path target_;     // with symbolic links resolved, so that the link stays
  std::filesystem::path temporary_;  // empty: the target is written directly
  file_handle stream_;
};

// Text for a message: control characters escaped, at most 40 bytes.
std::string printable(std::string_view text);

}  // namespace weir::bench
