// Placed buffers, passes over them, and what stands in for pairs that cannot be measured.
#include "topo_measure.hpp"

#include <bench/common/median.hpp>
#include <bench/common/plural.hpp>
#include <bench/common/threads.hpp>

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>

#include "weir/error.hpp"

namespace weir::tools {
namespace {

using bench::median;
using machine::description;
using clock = std::chrono::steady_clock;

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t line_bytes = 64;

double seconds(clock::duration d) { return std::chrono::duration<double>(d).count(); }

bool bind_this_thread(int os_cpu) {
  std::vector<unsigned long> mask(static_cast<std::size_t>(os_cpu) / 64 + 1);
  mask.back() = 1UL << (os_cpu % 64);
  return syscall(SYS_sched_setaffinity, 0, mask.size() * sizeof(unsigned long), mask.data()) == 0;
}

// Runs the work on a new thread per CPU, bound to it. Returns whether all could be bound.
bool on_cpus(const std::vector<int>& os_cpus, const std::function<void(std::size_t)>& work) {
  std::vector<char> bound(os_cpus.size());
  bench::run_on_threads(os_cpus.size(), [&](std::size_t t) { bound[t] = bind_this_thread(os_cpus[t]); }, work);
  return std::all_of(bound.begin(), bound.end(), [](char b) { return b != 0; });
}

std::vector<int> cpus_of(const description& m, std::size_t node) {
  std::vector<int> indices;
  for (int c : m.nodes[node].cpus) indices.push_back(m.cpus[static_cast<std::size_t>(c)].os_index);
  return indices;
}

// Memory that is all on one node, as far as the system lets us say so.
class placed_buffer {
 public:
  placed_buffer(const description& m, std::size_t node, std::uint64_t bytes) : bytes_(bytes) {
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) throw machine_error(fmt::format("measure: cannot have a buffer of {} MiB: {}", bytes / mib, std::strerror(errno)));
    words_ = static_cast<std::uint64_t*>(address);
    madvise(address, bytes, MADV_HUGEPAGE);  // fewer TLB misses in the figures; no loss where it is refused
    try {
      place(m, node);
    } catch (...) {
      munmap(words_, bytes_);
      throw;
    }
  }
  ~placed_buffer() { munmap(words_, bytes_); }
  placed_buffer(const placed_buffer&) = delete;
  placed_buffer& operator=(const placed_buffer&) = delete;

  std::uint64_t* words() const { return words_; }
  std::uint64_t word_count() const { return bytes_ / sizeof(std::uint64_t); }
  std::uint64_t line_count() const { return bytes_ / line_bytes; }

  // Share of pages on the node, by a sample; 1 where the system does not say.
  double share_on(int os_node) const {
    int found = 0, asked = 0;
    for (std::uint64_t i = 0; i < sample_pages; i++) {
      int at = -1;
      void* address = words_ + word_count() / sample_pages * i;
      if (syscall(SYS_get_mempolicy, &at, nullptr, 0, address, MPOL_F_NODE | MPOL_F_ADDR) != 0) return 1;
      asked++, found += at == os_node;
    }
    return static_cast<double>(found) / asked;
  }

 private:
  static constexpr std::uint64_t sample_pages = 64;

  // Preferred and not strict: where the node is full, pages elsewhere and a note are better than a killed process.
  void place(const description& m, std::size_t node) {
    int os_node = m.nodes[node].os_index;
    std::vector<unsigned long> mask(static_cast<std::size_t>(os_node) / 64 + 1);
    mask.back() = 1UL << (os_node % 64);
    bool bound = syscall(SYS_mbind, words_, bytes_, MPOL_PREFERRED, mask.data(), mask.size() * 64 + 1, 0) == 0;
    std::vector<int> cpus = cpus_of(m, node);
    if (!bound && cpus.empty() && m.nodes.size() > 1) throw machine_error(fmt::format("measure: node {} cannot be given memory: it has no CPU to touch it first, and mbind is refused ({})", node, std::strerror(errno)));
    if (cpus.empty()) cpus.push_back(m.cpus[0].os_index);
    on_cpus({cpus[0]}, [&](std::size_t) { std::memset(words_, 1, bytes_); });
  }

