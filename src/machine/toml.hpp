// toml++ with its assertions on in all builds: some malformed files fail one (3.3) instead of being refused, which is
// undefined behaviour where assertions are off. Here the parser throws malformed_toml. Whoever reads TOML includes this and
// not toml++ itself, as the linker keeps one of several copies of the same function.
#pragma once

namespace weir::machine::detail {
struct malformed_toml {};
[[noreturn]] inline void refuse_malformed_toml() { throw malformed_toml{}; }
}  // namespace weir::machine::detail

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) (static_cast<bool>(condition) ? static_cast<void>(0) : ::weir::machine::detail::refuse_malformed_toml())
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
