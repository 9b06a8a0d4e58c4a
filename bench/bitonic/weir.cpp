// bitonic under weir.
//
// Every task but the first on each block has balanced dependences: it reads one or two blocks and writes as many. The
// number of blocks is rounded up to a power of two; what is missing is filled with the largest value, which a sort
// leaves at the end.
//
// Where loading and storing belong to it, the first and the last task on each block copy it from an interleaved array
// and to another.
//
// The shared variant works in place on an interleaved array; each block has an empty datum, which every task that
// touches the block updates.
#include <bench/bitonic/input.hpp>
#include <bench/bitonic/tile.hpp>
#include <bench/common/check.hpp>
#include <bench/common/control.hpp>
#include <bench/common/creator_nodes.hpp>
#include <bench/common/interleaved_array.hpp>
#include <bench/common/page_check.hpp>
#include <bench/common/registry.hpp>

#include <bit>
#include <limits>
#include <optional>

namespace weir::bench {
namespace {

using namespace sorting;
using block_span = std::span<std::uint64_t>;

constexpr task_options named_load{.name = "load"}, named_store{.name = "store"};
constexpr task_options named_fill{.name = "fill"}, named_sort{.name = "sort"}, named_exchange{.name = "exchange"}, named_merge{.name = "merge"};
task_options fill_on(placement where) { return {.name = named_fill.name, .affinity = where}; }

struct plan {
  std::size_t elements, block;
  std::uint64_t seed;

  explicit plan(const configuration& c) : elements(c.size[0]), block(c.block[0]), seed(c.seed) {}
  static std::size_t blocks_of(std::size_t elements, std::size_t block) { return std::bit_ceil((elements - 1) / block + 1); }
  std::size_t blocks() const { return blocks_of(elements, block); }

  void fill(std::size_t b, block_span values) const {
    for (std::size_t i = 0; i < block; i++) {
      const std::size_t index = b * block + i;
      values[i] = index < elements ? input_value(seed, index) : std::numeric_limits<std::uint64_t>::max();
    }
  }
};

class private_tasks {
 public:
  private_tasks(runtime& rt, const plan& p, page_checker* pages) : rt_(rt), plan_(p), pages_(pages) {
    for (std::size_t b = 0; b < p.blocks(); b++) x_.push_back(rt.make_data<std::uint64_t>(p.block, "block"));
  }
  void fill(std::size_t b, placement where) {
    rt_.spawn(fill_on(where), out(x_[b]), [this, b](block_span next) {
      plan_.fill(b, next);
      written(pages_, next);
    });
  }
  // What is loaded, and room for what is stored.
  void fill_global() {
    for (auto* all : {&before_, &after_}) *all = interleaved_array<std::uint64_t>(plan_.blocks() * plan_.block);
    for (std::size_t b = 0; b < plan_.blocks(); b++)
      rt_.spawn(named_fill, [this, b] { plan_.fill(b, block(before_, b)); });
    rt_.wait();
  }
  void load(std::size_t b) {
    rt_.spawn(named_load, out(x_[b]), [this, b](block_span next) {
      std::ranges::copy(block(before_, b), next.begin());
      written(pages_, next);
    });
  }
  void store(std::size_t b) {
    rt_.spawn(named_store, in(x_[b]),
              [this, b](auto values) { std::ranges::copy(values, block(after_, b).begin()); });
  }
  void sort(std::size_t b) {
    rt_.spawn(named_sort, in(x_[b]), out(x_[b]), [this, b](auto old, block_span next) {
      std::ranges::copy(old, next.begin());
      sort_block(next, order_of(b, 1));
      written(pages_, next);
    });
  }
  void exchange(std::size_t a, std::size_t b, order o) {
    rt_.spawn(named_exchange, in(x_[a]), in(x_[b]), out(x_[a]), out(x_[b]), [this, o](auto old_a, auto old_b, block_span next_a, block_span next_b) {
      sorting::exchange(old_a, old_b, next_a, next_b, o);
      written(pages_, next_a);
      written(pages_, next_b);
    });
  }
  void merge(std::size_t b, order o) {
    rt_.spawn(named_merge, in(x_[b]), out(x_[b]), [this, o](auto old, block_span next) {
      merge_block(old, next, o);
      written(pages_, next);
    });
  }
  void collect(std::vector<std::uint64_t>& result) const {
    if (after_.size() != 0) {
      result.assign(after_.span().begin(), after_.span().end());
      return;
    }
    for (const auto& datum : x_) {
      const auto block = datum.read();
      result.insert(result.end(), block.begin(), block.end());
    }
  }

