// How the chunks of a parallel loop reach the workers. Internal to parallel_for and parallel_reduce.
//
// Affinity scheduling (Markatos and LeBlanc, IEEE TPDS 5(4), 1994). Two nouns: a chunk is what a range is cut into; a
// part is a run of chunks that belongs to one worker. Who serves the loop runs the chunks of its worker's part, and
// then helps with other parts, nearest first. So where an element is worked on does not depend on who comes first. Who
// serves it, and how they learn of it, is the runtime's (src/engine/threads/loops.cpp).
//
// Who takes a chunk: whoever adds to the part's count of those that are taken, by fetch_add, which may take several
// that are neighbours. The value before is the first of them; each occurs once, and what is at or beyond the part's
// length is nobody's. Beside the count stands which loop it is of. Who finds one of an earlier loop there takes the
// first chunks, by compare_exchange, so one of those who try does. Relaxed will do: nothing is handed over but the
// number, and the caller sees what bodies did because it waits for the servers.
//
// How many at a time: one, or a 64th of a part, then twice as many each time, but no more than half of what would be
// each worker's share of those left (guided self-scheduling, Polychronopoulos and Kuck, IEEE TC C-36(12), 1987), nor
// fewer than are worth it. To take some costs 5 ns or so.
//
// Before others come the caller may begin alone: at the first chunk of its own part, and on to the next parts, round
// the range. Then what it has run of any part is that part's beginning.
//
// Why all chunks are run: a server ends when it has seen all parts exhausted, and who calls the loop serves it, or
// sleeps until somebody has. A body that throws ends it early, and so does the early end of the scope of the task that
// called it: that is then thrown, for not all chunks were run.
//
// When other nodes are helped: src/runtime/loop.cpp.
#pragma once

#include <weir/detail/atomic.hpp>
#include <weir/detail/loop_work.hpp>
#include <weir/error.hpp>
#include <weir/runtime.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace weir::detail {

// Chunks a worker, where the program names no grain. Fewer: where the last chunks take longest, more workers wait for
// them. More: of bodies that take a chunk, or return a result, each chunk is a call, or a result to be combined; those
// of elements go on through all chunks that were taken together.
inline constexpr std::uint64_t chunks_per_worker = 64, chunks_of_elements_per_worker = 256;

// Chunks of fewer elements are not divided further than into 64 a worker: neighbours would share cache lines.
inline constexpr std::uint64_t least_divided_elements = 32;

// A run of chunks that takes less is not divided. Longer: loops are less even at their end. Shorter: taking chunks,
// some 10 ns each time, costs more than that brings.
inline constexpr float longest_undivided_ns = 1000;

// On several nodes a run takes at least so long, as far as is known, unless that is more than such a share of a part.
// Longer, or larger: what is left of a part is seen less well. Shorter: taking chunks costs more of a short loop.
inline constexpr float shortest_run_ns = 250;
inline constexpr std::uint64_t share_of_shortest_run = 16;

// A chunk's begin is a multiple of so many elements, or less in short loops. More: chunks are less even.
inline constexpr std::uint64_t most_aligned_elements = 64;

// How chunks are shared out. All that who serves a loop reads of its shape.
struct loop_division {
  std::uint64_t chunks;
  std::uint64_t workers;
  bool by_node;   // other nodes are left alone for a while; else all workers are neighbours
  bool by_chunk;  // the program says how long a chunk is: it is looked between any two whether the loop is left early
  bool concurrent = false;  // chunks may wait for each other: who has begun one keeps no other from anybody
  // For part_begin(), which who serves asks for: chunks of each part, and those that are left then, times what divides
  // by the number of workers.
  std::uint64_t each = chunks / workers, rest_inverse = chunks % workers * divided_up(one, workers);

