// Entries, and how the format writes them down.
#include "archive.hpp"

#include "elf.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <weir/error.hpp>

namespace weir::emulator {
namespace {

namespace fs = std::filesystem;

std::string normal(const std::string& path) {
  std::string p = fs::path(path).lexically_normal().string();
  while (p.size() > 1 && p.ends_with('/')) p.pop_back();
  return p;
}

std::string read_file(const std::string& host) {
  std::ifstream file(host, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) throw configuration_error(fmt::format("{}: cannot be read: {}", host, std::strerror(errno)));
  return content;
}

// Thirteen numbers of eight hexadecimal digits, name, content; name and content end at a multiple of four.
void append_entry(std::string& out, std::uint32_t number, const std::string& name, std::uint32_t mode, const std::string& content) {
  const auto pad = [&] { out.append((4 - out.size() % 4) % 4, '\0'); };
  const std::uint32_t links = S_ISDIR(mode) ? 2 : 1;
  out += "070701";
  for (std::size_t field : {std::size_t{number}, std::size_t{mode}, std::size_t{0}, std::size_t{0}, std::size_t{links}, std::size_t{0}, content.size(), std::size_t{0}, std::size_t{0}, std::size_t{0}, std::size_t{0},
                            name.size() + 1, std::size_t{0}})
    fmt::format_to(std::back_inserter(out), "{:08X}", field);
  out += name;
  out += '\0';
  pad();
  out += content;
  pad();
}

}  // namespace

archive::archive() {
  for (const char* folder : {"/proc", "/sys", "/dev", "/tmp", "/bin"}) add_folder(folder);
}

void archive::add_above(const std::string& path) {
  const std::string above = fs::path(path).parent_path().string();
  if (above != "/" && !above.empty()) add_folder(above);
}

void archive::add_folder(const std::string& path) {
  const std::string p = normal(path);
  if (p == "/" || entries_.contains(p)) return;
  add_above(p);
  entries_[p] = {S_IFDIR | 0755, {}, {}};
}

void archive::add_text(const std::string& path, std::string content, bool executable) {
  const std::string p = normal(path);
  add_above(p);
  entries_[p] = {S_IFREG | (executable ? 0755u : 0644u), std::move(content), {}};
}

void archive::add(const std::string& host, const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(host, error);
  if (!fs::exists(status)) throw configuration_error(host + ": expected a file or a folder, and there is none");
  if (fs::is_directory(status)) {
    add_folder(path);
    for (const auto& item : fs::directory_iterator(host, error)) add(item.path().string(), path + "/" + item.path().filename().string());
    if (error) throw configuration_error(fmt::format("{}: cannot be read: {}", host, error.message()));
    return;
  }
  if (!fs::is_regular_file(status)) throw configuration_error(host + ": expected a file or a folder, and it is neither");
  add_text(path, read_file(host), ::access(host.c_str(), X_OK) == 0);
  entries_[normal(path)].host = host;
}

void archive::add_program(const std::string& host, const std::string& path, const std::string& library_path) {
  add(host, path);
  if (fs::is_directory(host)) return;
  for (const std::string& library : libraries_of(host, library_path)) add(library, library);
}

std::string archive::host_of(const std::string& path) const {
  const auto at = entries_.find(path);
  return at == entries_.end() ? std::string() : at->second.host;
}

std::string archive::bytes() const {
  std::string out;
  std::uint32_t number = 1;
  for (const auto& [path, e] : entries_) append_entry(out, number++, path.substr(1), e.mode, e.content);
  append_entry(out, 0, "TRAILER!!!", 0, {});
  return out;
}

}  // namespace weir::emulator
