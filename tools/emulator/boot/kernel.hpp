// What a guest needs of this machine: an emulator, a kernel, and the parts of weir that go into it.
#pragma once

#include <string>

namespace weir::emulator {

// Files as they lie beside the running command, in a build folder or installed.
struct equipment {
  std::string qemu, kernel, init, plugin, addr2line;
};

// Finds everything a guest needs. kernel: a file, or empty for the one that was fetched. profile: also what names the
// functions of programs. Throws configuration_error that
// begins with "cannot emulate here" and says what is missing and how to get it.
equipment find_equipment(const std::string& kernel, bool plugin, bool profile = false);

// Fetches the stock kernel of Debian's cloud images through apt's own sources: unpacked, never installed. Returns its
// path; it appears whole or not at all, and is not fetched again. Throws configuration_error. Takes seconds and the network.
std::string fetch_kernel();

}  // namespace weir::emulator
