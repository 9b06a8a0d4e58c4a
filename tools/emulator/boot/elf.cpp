// The first pages of an ELF file, and what its dynamic linker says.
#include "elf.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <tuple>

#include <tools/common/subprocess.hpp>
#include <weir/error.hpp>

namespace weir::emulator {
namespace {

constexpr std::chrono::seconds linker_limit{60};

std::string_view architecture_name(unsigned machine) {
  switch (machine) {
    case EM_386: return "32-bit x86";
    case EM_ARM: return "32-bit ARM";
    case EM_AARCH64: return "AArch64";
    case EM_RISCV: return "RISC-V";
    case EM_PPC64: return "POWER";
    case EM_S390: return "s390";
    default: return "another architecture";
  }
}

// The header, if the file has one.
std::optional<Elf64_Ehdr> header_of(std::ifstream& file) {
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) && file.gcount() < EI_NIDENT + 4) return std::nullopt;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  return header;
}

bool is_x86_64(const Elf64_Ehdr& header) { return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64; }

// As many as there are of a table's entries, which lie `stride` bytes apart.
template <class Entry>
std::vector<Entry> entries_at(std::ifstream& file, std::uint64_t offset, std::uint64_t count, std::uint64_t stride) {
  std::vector<Entry> entries;
  for (std::uint64_t i = 0; i < count; i++) {
    Entry entry{};
    file.seekg(static_cast<std::streamoff>(offset + i * stride));
    if (!file.read(reinterpret_cast<char*>(&entry), sizeof entry)) break;
    entries.push_back(entry);
  }
  file.clear();
  return entries;
}

std::vector<Elf64_Phdr> parts_of(std::ifstream& file, const Elf64_Ehdr& header) {
  return entries_at<Elf64_Phdr>(file, header.e_phoff, header.e_phnum, header.e_phentsize);
}

// Data have a type of their own; code that assemblers wrote often has none.
bool names_code(const Elf64_Sym& s) {
  const unsigned type = ELF64_ST_TYPE(s.st_info);
  return s.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

// Path of the dynamic linker; empty for static programs and for libraries, which name none.
std::string interpreter_of(std::ifstream& file, const Elf64_Ehdr& header) {
  for (const Elf64_Phdr& part : parts_of(file, header)) {
    if (part.p_type != PT_INTERP || part.p_filesz > 4096) continue;
    std::string name(part.p_filesz, '\0');
    file.seekg(static_cast<std::streamoff>(part.p_offset));
    file.read(name.data(), static_cast<std::streamsize>(name.size()));
    return name.c_str();
  }
  return {};
}

// The standard dynamic linker: libraries do not say which one is to load them.
constexpr const char* usual_linker = "/lib64/ld-linux-x86-64.so.2";

bool is_there(const std::string& path) {
  struct stat s;
  return ::stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode);
}

std::string search(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable != nullptr ? variable : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string path = folder + "/" + name; is_there(path) && ::access(path.c_str(), X_OK) == 0) return path;
  throw configuration_error(name + ": expected a program, and PATH has none of this name");
}

// The path in a line of the linker's list: "libm.so.6 => /lib/libm.so.6 (0x...)", "/lib64/ld.so (0x...)"; none in that of
// what the kernel provides, "linux-vdso.so.1 (0x...)".
std::string library_in(const std::string& line) {
  const std::size_t slash = line.find('/'), end = line.rfind(" (0x");
  return slash == std::string::npos || end == std::string::npos || end < slash ? std::string() : line.substr(slash, end - slash);
}

// What the linker complains of, without its preface.
std::string complaint_in(const std::string& errors) {
  const std::string line = errors.substr(0, errors.find('\n')), preface = "shared libraries: ";
  const std::size_t at = line.find(preface);
  return at == std::string::npos ? line : line.substr(at + preface.size());
}

}  // namespace

std::string find_program(const std::string& name) {
  const std::string path = name.find('/') == std::string::npos ? search(name) : name;
  struct stat s;
  if (::stat(path.c_str(), &s) != 0) throw configuration_error(path + ": expected a program, and there is no such file");
  if (!S_ISREG(s.st_mode)) throw configuration_error(path + ": expected a program, and it is no file");
  if (::access(path.c_str(), X_OK) != 0) throw configuration_error(path + ": expected a program, and it may not be executed");
  std::ifstream file(path, std::ios::binary);
  const auto header = header_of(file);
  if (!header) throw configuration_error(path + ": expected an x86-64 Linux program, and it is none (for a script, run its interpreter)");
  if (!is_x86_64(*header)) throw configuration_error(fmt::format("{}: expected an x86-64 Linux program, and it is built for {}", path, architecture_name(header->e_machine)));
  return path;
}

