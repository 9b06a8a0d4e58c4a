// Umbrella header of src/memory: memory that knows which node it is on.
#pragma once

#include "memory/debts.hpp"
#include "memory/page_migration.hpp"
#include "memory/pools.hpp"
#include "memory/size_classes.hpp"
#include "memory/regions.hpp"