 private:
  block_span block(interleaved_array<std::uint64_t>& all, std::size_t b) {
    return all.span().subspan(b * plan_.block, plan_.block);
  }

  runtime& rt_;
  plan plan_;
  page_checker* pages_;
  interleaved_array<std::uint64_t> before_, after_;
  std::vector<data<std::uint64_t>> x_;
};

class shared_tasks {
 public:
  shared_tasks(runtime& rt, const plan& p, page_checker*) : rt_(rt), plan_(p), x_(p.blocks() * p.block) {
    for (std::size_t b = 0; b < p.blocks(); b++) tokens_.push_back(rt.make_data<char>(0, "block token"));
  }
  void fill(std::size_t b, placement where) {
    rt_.spawn(fill_on(where), out(tokens_[b]), [this, b](auto) { plan_.fill(b, block(b)); });
  }
  void sort(std::size_t b) {
    rt_.spawn(named_sort, inout(tokens_[b]), [this, b](auto) { sort_block(block(b), order_of(b, 1)); });
  }
  void exchange(std::size_t a, std::size_t b, order o) {
    rt_.spawn(named_exchange, inout(tokens_[a]), inout(tokens_[b]), [this, a, b, o](auto, auto) { sorting::exchange(block(a), block(b), block(a), block(b), o); });
  }
  void merge(std::size_t b, order o) {
    rt_.spawn(named_merge, inout(tokens_[b]), [this, b, o](auto) {
      const block_span x = block(b);
      const std::vector<std::uint64_t> old(x.begin(), x.end());
      merge_block(old, x, o);
    });
  }
  void collect(std::vector<std::uint64_t>& result) const { result.assign(x_.span().begin(), x_.span().end()); }

 private:
  block_span block(std::size_t b) { return x_.span().subspan(b * plan_.block, plan_.block); }

  runtime& rt_;
  plan plan_;
  interleaved_array<std::uint64_t> x_;
  std::vector<data<char>> tokens_;
};

template <class Tasks>
class program final : public instance {
 public:
  explicit program(const configuration& c) : options_(c), plan_(c) {}

  void prepare(runtime& rt) override {
    tasks_ = std::make_unique<Tasks>(rt, plan_, options_.pages);
    creators_.emplace(rt, chunks(rt).chunks, options_);
    if constexpr (can_load_and_store)
      if (loads_and_stores()) return tasks_->fill_global();
    const auto fill = [&](std::size_t first, std::size_t last, placement where = {}) {
      for (std::size_t b = first; b < last; b++) tasks_->fill(b, where);
    };
    if (options_.parallel_control) fill_on_nodes(rt, chunks(rt), *creators_, fill);
    else fill_by_chunks(rt, chunking::of(plan_.blocks(), 1, rt.workers()), fill);
  }

  void run(runtime& rt) override {
    if (options_.parallel_control)
      rt.run([&] { create_by_chunks(rt); });
    else
      rt.run([&] { create_all(); });
    rt.wait();
  }

  void collect(runtime&) override {
    tasks_->collect(result_);
    result_.resize(plan_.elements);
  }

  verification verify(const std::any& expected) const override {
    const auto& e = std::any_cast<const std::vector<std::uint64_t>&>(expected);
    verification v{.passed = result_ == e, .what = "sorted numbers with those of the sequential sort"};
    for (std::size_t i = 0; i < std::min(e.size(), result_.size()); i++)
      v.largest_difference = std::max(v.largest_difference, static_cast<double>(std::max(e[i], result_[i]) - std::min(e[i], result_[i])));
    return v;
  }

  std::uint64_t live_bytes() const override { return plan_.blocks() * plan_.block * sizeof(std::uint64_t); }

 private:
  static constexpr bool can_load_and_store = std::is_same_v<Tasks, private_tasks>;
  bool loads_and_stores() const { return can_load_and_store && options_.load_store; }

  // Blocks [first, last) at one step of the network; pairs are created with their lower block.
  void create_exchanges(std::size_t stage, std::size_t distance, std::size_t first, std::size_t last) {
    for (std::size_t b = first; b < last; b++)
      if (!(b & distance)) tasks_->exchange(b, b + distance, order_of(b, stage));
  }
  void create_sorts(std::size_t first, std::size_t last) {
    for (std::size_t b = first; b < last; b++) {
      if constexpr (can_load_and_store)
        if (loads_and_stores()) tasks_->load(b);
      tasks_->sort(b);
    }
  }
  void create_stores(std::size_t first, std::size_t last) {
    if constexpr (can_load_and_store)
      for (std::size_t b = first; b < last; b++) tasks_->store(b);
  }
  // The end of a stage, from this distance on: blocks in one run of 2 * distance need no other block any more.
  void create_rest(std::size_t stage, std::size_t distance, std::size_t first, std::size_t last) {
    for (; distance > 0; distance /= 2) create_exchanges(stage, distance, first, last);
    for (std::size_t b = first; b < last; b++) tasks_->merge(b, order_of(b, stage));
  }

