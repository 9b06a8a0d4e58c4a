// Memory on a chosen node, and threads on chosen CPUs, by raw system calls: what a program does that places by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weir::bench::memory {

// The sizes of pages to ask for: what the system chooses, 4 KiB, or 2 MiB (transparent huge pages).
enum class page_size { standard, small, huge };
// "default", "small", "huge". Throws input_error.
page_size parse_page_size(const std::string& name);

// Touched, zero, and on one node. Throws input_error where there is no memory or the system refuses to place it.
class node_memory {
 public:
  // Begins at a multiple of 2 MiB. node: as the system numbers it.
  node_memory(int node, std::size_t bytes, page_size pages = page_size::standard);
  ~node_memory();
  node_memory(node_memory&& other) noexcept;
  node_memory& operator=(node_memory&&) = delete;

  std::uint64_t* words() const { return words_; }
  std::size_t lines() const { return bytes_ / line_bytes; }
  // From now on the system may move the pages, as with numa_balancing.
  void let_move() const;

  static constexpr std::size_t line_bytes = 64, line_words = 8;

 private:
  void* mapping_ = nullptr;
  std::size_t bytes_ = 0, mapped_ = 0;
  std::uint64_t* words_ = nullptr;
};

// CPUs of each node that this process may run on, by the system's numbers; nodes without such CPUs are there, too, and
// have none. One node if the system does not say.
std::map<int, std::vector<int>> cpus_by_node();

// Binds this thread. Throws input_error if it may not run there.
void run_on(int cpu);

}  // namespace weir::bench::memory
