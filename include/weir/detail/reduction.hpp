// How the results of a reduction's chunks are combined. Internal to parallel_reduce.
//
// In pairs of neighbours: the left half of a pair is at a multiple of twice the distance between them. A pair has the
// index of its right half; every index but 0 is one pair's. So the tree is a function of the number of chunks.
//
// Who runs chunks one after the other combines what pairs there are among them by itself: nobody else touches their
// results. What is a half of a pair with others' results it brings, as soon as that is known. Who brings the second
// half of a pair combines it and goes on with the result as one half of the next pair.
//
// Both halves' results are written before the exchange that says so, which acquires and releases: who comes second sees
// what the first one wrote, and nobody else touches either until it has combined them.
#pragma once

#include <weir/detail/atomic.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace weir::detail {

template <class T, class Combine>
class reduction {
  // Not touched before there is a result: the memory would only be filled.
  class number {
   public:
    number() {}
    void emplace(T value) { value_ = value; }
    T& operator*() { return value_; }
    void reset() {}

   private:
    T value_;
  };
  using half = std::conditional_t<std::is_arithmetic_v<T>, number, std::optional<T>>;

 public:
  reduction(std::uint64_t chunks, T identity, const Combine& combine)
      : result_(std::move(identity)),
        combine_(combine),
        count_(static_cast<std::size_t>(chunks)),
        halves_(new half[count_]),
        one_is_there_(new atomic<std::uint8_t>[count_]) {}

  // Where the results are. Small: who runs chunks has a copy beside what else it reads.
  class shared {
   public:
    half& operator[](std::uint64_t i) const { return halves_[static_cast<std::size_t>(i)]; }
    const Combine& combine() const { return *combine_; }

    // Of so many chunks, a power of two, of which `left` is the first: its result is there.
    void bring(std::uint64_t left, std::uint64_t chunks) const {
      for (std::uint64_t distance = chunks; distance < count_; distance *= 2) {
        left &= ~distance;
        const std::uint64_t right = left + distance;
        if (right >= count_) continue;  // none: the left half is a pair's result as it is
        if (one_is_there_[static_cast<std::size_t>(right)].exchange(1, std::memory_order_acq_rel) == 0) return;
        combine_pair(left, right);
      }
      T& result = of_->result_;
      result = T(std::invoke(combine(), std::move(result), std::move(*(*this)[0])));
    }
    void combine_pair(std::uint64_t left, std::uint64_t right) const {
      half& l = (*this)[left];
      half& r = (*this)[right];
      *l = T(std::invoke(combine(), std::move(*l), std::move(*r)));  // it may return a reference to its argument
      r.reset();
    }

   private:
    friend class reduction;
    explicit shared(reduction& r)
        : of_(&r),
          combine_(&r.combine_),
          halves_(r.halves_.get()),
          one_is_there_(r.one_is_there_.get()),
          count_(r.count_) {}

    reduction* of_;
    const Combine* combine_;
    half* halves_;
    atomic<std::uint8_t>* one_is_there_;
    std::uint64_t count_;
  };

  // Chunks that are run one after the other by one thread. All pairs whose chunks are among those of its last run are
  // combined.
  class stretch {
   public:
    explicit stretch(const shared& m) : results_(m) {}

    // value_of(chunk) for first <= chunk < last. Others than the next ones begin anew.
    template <class ValueOf>
    void add(std::uint64_t first, std::uint64_t last, const ValueOf& value_of) {
      if (first != last_) {
        bring();
        begin_at(first);
      }
      for (; first < last; first++) {
        results_[first].emplace(value_of(first));
        combine_to_the_left(first);
        if (first + 1 == first_block_end_) bring_first_block();
      }
      last_ = last;
    }
    void bring() {
      for (std::uint64_t n = 0; first_ < last_; first_ += n) {
        n = pairs_at(first_, last_);
        results_.bring(first_, n);
      }
    }

   private:
    void begin_at(std::uint64_t first) {
      first_ = first;
      first_block_end_ = first + (first & -first);
    }
    // Nothing to come is a pair with it: so what is left for the end is short.
    void bring_first_block() {
      const std::uint64_t first = first_;
      begin_at(first_block_end_);
      results_.bring(first, first_ - first);
    }
    // What is the left edge of so many, which are a pair of pairs of ... .
    static std::uint64_t pairs_at(std::uint64_t first, std::uint64_t last) {
      const std::uint64_t edge = first == 0 ? last : first & -first;
      return std::bit_floor(std::min(edge, last - first));
    }
    void combine_to_the_left(std::uint64_t at) {
      for (std::uint64_t n = 1; (at & n) != 0 && at - first_ >= n; n *= 2) {
        at -= n;
        results_.combine_pair(at, at + n);
      }
    }

    const shared results_;
    std::uint64_t first_ = 0, last_ = 0;
    std::uint64_t first_block_end_ = 0;  // none: a block at 0 is never complete before the end
  };

  // It outlives them.
  shared share() { return shared(*this); }
  T take() { return std::move(result_); }

 private:
  T result_;
  const Combine& combine_;
  const std::size_t count_;
  const std::unique_ptr<half[]> halves_;
  const std::unique_ptr<atomic<std::uint8_t>[]> one_is_there_;  // by pair
};

// A loop's work: what it reads, by value.
template <class T, class Combine, class ValueOf>
struct reduction_work {
  typename reduction<T, Combine>::shared results;
  ValueOf value_of;

  class stretch {
   public:
    explicit stretch(const reduction_work& w) : chunks_(w.results), value_of_(w.value_of) {}
    void add(std::uint64_t first, std::uint64_t last) { chunks_.add(first, last, value_of_); }
    void end() { chunks_.bring(); }

   private:
    typename reduction<T, Combine>::stretch chunks_;
    const ValueOf& value_of_;
  };
};

}  // namespace weir::detail