  // Chunks that who comes takes at first: where the program has not said how long a chunk is, a 64th of a part.
  std::uint64_t first_run() const {
    return by_chunk ? 1 : std::max(chunks / (workers * chunks_per_worker), std::uint64_t{1});
  }
  // And at least, while so many are left, in a loop for which one thread needs so long. On several nodes helpers look
  // on, so that is until it turns out to be uneven.
  std::uint64_t least_run(float alone_ns) const {
    if (by_node) return by_chunk ? 1 : std::max(first_run(), shortest_run(alone_ns));
    const bool is_short = alone_ns < static_cast<float>(workers * chunks_per_worker) * longest_undivided_ns;
    return is_short ? first_run() : 1;
  }
  // First chunk of worker `w`'s part; of `workers`: where the last one ends. Few chunks are spread over all workers.
  // Without a division: n * inverse / one is n / workers. The inverse is less than 1 too large, so the product is by
  // less than n, which is below the square of the number of workers; to be wrong it would have to be by `one` divided
  // by that number.
  std::uint64_t part_begin(std::uint64_t w) const { return w * each + w * rest_inverse / one; }

 protected:
  static constexpr std::uint64_t divided_up(std::uint64_t n, std::uint64_t by) {
    return n / by + (n % by != 0 ? 1 : 0);
  }

 private:
  static constexpr std::uint64_t one = std::uint64_t{1} << 48;

  std::uint64_t shortest_run(float alone_ns) const {
    const float in_time = shortest_run_ns * static_cast<float>(chunks) / alone_ns;
    return static_cast<std::uint64_t>(std::min(in_time, static_cast<float>(each / share_of_shortest_run)));
  }
};

// How a range is cut: a function of its length, the grain, and the number of workers.
struct loop_shape : loop_division {
  std::uint64_t elements;
  std::uint64_t grain;

  static loop_shape of(std::uint64_t elements, std::uint64_t grain, int workers, bool by_node,
                       std::uint64_t chunks_a_worker = chunks_per_worker) {
    const auto w = static_cast<std::uint64_t>(workers);
    const bool given = grain != 0;
    if (!given) {
      const std::uint64_t coarse = divided_up(elements, chunks_per_worker * w);
      grain = aligned(std::max(divided_up(elements, chunks_a_worker * w), std::min(coarse, least_divided_elements)));
    }
    return {{.chunks = divided_up(elements, grain), .workers = w, .by_node = by_node, .by_chunk = given},
            elements,
            grain};
  }

 private:
  // Vectors in a body's loop are as well aligned at each chunk's begin as at the range's, and neighbours do not share a
  // cache line. At most a third more.
  static std::uint64_t aligned(std::uint64_t grain) {
    if (grain < 2) return grain;
    const std::uint64_t step = std::clamp(std::bit_floor(grain / 4), std::uint64_t{2}, most_aligned_elements);
    return divided_up(grain, step) * step;
  }
};

// A run of chunks.
struct chunks_taken {
  std::uint64_t first, last;
  bool any() const { return first < last; }
};

// What the caller has begun alone. It starts where a part does, and goes round.
class chunks_begun {
 public:
  explicit chunks_begun(std::uint64_t chunks) : chunks_(chunks) {}

  void start_at(std::uint64_t first) { first_ = first; }
  // At most so many.
  chunks_taken take(std::uint64_t most) {
    const std::uint64_t to_end = chunks_ - first_, begin = count_ < to_end ? first_ + count_ : count_ - to_end;
    const std::uint64_t n = std::min(most, count_ < to_end ? to_end - count_ : chunks_ - count_);
    count_ += n;
    return {begin, begin + n};
  }
  std::uint64_t count() const { return count_; }
  bool all() const { return count_ == chunks_; }
  // Of a part, its first ones.
  std::uint64_t of(std::uint64_t begin, std::uint64_t end) const {
    const std::uint64_t before = begin >= first_ ? begin - first_ : chunks_ - first_ + begin;
    return std::min(count_ - std::min(count_, before), end - begin);
  }

 private:
  const std::uint64_t chunks_;
  std::uint64_t first_ = 0, count_ = 0;
};

// Which parts of a loop are not exhausted: in few lines, so that helpers look at those only.
class unfinished_parts {
 public:
  unfinished_parts(atomic<std::uint64_t>* words, std::uint64_t parts) : words_(words), parts_(parts) {}

