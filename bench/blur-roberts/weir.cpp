// blur-roberts under weir: a short pipeline. Every block of the image is blurred with a halo from its eight neighbours,
// and the edges of a blurred block need the neighbours to the east and south and the corner between them.
//
// Where loading and storing belong to it, they are its first and its last stage.
//
// In own memory blocks have the layout that they have as data, and lie one after the other in an array per stage.
#include <bench/blur-roberts/picture.hpp>
#include <bench/blur-roberts/tile.hpp>
#include <bench/common/check.hpp>
#include <bench/common/control.hpp>
#include <bench/common/parallel_control.hpp>
#include <bench/common/interleaved_array.hpp>
#include <bench/common/own_array.hpp>
#include <bench/common/page_check.hpp>
#include <bench/common/registry.hpp>
#include <bench/common/io/png.hpp>
#include <bench/common/stencil/blocks.hpp>
#include <bench/common/verify.hpp>

#include <optional>

namespace weir::bench {
namespace {

using stencil::block_grid;
using stencil::block_layout;
using stencil::extent;
using stencil::side;

// Lines of a block whose surroundings are given as halos. An empty halo means that the image ends there.
struct block_lines {
  std::span<const double> block, north, west, east, south;
  double north_west = 0, north_east = 0, south_west = 0, south_east = 0;
  std::size_t rows, columns;

  pixel_line operator()(std::ptrdiff_t r) const {
    const auto last = static_cast<std::ptrdiff_t>(rows) - 1;
    if (r < 0 && !north.empty()) return line(north.data(), north_west, north_east);
    if (r > last && !south.empty()) return line(south.data(), south_west, south_east);
    const auto at = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(r, 0, last));
    return line(block.data() + at * columns, west.empty() ? 0 : west[at], east.empty() ? 0 : east[at]);
  }
  pixel_line line(const double* first, double beside_west, double beside_east) const {
    return {first, west.empty() ? first[0] : beside_west, east.empty() ? first[columns - 1] : beside_east};
  }
};

double corner(std::span<const double> one_or_none) { return one_or_none.empty() ? 0 : one_or_none[0]; }

class program final : public instance {
 public:
  explicit program(const configuration& c) : options_(c), grid_(extent::of(c.size), extent::of(c.block)) {}

  void prepare(runtime& rt) override;
  void run(runtime& rt) override {
    const auto create = [&](int stage, std::size_t first, std::size_t last) {
      for (std::size_t b = first; b < last; b++) spawn_stage(rt, stage, b);
    };
    const int stages = options_.load_store ? 4 : 2;
    if (control_)
      control_->run(rt, stages, creation_order::old_neighbours, create,
                    [this](std::size_t chunk) { return place_of(chunk); });
    else
      run_sequential_control(rt, stages, grid_.count(), create);
  }
  void collect(runtime&) override;
  verification verify(const std::any& expected) const override { return compare_bits(result_, std::any_cast<const std::vector<double>&>(expected)); }
  void write_output() const override { write_png(options_.output, grid_.size.columns, grid_.size.rows, result_); }
  std::uint64_t live_bytes() const override { return grid_.size.elements() * sizeof(double); }

 private:
  void make_data(runtime&, std::size_t first, std::size_t last);
  void make_chunk(runtime&, std::size_t chunk);
  placement place_of(std::size_t chunk) const;
  void allocate_own();
  void spawn_own_fill(runtime& rt, std::size_t b, placement where);
  void spawn_stage(runtime& rt, int stage, std::size_t b) {
    if (!options_.load_store) return spawn(rt, stage, b);
    if (stage == 1) return spawn_load(rt, b);
    if (stage == 4) return spawn_store(rt, b);
    spawn(rt, stage - 1, b);
  }
  void spawn_load(runtime& rt, std::size_t b);
  void spawn_store(runtime& rt, std::size_t b);
  // Of what is computed: 1 or 2.
  void spawn(runtime& rt, int stage, std::size_t b) {
    switch (options_.data_in) {
      case storage::versions:
        stage == 1 ? spawn_blur(rt, b, image_, blurred_) : spawn_roberts(rt, b, blurred_, edges_);
        break;
      case storage::shared: spawn_shared(rt, stage, b); break;
      case storage::own:
        stage == 1 ? spawn_blur(rt, b, own_image_, own_blurred_) : spawn_roberts(rt, b, own_blurred_, own_edges_);
        break;
    }
  }
  // Blocks are data or own memory.
  template <class Blocks>
  void spawn_blur(runtime& rt, std::size_t b, const Blocks& image, const Blocks& blurred);
  template <class Blocks>
  void spawn_roberts(runtime& rt, std::size_t b, const Blocks& blurred, const Blocks& edges);
  void spawn_shared(runtime& rt, int stage, std::size_t b);

