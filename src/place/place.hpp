// Umbrella header of src/place: the policy that a runtime has, by its name. What a policy is: weir/policy.hpp.
#pragma once

#include "flow/flow.hpp"
#include "machine/machine.hpp"
#include "place/data_balance.hpp"
#include "place/windows.hpp"

#include <weir/policy.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace weir::place {

// What is known of the program's own memory, as flow asks for it.
inline flow::whereabouts user_memory_of(const task_view& task) { return {task.regions(), task.found()}; }

// What of a policy the runtime asks about all the time, found out once.
struct chosen {
  std::string name;
  std::unique_ptr<policy> object;
  policy::queues discipline;
  flow::allocation outputs;
  bool places, orders_victims, observes, sees_windows, chooses_members;  // which questions it answers
  policy::migration migrates = policy::migration::off;
};

// From "NAME" or "NAME:parameter=value,...". Throws configuration_error that lists what is known.
chosen parse(std::string_view specification);

// A machine with workers on these nodes.
policy_machine seen_by_policies(const machine::description&, const std::vector<int>& node_of_worker);

// As policy::observe() and policy::place(). What they throw is said, once for each policy object, and nodes that do
// not exist or have no worker; the task then stays `here`.
void tell(policy&, const policy::event&, atomic<bool>& said) noexcept;
policy::wish ask(policy&, const policy_machine&, const task_view&, const policy::asker&, atomic<bool>& said) noexcept;
// As policy::joins(); false if it throws.
bool joins(policy&, const task_view&, atomic<bool>& said) noexcept;
// As policy::created(). Of a window where it throws, all tasks are asked about when they are ready.
void show(policy&, task_window&, atomic<bool>& said) noexcept;

}  // namespace weir::place
