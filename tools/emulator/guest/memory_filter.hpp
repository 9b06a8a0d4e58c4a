// Refuses a process the system calls that place memory, as the default profile of container engines does.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <iterator>

namespace weir::emulator {

// From now on mbind, set_mempolicy, get_mempolicy, move_pages and migrate_pages fail with EPERM, here and in all
// children. False, with errno, if the kernel takes no filter.
inline bool refuse_memory_calls() {
  constexpr unsigned allow = SECCOMP_RET_ALLOW, refuse = SECCOMP_RET_ERRNO | EPERM;
  const auto load = [](unsigned offset) { return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offset}; };
  const auto answer = [](unsigned what) { return sock_filter{BPF_RET | BPF_K, 0, 0, what}; };
  const auto skip_if = [](unsigned value, unsigned char instructions) { return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, instructions, 0, value}; };
  // Programs of another architecture use other numbers: they are let through, none is started here.
  sock_filter program[] = {
      load(offsetof(seccomp_data, arch)),
      skip_if(AUDIT_ARCH_X86_64, 1),
      answer(allow),
      load(offsetof(seccomp_data, nr)),
      skip_if(SYS_mbind, 5),
      skip_if(SYS_set_mempolicy, 4),
      skip_if(SYS_get_mempolicy, 3),
      skip_if(SYS_move_pages, 2),
      skip_if(SYS_migrate_pages, 1),
      answer(allow),
      answer(refuse),
  };
  sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace weir::emulator
