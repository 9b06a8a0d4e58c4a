// Whether the tokens of a pipeline are shared out, or carried through one after the other by one thread. Internal.
//
// A token that goes to another thread takes with it what the stages keep, some cache misses for each stage. Where
// stages are shorter than that several threads are slower than one. Both are measured: some tokens shared, some
// alone, and the faster way is kept for so many tokens, and then for twice as many, before the other one is tried
// again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weir::detail {

// Of who takes tokens from the source: one thread at a time, in order.
class pipeline_pace {
 public:
  explicit pipeline_pace(std::size_t stages) : longest_tried_ns_(stages * longest_hand_over_ns) {}

  // Of the token taken last: the next one is not to be begun before it is through, or waits.
  bool is_alone() const { return now_ > way::shared; }

  // A token will be taken. `now_ns()` is called now and then, while alone is tried each time.
  template <class Clock>
  void before_token(const Clock& now_ns) {
    if (tokens_++ != look_at_) return;
    const std::uint64_t taken = look_at_, now = now_ns(), ns = now - began_ns_;
    switch (now_) {
      case way::coming: return begin(way::shared, tokens_to_measure, now);
      case way::shared:
        shared_ns_ = ns / taken;
        return shared_ns_ > longest_tried_ns_ ? begin(way::coming, period_, now) : begin(way::tried, 1, now);
      case way::tried:
        if (ns >= tokens_to_measure * shared_ns_) return begin_period(way::coming, period_, now);
        if (taken == tokens_to_measure) return begin_period(way::alone, tokens_to_measure, now);
        look_at_++;
        return;
      case way::alone:
        // They have changed, or were shorter by chance when they were measured.
        if (ns > taken * shared_ns_) period_ = first_period, left_ = 0;
        left_ -= std::min(left_, taken);
        return left_ == 0 ? begin(way::coming, tokens_to_come, now) : begin(way::alone, tokens_to_measure, now);
    }
  }

 private:
  enum class way : std::uint8_t { coming, shared, tried, alone };  // coming: shared, and not measured
  // Others need some time until they have come.
  static constexpr std::uint64_t tokens_to_come = 24, tokens_to_measure = 40;
  static constexpr std::uint64_t first_period = 1024, longest_period = 65536;
  // More than that is no loss to speak of, or a stage that is long; then alone is never tried.
  static constexpr std::uint64_t longest_hand_over_ns = 2000;

  void begin(way w, std::uint64_t tokens, std::uint64_t now) {
    now_ = w;
    tokens_ = 1;  // the one that will be taken
    look_at_ = tokens;
    began_ns_ = now;
  }
  void begin_period(way w, std::uint64_t tokens, std::uint64_t now) {
    begin(w, tokens, now);
    left_ = period_;
    period_ = std::min(2 * period_, longest_period);
  }

  const std::uint64_t longest_tried_ns_;
  way now_ = way::coming;
  std::uint64_t tokens_ = 0, look_at_ = tokens_to_come;  // since it began
  std::uint64_t began_ns_ = 0, shared_ns_ = 0;
  std::uint64_t period_ = first_period, left_ = 0;  // tokens
};

}  // namespace weir::detail
