// One run: the runtime, the instance, the clock.
#include <bench/common/runner.hpp>

#include <bench/common/interleaved_array.hpp>
#include <bench/common/region.hpp>
#include <bench/common/stopwatch.hpp>


namespace weir::bench {

namespace {

double seconds_of_run(instance& i, runtime& rt, bool measured) {
  const stopwatch watch;
  {
    std::optional<measured_region> region;
    if (measured) region.emplace();
    i.run(rt);
  }
  return watch.seconds();
}

}  // namespace

run_result run_once(const run_request& r) {
  std::optional<region_counters> counters;   // before the workers, which inherit them
  if (r.count && r.measured) counters.emplace();
  runtime rt(r.how);
  std::unique_ptr<instance> i = r.what->make(r.problem);
  i->prepare(rt);
  if (r.movable) let_interleaved_pages_move();
  rt.reset_statistics();

  run_result result;
  if (counters) counters->begin();
  result.seconds = seconds_of_run(*i, rt, r.measured);
  if (counters) result.counted = counters->end(), result.counters_missing = counters->missing();
  result.counts = rt.stats();
  result.policy = r.how.policy.empty() ? rt.policy() : r.how.policy;
  result.workers = rt.workers();
  result.nodes = rt.nodes();
  result.live_bytes = i->live_bytes();
  if (r.expected || r.write_output) i->collect(rt);
  if (r.expected) result.verified = i->verify(*r.expected);
  if (r.write_output) i->write_output();
  i.reset();
  try {
    rt.end();
  } catch (const error& e) {
    result.trace_failure = e.what();
  }
  return result;
}

}  // namespace weir::bench
