// Umbrella header of src/sched: queues of ready tasks, stealing, sleeping.
#pragma once

#include "sched/creator_claim.hpp"
#include "sched/deque.hpp"
#include "sched/inbox.hpp"
#include "sched/loop_post.hpp"
#include "sched/scheduler.hpp"
#include "sched/sleep.hpp"