  template <class Any>
  void begin(Any&& any_in) {
    for (std::uint64_t w = 0; w * bits < parts_; w++) {
      std::uint64_t set = 0;
      for (std::uint64_t p = w * bits; p < std::min(parts_, (w + 1) * bits); p++)
        if (any_in(p)) set |= std::uint64_t{1} << p % bits;
      words_[w].store(set, std::memory_order_relaxed);
    }
  }
  void remove(std::uint64_t part) {
    words_[part / bits].fetch_sub(std::uint64_t{1} << part % bits, std::memory_order_relaxed);
  }
  std::uint64_t count() const {
    std::uint64_t n = 0;
    for (std::uint64_t w = 0; w * bits < parts_; w++) n += static_cast<unsigned>(std::popcount(word(w)));
    return n;
  }
  bool any() const {
    for (std::uint64_t w = 0; w * bits < parts_; w++)
      if (word(w) != 0) return true;
    return false;
  }
  bool contain(std::uint64_t part) const { return (word(part / bits) >> part % bits & 1) != 0; }

 private:
  static constexpr std::uint64_t bits = 64;

  std::uint64_t word(std::uint64_t w) const { return words_[w].load(std::memory_order_relaxed); }

  atomic<std::uint64_t>* const words_;
  const std::uint64_t parts_;
};

// The parts of a loop, and who has got how far.
class loop_parts {
 public:
  using taken = chunks_taken;

  // A worker's chunks, of which its caller has run some alone: the first ones.
  struct extent {
    std::uint64_t first, size, begun_alone;
  };

  // The loop is to outlive it. `alone_ns`: what one thread needs.
  loop_parts(const loop_division& d, const loop_work& l, const chunks_begun& begun_alone, float alone_ns)
      : shape(d), loop_(l), begun_alone_(begun_alone), least_run_(d.least_run(alone_ns)) {
    number_loop(*l.number);
    if (!d.by_node) return;
    unfinished().begin([this](std::uint64_t w) {
      const extent e = extent_of(w);
      return e.begun_alone < e.size;
    });
    if (l.caller >= 0) clock_.store(static_cast<std::uint64_t>(l.caller), std::memory_order_relaxed);
    began_ns_ = now_ns();
  }

  extent extent_of(std::uint64_t worker) const {
    const std::uint64_t first = shape.part_begin(worker), end = shape.part_begin(worker + 1);
    return {first, end - first, begun_alone_.of(first, end)};
  }
  // At most so many, of this worker's extent.
  taken take(std::uint64_t worker, const extent& e, std::uint64_t most) {
    atomic<std::uint64_t>& taken_of = part(worker).taken;
    if (shape.concurrent) most = 1;
    const std::uint64_t least = is_uneven_.load(std::memory_order_relaxed) != 0 ? 1 : least_run_;
    for (std::uint64_t word = taken_of.load(std::memory_order_relaxed);;) {
      const bool begun = is_of_this(word);
      const std::uint64_t now = begun ? count_in(word) : e.begun_alone;
      if (now >= e.size) return {0, 0};
      const std::uint64_t n = std::min(most, std::max((e.size - now) / (2 * shape.workers), least));
      if (begun) return taken_from(worker, e, count_in(taken_of.fetch_add(n, std::memory_order_relaxed)), n);
      if (taken_of.compare_exchange_strong(word, of_this_ | (now + n), std::memory_order_relaxed,
                                           std::memory_order_relaxed))
        return taken_from(worker, e, now, n);
    }
  }

  const loop_division shape;

 private:
  friend class loop_helper;
  static constexpr std::uint64_t nobody = ~std::uint64_t{0};

  // Which loop a word is of takes its upper bits. So many chunks there may be that the lower ones are enough, also
  // for what servers add to the count of a part that has none left, once each: a 16th of a part, or half of what was
  // left.
  static constexpr int number_bits = 16, count_bits = 64 - number_bits;
  static constexpr std::uint64_t last_number = (std::uint64_t{1} << number_bits) - 1;
  static constexpr std::uint64_t most_numbered = std::uint64_t{1} << (count_bits - 2);

