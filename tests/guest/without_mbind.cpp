// Runs a program as the default profile of container engines does: the system calls that place memory fail with EPERM.
// Usage: without_mbind PROGRAM [ARGUMENT...]. Exit status of the program; 2 if it cannot be started so.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace {

#if defined(__x86_64__)
constexpr unsigned this_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned this_architecture = AUDIT_ARCH_AARCH64;
#else
#error "without_mbind knows x86_64 and aarch64"
#endif

constexpr unsigned allow = SECCOMP_RET_ALLOW, refuse = SECCOMP_RET_ERRNO | EPERM;

constexpr sock_filter load(unsigned offset) { return {BPF_LD | BPF_W | BPF_ABS, 0, 0, offset}; }
constexpr sock_filter answer(unsigned what) { return {BPF_RET | BPF_K, 0, 0, what}; }
constexpr sock_filter skip_if(unsigned value, unsigned char instructions) { return {BPF_JMP | BPF_JEQ | BPF_K, instructions, 0, value}; }

// Programs of another architecture use other numbers: they are let through, none is started here.
sock_filter program[] = {
    load(offsetof(seccomp_data, arch)),
    skip_if(this_architecture, 1),
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

bool refuse_from_now_on() {
  sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: without_mbind PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  if (!refuse_from_now_on()) {
    std::fprintf(stderr, "without_mbind: the kernel takes no filter: %s\n", std::strerror(errno));
    return 2;
  }
  execvp(argv[1], argv + 1);
  std::fprintf(stderr, "without_mbind: %s: %s\n", argv[1], std::strerror(errno));
  return 2;
}
