// What pages cost where they lie: kept beside where that is, paid off by moving them.
#include "memory/debts.hpp"

#include "memory/regions.hpp"

#include <cerrno>

namespace weir::memory {

tariff::tariff(std::size_t nodes, const std::vector<double>& read_ns, const std::vector<double>& write_ns,
               std::size_t page_bytes)
    : nodes_(nodes) {
  constexpr double line_bytes = 64, system_ns = 1000;
  const double lines = static_cast<double>(page_bytes) / line_bytes;
  for (std::size_t by = 0; by < nodes; by++)
    for (std::size_t home = 0; home < nodes; home++) {
      const auto more = [&](const std::vector<double>& ns) {
        return static_cast<std::uint64_t>(std::max(0.0, ns[by * nodes + home] - ns[by * nodes + by]) / line_bytes * one);
      };
      const double copy_ns = lines * (read_ns[by * nodes + home] + write_ns[by * nodes + by]);
      places_.push_back({more(read_ns), more(write_ns), static_cast<std::uint64_t>(copy_ns + system_ns)});
    }
}

// An eighth of what is new.
void tariff::learn(std::uint64_t expected_ns, std::uint64_t took_ns) {
  if (expected_ns == 0) return;
  const std::uint64_t before = learned_.load(std::memory_order_relaxed);
  const std::uint64_t seen = std::clamp<std::uint64_t>(before * took_ns / expected_ns, one / 4, 16 * one);
  learned_.store(static_cast<std::uint32_t>((7 * before + seen) / 8), std::memory_order_relaxed);
}

// Null: there is no memory for it.
regions::debts_of_chunk* regions::debts_of(chunk& c) {
  std::lock_guard guard(growth_);
  if (c.debts.load(std::memory_order_relaxed) == nullptr) {
    c.debts.store(debts_.emplace_back(std::make_unique<debts_of_chunk>()).get(), std::memory_order_release);
    any_debts_.store(true, std::memory_order_relaxed);
  }
  return c.debts.load(std::memory_order_relaxed);
}

bool regions::lies_elsewhere(const chunk& c, std::size_t first, std::size_t end, int node) const {
  if (const state all = c.all.load(std::memory_order_relaxed); all != mixed)
    return all >= first_node && all != on(node);
  for (; first < end; first++)
    if (const state s = c.at(first); s >= first_node && s != on(node)) return true;
  return false;
}

bool regions::is_due(bool together, int home, debt owed, const tariff& t) {
  if (owed.is_stuck() || home < 0 || owed.node() == home) return false;
  return owed.pays(t.price(owed.node(), home) * (together ? pages_per_chunk : 1));
}

// Of a chunk that has none, and where nothing that is used lies elsewhere: null.
regions::debts_of_chunk* regions::debts_for(chunk& c, std::uintptr_t first, std::uint64_t bytes, int node) {
  debts_of_chunk* const d = c.debts.load(std::memory_order_acquire);
  if (d != nullptr || !lies_elsewhere(c, page_in_chunk(first), page_in_chunk(first + bytes - 1) + 1, node)) return d;
  return debts_of(c);
}

void regions::used(rows of, int node, use how, const tariff& t, std::vector<misplaced_page>& due) {
  if (!several_nodes_ || of.width > most_bytes_known || of.width == 0) return;
  chunk* c = nullptr;
  debts_of_chunk* d = nullptr;
  std::uintptr_t number = ~std::uintptr_t{0};
  for (; of.count > 0; of.count--, of.first += of.stride) {
    const std::uintptr_t end = of.first + of.width;
    for (std::uintptr_t at = of.first; at < end;) {
      const std::uintptr_t page_end = std::min(end, (at | (page_bytes() - 1)) + 1);
      const std::uint64_t bytes = page_end - at;
      if (at >> chunk_bits_ != number) {
        number = at >> chunk_bits_;
        c = const_cast<chunk*>(chunk_of(at));
        d = nullptr;
      }
      if (c != nullptr && d == nullptr) d = debts_for(*c, at, std::min(end - at, bytes_left_in_chunk(at)), node);
      if (d != nullptr) add_use(*c, *d, at, bytes, node, how, t, due);
      at = d != nullptr || c == nullptr ? page_end : std::min(end, at + bytes_left_in_chunk(at));
    }
  }
}

inline void regions::add_use(const chunk& c, debts_of_chunk& d, std::uintptr_t at, std::uint64_t bytes, int node,
                             use how, const tariff& t, std::vector<misplaced_page>& due) const {
  const std::size_t page = page_in_chunk(at);
  const bool together = d.move_together.load(std::memory_order_relaxed);
  const int home = node_in(c.at(page));
  atomic<std::uint64_t>& word = d.words[together ? 0 : page];
  debt owed(word.load(std::memory_order_relaxed));
  if (home == node) {
    if (owed.ns() == 0 || owed.is_stuck()) return;
    owed.take_away(t.rent(owed.node(), home, how, bytes));
    word.store(owed.word(), std::memory_order_relaxed);
  } else if (home >= 0 && !owed.is_stuck()) {
    owed.add(node, t.rent(node, home, how, bytes));
    word.store(owed.word(), std::memory_order_relaxed);
    if (is_due(together, home, owed, t)) due.push_back({address_of(c, page), home, owed.node(), owed.ns()});
  }
}

void regions::collect_due(const tariff& t, std::vector<misplaced_page>& due) const {
  std::lock_guard guard(growth_);
  for (const auto& c : chunks_) {
    const debts_of_chunk* const d = c->debts.load(std::memory_order_acquire);
    if (d == nullptr) continue;
    const bool together = d->move_together.load(std::memory_order_relaxed);
    for (std::size_t page = 0; page < (together ? 1 : pages_per_chunk); page++) {
      const debt owed(d->words[page].load(std::memory_order_relaxed));
      const int home = node_in(c->at(page));
      if (is_due(together, home, owed, t)) due.push_back({address_of(*c, page), home, owed.node(), owed.ns()});
    }
  }
}

std::size_t regions::have_moved(std::span<const misplaced_page> pages, std::span<const int> became) {
  std::size_t moved = 0;
  for (std::size_t i = 0; i < pages.size();) {
    const std::size_t begin = i;
    if (became[i] < 0) {
      settle(pages[i], became[i]);
      i++;
      continue;
    }
    while (i < pages.size() && became[i] == became[begin] &&
           pages[i].address == pages[begin].address + (i - begin) * page_bytes())
      i++;
    const std::uint64_t bytes = (i - begin) * page_bytes();
    if (pretends_) placed_by_system(pages[begin].address, bytes, became[begin]);
    else tell_all_regions(reinterpret_cast<const void*>(pages[begin].address), bytes, became[begin]);
    moved += i - begin;
    for (std::size_t k = begin; k < i; k++) note_moved(pages[k]);
  }
  if (!pretends_) find_huge_pages(pages);
  return moved;
}

void regions::note_moved(const misplaced_page& page) {
  const chunk* const c = chunk_of(page.address);
  debts_of_chunk* const d = c == nullptr ? nullptr : c->debts.load(std::memory_order_acquire);
  if (d == nullptr) return;
  const bool together = d->move_together.load(std::memory_order_relaxed);
  atomic<std::uint64_t>& word = d->words[together ? 0 : page_in_chunk(page.address)];
  debt owed(word.load(std::memory_order_relaxed));
  owed.has_moved();
  word.store(owed.word(), std::memory_order_relaxed);
}

// One that was not moved. Shared with other processes: it never will be. Gone: somebody may map it again. Elsewhere by
// now, held by somebody, part of a huge page that has moved, or its node is full: it has to be used as much again.
void regions::settle(const misplaced_page& page, int became) {
  placed(page.address, page_bytes(), place_unknown);
  if (became != -EACCES && became != -EPERM) return;
  chunk* const c = const_cast<chunk*>(chunk_of(page.address));
  if (debts_of_chunk* const d = c->debts.load(std::memory_order_acquire); d != nullptr)
    d->words[page_in_chunk(page.address)].store(debt::stuck().word(), std::memory_order_relaxed);
}

// Whether pages of the chunk that should lie elsewhere are there, too. Not some, which others may be moving just now.
bool regions::others_have_moved(const chunk& c, int to) {
  constexpr std::size_t most = 16, enough = 8, step = 37;  // odd: all pages, those far from each other first
  std::array<const void*, most> pages;
  std::array<int, most> nodes;
  std::size_t n = 0;
  for (std::size_t i = 0, page = 0; i < pages_per_chunk && n < most; i++, page += step)
    if (const state s = c.at(page % pages_per_chunk); s >= first_node && s != on(to))
      pages[n++] = reinterpret_cast<const void*>(address_of(c, page % pages_per_chunk));
  if (n < enough || !os_.nodes_of({pages.data(), n}, {nodes.data(), n})) return false;
  return std::all_of(nodes.data(), nodes.data() + n, [&](int os_node) { return state_of(os_node) == on(to); });
}

// A chunk whose other pages have moved, too, is a huge page.
void regions::find_huge_pages(std::span<const misplaced_page> pages) {
  const chunk* last = nullptr;
  for (const misplaced_page& p : pages) {
    chunk* const c = const_cast<chunk*>(chunk_of(p.address));
    if (c == nullptr || c == last || node_of(p.address) != p.to) continue;
    last = c;
    debts_of_chunk* const d = c->debts.load(std::memory_order_acquire);
    if (d == nullptr || !others_have_moved(*c, p.to)) continue;
    forget(*c);
    d->move_together.store(true, std::memory_order_relaxed);
    d->words[0].store(debt().word(), std::memory_order_relaxed);
  }
}

}  // namespace weir::memory