  // A number comes again, and where there are more chunks all bits count them: then the caller does write to all parts.
  void number_loop(std::uint64_t& number) {
    const bool all_bits_count = shape.chunks > most_numbered;
    if (all_bits_count || number == last_number) {
      for (std::uint64_t w = 0; w < shape.workers; w++) {
        part(w).taken.store(all_bits_count ? extent_of(w).begun_alone : 0, std::memory_order_relaxed);
        part(w).begun.store(0, std::memory_order_relaxed);
      }
      number = 0;
    }
    if (all_bits_count) {
      number = last_number;  // what it leaves behind could be of any loop
      return;
    }
    of_this_ = ++number << count_bits;
  }
  bool is_of_this(std::uint64_t word) const { return of_this_ == 0 || word >> count_bits == of_this_ >> count_bits; }
  std::uint64_t count_in(std::uint64_t word) const { return of_this_ == 0 ? word : word ^ of_this_; }

  loop_part& part(std::uint64_t worker) const { return loop_.parts[worker]; }
  unfinished_parts unfinished() const { return {loop_.unfinished, shape.workers}; }
  taken taken_from(std::uint64_t worker, const extent& e, std::uint64_t from, std::uint64_t n) {
    const std::uint64_t to = std::min(from + n, e.size);
    if (from >= to) return {0, 0};
    if (shape.by_node && to == e.size) unfinished().remove(worker);
    return {e.first + from, e.first + to};
  }
  std::uint64_t size(std::uint64_t worker) const { return shape.part_begin(worker + 1) - shape.part_begin(worker); }
  std::uint64_t done(std::uint64_t worker) const {
    const std::uint64_t word = part(worker).taken.load(std::memory_order_relaxed);
    if (is_of_this(word)) return std::min(count_in(word), size(worker));
    return extent_of(worker).begun_alone;
  }
  std::uint64_t left(std::uint64_t worker) const { return size(worker) - done(worker); }
  // As loop_part has it.
  std::uint64_t begun(std::uint64_t worker) const {
    const std::uint64_t word = part(worker).begun.load(std::memory_order_relaxed);
    return is_of_this(word) ? count_in(word) : 0;
  }
  void set_begun(std::uint64_t worker, std::uint64_t to) {
    part(worker).begun.store(of_this_ | to, std::memory_order_relaxed);
  }

  // What servers read, copied so that it lies in few lines; what they write lies in the post's memory.
  const loop_work& loop_;
  const chunks_begun begun_alone_;
  const std::uint64_t least_run_;
  std::uint64_t of_this_ = 0;            // the upper bits of words that are of this loop; 0: all bits count
  std::uint64_t began_ns_ = 0;           // only on several nodes, like the following
  atomic<std::uint64_t> clock_{nobody};  // whose part it is: the caller's, or of the first to begin
  atomic<std::uint32_t> is_uneven_{0};
};

// A server of a loop on several nodes. Asked again and again whom to help, when its own part is done.
class loop_helper {
 public:
  loop_helper(const loop_work&, loop_parts&, std::uint64_t worker, bool stays) noexcept;
  // Marks the worker's part as begun.
  void begin(const runtime&) noexcept;
  served look() noexcept;  // as loop_ops has it
  void own_part_is_done() noexcept;
  // A worker whose part may have chunks left, or one of these. Blocks for a while if others are not to be helped yet
  // and it stays.
  static constexpr std::uint64_t all_done = ~std::uint64_t{0}, comes_again = all_done - 1, leaves_early = all_done - 2;
  std::uint64_t next() noexcept;
  std::uint64_t comes_again_ns() const { return own_.looks_at_ns; }

 private:
  bool is_to_be_helped(std::uint64_t worker, std::uint64_t now);
  bool is_done_soon(std::uint64_t chunks, std::uint64_t now) const;
  std::uint64_t late_by(std::uint64_t begun) const;
  bool is_early(std::uint64_t now) const;
  std::uint64_t look_ns() const { return loop_.line_ns * parts_.shape.workers; }
  std::uint64_t look_far(std::uint64_t now);
  void wait();

