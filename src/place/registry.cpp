// All policies there are, and reading "NAME:parameter=value,...".
#include "place/place.hpp"

#include <weir/error.hpp>

#include <algorithm>
#include <mutex>

namespace weir {
namespace place::built_in {

void register_all();  // made by CMake from the names of the files in policies/

}  // namespace place::built_in

namespace {

struct registry {
  std::mutex lock;
  std::vector<detail::policy_kind> kinds;
  std::vector<std::string> registered_twice;
};

registry& all() {
  static registry the_registry;
  return the_registry;
}

void register_built_in() {
  static std::once_flag done;
  std::call_once(done, place::built_in::register_all);
}

detail::policy_kind find(std::string_view name) {
  register_built_in();
  {
    const std::lock_guard guard(all().lock);
    const auto& twice = all().registered_twice;
    if (std::find(twice.begin(), twice.end(), name) != twice.end())
      throw configuration_error("policy \"" + std::string(name) + "\" is registered twice; expected one policy of a name");
    for (const detail::policy_kind& k : all().kinds)
      if (k.name == name) return k;
  }
  std::string known;
  for (const std::string& n : policy_names()) known += (known.empty() ? "" : ", ") + n;
  throw configuration_error("unknown policy \"" + std::string(name) + "\"; known: " + known);
}

flow::allocation allocation_of(policy::memory m) {
  switch (m) {
    case policy::memory::deferred: return flow::allocation::deferred;
    case policy::memory::at_creation: return flow::allocation::at_creation;
    case policy::memory::first_touch: return flow::allocation::first_touch;
    case policy::memory::interleaved: return flow::allocation::interleaved;
  }
  throw configuration_error("a policy's outputs() is none of weir::policy::memory");
}

}  // namespace

void detail::register_policy(const policy_kind& k) {
  const std::lock_guard guard(all().lock);
  for (const policy_kind& other : all().kinds)
    if (other.name == k.name) {
      all().registered_twice.emplace_back(k.name);  // before main() nobody would catch what this throws
      return;
    }
  all().kinds.push_back(k);
}

std::vector<std::string> policy_names() {
  register_built_in();
  const std::lock_guard guard(all().lock);
  std::vector<std::string> names;
  for (const detail::policy_kind& k : all().kinds) names.emplace_back(k.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<policy_parameters::description> policy_parameters_of(std::string_view name) {
  policy_parameters none(name, "");
  static_cast<void>(find(name).make(none));
  return none.all();
}

namespace place {

chosen parse(std::string_view specification) {
  const auto colon = specification.find(':');
  const std::string_view name = specification.substr(0, colon);
  const detail::policy_kind kind = find(name);
  policy_parameters parameters(name, colon == std::string_view::npos ? "" : specification.substr(colon + 1));
  std::unique_ptr<policy> object = kind.make(parameters);
  parameters.refuse_others();
  const policy::queues discipline = object->where_tasks_wait();
  const flow::allocation outputs = allocation_of(object->outputs());
  return {std::string(name), std::move(object), discipline, outputs, kind.places, kind.orders_victims, kind.observes};
}

}  // namespace place
}  // namespace weir
