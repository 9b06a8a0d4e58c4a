// What the tests run inside guests. Usage: emulator_probe WHAT [ARGUMENT...]; each WHAT is a function below. Status 2 if
// it could not do what it should.
#include <weir/region.h>

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t page_bytes = 4096, line_words = 8;

void check(bool done, const std::string& what) {
  if (!done) throw std::runtime_error(what + ": " + std::strerror(errno));
}

// Pages on one node, touched.
class node_memory {
 public:
  node_memory(int node, std::size_t bytes, bool touch = true) : bytes_(bytes) {
    void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(at != MAP_FAILED, "mmap");
    words_ = static_cast<std::uint64_t*>(at);
    unsigned long mask = 1UL << node;
    check(::syscall(SYS_mbind, at, bytes, MPOL_BIND, &mask, 64, 0) == 0, "mbind");
    if (touch) std::memset(at, 1, bytes);
  }
  ~node_memory() { ::munmap(words_, bytes_); }
  node_memory(const node_memory&) = delete;
  node_memory& operator=(const node_memory&) = delete;

  std::uint64_t* words() const { return words_; }
  std::size_t lines() const { return bytes_ / 64; }
  std::size_t pages() const { return bytes_ / page_bytes; }

 private:
  std::uint64_t* words_;
  std::size_t bytes_;
};

void run_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  check(::sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
}

// CPU and node of each node that has CPUs, as the kernel numbers them: one CPU each.
std::map<int, int> cpu_of_node() {
  std::map<int, int> cpus;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/node")) {
    const std::string name = entry.path().filename();
    if (name.find_first_of("0123456789") != 4 || !name.starts_with("node")) continue;
    int cpu = -1;
    if (std::ifstream(entry.path() / "cpulist") >> cpu) cpus[std::stoi(name.substr(4))] = cpu;
  }
  return cpus;
}

int node_count() {
  int n = 0;
  while (std::filesystem::exists("/sys/devices/system/node/node" + std::to_string(n))) n++;
  return n;
}

// ---------------------------------------------------------------- latency between nodes

// Each line holds the index of the next one, from beginning to end: each load must wait for the one before.
void make_chain(std::uint64_t* words, std::size_t lines) {
  for (std::size_t l = 0; l < lines; l++) words[l * line_words] = (l + 1) * line_words;
}

std::uint64_t read_chain(const std::uint64_t* words, std::size_t lines) {
  const volatile std::uint64_t* const w = words;
  std::uint64_t at = 0;
  for (std::size_t l = 0; l < lines; l += 8) at = w[w[w[w[w[w[w[w[at]]]]]]]];
  return at;
}

void write_lines(std::uint64_t* words, std::size_t lines) {
  volatile std::uint64_t* const w = words;
  for (std::size_t l = 0; l < lines; l += 8)
    for (std::size_t k = 0; k < 8; k++) w[(l + k) * line_words] = 1;
}

// latency KIB: the method of "Scalable Task Parallelism for NUMA" (PACT 2016), section 4.2. Region 0 reads a buffer on
// one node from a CPU of another, line by line, region 1 writes it; one run of each for every pair, in the order printed.
int latency(const std::vector<std::string>& a) {
  for (int to = 0; to < node_count(); to++) {
    const node_memory buffer(to, std::stoul(a.at(0)) << 10);
    for (const auto& [from, cpu] : cpu_of_node()) {
      run_on(cpu);
      make_chain(buffer.words(), buffer.lines());
      WEIR_REGION_BEGIN(0);
      const std::uint64_t end = read_chain(buffer.words(), buffer.lines());
      WEIR_REGION_END(0);
      WEIR_REGION_BEGIN(1);
      write_lines(buffer.words(), buffer.lines());
      WEIR_REGION_END(1);
      if (end != buffer.lines() * line_words) throw std::runtime_error("the chain is broken");
      std::printf("%d %d %zu\n", from, to, buffer.lines());
    }
  }
  return 0;
}

// ---------------------------------------------------------------- the same work again and again

// repeat TIMES KIB: a thread on every CPU sweeps an array of its own and the beginning of its neighbour's, in steps with
// a barrier between them; each time is a region.
int repeat(const std::vector<std::string>& a) {
  const int times = std::stoi(a.at(0)), cpus = static_cast<int>(std::thread::hardware_concurrency());
  const std::size_t words = (std::stoul(a.at(1)) << 10) / sizeof(double);
  std::vector<std::vector<double>> arrays(static_cast<std::size_t>(cpus));
  std::barrier together(cpus);
  std::vector<std::thread> threads;
  for (int t = 0; t < cpus; t++)
    threads.emplace_back([&, t] {
      run_on(t);
      std::vector<double>& mine = arrays[static_cast<std::size_t>(t)];
      mine.assign(words, 1);
      together.arrive_and_wait();
      const std::vector<double>& next = arrays[static_cast<std::size_t>((t + 1) % cpus)];
      for (int run = 0; run < times; run++) {
        if (t == 0) WEIR_REGION_BEGIN(0);
        together.arrive_and_wait();
        for (int step = 0; step < 4; step++) {
          for (std::size_t i = 0; i < words; i++) mine[i] = 0.5 * mine[i] + 1;
          together.arrive_and_wait();
          for (std::size_t i = 0; i < words / 8; i++) mine[i] += next[words - 1 - i];
          together.arrive_and_wait();
        }
        if (t == 0) WEIR_REGION_END(0);
        together.arrive_and_wait();
      }
    });
  for (std::thread& t : threads) t.join();
  return 0;
}

