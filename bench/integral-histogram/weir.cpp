// integral-histogram under weir: two tasks a tile. What goes from tile to tile is the last column and the last row.
#include <bench/blur-roberts/picture.hpp>
#include <bench/common/check.hpp>
#include <bench/common/own_program.hpp>
#include <bench/common/page_check.hpp>
#include <bench/common/registry.hpp>
#include <bench/integral-histogram/histogram.hpp>

#include <limits>
#include <optional>

namespace weir::bench {
namespace {

class program final : public own_program {
 public:
  using own_program::own_program;

  verification verify(const std::any& expected) const override { return x_->verify(expected); }
  std::uint64_t live_bytes() const override {
    std::uint64_t sum = 0;
    for (const auto array : x_->memory()) sum += array.size();
    return sum;
  }

 private:
  void allocate() override { x_.emplace(options()); }
  std::size_t parts() const override { return x_->parts(); }
  void fill(std::size_t b) override { x_->fill(b); }
  void spawn_fill(runtime& rt, std::size_t b) override {
    const task_options named = named_fill(x_->grid().position(b).rows, x_->grid().blocks.rows);
    rt.spawn(named, out(ref(x_->image(b))), out(ref(x_->counts(b))), out(ref(x_->last_column(b))),
             out(ref(x_->last_row(b))), [this, b](auto...) { fill(b); });
  }
  int steps() const override { return options().iterations; }
  void create(runtime& rt, int) override {
    for (std::size_t b = 0; b < parts(); b++)
      rt.spawn(named_tile("rows", b), in(ref(x_->image(b))), in(ref(x_->west_of(b))), out(ref(x_->counts(b))),
               out(ref(x_->last_column(b))), [this, b](auto...) {
                 x_->scan_rows(b);
                 written(pages(), x_->counts(b));
               });
    for (std::size_t b = 0; b < parts(); b++)
      rt.spawn(named_tile("columns", b), in(ref(x_->north_of(b))), inout(ref(x_->counts(b))),
               out(ref(x_->last_row(b))), [this, b](auto...) { x_->scan_columns(b); });
  }
  // By hand every worker gets neighbouring rows of tiles: the scan along a row stays on its node.
  task_options named_tile(const char* name, std::size_t b) const {
    return named(name, x_->grid().position(b).rows, x_->grid().blocks.rows);
  }

  std::optional<integral_histogram::tiles> x_;
};

void complete(configuration& c) {
  load_picture(c);
  if (saturating_product(c.size, 1) > std::numeric_limits<integral_histogram::count>::max())
    throw input_error("integral-histogram: --size " + format_size(c.size) + " has more pixels than 32 bits can count");
}

// Of every pixel the picture, twice, and its counts, for the sequential program also.
std::uint64_t memory_bytes(const configuration& c) {
  const std::uint64_t counts = saturating_multiply(3 * sizeof(integral_histogram::count), c.bins);
  return saturating_product(c.size, saturating_add(counts, 2 * sizeof(double) + 2 * sizeof(float)));
}

}  // namespace

kernel integral_histogram_kernel() {
  kernel k;
  k.name = "integral-histogram";
  k.description = "integral histogram of a grey image, cross-weave scan; a PNG or made up";
  k.size_meaning = k.block_meaning = "ROWSxCOLUMNS";
  k.uses = own_program_uses();
  k.uses.iterations = k.uses.bins = k.uses.input = true;
  k.defaults.size = {1024, 1024};
  k.defaults.block = {64, 64};
  k.defaults.iterations = 4;
  k.defaults.bins = 16;
  k.defaults.init = first_touch::tasks;
  k.complete = complete;
  k.memory_bytes = memory_bytes;
  k.solve = solve_integral_histogram;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> { return std::make_unique<program>(c); };
  return k;
}

}  // namespace weir::bench