  const loop_work& loop_;
  loop_parts& parts_;
  loop_part::own_notes& own_;
  const std::uint64_t worker_, size_;  // of its own part
  const bool stays_;
  std::uint64_t near_, near_end_;  // workers of its node that it has not looked at yet
  std::uint64_t far_ = 1;          // the same of all, counted from its own
  std::uint32_t left_ = 0;         // chunks, of those that it has looked at; what overflows is no matter
  std::uint64_t begin_ns_ = 0, faults_ = 0;
  bool helped_ = false;
};

// What only the caller of a loop uses, so its lines stay in its cache.
struct loop_of_caller {
  const loop_shape shape;
  chunks_begun begun{shape.chunks};
};

// Runs of chunks of one thread, in a part or by the caller alone. A Work that keeps something from one run to the next
// has a `stretch` of its own, made from it: add(first, last) for each run, then end(), if none has thrown.
template <class Work>
class stretch_of {
 public:
  explicit stretch_of(const Work& work) : work_(work) {}
  void add(std::uint64_t first, std::uint64_t last) const { work_(first, last); }
  void end() const {}

 private:
  const Work& work_;
};
template <class Work>
  requires requires { typename Work::stretch; }
class stretch_of<Work> : public Work::stretch {
 public:
  using Work::stretch::stretch;
};

// Runs work(first, last), or its stretches, for runs of chunks that are each chunk once; `by_chunk`: of one each. Lives
// on the stack of who waits for the loop. From loop_work on it is what servers read, work included, one line after the
// other.
template <class Work, bool by_chunk>
class loop : loop_of_caller, public loop_work {
 public:
  // Others are called at once if there is a chunk for each at most, which may be long.
  loop(runtime& rt, const loop_shape& cut, const char* named, Work w)
      : loop_of_caller{cut},
        loop_work(ops_of_all, named, cut.elements, std::min(cut.workers, cut.chunks),
                  !cut.concurrent && cut.chunks > cut.workers),
        one_by_one_(by_chunk || cut.by_chunk),
        runtime_(rt),
        work_(std::move(w)) {}

  // Throws what scope::wait() throws.
  void run() { run_loop(state_of(runtime_), *this); }

 private:
  using stretch = stretch_of<Work>;

  static std::uint64_t begin_this(loop_work& l, int worker, const loop_habits::way& how) {
    loop& self = static_cast<loop&>(l);
    self.start(worker);
    stretch chunks(self.work_);
    const std::uint64_t ns = how.to_the_end ? self.begin_all(chunks, how.alone_ns) : self.begin_some(chunks, how);
    chunks.end();
    self.count_begun();
    return ns;
  }
  static void finish_this(loop_work& l, int worker) {
    loop& self = static_cast<loop&>(l);
    self.start(worker);
    stretch chunks(self.work_);
    self.finish(chunks);
    chunks.end();
    self.count_begun();
  }
  static void share_this(loop_work& l) noexcept {
    loop& self = static_cast<loop&>(l);
    self.parts_.emplace(self.shape, l, self.begun, l.ops.habits.alone_ns(l.elements));
  }
  static served serve_this(loop_work& l, int worker, bool stays) {
    loop& self = static_cast<loop&>(l);
    const auto w = static_cast<std::uint64_t>(worker);
    if (self.parts_->shape.by_node) return self.serve_by_node(w, stays);
    self.serve_as(w);
    return {.all = true};
  }
  static served look_this(loop_work& l, int worker) noexcept {
    loop& self = static_cast<loop&>(l);
    if (!self.parts_->shape.by_node) return {};
    return loop_helper(l, *self.parts_, static_cast<std::uint64_t>(worker), false).look();
  }
  // Constant: loops may run before main().
  inline static constinit const loop_ops ops_of_all{&begin_this, &finish_this, &share_this, &serve_this, &look_this};

  void start(int worker) {
    if (begun.count() == 0) begun.start_at(shape.part_begin(static_cast<std::uint64_t>(worker)));
  }
  void count_begun() { elements_begun = begun.all() ? elements : begun.count() * shape.grain; }

