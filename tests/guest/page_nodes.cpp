// Two independent ways to find the node of a page.
#include "page_nodes.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace weir::guest_test {
namespace {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::uintptr_t page_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p) & ~(page_bytes() - 1); }

std::vector<void*> pages_in(const void* first, std::size_t bytes) {
  std::vector<void*> pages;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(first) + bytes;
  for (std::uintptr_t p = page_of(first); p < end; p += page_bytes()) pages.push_back(reinterpret_cast<void*>(p));
  return pages;
}

// Empty if refused.
std::vector<int> ask_move_pages(std::vector<void*> pages) {
  std::vector<int> nodes(pages.size());
  if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0) != 0) return {};
  for (int& n : nodes)
    if (n < 0) n = node_unknown;
  return nodes;
}

// The physical pages that each node has, from /proc/zoneinfo: "Node 1, zone Normal ... spanned N ... start_pfn: M".
struct frame_range {
  std::uint64_t first, end;
  int node;
};

std::vector<frame_range> read_frame_ranges() {
  std::vector<frame_range> ranges;
  std::ifstream file("/proc/zoneinfo");
  int node = node_unknown;
  std::uint64_t spanned = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "Node") words >> node;
    if (word == "spanned") words >> spanned;
    if (word != "start_pfn:") continue;
    std::uint64_t first = 0;
    words >> first;
    if (spanned > 0) ranges.push_back({first, first + spanned, node});
  }
  return ranges;
}

int node_of_frame(std::uint64_t frame) {
  static const std::vector<frame_range> ranges = read_frame_ranges();
  for (const frame_range& r : ranges)
    if (frame >= r.first && frame < r.end) return r.node;
  return node_unknown;
}

class pagemap_file {
 public:
  pagemap_file() : descriptor_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
  ~pagemap_file() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  pagemap_file(const pagemap_file&) = delete;
  pagemap_file& operator=(const pagemap_file&) = delete;

  // Entries of so many pages from this one on; 0 for what cannot be read.
  std::vector<std::uint64_t> entries(const void* first_page, std::size_t count) const {
    std::vector<std::uint64_t> found(count);
    const std::size_t bytes = count * sizeof found[0];
    const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(first_page) / page_bytes() * sizeof found[0]);
    if (pread(descriptor_, found.data(), bytes, at) != static_cast<ssize_t>(bytes)) found.assign(count, 0);
    return found;
  }

 private:
  int descriptor_;
};

// Bit 63 of an entry: there is memory; bits 0-54: its page frame, which only root is told.
int node_of_entry(std::uint64_t entry) {
  const std::uint64_t frame = entry & ((std::uint64_t{1} << 55) - 1);
  return entry >> 63 == 0 || frame == 0 ? node_unknown : node_of_frame(frame);
}

std::vector<int> ask_pagemap(const std::vector<void*>& pages) {
  std::vector<int> nodes;
  if (pages.empty()) return nodes;
  static const pagemap_file file;
  for (std::uint64_t entry : file.entries(pages.front(), pages.size())) nodes.push_back(node_of_entry(entry));
  return nodes;
}

}  // namespace

bool can_ask(page_source source) {
  const auto page = std::make_unique<std::array<char, 1>>();
  page->front() = 1;
  const std::vector<int> answer = page_nodes(page.get(), 1, source);
  return answer.size() == 1 && answer[0] != node_unknown;
}

std::vector<int> page_nodes(const void* first, std::size_t bytes, page_source source) {
  const std::vector<void*> pages = pages_in(first, bytes);
  std::vector<int> nodes = source == page_source::move_pages ? ask_move_pages(pages) : ask_pagemap(pages);
  nodes.resize(pages.size(), node_unknown);
  return nodes;
}

std::vector<int> page_nodes(const void* first, std::size_t bytes) {
  static const page_source source = can_ask(page_source::move_pages) ? page_source::move_pages : page_source::pagemap;
  return page_nodes(first, bytes, source);
}

}  // namespace weir::guest_test
