// mmap, mbind, sched_setaffinity, and the lists in /sys.
#include <bench/memory/node_memory.hpp>

#include <bench/common/kernel.hpp>

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

namespace weir::bench::memory {
namespace {

constexpr std::size_t huge_bytes = std::size_t{2} << 20;
constexpr int word_bits = 64;

[[noreturn]] void refuse(const std::string& what) { throw input_error(what + ": " + std::strerror(errno)); }

std::vector<unsigned long> mask_of(int number) {
  std::vector<unsigned long> mask(static_cast<std::size_t>(number / word_bits) + 1);
  mask.back() = 1UL << (number % word_bits);
  return mask;
}

// "0-3,8" as numbers.
std::vector<int> numbers_in(const std::string& ranges) {
  std::vector<int> numbers;
  std::istringstream in(ranges);
  for (std::string part; std::getline(in, part, ',');) {
    int first = 0, last = 0;
    char dash = 0;
    std::istringstream range(part);
    if (!(range >> first)) continue;
    if (!(range >> dash >> last)) last = first;
    for (int n = first; n <= last; n++) numbers.push_back(n);
  }
  return numbers;
}

std::string line_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

page_size parse_page_size(const std::string& name) {
  if (name == "default") return page_size::standard;
  if (name == "small") return page_size::small;
  if (name == "huge") return page_size::huge;
  throw input_error("--pages " + name + ": expected default, small or huge");
}

node_memory::node_memory(int node, std::size_t bytes, page_size pages) : bytes_(bytes), mapped_(bytes + huge_bytes) {
  mapping_ = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) refuse("a buffer of " + std::to_string(bytes) + " bytes");
  void* at = mapping_;
  std::size_t space = mapped_;
  std::align(huge_bytes, bytes_, at, space);
  words_ = static_cast<std::uint64_t*>(at);
  if (pages != page_size::standard) ::madvise(words_, bytes_, pages == page_size::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  const std::vector<unsigned long> mask = mask_of(node);
  // There is no placing to be refused on a machine of one node whose system knows no nodes.
  if (::syscall(SYS_mbind, words_, bytes_, MPOL_BIND, mask.data(), mask.size() * word_bits + 1, 0U) != 0 && (node != 0 || errno != ENOSYS)) {
    const int error = errno;
    ::munmap(mapping_, mapped_);
    errno = error;
    refuse("a buffer on node " + std::to_string(node));
  }
  std::memset(words_, 0, bytes_);
}

node_memory::~node_memory() {
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_);
}

node_memory::node_memory(node_memory&& other) noexcept : mapping_(std::exchange(other.mapping_, nullptr)), bytes_(other.bytes_), mapped_(other.mapped_), words_(other.words_) {}

void node_memory::let_move() const {
  if (::syscall(SYS_mbind, words_, bytes_, MPOL_DEFAULT, nullptr, 0UL, 0U) != 0 && errno != ENOSYS) refuse("pages that may be moved");
}

std::map<int, std::vector<int>> cpus_by_node() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool known = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  std::map<int, std::vector<int>> nodes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/node", error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("node") || name.find_first_not_of("0123456789", 4) != std::string::npos || name.size() == 4) continue;
    std::vector<int> cpus = numbers_in(line_of(entry.path() / "cpulist"));
    std::erase_if(cpus, [&](int c) { return known && (c >= CPU_SETSIZE || !CPU_ISSET(static_cast<std::size_t>(c), &allowed)); });
    nodes[std::stoi(name.substr(4))] = cpus;
  }
  if (nodes.empty())
    for (int c = 0; c < CPU_SETSIZE; c++)
      if (CPU_ISSET(static_cast<std::size_t>(c), &allowed)) nodes[0].push_back(c);
  return nodes;
}

void run_on(int cpu) {
  const std::vector<unsigned long> mask = mask_of(cpu);
  if (::syscall(SYS_sched_setaffinity, 0, mask.size() * sizeof(unsigned long), mask.data()) < 0) refuse("running on CPU " + std::to_string(cpu));
}

}  // namespace weir::bench::memory
