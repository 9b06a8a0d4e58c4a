// Asking for lines before they are needed.
#pragma once

namespace weir {

// Of a line that will be written, and may lie in another CPU's cache: it comes as this one's own. On x86-64 that is
// PREFETCHW, which every such processor takes, the oldest as nothing. __builtin_prefetch is a prefetch to read there
// unless the compiler is told otherwise, and GCC 12 drops calls of functions that do nothing else.
[[gnu::always_inline]] inline void prefetch_to_write(const void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace weir
