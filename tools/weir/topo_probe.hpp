// Which system calls weir relies on work here: each is tried for real, on memory and a thread of our own.
#pragma once

#include <string>
#include <vector>

namespace weir::tools {

struct probe {
  std::string name;     // the system call
  std::string purpose;  // what weir uses it for
  bool works = false;
  std::string error;    // errno's name and text; empty if it works
  std::string cost;     // what is lost without it; empty if it works
};

// Changes nothing outside of one page and one thread, both gone on return. Milliseconds.
std::vector<probe> probe_system_calls();

}  // namespace weir::tools
