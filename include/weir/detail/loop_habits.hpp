// What is learnt about parallel loops with the same body: whether it pays to call others, and when. Internal.
//
// To come to a loop costs who comes and its caller some cache misses each; on a large machine many. That is measured,
// and so is what an element takes. Where the caller alone is faster it begins alone, and calls others if that takes
// twice as long as expected, and as long as they would have cost: a wrong guess costs what a right one would have, once
// more (the ski rental problem: Karlin, Manasse, Rudolph and Sleator, Algorithmica 3, 1988).
//
// Where it is not clear, two of so many loops are not run as usual: else what has become wrong would never be known.
// The second one counts: what the first one touches lies in others' caches, or in its caller's.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace weir::detail {

// Of callers. Hints: several threads at once lose some, and no order is needed, so none of the model checker's atomics.
class loop_habits {
 public:
  struct way {
    bool alone = false;           // at first, for so long
    std::uint64_t alone_ns = 0;
    bool to_the_end = false;      // most likely, so the clock is hardly looked at
    bool to_learn = false;        // others would be called otherwise
    bool says_alone = false;      // what an element takes its caller
    bool says_shared = false;     // what others bring
  };

  // For a loop that so many workers can share, two at least.
  way next(std::uint64_t elements, std::uint64_t useful) {
    const std::uint32_t before = begun_.load(relaxed);
    begun_.store(before + 1, relaxed);
    const float expected = expected_ns(elements), extra = extra_ns_.less();
    const bool guesses = is_guess_.load(relaxed);
    if (expected > longest_begun_alone_ns) return {.says_shared = guesses || before % loops_per_look < 2};
    const float saved = saved_of(expected, useful);
    const bool pays = saved > extra, clear = !guesses && (saved > unclear * extra || saved * unclear < extra);
    const bool unusual = !clear && before % loops_per_sample < 2;
    const bool alone = pays == unusual, counts = !unusual || before % loops_per_sample == 1;
    const float alone_ns = unusual ? unclear * extra : std::max(extra, late * expected);
    const bool looks = counts && (guesses || before % loops_per_look < 2);
    return {alone, static_cast<std::uint64_t>(alone_ns), clear && !looks, pays, looks && alone, looks && !alone};
  }

  // Of the caller, alone. Longer than any loop takes if that was never measured.
  float alone_ns(std::uint64_t elements) const { return is_guess_.load(relaxed) ? unknown_ns : expected_ns(elements); }

  // Its caller, alone, needed so long for so many elements.
  void note_alone(std::uint64_t elements, std::uint64_t ns) {
    if (elements == 0) return;
    const float rate = std::max(static_cast<float>(ns) / static_cast<float>(elements), shortest_ns);
    if (is_guess_.load(relaxed)) ns_per_element_.both(rate);
    else ns_per_element_.note(rate);
    is_guess_.store(false, relaxed);
  }
  // Whoever came needed so long for so many elements. That is at least an equal share of what the caller alone needs;
  // as long as that has never been measured, they are taken to have brought nothing.
  void note_shared(std::uint64_t elements, std::uint64_t useful, std::uint64_t ns) {
    if (elements == 0) return;
    const float took = static_cast<float>(ns), n = static_cast<float>(elements);
    const bool guesses = is_guess_.load(relaxed);
    const float most = std::max((guesses ? took : took * static_cast<float>(useful)) / n, shortest_ns);
    if (ns_per_element_.less() > most) ns_per_element_.both(most);
    const float expected = ns_per_element_.less() * n;
    if (guesses) return;
    const float equal_share = expected - saved_of(expected, useful);
    extra_ns_.note(std::clamp(took - equal_share, least_extra_ns, most_extra_ns));
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;

  // Two measurements, of which the less is believed: a thread may lose its CPU meanwhile. The first one is both.
  class measured {
   public:
    constexpr explicit measured(float at_first) : last_(at_first), before_(at_first) {}
    float less() const { return std::min(last_.load(relaxed), before_.load(relaxed)); }
    void note(float now) {
      before_.store(last_.load(relaxed), relaxed);
      last_.store(now, relaxed);
    }
    void both(float now) {
      last_.store(now, relaxed);
      before_.store(now, relaxed);
    }

   private:
    std::atomic<float> last_, before_;
  };

  static constexpr float unknown_ns = 1e18F, shortest_ns = 1e-6F;
  // More: who was wrong stays so for longer. Fewer: it costs more to find out.
  static constexpr std::uint32_t loops_per_sample = 256;
  // Two of so many are timed. More: what has changed is known later. Fewer: clocks are looked at more often.
  static constexpr std::uint32_t loops_per_look = 16;
  // It is clear what to do where that is better by this: then nothing else is tried.
  static constexpr float unclear = 8;
  // Less: what is only a little slower this time is shared, and its lines travel. More: what has become long is alone.
  static constexpr float late = 2;
  // Longer: where a few elements take nearly all of the time others come late. Shorter: what an element takes is never
  // known of loops that were disturbed once.
  static constexpr float longest_begun_alone_ns = 1e6F;
  // What others cost until that is known, and what it is taken to be at most: so long an idle worker may be left alone.
  static constexpr float first_extra_ns = 1500, least_extra_ns = 250, most_extra_ns = 50'000;

  float expected_ns(std::uint64_t elements) const {
    return ns_per_element_.less() * static_cast<float>(elements);
  }
  static float saved_of(float expected, std::uint64_t useful) {
    return expected - expected / static_cast<float>(useful);
  }

  std::atomic<std::uint32_t> begun_{0};
  measured ns_per_element_{unknown_ns};  // of the caller, alone
  measured extra_ns_{first_extra_ns};
  std::atomic<bool> is_guess_{true};
};

}  // namespace weir::detail
