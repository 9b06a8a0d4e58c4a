// What the guest's first program is to do, as text in the guest's file system: records of a letter and a value, each
// ended by a zero byte.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::emulator {

inline constexpr const char* job_path = "/weir-job";

struct job {
  std::string program;                    // path in the guest
  std::vector<std::string> arguments;     // the first is the program's name, as it was called
  std::vector<std::string> environment;   // NAME=VALUE
  std::string folder = "/";               // to start in
  std::string cpus, memory_nodes;         // cpuset, as "0-3,8"; empty: all
  std::string huge_pages = "madvise";     // always, madvise, never
  bool numa_balancing = false;            // the kernel moves pages by itself
  std::string scan_ms;                    // how often it then looks at pages; empty: as the kernel chooses
  bool refuse_memory_calls = false;       // mbind and its kin fail with EPERM
  bool whole_program = false;             // is a region
  bool profile = false;                   // its code has to be found again: fixed addresses, told at its end
};

// Calls visit(letter, field) for each field, in the order of the text.
template <class Job, class Visit>
void each_field(Job& j, Visit visit) {
  visit('x', j.program);
  visit('a', j.arguments);
  visit('e', j.environment);
  visit('d', j.folder);
  visit('c', j.cpus);
  visit('m', j.memory_nodes);
  visit('t', j.huge_pages);
  visit('n', j.numa_balancing);
  visit('s', j.scan_ms);
  visit('b', j.refuse_memory_calls);
  visit('w', j.whole_program);
  visit('p', j.profile);
}

inline std::string to_text(const job& j) {
  std::string text;
  const auto record = [&](char letter, std::string_view value) { ((text += letter) += value) += '\0'; };
  struct writer {
    decltype(record)& put;
    void operator()(char letter, const std::string& value) const { put(letter, value); }
    void operator()(char letter, bool value) const { put(letter, value ? "1" : "0"); }
    void operator()(char letter, const std::vector<std::string>& values) const {
      for (const std::string& v : values) put(letter, v);
    }
  };
  each_field(j, writer{record});
  return text;
}

inline job job_from_text(std::string_view text) {
  job j;
  struct reader {
    char letter;
    std::string value;
    void operator()(char l, std::string& field) const {
      if (l == letter) field = value;
    }
    void operator()(char l, bool& field) const {
      if (l == letter) field = value == "1";
    }
    void operator()(char l, std::vector<std::string>& field) const {
      if (l == letter) field.push_back(value);
    }
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    if (end > 0) each_field(j, reader{text[0], std::string(text.substr(1, end - 1))});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return j;
}

}  // namespace weir::emulator
