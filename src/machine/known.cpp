// Machine files that come with weir, found by their bare names.
#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include "machine/detail.hpp"
#include "weir/detail/nearest.hpp"
#include "weir/error.hpp"

namespace weir::machine {
namespace {

namespace fs = std::filesystem;

// The files of code whose neighbours are looked at: libweir, or what it is linked into, and the program.
std::vector<fs::path> code_files() {
  std::vector<fs::path> files;
  std::error_code error;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&index_ranges), &info) != 0 && info.dli_fname != nullptr)
    files.push_back(fs::canonical(info.dli_fname, error));
  files.push_back(fs::read_symlink("/proc/self/exe", error));
  return files;
}

// share/weir/machines in the first folder above the code that has one, an installation's prefix or a build folder; else
// where weir was meant to be installed.
std::optional<fs::path> machines_folder() {
  const fs::path below = fs::path("share") / "weir" / "machines";
  std::error_code error;
  for (const fs::path& file : code_files())
    for (fs::path folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
      if (fs::is_directory(folder / below, error)) return folder / below;
  const fs::path installed = WEIR_INSTALLED_MACHINES;
  return fs::is_directory(installed, error) ? std::optional(installed) : std::nullopt;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(folder, error))
    if (item.path().extension() == ".toml") names.push_back(item.path().stem().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace

namespace detail {

bool is_bare_name(const std::string& specification) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  return !specification.empty() && std::isalpha(static_cast<unsigned char>(specification[0])) != 0 &&
         std::ranges::all_of(specification, fits);
}

std::string file_of_known_machine(const std::string& name) {
  const std::optional<fs::path> folder = machines_folder();
  const std::vector<std::string> names = folder ? names_in(*folder) : std::vector<std::string>{};
  if (std::ranges::binary_search(names, name)) return (*folder / (name + ".toml")).string();
  std::string known;
  for (const std::string& each : names) known += (known.empty() ? "" : ", ") + each;
  throw machine_error("machine \"" + name + "\": expected host, a file ending in .toml or .xml, " +
                      "\"nodes:N cpus:K [distance:D]\", an hwloc synthetic string, or a machine that comes with " +
                      "weir (" + (folder ? known : "whose folder share/weir/machines is not there") + ")" +
                      weir::detail::proposal(name, names));
}

}  // namespace detail
}  // namespace weir::machine
