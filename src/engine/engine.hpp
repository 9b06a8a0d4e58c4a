// Umbrella header of src/engine: what makes tasks run. threads/ is the real one.
#pragma once

#include "engine/threads/engine.hpp"