  void create_all() {
    const std::size_t n = plan_.blocks();
    create_sorts(0, n);
    for (std::size_t stage = 2; stage <= n; stage *= 2) create_rest(stage, stage / 2, 0, n);
    if (loads_and_stores()) create_stores(0, n);
  }

  // Two a worker, or more: a power of two, and so many blocks each.
  chunking chunks(runtime& rt) const {
    const std::size_t n = plan_.blocks();
    return {n, 1, std::min(n, std::bit_ceil(2 * static_cast<std::size_t>(rt.workers())))};
  }
  task_options control(std::size_t chunk, int step) const {
    return {.name = "control", .priority = priority::high, .affinity = creators_->of(chunk, step)};
  }
  // Steps between chunks have a control task for each pair of chunks, at the first one of it, what happens inside a chunk
  // has one for the chunk. Empty data, one a chunk, keep them in order as blocks keep the tasks.
  void create_by_chunks(runtime& rt) {
    const std::size_t n = plan_.blocks(), chunks = this->chunks(rt).chunks, length = n / chunks;
    int step = 0;
    std::vector<data<char>> created;
    for (std::size_t c = 0; c < chunks; c++) created.push_back(rt.make_data<char>(std::span<const char>{}, "created"));
    for (std::size_t c = 0; c < chunks; c++)
      rt.spawn(control(c, step), inout(created[c]),
               [this, c, length](auto) { create_sorts(c * length, (c + 1) * length); });
    for (std::size_t stage = 2; stage <= n; stage *= 2) {
      std::size_t distance = stage / 2;
      for (; distance >= length; distance /= 2) {
        step++;
        for (std::size_t c = 0; c < chunks; c++) {
          const std::size_t first = c * length;
          if (first & distance) continue;
          rt.spawn(control(c, step), inout(created[c]), inout(created[c + distance / length]), [this, stage, distance, first, length](auto, auto) { create_exchanges(stage, distance, first, first + length); });
        }
      }
      step++;
      for (std::size_t c = 0; c < chunks; c++)
        rt.spawn(control(c, step), inout(created[c]), [this, stage, distance, c, length](auto) { create_rest(stage, distance, c * length, (c + 1) * length); });
    }
    if (!loads_and_stores()) return;
    for (std::size_t c = 0; c < chunks; c++)
      rt.spawn(control(c, step + 1), inout(created[c]),
               [this, c, length](auto) { create_stores(c * length, (c + 1) * length); });
  }

  configuration options_;
  plan plan_;
  std::unique_ptr<Tasks> tasks_;
  std::optional<creator_nodes> creators_;
  std::vector<std::uint64_t> result_;
};

void complete(configuration& c) {
  if (c.size.size() != 1 || c.block.size() != 1 || c.size[0] == 0 || c.block[0] == 0) return;  // refused by check_configuration()
  constexpr std::size_t max_elements = std::size_t{1} << 60;                                   // 2^60 numbers are 8 EiB, and bit_ceil cannot overflow
  if (c.size[0] > max_elements || c.block[0] > max_elements) throw input_error("bitonic: --size and --block: more than 2^60 numbers cannot be sorted");
}

// Every block, the version being written, and what it is loaded from and stored to, padding included; the sequential
// program's numbers and the two results.
std::uint64_t memory_bytes(const configuration& c) {
  const std::uint64_t padded = saturating_multiply(plan::blocks_of(c.size[0], c.block[0]), c.block[0]);
  return saturating_add(saturating_multiply(padded, 5 * sizeof(std::uint64_t)),
                        saturating_multiply(c.size[0], 2 * sizeof(std::uint64_t)));
}

}  // namespace

kernel bitonic() {
  kernel k;
  k.name = "bitonic";
  k.description = "bitonic sort of 64-bit integers; the number of blocks is padded to a power of two";
  k.size_meaning = k.block_meaning = "ELEMENTS";
  k.uses = {.parallel_control = true, .creators = true, .shared = true, .load_store = true};
  k.defaults.size = {std::size_t{1} << 20};
  k.defaults.block = {std::size_t{1} << 14};
  k.complete = complete;
  k.memory_bytes = memory_bytes;
  k.solve = solve_bitonic;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> {
    if (c.data_in == storage::shared) return std::make_unique<program<shared_tasks>>(c);
    return std::make_unique<program<private_tasks>>(c);
  };
  return k;
}

}  // namespace weir::bench
