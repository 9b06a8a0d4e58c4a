// A system that runs out of memory or threads when a test wants it to. Programs that include failing.cpp have an
// operator new, an mmap and a pthread_create of their own: they count, and refuse what they are told to.
#pragma once

namespace weir::test {

// The nth allocation from now on fails, and the nth thread does not start, whoever asks; 0: none does.
void fail_allocation(long nth);
void fail_thread(long nth);
// None does any more. True: one did.
bool stop_failing();

// False: something else (a sanitizer) has these functions.
extern const bool can_fail_mappings, can_fail_threads;

// What the program has asked for and not given back.
struct footprint {
  long blocks = 0;        // of operator new
  long mapped_bytes = 0;  // of mmap, if that can fail
  bool operator==(const footprint&) const = default;
};
footprint in_use();

}  // namespace weir::test