  std::uint64_t* words_;
  std::uint64_t bytes_;
};

// Visits every line once: in order, or along a full-period linear congruential sequence (its modulus, the number of
// lines, is a power of two, the multiplier 1 mod 8 and the increment odd).
struct walk {
  std::uint64_t multiplier, increment;
};
constexpr walk in_order = {1, 1};
constexpr walk in_shuffled_order = {(0x5851f42d4c957f2d & ~std::uint64_t{7}) | 1, 0x14057b7ef767814f};

// The loaded value takes part in the next address (as a zero the compiler cannot see), so no read overtakes another.
double read_pass_ns(const placed_buffer& b, walk w, std::uint64_t zero) {
  const volatile std::uint64_t* words = b.words();
  std::uint64_t mask = b.line_count() - 1, line = 0;
  auto start = clock::now();
  for (std::uint64_t i = 0; i < b.line_count(); i++) line = (line * w.multiplier + w.increment + (words[line * 8] & zero)) & mask;
  return seconds(clock::now() - start) * 1e9 / static_cast<double>(b.line_count());
}

double write_pass_ns(const placed_buffer& b, walk w) {
  volatile std::uint64_t* words = b.words();
  std::uint64_t mask = b.line_count() - 1, line = 0;
  auto start = clock::now();
  for (std::uint64_t i = 0; i < b.line_count(); i++) {
    words[line * 8] = i;
    line = (line * w.multiplier + w.increment) & mask;
  }
  return seconds(clock::now() - start) * 1e9 / static_cast<double>(b.line_count());
}

std::uint64_t sum_of(const std::uint64_t* words, std::uint64_t count) {
  std::uint64_t sums[4] = {};
  for (std::uint64_t i = 0; i + 4 <= count; i += 4)
    for (int k = 0; k < 4; k++) sums[k] += words[i + static_cast<std::uint64_t>(k)];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

// 10^9 bytes a second from the first start to the last end, each CPU in its own part of the buffer.
double bandwidth_gb_s(const placed_buffer& b, const std::vector<int>& os_cpus, bool write) {
  std::uint64_t part = b.word_count() / os_cpus.size();
  std::barrier together(static_cast<std::ptrdiff_t>(os_cpus.size()));
  std::vector<clock::time_point> starts(os_cpus.size()), ends(os_cpus.size());
  std::vector<std::uint64_t> sums(os_cpus.size());
  on_cpus(os_cpus, [&](std::size_t t) {
    std::uint64_t* words = b.words() + part * t;
    together.arrive_and_wait();
    starts[t] = clock::now();
    if (write) std::fill(words, words + part, std::uint64_t{t});
    else sums[t] = sum_of(words, part);
    ends[t] = clock::now();
  });
  volatile std::uint64_t sink = sums[0];
  (void)sink;
  double elapsed = seconds(*std::max_element(ends.begin(), ends.end()) - *std::min_element(starts.begin(), starts.end()));
  return static_cast<double>(part * sizeof(std::uint64_t) * os_cpus.size()) / elapsed / 1e9;
}

std::uint64_t kib_in(const std::string& file, std::initializer_list<const char*> keys) {
  std::ifstream in(file);
  std::uint64_t sum = 0;
  for (std::string line; std::getline(in, line);)
    for (const char* key : keys) {
      std::size_t at = line.find(key);
      if (at != std::string::npos) sum += std::strtoull(line.c_str() + at + std::strlen(key), nullptr, 10);
    }
  return sum;
}

// What the fullest node can still give, and the cgroup's limit if that is less.
std::uint64_t free_bytes(const description& m) {
  std::uint64_t least = kib_in("/proc/meminfo", {"MemAvailable:"}) * 1024;
  for (const machine::node& n : m.nodes) {
    std::uint64_t there = kib_in(fmt::format("/sys/devices/system/node/node{}/meminfo", n.os_index), {" MemFree:", " Inactive(file):"}) * 1024;
    if (n.memory_bytes > 0 && there > 0) least = std::min(least, there);
  }
  return m.memory_limit_bytes > 0 ? std::min(least, m.memory_limit_bytes) : least;
}

// The last-level caches one node's CPUs have together.
std::uint64_t last_level_bytes(const description& m) {
  if (m.caches.empty()) return 32 * mib;
  std::uint64_t sharing = static_cast<std::uint64_t>(m.caches.back().cpus_sharing), most = 1;
  for (const machine::node& n : m.nodes) most = std::max(most, (n.cpus.size() + sharing - 1) / sharing);
  return m.caches.back().bytes * most;
}

std::uint64_t choose_buffer_bytes(description& m, const measure_options& options) {
  std::uint64_t available = free_bytes(m), cache = last_level_bytes(m);
  std::uint64_t bytes = options.buffer_mib * mib;
  if (bytes != 0 && !std::has_single_bit(bytes)) throw machine_error(fmt::format("measure: expected a buffer of a power of two MiB, got {}", options.buffer_mib));
  if (bytes > available / 2) throw machine_error(fmt::format("measure: expected a buffer of at most half of the free memory ({} MiB), got {} MiB", available / 2 / mib, options.buffer_mib));
  if (bytes == 0) bytes = std::min(std::clamp(std::bit_ceil(4 * cache), 64 * mib, 1024 * mib), std::bit_floor(available / 4));
  if (bytes < mib) throw machine_error("measure: expected at least 4 MiB of free memory on each node");
  if (bytes < 2 * cache) m.notes.push_back(fmt::format("The measuring buffer ({} MiB) is less than twice the last-level cache ({} MiB): part of the accesses hit the cache, and the figures are too good.", bytes / mib, cache / mib));
  return bytes;
}

double stand_in(const description& m, const std::vector<double>& measured, std::size_t from, std::size_t to, bool less_is_better) {
  std::size_t n = m.nodes.size();
  if (measured[to * n + from] > 0) return measured[to * n + from];
  std::vector<double> known;
  for (std::size_t k = 0; k < n; k++)
    if (double v = measured[k * n + to]; v > 0) known.push_back(v);
  if (known.empty()) std::copy_if(measured.begin(), measured.end(), std::back_inserter(known), [](double v) { return v > 0; });
  if (known.empty()) throw machine_error("measure: expected a node with CPUs and one with memory, and found no such pair");
  auto [least, most] = std::minmax_element(known.begin(), known.end());
  bool memoryless = m.nodes[to].memory_bytes == 0;
  return less_is_better != memoryless ? *least : *most;
}

class measurement {
 public:
  measurement(description& m, const measure_options& options) : m_(m), options_(options), n_(m.nodes.size()), bytes_(choose_buffer_bytes(m, options)) {
    for (auto* matrix : {&m_.read_ns, &m_.write_ns, &m_.read_gb_s, &m_.write_gb_s}) matrix->assign(n_ * n_, 0);
  }

  void run() {
    for (std::size_t to = 0; to < n_; to++) {
      if (m_.nodes[to].memory_bytes == 0) continue;
      placed_buffer buffer(m_, to, bytes_);
      double share = buffer.share_on(m_.nodes[to].os_index);
      if (share < 0.95) m_.notes.push_back(fmt::format("Only {:.0f} % of the measuring buffer for node {} was placed there: its figures are those of a mixture.", share * 100, to));
      for (std::size_t from = 0; from < n_; from++)
        if (!m_.nodes[from].cpus.empty()) measure_pair(buffer, from, to);
    }
    if (options_.progress) fmt::print(stderr, "\r{:60}\r", "");
    if (fill_unmeasured(m_))
      m_.notes.emplace_back("Pairs with a node without CPUs or without memory cannot be measured: they carry the figure of the opposite direction, or one of the same memory.");
    if (!all_bound_) m_.notes.emplace_back("Binding the measuring threads to their CPUs was refused: they may have run on other nodes, and the figures mix pairs.");
    m_.notes.push_back(fmt::format("Measured with a buffer of {} MiB, median of {}, lines in {} order{}.", bytes_ / mib,
                                   bench::plural(options_.runs, "run"), options_.shuffled ? "shuffled" : "ascending",
                                   options_.shuffled ? "" : ": hardware prefetch hides part of the latency"));
  }

 private:
  void measure_pair(const placed_buffer& buffer, std::size_t from, std::size_t to) {
    if (options_.progress) fmt::print(stderr, "\rmeasuring from node {} to node {} ({} of {})   ", from, to, to * n_ + from + 1, n_ * n_);
    std::vector<int> cpus = cpus_of(m_, from);
    walk w = options_.shuffled ? in_shuffled_order : in_order;
    volatile std::uint64_t zero = 0;
    std::vector<double> read, write, read_all, write_all;
    for (int run = 0; run < options_.runs; run++) {
      bool bound = on_cpus({cpus[0]}, [&](std::size_t) {
        read.push_back(read_pass_ns(buffer, w, zero));
        write.push_back(write_pass_ns(buffer, w));
      });
      all_bound_ = all_bound_ && bound;
      read_all.push_back(bandwidth_gb_s(buffer, cpus, false));
      write_all.push_back(bandwidth_gb_s(buffer, cpus, true));
    }
    std::size_t at = from * n_ + to;
    // Three digits: the rest is noise.
    auto rounded = [](double value) { return std::stod(fmt::format("{:.3g}", value)); };
    m_.read_ns[at] = rounded(median(read)), m_.write_ns[at] = rounded(median(write));
    m_.read_gb_s[at] = rounded(median(read_all)), m_.write_gb_s[at] = rounded(median(write_all));
  }

  description& m_;
  const measure_options& options_;
  std::size_t n_;
  std::uint64_t bytes_;
  bool all_bound_ = true;
};

}  // namespace

bool fill_unmeasured(description& m) {
  bool gaps = false;
  std::size_t n = m.nodes.size();
  for (auto* matrix : {&m.read_ns, &m.write_ns, &m.read_gb_s, &m.write_gb_s}) {
    bool less_is_better = matrix == &m.read_ns || matrix == &m.write_ns;
    std::vector<double> measured = *matrix;
    for (std::size_t at = 0; at < measured.size(); at++)
      if (measured[at] == 0) (*matrix)[at] = stand_in(m, measured, at / n, at % n, less_is_better), gaps = true;
  }
  return gaps;
}

void measure(description& m, const measure_options& options) {
  if (!m.is_host) throw machine_error("measure: expected the machine this runs on, got a described one (" + m.name + ")");
  measurement(m, options).run();
}

}  // namespace weir::tools
