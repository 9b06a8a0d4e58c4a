// A memory backend for tests: it counts, it can refuse placement, and it can run out.
#pragma once

#include "os/os.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

namespace weir::memory {

class fake_backend : public os::memory_backend {
 public:
  bool refuse_binding = false, refuse_interleaving = false;
  std::size_t bytes_left = std::numeric_limits<std::size_t>::max() / 2;
  bool tells_nodes = true;
  std::map<const void*, int> node_of_page;  // what node_of and nodes_of answer, and move_pages changes
  int refuses_to_move = 0;                  // errno of move_pages, of all pages
  std::map<const void*, int> fate_of_page;  // errno of move_pages, of this one
  bool huge_pages = false;                  // pages move together, in 512

  void* map(std::size_t bytes, std::size_t alignment) override {
    std::lock_guard guard(mutex_);
    if (bytes > bytes_left) return nullptr;
    void* p = os::pretended_memory().map(bytes, alignment);
    if (p == nullptr) return nullptr;
    bytes_left -= bytes;
    mapped_[p] = bytes;
    total_maps_++;
    return p;
  }
  void unmap(void* p, std::size_t bytes) override {
    std::lock_guard guard(mutex_);
    const auto it = mapped_.find(p);
    const std::size_t page = os::page_bytes();
    if (it == mapped_.end() || (bytes + page - 1) / page * page != it->second) {
      wrong_unmaps_++;
      return;
    }
    bytes_left += it->second;
    mapped_.erase(it);
    os::pretended_memory().unmap(p, bytes);
  }
  bool prefer_node(void* p, std::size_t, int os_node) override {
    std::lock_guard guard(mutex_);
    preferred_.emplace_back(p, os_node);
    return !refuse_binding;
  }
  bool interleave(void*, std::size_t, std::span<const int> os_nodes) override {
    std::lock_guard guard(mutex_);
    interleaved_.emplace_back(os_nodes.begin(), os_nodes.end());
    return !refuse_interleaving;
  }
  int node_of(const void* p) override {
    std::lock_guard guard(mutex_);
    const auto it = node_of_page.find(p);
    return it == node_of_page.end() ? -1 : it->second;
  }
  bool nodes_of(std::span<const void* const> pages, std::span<int> os_nodes) override {
    std::lock_guard guard(mutex_);
    questions_++;
    pages_asked_ += pages.size();
    if (!tells_nodes) return false;
    for (std::size_t i = 0; i < pages.size(); i++) {
      const auto it = node_of_page.find(pages[i]);
      os_nodes[i] = it == node_of_page.end() ? page_absent : it->second;
    }
    return true;
  }
  std::size_t untouched(const void* first, std::size_t pages) override {
    std::lock_guard guard(mutex_);
    looks_++;
    if (!tells_nodes) return 0;
    const auto next = node_of_page.lower_bound(first);
    if (next == node_of_page.end()) return pages;
    const std::ptrdiff_t bytes = static_cast<const char*>(next->first) - static_cast<const char*>(first);
    return std::min(pages, static_cast<std::size_t>(bytes) / os::page_bytes());
  }
  int move_pages(std::span<const void* const> pages, std::span<const int> os_nodes, std::span<int> became) override {
    std::lock_guard guard(mutex_);
    moves_++;
    if (refuses_to_move != 0) return refuses_to_move;
    for (std::size_t i = 0; i < pages.size(); i++) {
      const auto it = node_of_page.find(pages[i]);
      const auto stuck = fate_of_page.find(pages[i]);
      became[i] = stuck != fate_of_page.end() ? -stuck->second : it == node_of_page.end() ? -ENOENT : os_nodes[i];
      if (became[i] >= 0) it->second = os_nodes[i];
      if (became[i] >= 0 && huge_pages) move_huge_page_of(pages[i], os_nodes[i]);
    }
    return 0;
  }

  std::size_t mapped() const {
    std::lock_guard guard(mutex_);
    return mapped_.size();
  }
  std::size_t total_maps() const { return total_maps_; }
  std::size_t questions() const { return questions_; }      // calls of nodes_of
  std::size_t pages_asked() const { return pages_asked_; }  // in all of them
  std::size_t looks() const { return looks_; }              // calls of untouched
  std::size_t moves() const { return moves_; }              // calls of move_pages
  int wrong_unmaps() const { return wrong_unmaps_; }
  const std::vector<std::pair<void*, int>>& preferred() const { return preferred_; }
  const std::vector<std::vector<int>>& interleaved() const { return interleaved_; }

 private:
  void move_huge_page_of(const void* page, int os_node) {
    const std::uintptr_t huge = 512 * os::page_bytes(), first = reinterpret_cast<std::uintptr_t>(page) / huge * huge;
    auto it = node_of_page.lower_bound(reinterpret_cast<const void*>(first));
    for (; it != node_of_page.end() && reinterpret_cast<std::uintptr_t>(it->first) < first + huge; ++it)
      it->second = os_node;
  }

  mutable std::mutex mutex_;
  std::map<void*, std::size_t> mapped_;
  std::vector<std::pair<void*, int>> preferred_;
  std::vector<std::vector<int>> interleaved_;
  std::size_t total_maps_ = 0, questions_ = 0, pages_asked_ = 0, looks_ = 0, moves_ = 0;
  int wrong_unmaps_ = 0;
};

}  // namespace weir::memory
