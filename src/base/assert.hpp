// Assertions that state invariants. On in debug and sanitizer builds and in model tests, gone in release builds.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace weir {

// Is told first if an invariant is broken: the model checker, which then fails its run. Null: nobody.
inline void (*on_broken_invariant)(const char* what) = nullptr;

[[noreturn, gnu::cold, gnu::noinline]] inline void broken_invariant(const char* file, int line,
                                                                    const char* condition) {
  char what[512];
  std::snprintf(what, sizeof what, "%s:%d: invariant broken: %s", file, line, condition);
  if (on_broken_invariant != nullptr) on_broken_invariant(what);
  std::fprintf(stderr, "weir: %s\n", what);
  std::abort();
}

}  // namespace weir

// WEIR_ASSERTIONS: on whatever the build. Off, the condition must compile but is not evaluated.
#if defined(NDEBUG) && !defined(WEIR_ASSERTIONS)
#define WEIR_ASSERT(condition) ((void)sizeof(condition))
#else
#define WEIR_ASSERT(condition) ((condition) ? (void)0 : ::weir::broken_invariant(__FILE__, __LINE__, #condition))
#endif
