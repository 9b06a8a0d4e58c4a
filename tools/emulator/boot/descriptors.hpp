// File descriptors that QEMU inherits: pipes it writes to, and files that exist only in memory, so that nothing can be
// left behind.
#pragma once

#include <string>
#include <string_view>

namespace weir::emulator {

// Closed with the object. Not inherited, unless the child clears the mark.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  descriptor& operator=(descriptor&& other) noexcept;
  ~descriptor() { close(); }

  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  void close();
  // The name by which a child that inherits it may open it.
  std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_ = -1;
};

struct pipe_ends {
  descriptor reader, writer;
};

// Throw std::system_error.
pipe_ends make_pipe();
descriptor make_memory_file(const char* name, const std::string& content);
std::string read_memory_file(const descriptor& file);

// Appends what there is. False at the end.
bool read_some(const descriptor& reader, std::string& text);
void write_all(int number, std::string_view text);

}  // namespace weir::emulator
