// Umbrella header of src/base: small things every other folder builds on.
#pragma once

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/prefetch.hpp"
#include "base/rng.hpp"
#include "base/spin_lock.hpp"
