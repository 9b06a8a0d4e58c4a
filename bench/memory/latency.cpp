// Chains of loads, and stores.
#include <bench/memory/latency.hpp>

#include <bench/common/kernel.hpp>
#include <bench/common/region.hpp>
#include <bench/common/stopwatch.hpp>
#include <bench/common/threads.hpp>
#include <bench/memory/node_memory.hpp>


namespace weir::bench::memory {
namespace {

constexpr std::size_t words = node_memory::line_words;

// Each line holds the index of the next one, from beginning to end: each load must wait for the one before.
void make_chain(const node_memory& m) {
  for (std::size_t l = 0; l < m.lines(); l++) m.words()[l * words] = (l + 1) * words;
}

void read_chain(const node_memory& m) {
  const volatile std::uint64_t* const w = m.words();
  std::uint64_t at = 0;
  for (std::size_t l = 0; l < m.lines(); l += 8) at = w[w[w[w[w[w[w[w[at]]]]]]]];
  if (at != m.lines() * words) throw input_error("the chain of lines is broken");
}

void write_lines(const node_memory& m) {
  volatile std::uint64_t* const w = m.words();
  for (std::size_t l = 0; l < m.lines(); l++) w[l * words] = 1;
}

double seconds_of(const node_memory& m, void (*pass)(const node_memory&)) {
  const stopwatch watch;
  {
    const measured_region region;
    pass(m);
  }
  return watch.seconds();
}

bool has_memory(int node, std::size_t bytes) {
  try {
    const node_memory trial(node, bytes);
    return true;
  } catch (const input_error&) {
    return false;
  }
}

}  // namespace

void measure_latency(std::size_t bytes, const std::function<void(const latency_pass&)>& done) {
  const auto nodes = cpus_by_node();
  for (const auto& [to, unused] : nodes) {
    if (!has_memory(to, bytes)) continue;
    const node_memory buffer(to, bytes);
    for (const auto& [from, cpus] : nodes) {
      if (cpus.empty()) continue;
      // A thread of its own: this one stays where it may run.
      run_on_threads(1, [cpu = cpus[0]](std::size_t) { run_on(cpu); }, [&, from = from, to = to](std::size_t) {
        make_chain(buffer);
        done({from, to, false, buffer.lines(), seconds_of(buffer, read_chain)});
        done({from, to, true, buffer.lines(), seconds_of(buffer, write_lines)});
      });
    }
  }
}

}  // namespace weir::bench::memory
