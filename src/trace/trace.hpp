// Umbrella header of src/trace: what workers write down, and the file it becomes. README.md says what it costs.
#pragma once

#include "trace/log.hpp"
#include "trace/recorder.hpp"
