// This machine before anything is taken away, read once: hwloc takes a millisecond or more, a look whether the machine
// is still the same some microseconds.
#include <unistd.h>

#include <mutex>
#include <string_view>
#include <utility>

#include "machine/detail.hpp"

namespace weir::machine::detail {
namespace {

// Variables by which hwloc can be told to see another machine, or this one otherwise.
std::vector<std::string> hwloc_variables() {
  std::vector<std::string> found;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; variable++)
    if (std::string_view(*variable).starts_with("HWLOC_")) found.emplace_back(*variable);
  return found;
}

// All that a description depends on, except for what the process may use of it.
struct origin {
  os::hardware_state hardware;
  std::vector<std::string> variables;

  bool operator==(const origin&) const = default;
};

std::optional<origin> current_origin() {
  auto hardware = os::read_hardware_state();
  // What hwloc does without the affinity is not what it does with it.
  if (!hardware || !os::affinity_of_this_thread()) return std::nullopt;
  return origin{std::move(*hardware), hwloc_variables()};
}

struct kept_host {
  origin from;
  description machine;
};

// Locked under a shield.
constinit std::mutex kept_mutex;
constinit const kept_host* kept = nullptr;

// libweir may be unloaded. Threads that go on as the process exits may still be reading.
[[gnu::destructor]] void forget_kept_host() {
  const std::unique_lock lock(kept_mutex, std::try_to_lock);
  if (lock) delete std::exchange(kept, nullptr);
}

}  // namespace

description unrestricted_host() {
  const std::lock_guard guard(kept_mutex);
  // Looked at first: a machine that changes while it is read is read again the next time.
  std::optional<origin> from = current_origin();
  if (from && kept != nullptr && kept->from == *from) return kept->machine;
  description m = read_hwloc_host();
  if (m.is_host) assign_nodes_from_sysfs(m, "/");
  if (from && m.is_host) delete std::exchange(kept, new kept_host{std::move(*from), m});
  return m;
}

}  // namespace weir::machine::detail
