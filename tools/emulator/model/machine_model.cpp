// What is not on the path of a cache hit.
#include "machine_model.hpp"

#include <cmath>
#include <utility>

namespace weir::emulator {
namespace {

std::uint64_t picoseconds(double ns) { return static_cast<std::uint64_t>(std::llround(ns * 1000)); }

// When a program begins: a second after never, which many programs write as zero.
constexpr std::uint64_t program_begin_ps = 1'000'000'000'000;

std::vector<std::uint64_t> picoseconds(const std::vector<double>& ns) {
  std::vector<std::uint64_t> ps;
  for (double value : ns) ps.push_back(picoseconds(value));
  return ps;
}

}  // namespace

machine_model::machine_model(const model_config& config, std::function<void(const region_report&)> finished,
                             void* clock_memory)
    : instruction_ps_(picoseconds(config.instruction_ns)),
      kernel_instruction_ps_(picoseconds(config.kernel_instruction_ns)),
      page_fault_ps_(picoseconds(config.page_fault_ns)),
      system_call_ps_(picoseconds(config.system_call_ns)),
      quantum_ps_(picoseconds(config.quantum_ns)),
      shared_cache_ps_(picoseconds(config.shared_cache_ns)),
      nodes_(config.nodes()),
      read_ps_(picoseconds(config.read_ns)),
      write_ps_(picoseconds(config.write_ns)),
      service_ps_(picoseconds(config.service_ns)),
      addresses_(config.node_bytes),
      directory_(addresses_.lines()),
      shared_(config.nodes(), config.shared_cache_bytes, addresses_.lines()),
      clocks_(config.cpus(), quantum_ps_, picoseconds(config.wake_ns), clock_memory),
      controllers_(config.nodes()),
      finished_(std::move(finished)) {
  for (int node : config.node_of_cpu) cpus_.push_back(std::make_unique<cpu_state>(node, config.cache_bytes));
  for (int cpu : config.profiled_cpus) cpus_[static_cast<std::size_t>(cpu)]->profile = std::make_unique<code_table>();
}

bool machine_model::translate(cpu_state& c, translation& t, std::uint64_t page, std::uint64_t address) const {
  const address_map::place at = addresses_.find(address / page_bytes * page_bytes);
  if (at.node < 0) return false;
  const auto line = static_cast<std::uint32_t>(at.line);
  t = {page, c.epoch, line, c.own.set_of(line), at.node};
  return true;
}

void machine_model::miss(unsigned cpu, std::uint32_t line, int node, directory::outcome o, bool write,
                         std::uint64_t code) {
  cpu_state& c = *cpus_[cpu];
  code_counters* const profile = c.profile == nullptr ? nullptr : &c.profile->at(code);
  if (shared_.present() && shared_.serve(c.node, line, o, write)) {
    c.counted.shared_cache_hits.add(1);
    clocks_.advance(cpu, shared_cache_ps_);
    if (profile != nullptr) profile->wait_ps.add(shared_cache_ps_);
    return;
  }
  const auto to = static_cast<std::size_t>(node), pair = static_cast<std::size_t>(c.node) * nodes_ + to;
  (write ? c.counted.write_lines : c.counted.read_lines)[to].add(1);
  const std::uint64_t queue = controllers_[to].serve(clocks_.now(cpu), service_ps_[to], quantum_ps_);
  c.counted.queue_ps.add(queue);
  const std::uint64_t wait = (write ? write_ps_ : read_ps_)[pair] + queue;
  clocks_.advance(cpu, wait);
  if (profile == nullptr) return;
  (write ? profile->write_lines : profile->read_lines).add(1);
  if (node == c.node) profile->own_lines.add(1);
  profile->wait_ps.add(wait);
}

// Each CPU empties its own cache when it next runs: nobody else touches it.
void machine_model::start_over(unsigned cpu) {
  cpu_state& c = *cpus_[cpu];
  c.generation = generation_.load(std::memory_order_acquire);
  c.own.clear();
  c.epoch++;
  clocks_.join(cpu);
}

totals machine_model::count_all() const {
  totals sum;
  sum.read_lines.assign(nodes_ * nodes_, 0);
  sum.write_lines.assign(nodes_ * nodes_, 0);
  for (const auto& state : cpus_) {
    const cpu_counters& c = state->counted;
    if (state->profile != nullptr) state->profile->add_to(sum.code);
    sum.instructions += c.instructions.get();
    sum.kernel_instructions += c.kernel_instructions.get();
    sum.accesses += c.accesses.get();
    sum.shared_cache_hits += c.shared_cache_hits.get();
    sum.page_faults += c.page_faults.get();
    sum.migrations += c.migrations.get();
    sum.system_calls += c.system_calls.get();
    sum.queue_ps += c.queue_ps.get();
    sum.idle_ps += c.idle_ps.get();
    sum.skew_breaks += c.skew_breaks.get();
    for (std::size_t to = 0; to < nodes_; to++) {
      sum.read_lines[static_cast<std::size_t>(state->node) * nodes_ + to] += c.read_lines[to].get();
      sum.write_lines[static_cast<std::size_t>(state->node) * nodes_ + to] += c.write_lines[to].get();
    }
  }
  return sum;
}

void machine_model::start_all_over(unsigned cpu, std::uint64_t earliest_ps) {
  shared_.clear();
  const std::uint64_t now = clocks_.align(earliest_ps);
  for (controller& c : controllers_) c.reset(now);
  generation_.fetch_add(1, std::memory_order_release);
  start_over(cpu);
  running_.store(true, std::memory_order_relaxed);
}

void machine_model::begin_program(unsigned cpu) {
  const std::lock_guard lock(marking_);
  start_all_over(cpu, program_begin_ps);
}

void machine_model::begin(unsigned cpu, int region) {
  const std::lock_guard lock(marking_);
  if (!regions_.any_open()) start_all_over(cpu, 0);
  regions_.begin(region, clocks_.now(cpu), count_all());
  counting_.store(true, std::memory_order_relaxed);
}

void machine_model::end(unsigned cpu, int region) {
  const std::lock_guard lock(marking_);
  const auto report = regions_.end(region, clocks_.now(cpu), count_all());
  counting_.store(regions_.any_open(), std::memory_order_relaxed);
  if (report) finished_(*report);
}

void machine_model::end_all(unsigned cpu) {
  const std::lock_guard lock(marking_);
  for (int region : regions_.open_numbers()) finished_(*regions_.end(region, clocks_.now(cpu), count_all(), false));
  counting_.store(false, std::memory_order_relaxed);
}

}  // namespace weir::emulator
