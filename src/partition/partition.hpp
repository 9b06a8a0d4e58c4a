// Umbrella header of src/partition: graphs divided into parts. README.md has what each partitioner can do.
#pragma once

#include "partition/graph.hpp"
#include "partition/in_time.hpp"
#include "partition/measure.hpp"
#include "partition/order.hpp"
#include "partition/partitioner.hpp"
#include "partition/schedule.hpp"
#include "partition/target.hpp"
