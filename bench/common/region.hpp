// Marks the measured region for simulators that count only what happens inside it: two no-op instructions whose
// displacement is a tag (0x4e4d0001 begin, 0x4e4d0002 end). They do nothing on hardware, and do not exist elsewhere
// than on x86-64. The memory clobber keeps the compiler from moving work across.
#pragma once

namespace weir::bench {

class measured_region {
 public:
  measured_region() {
#if defined(__x86_64__)
    __asm__ volatile(".byte 0x0f, 0x1f, 0x80, 0x01, 0x00, 0x4d, 0x4e" ::: "memory");  // nopl 0x4e4d0001(%rax)
#endif
  }
  ~measured_region() {
#if defined(__x86_64__)
    __asm__ volatile(".byte 0x0f, 0x1f, 0x80, 0x02, 0x00, 0x4d, 0x4e" ::: "memory");  // nopl 0x4e4d0002(%rax)
#endif
  }
  measured_region(const measured_region&) = delete;
  measured_region& operator=(const measured_region&) = delete;
};

}  // namespace weir::bench
