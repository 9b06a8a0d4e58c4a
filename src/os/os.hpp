// Umbrella header of src/os: the system calls weir makes, one small function each, and a stand-in for tests.
#pragma once

#include "os/clock.hpp"
#include "os/hardware.hpp"
#include "os/limits.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"
#include "os/threads.hpp"
