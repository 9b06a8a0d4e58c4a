// Umbrella header of src/flow: tasks meet their data here. Matching accesses to versions, publishing, releasing.
//
// Nothing in this folder knows queues, workers or policies. What becomes ready is put on the caller's ready_list; the
// caller decides where it runs. README.md has the life of a version and the proof that it is handed on safely.
#pragma once

#include "flow/access_group.hpp"
#include "flow/address_domain.hpp"
#include "flow/context.hpp"
#include "flow/frames.hpp"
#include "flow/planned.hpp"
#include "flow/sources.hpp"
#include "flow/stream.hpp"
#include "flow/task.hpp"
#include "flow/untold.hpp"
#include "flow/versions.hpp"
