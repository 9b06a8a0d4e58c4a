// The whole machine: every access of every CPU goes through here. Umbrella header of the model.
#pragma once

#include "address_map.hpp"
#include "cache.hpp"
#include "clocks.hpp"
#include "code_table.hpp"
#include "config.hpp"
#include "controller.hpp"
#include "counters.hpp"
#include "directory.hpp"
#include "regions.hpp"
#include "shared_cache.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace weir::emulator {

// A CPU's calls come from one thread at a time; calls of different CPUs may come at once. Clocks run from the
// beginning of the program on; caches and memory are there, and counted, only while a region is open. The first region
// to open finds cold caches, idle controllers and equal clocks, so that a region gives the same figures whatever ran
// before it.
class machine_model {
 public:
  // `finished` is called, under a lock, with each region that ends. `clock_memory`: as for clocks.
  machine_model(const model_config& config, std::function<void(const region_report&)> finished,
                void* clock_memory = nullptr);

  // Whether clocks run.
  bool running() const { return running_.load(std::memory_order_relaxed); }
  bool counting() const { return counting_.load(std::memory_order_relaxed); }

  // A block of instructions begins, at the address `code`. Call before its accesses.
  void run_block(unsigned cpu, std::uint64_t instructions, std::uint64_t code = 0) {
    cpu_state& c = *cpus_[cpu];
    if (c.generation != generation_.load(std::memory_order_acquire)) start_over(cpu);
    c.counted.instructions.add(instructions);
    if (c.profile != nullptr && counting()) c.profile->at(code).instructions.add(instructions);
    move_on(cpu, instructions * instruction_ps_);
  }
  void run_kernel_block(unsigned cpu, std::uint64_t instructions) {
    cpu_state& c = *cpus_[cpu];
    if (c.generation != generation_.load(std::memory_order_acquire)) start_over(cpu);
    c.epoch++;   // the kernel may have changed where pages are
    c.counted.kernel_instructions.add(instructions);
    if (c.profile != nullptr && counting()) c.profile->at(kernel_code).instructions.add(instructions);
    move_on(cpu, instructions * kernel_instruction_ps_);
  }
  void page_fault(unsigned cpu) {
    cpus_[cpu]->counted.page_faults.add(1);
    clocks_.advance(cpu, page_fault_ps_);
  }
  void system_call(unsigned cpu) {
    cpus_[cpu]->counted.system_calls.add(1);
    clocks_.advance(cpu, system_call_ps_);
  }
  void page_moved(unsigned cpu) { cpus_[cpu]->counted.migrations.add(1); }

  // An access of the program. `physical` gives the address of the emulated machine, in the numbers of address_map.hpp,
  // or none (UINT64_MAX); it is asked once a page and kernel entry. An access across two lines counts for its first.
  // `code`: the address of the instruction, or kernel_code.
  template <class Physical>
  void access(unsigned cpu, std::uint64_t address, bool write, Physical physical, std::uint64_t code = 0) {
    cpu_state& c = *cpus_[cpu];
    const std::uint64_t page = address / page_bytes;
    translation& t = c.translations[page % c.translations.size()];
    if ((t.page != page || t.epoch != c.epoch) && !translate(c, t, page, physical())) return;
    const auto offset = static_cast<std::uint32_t>(address % page_bytes / line_bytes);
    const std::uint32_t line = t.first_line + offset;
    std::uint32_t set = t.first_set + offset;
    while (set >= c.own.sets()) set -= c.own.sets();
    c.counted.accesses.add(1);
    const directory::outcome o = write ? directory_.write(line, cpu) : directory_.read(line, cpu);
    if (c.own.use(line, set, o.before, o.after) && o.owned) return;
    miss(cpu, line, t.node, o, write, code);
  }

  void idle(unsigned cpu) { clocks_.sleep(cpu); }
  void resume(unsigned cpu) { cpus_[cpu]->counted.idle_ps.add(clocks_.wake(cpu, running())); }
  void timed_out(unsigned cpu) { clocks_.timed_out(cpu); }

  void begin_program(unsigned cpu);

  void begin(unsigned cpu, int region);
  void end(unsigned cpu, int region);
  // Ends what is open; such regions are reported as incomplete.
  void end_all(unsigned cpu);

 private:
  // Where a page of the program is; true while the CPU stays out of the kernel.
  struct translation {
    std::uint64_t page = UINT64_MAX, epoch = 0;
    std::uint32_t first_line = 0, first_set = 0;
    int node = 0;
  };
  struct alignas(128) cpu_state {
    cpu_state(int on_node, std::uint64_t cache_bytes) : node(on_node), own(cache_bytes) {}
    int node;
    std::uint64_t generation = 0, epoch = 1;
    cache own;
    std::array<translation, 256> translations;
    cpu_counters counted;
    std::unique_ptr<code_table> profile;   // none: this CPU is not profiled
  };

  void move_on(unsigned cpu, std::uint64_t ps) {
    clocks_.advance(cpu, ps);
    if (clocks_.ahead(cpu) && !clocks_.wait_for_others(cpu)) cpus_[cpu]->counted.skew_breaks.add(1);
  }
  bool translate(cpu_state& c, translation& t, std::uint64_t page, std::uint64_t address) const;
  void miss(unsigned cpu, std::uint32_t line, int node, directory::outcome o, bool write, std::uint64_t code);
  // From now on clocks are equal and not before `earliest_ps`, caches empty and controllers idle.
  void start_all_over(unsigned cpu, std::uint64_t earliest_ps);
  void start_over(unsigned cpu);
  totals count_all() const;

  std::uint64_t instruction_ps_, kernel_instruction_ps_, page_fault_ps_, system_call_ps_, quantum_ps_, shared_cache_ps_;
  std::size_t nodes_;
  std::vector<std::uint64_t> read_ps_, write_ps_, service_ps_;
  address_map addresses_;
  directory directory_;
  shared_caches shared_;
  clocks clocks_;
  std::vector<controller> controllers_;
  std::vector<std::unique_ptr<cpu_state>> cpus_;

  std::atomic<bool> running_{false}, counting_{false};
  std::atomic<std::uint64_t> generation_{0};   // of cold starts
  std::mutex marking_;
  regions regions_;
  std::function<void(const region_report&)> finished_;
};

}  // namespace weir::emulator
