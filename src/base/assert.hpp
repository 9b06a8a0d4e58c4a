// Assertions that state invariants. On in debug and sanitizer builds, gone in release builds.
#pragma once

#include <cstdio>
#include <cstdlib>

#ifdef NDEBUG
#define WEIR_ASSERT(condition) ((void)sizeof(condition))
#else
#define WEIR_ASSERT(condition)                                                                                   \
  ((condition) ? (void)0 : (std::fprintf(stderr, "weir: %s:%d: invariant broken: %s\n", __FILE__, __LINE__, #condition), std::abort()))
#endif
