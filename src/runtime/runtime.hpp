// Umbrella header of src/runtime: the wiring between the public API and the parts, and configuration.
#pragma once

#include "engine/engine.hpp"

#include <weir/weir.hpp>

#include <atomic>
#include <string>

namespace weir::detail {

// Behind weir::runtime. Lives until the runtime is gone and no datum or stream handle is left: handles may be
// destroyed late, they may only not be used.
struct runtime_state {
  runtime_state(const runtime_options& options, machine::description m, place::chosen p, machine::cpu_claim,
                std::unique_ptr<trace::recorder>);

  machine::description machine;
  std::string policy_name;
  machine::cpu_claim cpus;                     // of the workers
  std::unique_ptr<trace::recorder> recorder;  // null: no trace
  engine::engine engine;
  atomic<std::uint64_t> holders{1};
  atomic<std::uint64_t> start_ns;
  statistics baseline;  // what reset_statistics() subtracts
  bool print_statistics = false;
};

void hold(runtime_state&);
void let_go(runtime_state*) noexcept;

statistics collect_statistics(const runtime_state&);
// The workers have ended. Throws what trace::recorder::write() throws.
void write_trace(runtime_state&);

// Waits, then throws what went wrong in the scope itself. Returns the deadlock that was found meanwhile, whose ever it is.
// Who waits in a task of the scope itself leaves it cancelled, if it was.
template <class Wait>
std::exception_ptr wait_and_rethrow(engine::engine& e, scope_state& scope, Wait&& wait) {
  std::exception_ptr gave_up;
  try {
    wait();
  } catch (const deadlock_error&) {
    gave_up = std::current_exception();
  }
  e.end_of_wait(scope);
  if (scope.failed())
    if (std::exception_ptr failure = scope.take_failure(); failure != nullptr) std::rethrow_exception(failure);
  return gave_up;
}

// What the options and the environment ask for. Throw configuration_error.
place::chosen chosen_policy(const runtime_options&);
bool chosen_binding(const runtime_options&);
bool chosen_statistics();
machine::description chosen_machine(const runtime_options&);  // throws machine_error
std::uint64_t chosen_spin_ns(const runtime_options&, const machine::description&, std::size_t workers);
sched::tuning chosen_tuning();  // WEIR_TUNING=name=value,...: for experiments
std::unique_ptr<trace::recorder> chosen_recorder(const runtime_options&);  // null: no trace
os::stack_size chosen_stack(const runtime_options&);
int chosen_workers(const runtime_options&, const machine::description&);
machine::cpu_claim claim_cpus(const runtime_options&, const machine::description&);

// Says on standard error, once a process, which environment variables have a name that is nearly one of weir's.
void say_misspelt_variables();
// The sentence for one of them ("NAME=VALUE"); nothing if it is weir's own, or near none of them.
std::string misspelt_variable(std::string_view variable);

}  // namespace weir::detail
