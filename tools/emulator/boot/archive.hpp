// The guest's file system: an archive in the kernel's "newc" cpio format, made in memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace weir::emulator {

// Paths in the guest are absolute. What is added twice is there once, as it was added last; folders above it are made.
class archive {
 public:
  archive();

  void add_folder(const std::string& path);
  void add_text(const std::string& path, std::string content, bool executable = false);
  // A file of this machine; a folder with all that is in it. Throws configuration_error if it cannot be read.
  void add(const std::string& host, const std::string& path);
  // A program or library, and the libraries it is linked with, those to the paths at which they are found here.
  // Throws configuration_error as elf.hpp says. Other files are added as they are.
  void add_program(const std::string& host, const std::string& path, const std::string& library_path = {});

  // The file of this machine that is at `path`; empty if none is.
  std::string host_of(const std::string& path) const;

  // The bytes for the kernel. Uncompressed: unpacking would take the guest longer than copying.
  std::string bytes() const;

 private:
  struct entry {
    std::uint32_t mode;
    std::string content, host;
  };
  void add_above(const std::string& path);

  std::map<std::string, entry> entries_;   // sorted: a folder comes before what is in it
};

}  // namespace weir::emulator
