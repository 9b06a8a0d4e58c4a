// Batches of pages on their way, and what became of them.
#include "memory/page_migration.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

namespace weir::memory {

void migration::barrier() {
  if (when_ != when::at_barriers || is_off() || !known_.any_debts()) return;
  std::vector<misplaced_page> due;
  try {
    known_.collect_due(tariff_, due);
    if (!due.empty()) move(due);
  } catch (const std::bad_alloc&) {  // then they stay
  }
}

void migration::move(std::vector<misplaced_page>& due) {
  std::sort(due.begin(), due.end(),
            [](const misplaced_page& a, const misplaced_page& b) { return a.address < b.address; });
  const auto same = [](const misplaced_page& a, const misplaced_page& b) { return a.address == b.address; };
  due.erase(std::unique(due.begin(), due.end(), same), due.end());
  std::uint64_t debts = 0, price = tariff::call_ns;
  for (const misplaced_page& p : due) {
    debts += p.debt_ns;
    price += tariff_.price(p.to, p.home);
  }
  if (debts < price) return;
  for (std::size_t i = 0; i < due.size(); i += pages_a_call)
    if (!move_some(std::span(due).subspan(i, std::min(pages_a_call, due.size() - i)))) return;
}

// False: the system moves none.
bool migration::move_some(std::span<const misplaced_page> due) {
  std::vector<const void*> pages;
  std::vector<int> to, became(due.size());
  for (const misplaced_page& p : due) {
    pages.push_back(reinterpret_cast<const void*>(p.address));
    to.push_back(os_nodes_[static_cast<std::size_t>(p.to)]);
  }
  const std::uint64_t begin_ns = os::now_ns();
  if (const int error = os_.move_pages(pages, to, became); error != 0) {
    refuse(error);
    return false;
  }
  const std::uint64_t took_ns = os::now_ns() - begin_ns;
  std::uint64_t debts = 0, price = tariff::call_ns, moved = 0;
  for (std::size_t i = 0; i < due.size(); i++) {
    if (became[i] != to[i]) continue;
    debts += due[i].debt_ns;
    price += tariff_.price(due[i].to, due[i].home);
    moved++;
  }
  if (moved != 0) tariff_.learn(price, took_ns);
  known_.have_moved(due, became);
  pages_.fetch_add(moved, std::memory_order_relaxed);
  refused_.fetch_add(due.size() - moved, std::memory_order_relaxed);
  took_ns_.fetch_add(took_ns, std::memory_order_relaxed);
  debts_ns_.fetch_add(debts, std::memory_order_relaxed);
  return true;
}

void migration::refuse(int error) {
  off_.store(true, std::memory_order_relaxed);
  static atomic<bool> said{false};
  if (!said.exchange(true, std::memory_order_relaxed))
    std::fprintf(stderr, "weir: the system refuses to move pages (%s); the program's own memory stays where it is\n",
                 std::strerror(error));
}

migration::counts migration::so_far() const {
  return {pages_.load(std::memory_order_relaxed), refused_.load(std::memory_order_relaxed),
          took_ns_.load(std::memory_order_relaxed), debts_ns_.load(std::memory_order_relaxed)};
}

}  // namespace weir::memory
