// The time since this was made, in a guest of weir emulate by the emulated machine's clock. Looked at by the thread
// that made it.
#pragma once

#include <weir/region.h>

namespace weir::bench {

class stopwatch {
 public:
  double ns() const { return static_cast<double>(weir_region_now_ns() - begin_ns_); }
  double seconds() const { return ns() / 1e9; }

 private:
  const unsigned long long begin_ns_ = weir_region_now_ns();
};

}  // namespace weir::bench