  // The neighbour's side that touches block b, or its pixel at the corner between two sides; nothing where the image ends.
  template <class Blocks>
  auto halo(const Blocks& x, std::size_t b, side s) const {
    if (!grid_.has_neighbour(b, s)) return in(bench::part(x[b], 0, 0));
    const std::size_t n = grid_.neighbour(b, s);
    const auto touching = block_layout<2>{grid_.shape(n)}.of(opposite(s));
    return in(bench::part(x[n], touching.offset, touching.count));
  }
  template <class Blocks>
  auto halo(const Blocks& x, std::size_t b, side vertical, side horizontal) const {
    if (!grid_.has_neighbour(b, vertical) || !grid_.has_neighbour(b, horizontal)) return in(bench::part(x[b], 0, 0));
    const std::size_t n = grid_.neighbour(grid_.neighbour(b, vertical), horizontal);
    const extent s = grid_.shape(n);
    const std::size_t row = vertical == side::north ? s.rows - 1 : 0, column = horizontal == side::west ? s.columns - 1 : 0;
    return in(bench::part(x[n], row * s.columns + column, 1));
  }
  std::size_t pixels(std::size_t b) const { return grid_.shape(b).elements(); }
  // Numbers that a block has: pixels, and the columns that neighbours read.
  std::size_t image_elements(std::size_t b) const { return block_layout<2>{grid_.shape(b)}.size(); }
  std::size_t blurred_elements(std::size_t b) const { return pixels(b) + grid_.shape(b).rows; }
  void copy_out(std::size_t b, std::span<const double> edges, double* to);
  tiling tiles(runtime& rt) const {
    constexpr std::size_t element = sizeof(double);
    return tiling::compact(grid_.blocks.rows, grid_.blocks.columns, 1, rt.workers(), grid_.block.columns * element, grid_.block.rows * element);
  }
  image_part part(const interleaved_array<double>& whole, std::size_t b) const {
    const extent o = grid_.origin(b);
    return {whole.data(), grid_.size.rows, grid_.size.columns, o.rows, o.columns, grid_.shape(b).columns};
  }
  double* first_pixel(interleaved_array<double>& whole, std::size_t b) { return whole.data() + grid_.index(grid_.origin(b), 0, 0); }
  void paint_all(runtime& rt);
  void load_block(std::size_t b, std::span<double> block) const;

