// weir::move, weir::distribute, and moving what tasks write.
#include "runtime/runtime.hpp"

#include <weir/numa.hpp>

#include <algorithm>
#include <cstring>

namespace weir {
namespace {

const std::vector<machine::node>& host_nodes() {
  const os::fork_shield shield;
  // To the end: moves may be static objects'.
  static const auto& nodes = *new std::vector<machine::node>(machine::host().nodes);
  return nodes;
}

// The pages that belong to a range: those whose middle lies in it.
struct page_range {
  std::uintptr_t first, end;  // numbers of pages

  static page_range of(const void* begin, std::size_t bytes) {
    const std::uintptr_t size = os::page_bytes(), from = reinterpret_cast<std::uintptr_t>(begin);
    return {(from + size / 2 - 1) / size, (from + bytes + size / 2 - 1) / size};
  }
};

move_report move_pages_to(std::uintptr_t first, std::uintptr_t end, int node) {
  const std::size_t page = os::page_bytes();
  void* const begin = reinterpret_cast<void*>(first * page);
  const int os_node = host_nodes()[static_cast<std::size_t>(node)].os_index;
  const os::page_moves m = os::move_pages(begin, end - first, os_node);
  memory::tell_all_regions(begin, (end - first) * page, m.refused == 0 ? os_node : memory::place_unknown);
  return {end - first, m.moved, m.there, m.promised, m.refused, m.refused == 0 ? "" : std::strerror(m.error)};
}

}  // namespace

move_report& move_report::operator+=(const move_report& other) {
  pages += other.pages;
  moved += other.moved;
  there += other.there;
  promised += other.promised;
  refused += other.refused;
  if (!other.why.empty()) why = other.why;
  return *this;
}

std::string move_report::to_string() const {
  std::string text = std::to_string(pages) + (pages == 1 ? " page: " : " pages: ") + std::to_string(moved) + " moved, " + std::to_string(there) + " there already, " + std::to_string(promised) + " not touched yet, " + std::to_string(refused) + " refused";
  return why.empty() ? text : text + " (" + why + ")";
}

move_report detail::move_memory(const void* begin, std::size_t bytes, int node) {
  const int nodes = static_cast<int>(host_nodes().size());
  if (node < 0 || node >= nodes) throw usage_error("weir::move(): there is no node " + std::to_string(node) + ", the machine has " + std::to_string(nodes) + " (0 and up)");
  const page_range p = page_range::of(begin, bytes);
  return move_pages_to(p.first, p.end, node);
}

move_report detail::distribute_memory(const void* begin, std::size_t bytes) {
  const page_range p = page_range::of(begin, bytes);
  std::size_t cpus = 0, passed = 0;
  for (const machine::node& n : host_nodes()) cpus += n.cpus.size();
  move_report all;
  std::uintptr_t from = p.first;
  for (std::size_t n = 0; n < host_nodes().size(); n++) {
    passed += host_nodes()[n].cpus.size();
    const std::uintptr_t to = p.first + (p.end - p.first) * passed / std::max<std::size_t>(cpus, 1);
    if (to > from) all += move_pages_to(from, to, static_cast<int>(n));
    from = std::max(from, to);
  }
  return all;
}

void written_memory::add(const void* begin, std::size_t bytes) {
  const std::uintptr_t size = os::page_bytes(), end = reinterpret_cast<std::uintptr_t>(begin) + bytes;
  for (std::uintptr_t at = reinterpret_cast<std::uintptr_t>(begin); at < end;) {
    const std::uintptr_t page = at / size, next = std::min(end, (page + 1) * size);
    add_to_page(page, next - at);
    at = next;
  }
}

void written_memory::add_to_page(std::uintptr_t page, std::uint64_t bytes) {
  std::size_t& recent = recent_[page % recent_pages];
  if (recent < shares_.size() && shares_[recent].page == page && shares_[recent].node == node_) {
    shares_[recent].bytes += bytes;
    return;
  }
  recent = shares_.size();
  shares_.push_back({page, node_, bytes});
}

// A page goes where most of what is written in it is written; runs of pages with the same node go together.
move_report written_memory::move_pages() {
  std::sort(shares_.begin(), shares_.end(), [](const share& a, const share& b) { return a.page != b.page ? a.page < b.page : a.node < b.node; });
  std::vector<share> homes;
  for (std::size_t i = 0; i < shares_.size();) {
    share best{shares_[i].page, -1, 0};
    while (i < shares_.size() && shares_[i].page == best.page) {
      share sum = shares_[i++];
      while (i < shares_.size() && shares_[i].page == sum.page && shares_[i].node == sum.node) sum.bytes += shares_[i++].bytes;
      if (sum.bytes > best.bytes) best = sum;
    }
    if (best.node >= 0) homes.push_back(best);
  }
  move_report all;
  for (std::size_t i = 0; i < homes.size();) {
    const std::size_t begin = i++;
    while (i < homes.size() && homes[i].node == homes[begin].node && homes[i].page == homes[i - 1].page + 1) i++;
    all += move_pages_to(homes[begin].page, homes[i - 1].page + 1, homes[begin].node);
  }
  shares_.clear();
  return all;
}

}  // namespace weir
