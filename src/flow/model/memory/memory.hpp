// Stands in for src/memory in the model tests of this folder: memory that notices what is released too early, twice or
// never. Each buffer holds one number and has a plain cell of the model checker beside it, so an access that is not
// ordered with another one, or with the buffer's release, fails the test.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/base.hpp"
#include "base/model/model.hpp"
#include "os/os.hpp"
#include "weir/detail/frame.hpp"

namespace weir::memory {

inline constexpr int place_unknown = -1;
inline constexpr int place_interleaved = -2;

struct block {
  void* data = nullptr;
  int place = place_unknown;
  int pool = place_unknown;
};

using number = std::uint64_t;  // what a buffer holds; its size tells buffers from frames

struct live_blocks {
  std::set<void*> frames;
  std::map<const void*, std::unique_ptr<model::plain<int>>> buffers;
};
inline live_blocks* live = nullptr;  // of the current run

inline number read_buffer(const void* b) {
  live->buffers.at(b)->read();
  return *static_cast<const number*>(b);
}
inline void write_buffer(void* b, number n) {
  live->buffers.at(b)->write(0);
  *static_cast<number*>(b) = n;
}

class pools {
 public:
  pools(os::memory_backend&, std::vector<int>, bool) {}
  int node_of(const void*) const { return 0; }
  bool nothing_is_in_use() const { return true; }  // `live` is what tests look at
};

// Nobody asks where user memory lies, nor remembers it.
struct remembered {
  static std::uint64_t name(std::uintptr_t, std::uint64_t) { return 0; }
  static std::uint64_t name(std::uintptr_t, std::uint64_t, std::uint64_t, std::uint64_t) { return 0; }
};
struct rows {
  std::uintptr_t first;
  std::uint64_t width, stride = 0, count = 1;
};

class regions {
 public:
  regions(os::memory_backend&, const std::vector<int>&) {}
  template <class F>
  void for_each_part(std::uintptr_t, std::uint64_t bytes, F&& f) const {
    f(bytes, place_unknown);
  }
  template <class F>
  void for_each_part(const rows& r, F&& f) const {
    for (std::uint64_t row = 0; row < r.count; row++) f(row, r.width, place_unknown);
  }
  std::uint64_t changes() const { return 1; }
  int remembered_node(std::uint64_t) const { return place_unknown; }
  void remember(std::uint64_t, int, std::uint64_t) {}
  std::size_t page_bytes() const { return 4096; }
  bool read(const rows&) { return false; }
  bool before_write(const rows&, bool) { return false; }
  bool written(const rows&, int) { return false; }
};

struct misplaced_page {};
struct use {
  bool reads, writes;
  std::uint32_t times = 1;
};
// Nor does it move.
class migration {
 public:
  void used(const rows&, int, use, const std::vector<misplaced_page>&) {}
  void will_use(const rows&, int, use) {}
  void task_begins(const std::vector<misplaced_page>&) {}
};

class cache {
 public:
  cache(pools&, int) {}
  void move_home(int) noexcept {}

  block allocate(std::size_t bytes, int) {
    void* b = std::aligned_alloc(64, detail::align_up(bytes, 64));
    if (bytes == sizeof(number)) live->buffers.emplace(b, std::make_unique<model::plain<int>>(0));
    else live->frames.insert(b);
    return {b, 0, 0};
  }

  void* allocate_at_hand(std::size_t bytes, int pool) { return allocate(bytes, pool).data; }

  void release(block b, std::size_t bytes) noexcept {
    if (bytes != sizeof(number)) destroy_records(static_cast<detail::frame*>(b.data));
    model::require((bytes == sizeof(number) ? live->buffers.erase(b.data) : live->frames.erase(b.data)) == 1, "released twice");
    std::free(b.data);
  }

 private:
  static void destroy_records(detail::frame* f) {
    for (unsigned i = 0; i < f->versions; i++) f->version_at(i)->~version();
    f->~frame();
  }
};

}  // namespace weir::memory
