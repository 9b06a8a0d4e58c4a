// Threads that start together or not at all.
#pragma once

#include <cstddef>
#include <functional>

namespace weir::bench {

// Runs work(0) ... work(threads - 1), each on a thread of its own, and returns when all are done. First each thread
// runs ready(i); work begins when all have done so. Where a thread cannot be started or a ready() throws, no work
// begins, so work may wait for the others in a barrier. Throws weir::error if a thread cannot be started; what ready()
// or work() throws first is thrown again here.
void run_on_threads(std::size_t threads, const std::function<void(std::size_t)>& ready,
                    const std::function<void(std::size_t)>& work);

}  // namespace weir::bench