  configuration options_;
  block_grid grid_;
  std::vector<data<double>> image_, blurred_, edges_;   // blocks; halo columns packed behind the pixels
  interleaved_array<double> whole_image_;               // the user's; shared variant: also what the bodies read
  interleaved_array<double> whole_blurred_, whole_edges_;  // shared variant; the latter also what is stored to
  own_blocks<double> own_image_, own_blurred_, own_edges_;
  std::vector<data<char>> blurred_token_, edges_token_;  // shared variant
  std::optional<parallel_control> control_;
  std::vector<double> result_;
};

void program::paint_all(runtime& rt) {
  whole_image_ = interleaved_array<double>(grid_.size.elements());
  const auto lines = chunking::of(grid_.size.rows, 1, rt.workers());
  rt.run([&] {
    for (std::size_t c = 0; c < lines.chunks; c++) rt.spawn([&, c] { paint(options_, lines.first_block(c), lines.first_block(c + 1), whole_image_.span()); });
  });
  rt.wait();
}

void program::prepare(runtime& rt) {
  paint_all(rt);
  if (options_.data_in == storage::shared) {
    whole_blurred_ = interleaved_array<double>(grid_.size.elements());
    whole_edges_ = interleaved_array<double>(grid_.size.elements());
    for (auto* tokens : {&blurred_token_, &edges_token_}) tokens->resize(grid_.count());
    make_data(rt, 0, grid_.count());
    if (options_.parallel_control) control_.emplace(rt, tiles(rt), options_);
    return;
  }
  if (options_.data_in == storage::own) allocate_own();
  else
    for (auto* blocks : {&image_, &blurred_, &edges_}) blocks->resize(grid_.count());
  if (options_.load_store) whole_edges_ = interleaved_array<double>(grid_.size.elements());
  if (options_.parallel_control) {
    control_.emplace(rt, tiles(rt), options_);
    control_->make_chunks(rt, [&](std::size_t chunk) { make_chunk(rt, chunk); });
  } else if (options_.data_in == storage::own) {
    const auto lines = chunking::of(grid_.blocks.rows, grid_.blocks.columns, rt.workers());
    fill_by_chunks(rt, lines, [&](std::size_t first, std::size_t last) {
      for (std::size_t b = first; b < last; b++) spawn_own_fill(rt, b, {});
    });
  } else {
    make_data(rt, 0, grid_.count());
    if (options_.load_store) return;
    fill_by_shares(rt, std::span<const data<double>>(image_), [this](std::size_t b, std::span<double> block) { load_block(b, block); });
  }
  if (!options_.load_store) whole_image_ = {};
}

void program::allocate_own() {
  own_image_ = own_blocks<double>(grid_.count(), [this](std::size_t b) { return image_elements(b); });
  own_blurred_ = own_blocks<double>(grid_.count(), [this](std::size_t b) { return blurred_elements(b); });
  own_edges_ = own_blocks<double>(grid_.count(), [this](std::size_t b) { return pixels(b); });
}

// Also what comes of the block later, so that all of it comes to lie together.
void program::spawn_own_fill(runtime& rt, std::size_t b, placement where) {
  rt.spawn({.name = "fill", .affinity = where}, out(whole(own_image_[b])), out(whole(own_blurred_[b])),
           out(whole(own_edges_[b])), [this, b](auto image, auto blurred, auto edges) {
             load_block(b, image);
             std::ranges::fill(blurred, 0.0);
             std::ranges::fill(edges, 0.0);
           });
}

void program::make_chunk(runtime& rt, std::size_t chunk) {
  if (options_.data_in == storage::own)
    return control_->chunks().for_each_run(chunk, [&](std::size_t first, std::size_t last) {
      for (std::size_t b = first; b < last; b++) spawn_own_fill(rt, b, control_->filled_on(chunk));
    });
  std::vector<std::size_t> numbers;
  std::vector<data<double>> filled;
  control_->chunks().for_each_run(chunk, [&](std::size_t first, std::size_t last) {
    make_data(rt, first, last);
    for (std::size_t b = first; b < last; b++) {
      numbers.push_back(b);
      filled.push_back(image_[b]);
    }
  });
  if (options_.load_store) return;
  const auto fill = [this, numbers](std::size_t i, std::span<double> block) { load_block(numbers[i], block); };
  fill_by_parts(rt, std::span<const data<double>>(filled), fill, control_->filled_on(chunk));
}

// Shared arrays are near nobody. Nobody can be near own memory, but a chunk of it was filled on one node. What is still
// to be loaded lies nowhere.
placement program::place_of(std::size_t chunk) const {
  if (options_.data_in != storage::versions || options_.load_store) return prefer(control_->node_of(chunk));
  return near(image_[control_->chunks().first_block(chunk)]);
}

void program::make_data(runtime& rt, std::size_t first, std::size_t last) {
  for (std::size_t b = first; b < last; b++) {
    if (options_.data_in == storage::shared) {
      blurred_token_[b] = rt.make_data<char>(0, "blurred token");
      edges_token_[b] = rt.make_data<char>(0, "edges token");
    } else {
      image_[b] = rt.make_data<double>(image_elements(b), "image");
      blurred_[b] = rt.make_data<double>(blurred_elements(b), "blurred");
      edges_[b] = rt.make_data<double>(pixels(b), "edges");
    }
  }
}

void program::load_block(std::size_t b, std::span<double> block) const {
  const extent s = grid_.shape(b);
  double *west = block.data() + s.elements(), *east = west + s.rows;
  for (std::size_t r = 0; r < s.rows; r++) {
    double* line = block.data() + r * s.columns;
    std::copy_n(whole_image_.data() + grid_.index(grid_.origin(b), 0, r), s.columns, line);
    west[r] = line[0], east[r] = line[s.columns - 1];
  }
  written(options_.pages, block);
}

void program::spawn_load(runtime& rt, std::size_t b) {
  static constexpr task_options named{.name = "load"};
  rt.spawn(named, out(image_[b]), [this, b](std::span<double> block) { load_block(b, block); });
}

void program::spawn_store(runtime& rt, std::size_t b) {
  static constexpr task_options named{.name = "store"};
  rt.spawn(named, in(edges_[b]), [this, b](auto edges) { copy_out(b, edges, whole_edges_.data()); });
}

template <class Blocks>
void program::spawn_blur(runtime& rt, std::size_t b, const Blocks& x, const Blocks& blurred_blocks) {
  static constexpr task_options named{.name = "blur"};
  rt.spawn(named, in(bench::part(x[b], 0, pixels(b))), halo(x, b, side::north), halo(x, b, side::west),
           halo(x, b, side::east), halo(x, b, side::south), halo(x, b, side::north, side::west),
           halo(x, b, side::north, side::east), halo(x, b, side::south, side::west),
           halo(x, b, side::south, side::east), out(whole(blurred_blocks[b])),
           [this, b](auto pixels, auto north, auto west, auto east, auto south, auto north_west, auto north_east, auto south_west, auto south_east, auto blurred) {
             const extent s = grid_.shape(b);
             const block_lines lines{pixels, north, west, east, south, corner(north_west), corner(north_east), corner(south_west), corner(south_east), s.rows, s.columns};
             blur_tile(lines, s.rows, s.columns, blurred.data(), s.columns);
             double* first_column = blurred.data() + s.elements();  // what the neighbour to the west will read
             for (std::size_t r = 0; r < s.rows; r++) first_column[r] = blurred[r * s.columns];
             written(options_.pages, blurred);
           });
}

template <class Blocks>
void program::spawn_roberts(runtime& rt, std::size_t b, const Blocks& x, const Blocks& edge_blocks) {
  static constexpr task_options named{.name = "roberts"};
  rt.spawn(named, in(bench::part(x[b], 0, pixels(b))), halo(x, b, side::east), halo(x, b, side::south),
           halo(x, b, side::south, side::east), out(whole(edge_blocks[b])),
           [this, b](auto pixels, auto east, auto south, auto south_east, auto edges) {
             const extent s = grid_.shape(b);
             const block_lines lines{.block = pixels, .east = east, .south = south, .south_east = corner(south_east), .rows = s.rows, .columns = s.columns};
             roberts_tile(lines, s.rows, s.columns, edges.data(), s.columns);
             written(options_.pages, edges);
           });
}

void program::spawn_shared(runtime& rt, int stage, std::size_t b) {
  static constexpr task_options blur{.name = "blur"}, roberts{.name = "roberts"};
  const extent s = grid_.shape(b);
  if (stage == 1) {
    rt.spawn(blur, out(blurred_token_[b]), [this, b, s](auto) { blur_tile(part(whole_image_, b), s.rows, s.columns, first_pixel(whole_blurred_, b), grid_.size.columns); });
    return;
  }
  const auto token = [&](std::size_t from, side to) { return grid_.has_neighbour(from, to) ? grid_.neighbour(from, to) : from; };
  const auto& x = blurred_token_;
  const std::size_t east = token(b, side::east), south = token(b, side::south), south_east = token(south, side::east);
  rt.spawn(roberts, in(x[b]), in(x[east]), in(x[south]), in(x[south_east]), out(edges_token_[b]),
           [this, b, s](auto...) { roberts_tile(part(whole_blurred_, b), s.rows, s.columns, first_pixel(whole_edges_, b), grid_.size.columns); });
}

void program::collect(runtime&) {
  if (options_.data_in == storage::shared || options_.load_store) {
    result_.assign(whole_edges_.data(), whole_edges_.data() + whole_edges_.size());
    return;
  }
  result_.resize(grid_.size.elements());
  for (std::size_t b = 0; b < grid_.count(); b++) {
    if (options_.data_in == storage::own) {
      copy_out(b, own_edges_[b], result_.data());
    } else {
      const auto edges = edges_[b].read();
      copy_out(b, edges, result_.data());
    }
  }
}

void program::copy_out(std::size_t b, std::span<const double> edges, double* to) {
  const extent s = grid_.shape(b);
  for (std::size_t r = 0; r < s.rows; r++)
    std::copy_n(edges.data() + r * s.columns, s.columns, to + grid_.index(grid_.origin(b), 0, r));
}

// The picture, three stages, what they are stored to, and for the sequential program the picture and two results.
std::uint64_t memory_bytes(const configuration& c) { return saturating_product(c.size, 8 * sizeof(double)); }

}  // namespace

kernel blur_roberts() {
  kernel k;
  k.name = "blur-roberts";
  k.description = "Gaussian blur, then Roberts cross edge detection, of a grey image; a PNG or made up";
  k.size_meaning = k.block_meaning = "ROWSxCOLUMNS";
  k.uses = {.parallel_control = true,
            .creators = true,
            .shared = true,
            .own = true,
            .load_store = true,
            .input = true,
            .output = true};
  k.defaults.size = {2048, 2048};
  k.defaults.block = {64, 256};
  k.complete = load_picture;
  k.memory_bytes = memory_bytes;
  k.solve = solve_blur_roberts;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> { return std::make_unique<program>(c); };
  return k;
}

}  // namespace weir::bench
