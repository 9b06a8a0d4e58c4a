// Stands in for src/memory in the model tests of this folder: memory that notices what is released too early, twice or
// never. Buffers are plain cells of the model checker, so an access to a buffer that is not ordered with another one,
// or with its release, fails the test.
#pragma once

#include <cstdlib>
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

using cell = model::plain<int>;  // what a buffer is here; its size tells buffers from frames

struct live_blocks {
  std::set<void*> frames, buffers;
};
inline live_blocks* live = nullptr;  // of the current run

class pools {
 public:
  pools(os::memory_backend&, std::vector<int>, bool) {}
  int node_of(const void*) const { return 0; }
};

class cache {
 public:
  cache(pools&, int) {}

  block allocate(std::size_t bytes, int) {
    if (bytes == sizeof(cell)) return {*live->buffers.insert(new cell(0)).first, 0, 0};
    return {*live->frames.insert(std::aligned_alloc(64, detail::align_up(bytes, 64))).first, 0, 0};
  }

  void release(block b, std::size_t bytes) noexcept {
    model::require((bytes == sizeof(cell) ? live->buffers : live->frames).erase(b.data) == 1, "released twice");
    if (bytes == sizeof(cell)) delete static_cast<cell*>(b.data);
    else free_frame(static_cast<detail::frame*>(b.data));
  }

 private:
  static void free_frame(detail::frame* f) {
    for (unsigned i = 0; i < f->versions; i++) f->version_at(i)->~version();
    f->~frame();
    std::free(f);
  }
};

}  // namespace weir::memory
