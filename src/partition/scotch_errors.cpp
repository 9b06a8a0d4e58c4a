// Scotch reports errors to functions that a program may define itself (Scotch user's guide 7.0, section 8.21). Those
// of libscotcherrexit would end the process. These are weak, so a program may still have its own.
#include "partition/scotch_errors.hpp"

#include <cstdarg>
#include <cstdio>

namespace weir::partition {
namespace {

thread_local scotch_messages* listens = nullptr;
thread_local char last_message[256] = "";

void report(const char* kind, const char* format, va_list values) {
  char text[sizeof last_message];
  std::vsnprintf(text, sizeof text, format, values);
  if (listens != nullptr) std::snprintf(last_message, sizeof last_message, "%s", text);
  else std::fprintf(stderr, "%s: %s\n", kind, text);
}

}  // namespace

scotch_messages::scotch_messages() : before_(listens) {
  listens = this;
  last_message[0] = '\0';
}
scotch_messages::~scotch_messages() { listens = before_; }
std::string scotch_messages::last() const { return last_message; }

}  // namespace weir::partition

extern "C" {
[[gnu::weak]] void SCOTCH_errorProg(const char*) {}
[[gnu::weak]] void SCOTCH_errorPrint(const char* format, ...) {
  va_list values;
  va_start(values, format);
  weir::partition::report("ERROR", format, values);
  va_end(values);
}
[[gnu::weak]] void SCOTCH_errorPrintW(const char* format, ...) {
  va_list values;
  va_start(values, format);
  weir::partition::report("WARNING", format, values);
  va_end(values);
}
}
