// Marks the measured region for weir emulate, which counts only what happens inside it.
#pragma once

#include <weir/region.h>

namespace weir::bench {

class measured_region {
 public:
  measured_region() { WEIR_REGION_BEGIN(0); }
  ~measured_region() { WEIR_REGION_END(0); }
  measured_region(const measured_region&) = delete;
  measured_region& operator=(const measured_region&) = delete;
};

}  // namespace weir::bench
