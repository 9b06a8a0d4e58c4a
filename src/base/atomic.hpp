// The atomics seam; see weir/detail/atomic.hpp, which holds it because public templates need it too.
#pragma once

#include "weir/detail/atomic.hpp"
