// Asking for lines before they are needed.
#pragma once

namespace weir {

// Of a line that will be written, and may lie in another CPU's cache: it comes as this one's own. On x86-64 that is
// PREFETCHW, which every such processor takes, the oldest as nothing. Compilers must be told so (-mprfchw, in the
// CMakeLists.txt above), or they make it a prefetch to read, and the first store asks for the line again.
inline void prefetch_to_write(const void* line) { __builtin_prefetch(line, 1); }

}  // namespace weir