  // Each run of chunks is some times as long as all before it, but no longer than fits.
  std::uint64_t begin_some(stretch& chunks, const loop_habits::way& how) {
    constexpr std::uint64_t growth = 8;
    const std::uint64_t start = now_ns(), most_ns = how.alone_ns;
    const std::uint64_t least_part = shape.chunks / shape.workers;
    const bool others_have_parts = how.to_learn && shape.by_node;
    const std::uint64_t most = others_have_parts ? std::max(least_part / 2, std::uint64_t{1}) : shape.chunks;
    std::uint64_t ns = 0, run = 1;
    do {
      run_chunks(chunks, begun.take(std::min(run, most - begun.count())));
      run = growth * begun.count();
      ns = now_ns() - start;
      if (ns < most_ns) run = std::min(run, (most_ns - ns) * begun.count() / std::max(ns, std::uint64_t{1}) + 1);
    } while (begun.count() < most && ns < most_ns);
    return ns;
  }
  // The clock is looked at three times, some 30 ns each: at the start, after the first chunk, for loops of one body may
  // be of very different lengths, and after the first few.
  std::uint64_t begin_all(stretch& chunks, std::uint64_t most_ns) {
    constexpr std::uint64_t share_to_look = 16, share_of_time = 4;
    const std::uint64_t start = now_ns();
    std::uint64_t ns = 0;
    for (const std::uint64_t run : {std::uint64_t{1}, shape.chunks / share_to_look}) {
      run_chunks(chunks, begun.take(run));
      ns = now_ns() - start;
      if (ns >= most_ns / share_of_time) return ns;
    }
    while (!begun.all()) run_chunks(chunks, begun.take(shape.chunks));
    return ns;
  }
  void finish(stretch& chunks) {
    constexpr std::uint64_t share_of_rest = 4;  // between two looks whether the loop is left early
    while (!begun.all())
      run_chunks(chunks, begun.take(std::max((shape.chunks - begun.count()) / share_of_rest, std::uint64_t{1})));
  }
  void serve_as(std::uint64_t worker) {
    for (std::uint64_t w = worker; w < parts_->shape.workers; w++) run_part(w);
    for (std::uint64_t w = 0; w < worker; w++) run_part(w);
  }
  served serve_by_node(std::uint64_t worker, bool stays) {
    loop_helper helper(*this, *parts_, worker, stays);
    helper.begin(runtime_);
    run_part(worker);
    helper.own_part_is_done();
    for (;;) {
      const std::uint64_t other = helper.next();
      if (other == loop_helper::leaves_early) throw_left_early();
      if (other == loop_helper::all_done) return {.all = true};
      if (other == loop_helper::comes_again) return {.comes_again_ns = helper.comes_again_ns()};
      run_part(other);
    }
  }

  void run_part(std::uint64_t worker) {
    const loop_parts::extent e = parts_->extent_of(worker);
    std::uint64_t most = parts_->shape.first_run();
    stretch chunks(work_);
    for (auto t = parts_->take(worker, e, most); t.any(); t = parts_->take(worker, e, most)) {
      run_chunks(chunks, t);
      most = std::min(2 * most, parts_->shape.chunks);  // a part may be taken in more steps than a word has bits
    }
    chunks.end();
  }
  void run_chunks(stretch& chunks, const chunks_taken& t) {
    if (by_chunk || one_by_one_) {
      for (std::uint64_t c = t.first; c < t.last; c++) {
        look();
        chunks.add(c, c + 1);
      }
    } else {
      look();
      chunks.add(t.first, t.last);
    }
  }
  void look() const {
    if (!loop_goes_on()) [[unlikely]] throw_left_early();
  }
  // If it was a body that threw, that came first and counts.
  [[noreturn, gnu::noinline]] void throw_left_early() const {
    throw task_cancelled(std::string(name) +
                         " was left early: the scope of the task that called it has ended early");
  }

  const bool one_by_one_;
  std::optional<loop_parts> parts_;  // once it is shared
  runtime& runtime_;
  const Work work_;
};

}  // namespace weir::detail
