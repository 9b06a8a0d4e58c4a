// All policies there are, and reading "NAME:parameter=value,...".
#include "place/place.hpp"

#include <weir/error.hpp>

#include <algorithm>
#include <memory>

namespace weir {
namespace place::built_in {

void register_all(std::vector<detail::policy_kind>& to);  // made by CMake from the names of the files in policies/

}  // namespace place::built_in

namespace {

using detail::policy_kind;

// Nothing here is locked: a process that is forked at any moment can make runtimes.
struct registered {
  const policy_kind kind;
  registered* next;
};
constinit atomic<registered*> newest{nullptr};
constinit atomic<const std::vector<policy_kind>*> built_in_kinds{nullptr};

// The first that asks makes the list; of several at once one wins.
const std::vector<policy_kind>& built_in() {
  if (const auto* made = built_in_kinds.load(std::memory_order_acquire)) return *made;
  auto mine = std::make_unique<std::vector<policy_kind>>();
  place::built_in::register_all(*mine);
  const std::vector<policy_kind>* theirs = nullptr;
  if (!built_in_kinds.compare_exchange_strong(theirs, mine.get(), std::memory_order_acq_rel,
                                              std::memory_order_acquire))
    return *theirs;
  return *mine.release();
}

template <class F>
void for_each_kind(F&& f) {
  for (const policy_kind& k : built_in()) f(k);
  for (const registered* r = newest.load(std::memory_order_acquire); r != nullptr; r = r->next) f(r->kind);
}

policy_kind find(std::string_view name) {
  const policy_kind* found = nullptr;
  int of_that_name = 0;
  for_each_kind([&](const policy_kind& k) {
    if (k.name != name) return;
    found = &k;
    of_that_name++;
  });
  if (of_that_name == 1) return *found;
  if (of_that_name > 1)
    throw configuration_error("policy \"" + std::string(name) +
                              "\" is registered twice; expected one policy of a name");
  std::string known;
  for (const std::string& n : policy_names()) known += (known.empty() ? "" : ", ") + n;
  throw configuration_error("unknown policy \"" + std::string(name) + "\"; known: " + known);
}

flow::allocation allocation_of(policy::memory m) {
  switch (m) {
    case policy::memory::deferred: return flow::allocation::deferred;
    case policy::memory::at_creation: return flow::allocation::at_creation;
    case policy::memory::at_consumer: return flow::allocation::at_consumer;
    case policy::memory::first_touch: return flow::allocation::first_touch;
    case policy::memory::interleaved: return flow::allocation::interleaved;
  }
  throw configuration_error("a policy's outputs() is none of weir::policy::memory");
}

}  // namespace

// Two of one name are refused when it is chosen: before main() nobody would catch what this throws.
void detail::register_policy(const policy_kind& k) {
  auto* const mine = new registered{k, newest.load(std::memory_order_relaxed)};
  while (!newest.compare_exchange_weak(mine->next, mine, std::memory_order_release, std::memory_order_relaxed)) {}
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for_each_kind([&](const policy_kind& k) { names.emplace_back(k.name); });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<policy_parameters::description> policy_parameters_of(std::string_view name) {
  policy_parameters none(name, "");
  static_cast<void>(find(name).make(none));
  return none.all();
}

namespace place {
namespace {

// A question that has no meaning where tasks wait as this policy says. Better said than ignored.
void refuse_what_nobody_asks(const policy_kind& k, policy::queues where) {
  const auto refuse = [&](const char* what) {
    throw configuration_error("policy " + std::string(k.name) + ": " + what);
  };
  if (where == policy::queues::central && k.places)
    refuse(
        "it says where tasks should run, but they all wait in one queue; expected where_tasks_wait() to be own or nodes");
  if (where == policy::queues::central && k.sees_windows)
    refuse(
        "it wants to see windows of tasks, but they all wait in one queue; expected where_tasks_wait() to be own or "
        "nodes");
  if (where != policy::queues::own && k.orders_victims)
    refuse("it says whom to rob, but workers have no queues of their own; expected where_tasks_wait() to be own");
}

}  // namespace

chosen parse(std::string_view specification) {
  const auto colon = specification.find(':');
  const std::string_view name = specification.substr(0, colon);
  const detail::policy_kind kind = find(name);
  policy_parameters parameters(name, colon == std::string_view::npos ? "" : specification.substr(colon + 1));
  std::unique_ptr<policy> object = kind.make(parameters);
  parameters.refuse_others();
  const policy::queues discipline = object->where_tasks_wait();
  refuse_what_nobody_asks(kind, discipline);
  const flow::allocation outputs = allocation_of(object->outputs());
  const policy::migration migration = object->migrates();
  return {std::string(name), std::move(object), discipline, outputs, kind.places || kind.sees_windows,
          kind.orders_victims, kind.observes, kind.sees_windows, kind.chooses_members, migration};
}

}  // namespace place
}  // namespace weir
