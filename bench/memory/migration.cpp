// Threads, buffers, barriers.
#include <bench/memory/migration.hpp>

#include <bench/common/region.hpp>
#include <bench/common/stopwatch.hpp>
#include <bench/common/threads.hpp>

#include <algorithm>
#include <barrier>
#include <optional>
#include <vector>

namespace weir::bench::memory {
namespace {

constexpr std::uint64_t addend = 3;

void traverse(const node_memory& buffer, int times) {
  volatile std::uint64_t* const w = buffer.words();
  for (int t = 0; t < times; t++)
    for (std::size_t l = 0; l < buffer.lines(); l++) w[l * node_memory::line_words] = w[l * node_memory::line_words] + addend;
}

// Every thread of a change has one buffer, so each buffer of set s was traversed in each change that used the set.
bool right(const std::vector<std::vector<node_memory>>& sets, const migration_problem& p) {
  for (std::size_t s = 0; s < sets.size(); s++) {
    int uses = 0;
    for (int a = 1; a <= p.changes; a++) uses += static_cast<std::size_t>(a) % sets.size() == s;
    const std::uint64_t expected = addend * static_cast<std::uint64_t>(uses) * static_cast<std::uint64_t>(p.iterations);
    for (const node_memory& m : sets[s])
      for (std::size_t l = 0; l < m.lines(); l++)
        if (m.words()[l * node_memory::line_words] != expected) return false;
  }
  return true;
}

}  // namespace

migration_result measure_migration(const migration_problem& p) {
  std::vector<int> cpus, nodes;
  for (const auto& [node, here] : cpus_by_node()) {
    cpus.insert(cpus.end(), here.begin(), here.end());
    if (!here.empty()) nodes.push_back(node);
  }
  std::vector<std::vector<node_memory>> sets(static_cast<std::size_t>(p.sets));
  for (auto& set : sets)
    for (std::size_t i = 0; i < cpus.size(); i++) set.emplace_back(nodes[i % nodes.size()], p.buffer_bytes, p.pages);
  for (const auto& set : sets)
    for (const node_memory& m : set) m.let_move();

  std::barrier together(static_cast<std::ptrdiff_t>(cpus.size()));
  double seconds = 0;
  const auto work = [&](std::size_t i) {
    together.arrive_and_wait();
    std::optional<measured_region> region;
    if (i == 0) region.emplace();
    together.arrive_and_wait();
    const stopwatch watch;
    for (std::size_t a = 1; a <= static_cast<std::size_t>(p.changes); a++) {
      traverse(sets[a % sets.size()][(i + a) % cpus.size()], p.iterations);
      together.arrive_and_wait();
    }
    region.reset();
    if (i == 0) seconds = watch.seconds();
  };
  run_on_threads(cpus.size(), [&](std::size_t i) { run_on(cpus[i]); }, work);
  return {static_cast<int>(cpus.size()), seconds, right(sets, p)};
}

}  // namespace weir::bench::memory
