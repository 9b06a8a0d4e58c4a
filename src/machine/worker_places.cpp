// Spreading workers over nodes and CPUs, and the process's account of them.
#include "machine/worker_places.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <tuple>
#include <utility>

#include "machine/machine.hpp"
#include "os/os.hpp"
#include "weir/error.hpp"

namespace weir::machine {
namespace {

int load_of(const cpu_load& load, int os_cpu) {
  const auto it = load.find(os_cpu);
  return it == load.end() ? 0 : it->second;
}

// A node's CPUs in the order in which workers get them, and how many have got one.
struct node_seats {
  std::vector<int> cpus;
  std::vector<int> others;  // workers of other runtimes there
  int others_on_node = 0;
  std::size_t taken = 0;

  node_seats(const description& m, const node& n, const cpu_load& load) : cpus(n.cpus) {
    const auto others_at = [&](int c) { return load_of(load, m.cpus[static_cast<std::size_t>(c)].os_index); };
    std::stable_sort(cpus.begin(), cpus.end(), [&](int a, int b) { return others_at(a) < others_at(b); });
    for (int c : cpus) others.push_back(others_at(c)), others_on_node += others.back();
  }
  // The smallest is the best next place.
  std::tuple<std::size_t, int, std::size_t, int> rank() const {
    return {taken / cpus.size(), others[taken % cpus.size()], taken % cpus.size(), others_on_node};
  }
  int take() { return cpus[taken++ % cpus.size()]; }
};

// Locked under a shield. A child counts from nothing, which it finds out when it first looks: what is called while a
// process forks must not allocate or free anything.
constinit std::mutex account_mutex;
constinit cpu_load* account = nullptr;  // made with the first entry, gone with the last
constinit std::uint32_t account_generation = 0;

cpu_load* current_account() noexcept {
  if (std::exchange(account_generation, os::fork_generation()) != os::fork_generation())
    delete std::exchange(account, nullptr);
  return account;
}

cpu_load counted_now() { return current_account() != nullptr ? *account : cpu_load(); }

void end_account_if_empty() noexcept {
  if (account->empty()) delete std::exchange(account, nullptr);
}

}  // namespace

int default_worker_count(const description& m) {
  const int cpus = static_cast<int>(m.cpus.size());
  // A cgroup's quota is CPU time: more threads than that would only be throttled.
  return m.cpu_quota > 0 ? std::clamp(static_cast<int>(std::ceil(std::min<double>(m.cpu_quota, cpus))), 1, cpus) : cpus;
}

std::vector<int> spread_workers(const description& m, int workers, const cpu_load& others) {
  if (m.cpus.empty()) throw machine_error("machine " + m.name + " has no CPU this process may use");
  std::vector<node_seats> nodes;
  for (const node& n : m.nodes)
    if (!n.cpus.empty()) nodes.emplace_back(m, n, others);
  std::vector<int> cpus;
  for (int w = 0; w < workers; w++) {
    const auto best = std::min_element(nodes.begin(), nodes.end(),
                                       [](const node_seats& a, const node_seats& b) { return a.rank() < b.rank(); });
    cpus.push_back(best->take());
  }
  std::stable_sort(cpus.begin(), cpus.end(), [&](int a, int b) {
    return m.cpus[static_cast<std::size_t>(a)].node < m.cpus[static_cast<std::size_t>(b)].node;
  });
  return cpus;
}

std::vector<std::vector<int>> bindings(const description& m, const std::vector<int>& worker_cpus) {
  std::vector<std::size_t> workers_on(m.nodes.size(), 0);
  std::vector<std::vector<int>> of_node(m.nodes.size()), result;
  for (int c : worker_cpus) workers_on[static_cast<std::size_t>(m.cpus[static_cast<std::size_t>(c)].node)]++;
  for (const cpu& c : m.cpus) of_node[static_cast<std::size_t>(c.node)].push_back(c.os_index);
  for (std::vector<int>& list : of_node) std::sort(list.begin(), list.end());
  for (int c : worker_cpus) {
    const cpu& own = m.cpus[static_cast<std::size_t>(c)];
    const auto n = static_cast<std::size_t>(own.node);
    result.push_back(workers_on[n] < of_node[n].size() ? of_node[n] : std::vector<int>{own.os_index});
  }
  return result;
}

cpu_claim::cpu_claim(const description& m, int workers, bool counted) {
  if (!counted) {
    worker_cpus_ = spread_workers(m, workers);
    return;
  }
  const os::fork_shield shield;
  std::lock_guard guard(account_mutex);
  cpu_load after = counted_now();
  worker_cpus_ = spread_workers(m, workers, after);
  std::vector<int> places;
  for (int c : worker_cpus_) places.push_back(m.cpus[static_cast<std::size_t>(c)].os_index);
  for (int os_cpu : places) after[os_cpu]++;
  if (account == nullptr) account = new cpu_load;
  account->swap(after);
  counted_ = std::move(places);
  fork_generation_ = os::fork_generation();
}

cpu_claim::cpu_claim(cpu_claim&& other) noexcept
    : worker_cpus_(std::move(other.worker_cpus_)),
      counted_(std::move(other.counted_)),
      fork_generation_(other.fork_generation_) {
  other.counted_.clear();
}

void cpu_claim::give_back() noexcept {
  if (counted_.empty()) return;
  const os::fork_shield shield;
  std::lock_guard guard(account_mutex);
  if (os::fork_generation() == fork_generation_) {
    for (int os_cpu : counted_)
      if (const auto it = account->find(os_cpu); --it->second == 0) account->erase(it);
    end_account_if_empty();
  }
  counted_.clear();
}

cpu_load workers_of_this_process() {
  const os::fork_shield shield;
  std::lock_guard guard(account_mutex);
  return counted_now();
}

}  // namespace weir::machine
