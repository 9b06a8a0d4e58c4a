// What the system is asked about where pages of the program's own memory lie: in batches, and mostly once.
#include "memory/regions.hpp"

#include <algorithm>
#include <array>
#include <mutex>

namespace weir::memory {
namespace {

// Pages that the system is asked about at a time. More: more of the asking thread's stack. Fewer: more calls, 300 ns
// each.
constexpr std::size_t pages_a_call = 128;
// Tasks on small ranges ask for their neighbours, too: so many pages, from a multiple of that. More: asked in vain,
// 100 ns a page, where what lies there is not used. Fewer: more calls.
constexpr std::size_t pages_around = 16;

}  // namespace

// Pages to be asked about, in the order of their addresses. Where there are nodes only in what is written down, or the
// system does not tell, a page lies where the first task ran that wrote it; or, on pretended nodes, if one reads it
// before, with the program's own threads, which have written it then, on the first node.
class regions::question {
 public:
  question(regions& r, asked_by who, int node) : of_(r), who_(who), node_(node) {}

  void add(chunk& c, std::size_t first, std::size_t end) {
    const bool asks = of_.system_tells_.load(std::memory_order_relaxed);
    if (asks && who_ != asked_by::writer) {  // who has written: pages beside its own may be about to be written
      first -= first % pages_around;
      end = std::min(pages_per_chunk, (end + pages_around - 1) / pages_around * pages_around);
    }
    if (&c == last_chunk_) first = std::max(first, last_page_ + 1);
    for (; first < end; first++) {
      if (!of_.is_to_be_asked(c, c.at(first), who_)) continue;
      if (size_ == pages_.size()) ask();
      pages_[size_] = reinterpret_cast<const void*>(of_.address_of(c, first));
      numbers_[size_] = static_cast<std::uint16_t>(first);
      chunks_[size_++] = &c;
      last_chunk_ = &c;
      last_page_ = first;
    }
  }
  void ask() {
    const std::uint32_t barriers = of_.barriers_.load(std::memory_order_relaxed);
    bool told = size_ != 0 && of_.system_tells_.load(std::memory_order_relaxed);
    if (told && !of_.os_.nodes_of({pages_.data(), size_}, {nodes_.data(), size_})) {
      of_.system_tells_.store(false, std::memory_order_relaxed);
      told = false;
    }
    for (std::size_t i = 0; i < size_;) {
      std::size_t end = i;
      while (end < size_ && chunks_[end] == chunks_[i]) end++;
      if (told) told_of(*chunks_[i], i, end, barriers);
      else guess(*chunks_[i], i, end);
      i = end;
    }
    size_ = 0;
  }

 private:
  // Those from `i` to `end` are of this chunk.
  void told_of(chunk& c, std::size_t i, std::size_t end, std::uint32_t barriers) {
    bool all_absent = true;
    {
      const std::lock_guard guard(c.lock);
      chunk::outcome out;
      while (i < end) {
        const std::size_t from = i;
        while (++i < end && nodes_[i] == nodes_[from] && numbers_[i] == numbers_[from] + (i - from)) {}
        const state s = of_.state_of(nodes_[from]);
        all_absent &= s == absent;
        c.set(numbers_[from], numbers_[i - 1] + std::size_t{1}, s, false, out);
      }
      c.asked_at.store(barriers, std::memory_order_relaxed);
      of_.end_change(c, out);
    }
    if (all_absent && (who_ == asked_by::creator || who_ == asked_by::updater))
      presume_absent(c, numbers_[end - 1] + std::size_t{1});
  }
  // New arrays are written from their beginning on: one call instead of one for some pages after the other.
  void presume_absent(chunk& c, std::size_t first) {
    if (first == pages_per_chunk) return;
    const std::size_t pages =
        of_.os_.untouched(reinterpret_cast<const void*>(of_.address_of(c, first)), pages_per_chunk - first);
    if (pages != 0) of_.set_all(c, first, first + pages, presumed_absent, true);
  }
  void guess(chunk& c, std::size_t i, std::size_t end) {
    const int node = of_.pretends_ && who_ == asked_by::reader ? 0 : node_;
    if (node == place_unknown) return;
    const std::lock_guard guard(c.lock);
    chunk::outcome out;
    while (i < end) {
      const std::size_t from = i;
      while (++i < end && numbers_[i] == numbers_[from] + (i - from)) {}
      c.set(numbers_[from], numbers_[i - 1] + std::size_t{1}, on(node), true, out);
    }
    of_.end_change(c, out);
  }

  regions& of_;
  const asked_by who_;
  const int node_;
  std::array<const void*, pages_a_call> pages_;
  std::array<std::uint16_t, pages_a_call> numbers_;  // in their chunks
  std::array<chunk*, pages_a_call> chunks_;
  std::array<int, pages_a_call> nodes_;
  std::size_t size_ = 0;
  const chunk* last_chunk_ = nullptr;
  std::size_t last_page_ = 0;
};

// Who only writes takes it that nobody has touched what was presumed to be absent: it is asked when that is done.
bool regions::is_to_be_asked(const chunk& c, state s, asked_by who) const {
  if (s == never_asked) return true;
  if (s != absent && s != presumed_absent) return false;
  if (who == asked_by::writer || (s == presumed_absent && who != asked_by::creator)) return true;
  return c.asked_at.load(std::memory_order_relaxed) != barriers_.load(std::memory_order_relaxed);
}

bool regions::nothing_to_ask(const chunk& c, std::size_t first, std::size_t end, asked_by who) const {
  if (c.unplaced.load(std::memory_order_relaxed) == 0) return true;
  for (; first < end; first++)
    if (is_to_be_asked(c, c.at(first), who)) return false;
  return true;
}

// r.count: of none.
std::uint64_t regions::first_row_to_ask(const rows& r, asked_by who) {
  std::uintptr_t first = r.first;
  for (std::uint64_t i = 0; i < r.count; i++, first += r.stride) {
    bool any = false;
    for_each_chunk(first, r.width, [&](const chunk& c, std::size_t from, std::size_t to) {
      any |= !nothing_to_ask(c, from, to, who);
    });
    if (any) return i;
  }
  return r.count;
}

bool regions::find_out(const rows& r, asked_by who, int node) {
  if (!several_nodes_ || nobody_can_say(who, node)) return false;
  std::uint64_t i = first_row_to_ask(r, who);
  if (i == r.count) return false;
  question q(*this, who, node);
  for (; i < r.count; i++)
    for_each_chunk(r.first + i * r.stride, r.width, [&](chunk& c, std::size_t from, std::size_t to) {
      if (!nothing_to_ask(c, from, to, who)) q.add(c, from, to);
    });
  q.ask();
  return true;
}

}  // namespace weir::memory
