// Asking for lines before they are needed.
#pragma once

namespace weir {

// Of a line that will be written, and may lie in another CPU's cache: it comes as this one's own. Compilers make this
// of __builtin_prefetch only if they are told that the processor has it, and for any other x86-64 a prefetch to read;
// then the first store asks for the line again. Every x86-64 processor takes it, the oldest as nothing.
inline void prefetch_to_write(const void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace weir
