// Names of C++ functions that fit a table.
#pragma once

#include <string>
#include <string_view>

namespace weir::emulator {

// A demangled name without return type, template arguments, parameters and unnamed namespaces: what is left says where
// the function is declared, and is readable. Names of C, and names that are not understood, stay as they are.
std::string short_name(std::string_view demangled);

}  // namespace weir::emulator
