// The ways to name memory, and who may be at work on a word at the same time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::test {

enum class way : std::uint8_t { none, in, out, inout, commutative, concurrent };
inline constexpr std::array way_names{"-", "in", "out", "inout", "commutative", "concurrent"};
constexpr bool is_of_group(way w) { return w == way::commutative || w == way::concurrent; }
// Of what one task names in two ways.
constexpr way joined(way a, way b) {
  if (a == way::none || a == b) return b;
  return b == way::none ? a : way::inout;
}

// Who is at work on a word. Marks order nothing, so that the thread sanitizer sees whether the runtime does.
class word_marks {
 public:
  using word = std::uint64_t;

  explicit word_marks(std::size_t n) : marks_(n) {}
  // False if somebody is at work there who must not be.
  static bool enter(std::atomic_ref<word> mark, way how) {
    const word before = mark.fetch_add(weight(how), std::memory_order_relaxed);
    if (how == way::in) return before < weight(way::concurrent);
    if (how != way::concurrent) return before == 0;
    return before < weight(way::inout) && before % weight(way::concurrent) == 0;
  }
  static void leave(std::atomic_ref<word> mark, way how) { mark.fetch_sub(weight(how), std::memory_order_relaxed); }
  std::atomic_ref<word> of(std::size_t i) { return std::atomic_ref(marks_[i]); }

 private:
  static constexpr word weight(way how) {
    if (how == way::in) return 1;
    return how == way::concurrent ? word{1} << 20 : word{1} << 40;
  }
  std::vector<word> marks_;
};

}  // namespace weir::test
