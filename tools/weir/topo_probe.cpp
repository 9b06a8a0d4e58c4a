// One attempt per system call.
#include "topo_probe.hpp"

#include <bench/common/threads.hpp>

#include <linux/membarrier.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace weir::tools {
namespace {

// A page that is there, unmapped at the end.
class page {
 public:
  page() : address_(mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (address_ != MAP_FAILED) *static_cast<volatile char*>(address_) = 1;
  }
  ~page() {
    if (address_ != MAP_FAILED) munmap(address_, size());
  }
  page(const page&) = delete;
  page& operator=(const page&) = delete;
  void* get() const { return address_; }
  static std::size_t size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

 private:
  void* address_;
};

// Linux has at most 1024 nodes, and refuses masks of far more bits.
constexpr unsigned long node_mask_bits = 1024;
constexpr unsigned long cpu_mask_bits = 65536;

// Each returns 0 or the errno of the refusal.
int errno_unless(bool success) { return success ? 0 : errno; }

std::vector<unsigned long> allowed_memory_nodes() {
  std::vector<unsigned long> mask(node_mask_bits / (8 * sizeof(unsigned long)));
  if (syscall(SYS_get_mempolicy, nullptr, mask.data(), node_mask_bits, nullptr, MPOL_F_MEMS_ALLOWED) != 0) mask[0] = 1;
  return mask;
}

int try_get_mempolicy() {
  page p;
  int node = -1;
  return errno_unless(syscall(SYS_get_mempolicy, &node, nullptr, 0, p.get(), MPOL_F_NODE | MPOL_F_ADDR) == 0);
}

int try_mbind() {
  page p;
  std::vector<unsigned long> nodes = allowed_memory_nodes();
  return errno_unless(syscall(SYS_mbind, p.get(), page::size(), MPOL_BIND, nodes.data(), node_mask_bits, 0) == 0);
}

int try_move_pages() {
  page p;
  void* pages[] = {p.get()};
  int status[] = {-1};
  if (syscall(SYS_move_pages, 0, 1UL, pages, nullptr, status, 0) != 0) return errno;
  if (status[0] < 0) return -status[0];
  int target[] = {status[0]};
  return errno_unless(syscall(SYS_move_pages, 0, 1UL, pages, target, status, MPOL_MF_MOVE) == 0);
}

int try_membarrier() {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0) return errno;
  return errno_unless(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0);
}

int try_setaffinity() {
  std::vector<unsigned long> mask(cpu_mask_bits / (8 * sizeof(unsigned long)));
  long bytes = syscall(SYS_sched_getaffinity, 0, mask.size() * sizeof(unsigned long), mask.data());
  if (bytes < 0) return errno;
  for (unsigned long& word : mask) {  // keep only the first CPU, so that the call has something to do
    if (word == 0) continue;
    word &= ~word + 1;
    std::fill(&word + 1, mask.data() + mask.size(), 0UL);
    break;
  }
  return errno_unless(syscall(SYS_sched_setaffinity, 0, mask.size() * sizeof(unsigned long), mask.data()) == 0);
}

struct attempt {
  const char* name;
  int (*run)();
  const char* purpose;
  const char* cost;
};

constexpr attempt attempts[] = {
    {"sched_setaffinity", try_setaffinity, "binds each worker to its CPU", "workers wander between nodes, so node-local memory does not stay near its user"},
    {"mbind", try_mbind, "binds the memory of each node's pool", "memory lands on the node of the worker that touches it first; nodes without CPUs cannot be used"},
    {"get_mempolicy", try_get_mempolicy, "asks which node a page is on and which nodes are allowed", "where user memory is stays unknown, so it has no weight in placement"},
    {"move_pages", try_move_pages, "moves pages to another node", "migration and next touch do nothing: pages stay where they are first touched"},
    {"membarrier", try_membarrier, "lets an idle worker order the others' memory accesses", "a full fence on every push and take instead, some 20 cycles each"},
};

// The kernel's own page migration works against placement.
probe probe_numa_balancing() {
  probe p{"numa_balancing off", "the kernel leaves pages where they are placed", true, "", ""};
  std::ifstream file("/proc/sys/kernel/numa_balancing");
  int mode = 0;
  if (!(file >> mode) || mode == 0) return p;
  p.works = false;
  p.error = "/proc/sys/kernel/numa_balancing is " + std::to_string(mode);
  p.cost = "the kernel may move placed pages, and unmaps them now and then to see who uses them";
  return p;
}

}  // namespace

std::vector<probe> probe_system_calls() {
  std::vector<probe> probes;
  // A thread of our own, since one probe changes the affinity of the thread it runs on.
  bench::run_on_threads(1, [](std::size_t) {}, [&](std::size_t) {
    for (const attempt& a : attempts) {
      int failure = a.run();
      probes.push_back({a.name, a.purpose, failure == 0, "", ""});
      if (failure == 0) continue;
      const char* name = strerrorname_np(failure);
      probes.back().error = std::string(name != nullptr ? name : "error") + ", " + std::strerror(failure);
      probes.back().cost = a.cost;
    }
  });
  probes.push_back(probe_numa_balancing());
  return probes;
}

}  // namespace weir::tools
