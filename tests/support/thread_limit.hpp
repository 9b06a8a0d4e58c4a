// A system that allows no more threads when a test says so. Programs that include thread_limit.cpp have a
// pthread_create of their own, except with a sanitizer, which has one itself.
#pragma once

#include <atomic>

namespace weir::test {

extern std::atomic<int> threads_allowed;  // from now on; below 0: any number

}  // namespace weir::test
