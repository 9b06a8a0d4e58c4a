// Signatures of tasks, and the record of those that were placed.
#include "place/recognition.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace weir::place {
namespace {

constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;

// Tasks that are left out now and then, or come between others of several creators, are looked for so far ahead: a
// line of the record.
constexpr std::uint32_t looked_ahead = 8;

constexpr std::uint64_t word_of(std::uint64_t what, std::uint64_t bytes, std::uint64_t how) {
  return what ^ std::rotl(bytes, 40) ^ how << 58;
}

}  // namespace

// A polynomial of what it names. No product waits for another one's, but for the power of the factor.
std::uint64_t signature_of(flow::frame& f) {
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(f.ops), factor = odd;
  const auto add = [&](std::uint64_t word) {
    hash += word * factor;
    factor *= odd;
  };
  // Of memory its address, of data the datum and the part. Of a shape the distance of its rows, and their length.
  const flow::access* a = f.access_at(0);
  for (const flow::access* const end = a + f.accesses; a != end; a++)
    add(word_of(reinterpret_cast<std::uintptr_t>(a->wanted) + a->place, a->bytes,
                static_cast<std::uint64_t>(a->kind())));
  const flow::version* v = f.version_at(0);
  for (const flow::version* const end = v + f.versions; v != end; v++)
    if (v->kind == detail::version_kind::replace)
      add(word_of(reinterpret_cast<std::uintptr_t>(v->owner), v->bytes, 0x3f));
  hash = (hash ^ hash >> 32) * odd >> recognition::place_bits << recognition::place_bits;
  return hash != 0 ? hash : std::uint64_t{1} << recognition::place_bits;
}

int recognition::look_for(const record& known, std::uint64_t signature, reader& r) {
  for (std::uint32_t i = 1; i < looked_ahead; i++) {
    const std::uint64_t e = known.entry(r.next + i).load(std::memory_order_relaxed);
    if (!is_of(e, signature)) continue;
    r.next += i + 1;
    return place_in(e);
  }
  const std::size_t home = known.slot_of(signature);
  for (std::size_t i = 0; i < slots_looked_at; i++) {
    const std::uint32_t first = known.firsts[(home + i) & known.slot_mask()].load(std::memory_order_relaxed);
    if (first == 0) return -1;
    const std::uint32_t position = (first & ~in_several_places) - 1;
    const std::uint64_t e = known.entry(position).load(std::memory_order_relaxed);
    if (!is_of(e, signature)) continue;
    r.next = position + 1;
    return (first & in_several_places) != 0 ? -1 : place_in(e);
  }
  return -1;
}

std::uint32_t recognition::add(std::uint64_t signature, int place) {
  if ((all_.empty() && most_ != 0) || (!all_.empty() && end_ > all_.back()->mask && all_.back()->mask + 1 < most_))
    grow();
  if (!all_.empty()) all_.back()->put(end_, signature, place);
  return end_++;
}

void recognition::amend(std::uint32_t position, std::uint64_t signature, int place) {
  if (all_.empty() || end_ - position > all_.back()->mask + 1) return;
  if (is_of(all_.back()->entry(position).load(std::memory_order_relaxed), signature))
    all_.back()->put(position, signature, place);
}

void recognition::record::put(std::uint32_t position, std::uint64_t signature, int place) {
  entry(position).store(signature | static_cast<std::uint64_t>(place), std::memory_order_relaxed);
  note_first(static_cast<std::uint32_t>(position & mask), signature, place);
}

// The first position stays: who goes through tasks of the same signature begins there, and has all of them.
void recognition::record::note_first(std::uint32_t position, std::uint64_t signature, int place) {
  const std::size_t home = slot_of(signature);
  std::size_t free = home;
  bool is_free = false;
  for (std::size_t i = 0; i < slots_looked_at; i++) {
    const std::size_t slot = (home + i) & slot_mask();
    const std::uint32_t first = firsts[slot].load(std::memory_order_relaxed);
    const std::uint64_t e =
        first == 0 ? 0 : entry((first & ~in_several_places) - 1).load(std::memory_order_relaxed);
    if (first != 0 && is_of(e, signature)) {
      if (place_in(e) != place) firsts[slot].store(first | in_several_places, std::memory_order_relaxed);
      return;
    }
    const bool replaced = first == 0 || ((slot - slot_of(e)) & slot_mask()) >= slots_looked_at;
    if (replaced && !is_free) {
      free = slot;
      is_free = true;
    }
    if (first == 0) break;
  }
  firsts[free].store(position + 1, std::memory_order_relaxed);
}

// What others read stays as it is.
void recognition::grow() {
  try {
    auto larger = std::make_unique<record>(all_.empty() ? std::min(least, most_) : 2 * (all_.back()->mask + 1));
    all_.reserve(all_.size() + 1);
    for (std::uint32_t p = 0; p < end_ && !all_.empty(); p++) {
      const std::uint64_t e = all_.back()->entry(p).load(std::memory_order_relaxed);
      larger->put(p, e & ~((std::uint64_t{1} << place_bits) - 1), place_in(e));
    }
    record_.store(larger.get(), std::memory_order_release);
    all_.push_back(std::move(larger));
  } catch (const std::bad_alloc&) {
    most_ = all_.empty() ? 0 : all_.back()->mask + 1;
  }
}

}  // namespace weir::place