// ---------------------------------------------------------------- what is counted

// fault PAGES: touches fresh pages in region 0.
int fault(const std::vector<std::string>& a) {
  const std::size_t pages = std::stoul(a.at(0));
  const node_memory fresh(0, pages * page_bytes, false);
  WEIR_REGION_BEGIN(0);
  for (std::size_t p = 0; p < pages; p++) fresh.words()[p * page_bytes / 8] = 1;
  WEIR_REGION_END(0);
  return 0;
}

// move PAGES: moves pages from node 0 to node 1 in region 0, and reads them in region 1 from node 0.
int move(const std::vector<std::string>& a) {
  const node_memory buffer(0, std::stoul(a.at(0)) * page_bytes);
  std::vector<void*> pages;
  for (std::size_t p = 0; p < buffer.pages(); p++) pages.push_back(buffer.words() + p * page_bytes / 8);
  std::vector<int> nodes(pages.size(), 1), status(pages.size());
  run_on(cpu_of_node().at(0));
  const unsigned long anywhere = 3;
  check(::syscall(SYS_mbind, buffer.words(), pages.size() * page_bytes, MPOL_BIND, &anywhere, 64, 0) == 0, "mbind");
  make_chain(buffer.words(), buffer.lines());
  WEIR_REGION_BEGIN(0);
  check(::syscall(SYS_move_pages, 0, pages.size(), pages.data(), nodes.data(), status.data(), MPOL_MF_MOVE) == 0, "move_pages");
  WEIR_REGION_END(0);
  WEIR_REGION_BEGIN(1);
  read_chain(buffer.words(), buffer.lines());
  WEIR_REGION_END(1);
  return status == nodes ? 0 : 2;
}

// regions: 3 holds 4 and 5, 6 is never ended.
int regions(const std::vector<std::string>&) {
  const node_memory buffer(0, 64 << 10);
  WEIR_REGION_BEGIN(3);
  WEIR_REGION_BEGIN(4);
  write_lines(buffer.words(), 512);
  WEIR_REGION_END(4);
  WEIR_REGION_BEGIN(5);
  write_lines(buffer.words() + 512 * line_words, 256);
  WEIR_REGION_END(5);
  WEIR_REGION_END(3);
  WEIR_REGION_BEGIN(6);
  return 0;
}

// ---------------------------------------------------------------- how a program may end

int crash(const std::vector<std::string>&) { return std::raise(SIGSEGV); }

int hang(const std::vector<std::string>&) {
  std::puts("hanging");
  std::fflush(stdout);
  for (;;) ::pause();
}

int leave(const std::vector<std::string>& a) { return std::stoi(a.at(0)); }

// eat MIB: takes memory, wherever it is, and keeps it.
int eat(const std::vector<std::string>& a) {
  const std::size_t bytes = std::stoul(a.at(0)) << 20;
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  check(at != MAP_FAILED, "mmap");
  std::memset(at, 1, bytes);
  return 0;
}

// say OUT ERR: writes both, and what the guest is like.
int say(const std::vector<std::string>& a) {
  std::printf("%s\n%s\n%s\n%d\n", a.at(0).c_str(), std::filesystem::current_path().c_str(), std::getenv("GREETING") != nullptr ? std::getenv("GREETING") : "no greeting", node_count());
  std::fprintf(stderr, "%s\n", a.at(1).c_str());
  return 0;
}

// show FILE...: the files' contents.
int show(const std::vector<std::string>& a) {
  for (const std::string& name : a) {
    std::ifstream file(name);
    check(file.is_open(), name);
    for (std::string line; std::getline(file, line);) std::printf("%s\n", line.c_str());
  }
  return 0;
}

// flood MIB: as much to standard output and, at the same time, to standard error.
int flood(const std::vector<std::string>& a) {
  const std::string line(1023, 'x');
  const auto write = [&](FILE* to) {
    for (std::size_t kib = 0; kib < std::stoul(a.at(0)) << 10; kib++) std::fprintf(to, "%s\n", line.c_str());
  };
  std::thread errors(write, stderr);
  write(stdout);
  errors.join();
  return 0;
}

const std::map<std::string, int (*)(const std::vector<std::string>&)> what = {{"latency", latency}, {"repeat", repeat}, {"fault", fault}, {"move", move}, {"regions", regions}, {"crash", crash},
                                                                            {"hang", hang},       {"leave", leave},   {"eat", eat},     {"say", say},   {"show", show},       {"flood", flood}};

}  // namespace

int main(int argc, char** argv) {
  try {
    return what.at(argc > 1 ? argv[1] : "")({argv + std::min(argc, 2), argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "emulator_probe: %s\n", e.what());
    return 2;
  }
}
