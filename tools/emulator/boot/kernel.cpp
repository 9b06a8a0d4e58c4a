// Finding, and fetching.
#include "kernel.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <tools/common/subprocess.hpp>
#include <weir/error.hpp>

namespace weir::emulator {
namespace {

namespace fs = std::filesystem;

constexpr const char* kernel_package = "linux-image-cloud-amd64";   // depends on the package of the newest version
constexpr std::chrono::minutes download_limit{10};

[[noreturn]] void lacking(const std::string& what) { throw configuration_error("cannot emulate here: " + what); }

// The folder above the one of the running command: a build folder, or an installation's prefix.
fs::path prefix() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path(); }

// A build folder keeps its own kernel; an installed command the user's.
fs::path kernel_folder() {
  if (fs::exists(prefix() / "CMakeCache.txt")) return prefix() / "guest";
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') return fs::path(cache) / "weir";
  const char* home = std::getenv("HOME");
  if (home == nullptr) lacking("there is no HOME to keep a kernel in; name one with --kernel");
  return fs::path(home) / ".cache" / "weir";
}

bool usable(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && fs::file_size(file, error) > 0;
}

std::string find_tool(const char* name, const char* package) {
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable != nullptr ? variable : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string path = folder + "/" + name; ::access(path.c_str(), X_OK) == 0) return path;
  lacking(fmt::format("there is no {}; Debian has it in {}", name, package));
}

std::string find_kernel(const std::string& named) {
  if (!named.empty()) {
    if (!usable(named)) throw configuration_error(fmt::format("--kernel {}: expected a Linux kernel, and there is no such file", named));
    return named;
  }
  const fs::path fetched = kernel_folder() / "vmlinuz";
  if (!usable(fetched)) lacking("there is no kernel for the guest; weir emulate --fetch-kernel gets Debian's, --kernel FILE names another");
  return fetched;
}

std::string part_of_weir(const char* name) {
  const fs::path file = prefix() / "libexec" / "weir" / name;
  if (!usable(file)) lacking(fmt::format("{} is not there; it is built and installed with the command on x86-64, without sanitizers", file.string()));
  return file;
}

// Standard output of a command; its last line of complaint is the error.
std::string output_of(std::vector<std::string> command) {
  command.insert(command.begin(), "/usr/bin/env");
  const auto done = tools::run_process(command, download_limit);
  if (done.status == 0) return done.output;
  std::istringstream lines(done.errors.empty() ? done.output : done.errors);
  std::string said = "no reason given";
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) said = line;
  throw configuration_error(fmt::format("no kernel: {} {} failed: {}", command[1], command[2], said));
}

std::string newest_package() {
  std::istringstream words(output_of({"apt-cache", "depends", kernel_package}));
  for (std::string word; words >> word;)
    if (word.starts_with("linux-image-") && word != kernel_package) return word;
  throw configuration_error(fmt::format("no kernel: apt's lists name none for {}; apt-get update may help", kernel_package));
}

// A folder that is gone when the block is left.
class scratch_folder {
 public:
  explicit scratch_folder(const fs::path& beside) {
    std::string name = (beside / "download.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw configuration_error(fmt::format("no kernel: {} cannot be written", beside.string()));
    path_ = name;
  }
  ~scratch_folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

fs::path first_in(const fs::path& folder, const std::string& start, const std::string& end, const std::string& missing) {
  std::error_code error;
  for (const auto& item : fs::directory_iterator(folder, error))
    if (const std::string name = item.path().filename().string(); name.starts_with(start) && name.ends_with(end)) return item.path();
  throw configuration_error("no kernel: " + missing);
}

}  // namespace

equipment find_equipment(const std::string& kernel, bool plugin, bool profile) {
  equipment e;
  e.qemu = find_tool("qemu-system-x86_64", "qemu-system-x86");
  if (profile) e.addr2line = find_tool("addr2line", "binutils");
  e.kernel = find_kernel(kernel);
  e.init = part_of_weir("guest-init");
  if (plugin) e.plugin = part_of_weir("emulator-plugin.so");
  return e;
}

std::string fetch_kernel() {
  const fs::path folder = kernel_folder(), kernel = folder / "vmlinuz";
  if (usable(kernel)) return kernel;
  fs::create_directories(folder);
  const std::string package = newest_package();
  const scratch_folder scratch(folder);
  output_of({"sh", "-c", "cd \"$1\" && apt-get download \"$2\"", "sh", scratch.path(), package});
  const fs::path file = first_in(scratch.path(), "linux-image-", ".deb", "apt-get download left no package");
  output_of({"dpkg-deb", "-x", file, scratch.path() / "unpacked"});
  fs::rename(first_in(scratch.path() / "unpacked" / "boot", "vmlinuz-", "", "its package holds no boot/vmlinuz-*"), kernel);
  return kernel;
}

}  // namespace weir::emulator