std::vector<segment> segments_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const auto header = header_of(file);
  if (!header || !is_x86_64(*header)) return {};
  std::vector<segment> loaded;
  for (const Elf64_Phdr& part : parts_of(file, *header))
    if (part.p_type == PT_LOAD) loaded.push_back({part.p_offset, part.p_filesz, part.p_vaddr});
  return loaded;
}

std::optional<std::uint64_t> linked_address(const std::vector<segment>& parts, std::uint64_t offset) {
  for (const segment& s : parts)
    if (offset >= s.offset && offset - s.offset < s.bytes) return offset - s.offset + s.address;
  return std::nullopt;
}

std::vector<symbol> symbols_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const auto header = header_of(file);
  if (!header || !is_x86_64(*header)) return {};
  std::vector<symbol> symbols;
  for (const Elf64_Shdr& s : entries_at<Elf64_Shdr>(file, header->e_shoff, header->e_shnum, header->e_shentsize)) {
    if (s.sh_type != SHT_SYMTAB && s.sh_type != SHT_DYNSYM) continue;
    constexpr std::size_t bytes = sizeof(Elf64_Sym);
    for (const Elf64_Sym& named : entries_at<Elf64_Sym>(file, s.sh_offset, s.sh_size / bytes, bytes))
      if (names_code(named)) symbols.push_back({named.st_value, named.st_size});
  }
  std::sort(symbols.begin(), symbols.end(), [](const symbol& a, const symbol& b) {
    return std::tie(a.address, a.bytes) < std::tie(b.address, b.bytes);
  });
  return symbols;
}

std::string without_symbols(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const auto header = header_of(file);
  file.clear();
  file.seekg(0);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  for (unsigned i = 0; header && i < header->e_shnum; i++) {
    const std::uint64_t type = header->e_shoff + std::uint64_t{i} * header->e_shentsize + offsetof(Elf64_Shdr, sh_type);
    Elf64_Word value = 0;
    if (type + sizeof value > bytes.size()) break;
    std::memcpy(&value, &bytes[type], sizeof value);
    if (value == SHT_SYMTAB || value == SHT_DYNSYM) value = SHT_PROGBITS;
    std::memcpy(&bytes[type], &value, sizeof value);
  }
  return bytes;
}

bool in_function(const std::vector<symbol>& symbols, std::uint64_t address) {
  const auto before = [](std::uint64_t a, const symbol& s) { return a < s.address; };
  const auto behind = std::upper_bound(symbols.begin(), symbols.end(), address, before);
  if (behind == symbols.begin()) return false;
  const symbol& last = *std::prev(behind);   // of several at one address the longest
  return last.bytes == 0 || address - last.address < last.bytes;
}

std::vector<std::string> libraries_of(const std::string& path, const std::string& library_path) {
  std::ifstream file(path, std::ios::binary);
  const auto header = header_of(file);
  if (!header || !is_x86_64(*header)) return {};
  std::string linker = interpreter_of(file, *header);
  if (linker.empty() && path.find(".so") == std::string::npos) return {};
  if (linker.empty()) linker = usual_linker;
  if (!is_there(linker)) throw configuration_error(fmt::format("{}: its dynamic linker {} is not there", path, linker));
  std::vector<std::string> command = {linker};
  if (!library_path.empty()) command.insert(command.end(), {"--library-path", library_path});
  command.insert(command.end(), {"--list", path});
  const auto listed = tools::run_process(command, linker_limit);
  std::vector<std::string> found = {linker};
  std::istringstream lines(listed.output);
  for (std::string line; std::getline(lines, line);)
    if (std::string library = library_in(line); !library.empty()) found.push_back(std::move(library));
  if (listed.status != 0) throw configuration_error(fmt::format("{}: expected a program whose libraries are all there: {}", path, complaint_in(listed.errors)));
  return found;
}

}  // namespace weir::emulator
