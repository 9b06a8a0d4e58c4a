// Text files, whole.
#include "text.hpp"

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include <unistd.h>

namespace weir::solver::detail {
namespace {

using file_handle = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[noreturn]] void fail_with_errno(const std::filesystem::path& path, const char* what, int error) {
  throw matrix_error(path.string() + ": " + what + ": " + std::strerror(error));
}

file_handle open(const std::filesystem::path& path, const char* mode) {
  file_handle f(std::fopen(path.c_str(), mode), &std::fclose);
  if (!f) fail_with_errno(path, *mode == 'r' ? "cannot be opened" : "cannot be written", errno);
  return f;
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  const file_handle f = open(path, "rb");
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  std::string text;
  // A pipe has no size; what it holds is found by reading.
  if (!unknown) text.reserve(size + 1);
  char piece[1 << 16];
  while (const std::size_t n = std::fread(piece, 1, sizeof piece, f.get())) text.append(piece, n);
  if (std::ferror(f.get())) fail_with_errno(path, "cannot be read", errno);
  return text;
}

void write_file(const std::filesystem::path& path, const std::function<void(const std::function<void(std::string_view)>&)>& write) {
  std::error_code problem;
  // What is no regular file (a terminal, /dev/null) cannot be replaced and is written to.
  const bool replace = !std::filesystem::exists(path, problem) || std::filesystem::is_regular_file(path, problem);
  const std::filesystem::path target = replace ? std::filesystem::path(path.string() + "." + std::to_string(::getpid()) + ".part") : path;
  file_handle f = open(target, "wb");
  bool written = true;
  write([&](std::string_view piece) { written = written && std::fwrite(piece.data(), 1, piece.size(), f.get()) == piece.size(); });
  const bool closed = std::fclose(f.release()) == 0;
  const int error = errno;
  if (written && closed && replace) std::filesystem::rename(target, path, problem);
  if (written && closed && !problem) return;
  if (replace) std::remove(target.c_str());
  fail_with_errno(path, "cannot be written", problem ? problem.value() : error);
}

std::string shortened(std::string_view word) {
  std::string s(word.substr(0, 40));
  for (char& c : s)
    if (!std::isprint(static_cast<unsigned char>(c))) c = '?';
  return s;
}

double text_reader::finite_number(const char* what) {
  const double v = number<double>(what);
  if (!std::isfinite(v)) fail(std::string("the ") + what + " is not finite: expected a number");
  return v;
}

void text_reader::fail(const std::string& what) const { throw matrix_error(name_ + ":" + std::to_string(std::max<std::int64_t>(number_, 1)) + ": " + what); }

}  // namespace weir::solver::detail
