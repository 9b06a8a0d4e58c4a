// What the six stencil kernels share: blocks, data, initial values, control, result and verification. The tasks
// themselves are in bench/KERNEL/weir.cpp.
#pragma once

#include <bench/common/control.hpp>
#include <bench/common/hand_placement.hpp>
#include <bench/common/interleaved_array.hpp>
#include <bench/common/kernel.hpp>
#include <bench/common/own_array.hpp>
#include <bench/common/parallel_control.hpp>
#include <bench/common/page_check.hpp>
#include <bench/common/stencil/block_tile.hpp>
#include <bench/common/stencil/global_arrays.hpp>
#include <bench/common/stencil/own_matrix.hpp>
#include <bench/common/task_names.hpp>

#include <optional>
#include <vector>

namespace weir::bench::stencil {

// Private variant: one datum a block, a version per iteration. Jacobi alternates between two data per block, because a
// task reads its neighbours' previous iteration while others of the current one may already be announced. Where loading
// and storing belong to it, a task a block does each, created as the first and after the last iteration.
//
// Shared variant: two global arrays (Gauss-Seidel: one) interleaved over the nodes; empty data in the same pattern
// carry the dependences.
//
// Own memory, in two dimensions: a row-major matrix (Jacobi: two). A block is a tile of it, or, where blocks are as
// wide as the matrix, its rows. In one and three dimensions: the blocks of the private variant, with the same layout,
// one after the other in an ordinary array (Jacobi: two), of which tasks name the same parts.
template <int Dimensions, method Method>
class program : public instance {
 public:
  explicit program(const configuration& c)
      : options_(c), grid_(extent::of(c.size), extent::of(c.block)), boundary_(boundary_of<Dimensions>(grid_.block)) {}

  void prepare(runtime& rt) override {
    by_hand_ = {rt, options_.annotate};
    allocate();
    if (options_.data_in == storage::own && options_.init != first_touch::chunks) return fill_as_told(rt);
    if (options_.load_store) global_.fill(rt, grid_, options_.seed);
    if (options_.parallel_control) {
      control_.emplace(rt, tiles(rt), options_);
      control_->make_chunks(rt, [&](std::size_t chunk) { make_chunk(rt, chunk); });
      return;
    }
    make_data(rt, 0, grid_.count());
    if (options_.load_store) return;
    if (options_.data_in == storage::versions)
      fill_by_shares(rt, blocks_of(0, grid_.count()),
                     [this](std::size_t b, std::span<double> block) { fill_block(b, block); });
    else
      fill_by_chunks(rt, chunks(rt),
                     [&](std::size_t first, std::size_t last) { spawn_fills(rt, first, last, {}); });
  }

  void run(runtime& rt) override {
    const auto create = [&](int t, std::size_t first, std::size_t last) {
      for (std::size_t b = first; b < last; b++) spawn_step(rt, t, b);
    };
    if (options_.data_in == storage::own && options_.init == first_touch::inside)
      rt.run([&] { spawn_fills(rt, 0, grid_.count(), {}); });
    if (control_)
      control_->run(rt, all_steps(), order(), create, [this](std::size_t chunk) { return place_of(chunk); });
    else
      run_sequential_control(rt, all_steps(), grid_.count(), create);
  }

  void collect(runtime&) override {
    result_.resize(grid_.size.elements());
    for (std::size_t b = 0; b < grid_.count(); b++) {
      if (options_.data_in == storage::shared) {
        const auto array = shared_array(options_.iterations);
        copy_out(b, array.at(grid_.origin(b)), array.plane_stride(), array.row_stride());
      } else if (options_.data_in == storage::own) {
        copy_out_own(b);
      } else if (options_.load_store) {
        const std::size_t row = grid_.size.columns;
        copy_out(b, global_.row(grid_.index(grid_.origin(b), 0, 0)), grid_.size.rows * row, row);
      } else {
        const auto values = blocks(options_.iterations)[b].read();
        copy_out_block(b, values);
      }
    }
  }

  verification verify(const std::any& expected) const override;
  std::uint64_t live_bytes() const override { return grid_.size.elements() * sizeof(double); }

 protected:
  // Creation goes in steps (1, 2, ...), which come after each other as `order` says. Here a step is an iteration.
  virtual int steps() const { return options_.iterations; }
  virtual creation_order order() const {
    return Method == method::jacobi ? creation_order::old_neighbours : creation_order::sweep;
  }
  // Spawns the tasks of block b in a step.
  virtual void spawn(runtime& rt, int step, std::size_t b) { spawn_task(rt, step, b); }
  void spawn_task(runtime& rt, int t, std::size_t b) {
    switch (options_.data_in) {
      case storage::versions: return spawn_private(rt, t, b);
      case storage::shared: return spawn_shared(rt, t, b);
      case storage::own: return spawn_own(rt, t, b);
    }
  }

  // Spawn the task that computes block b in iteration t (1, 2, ...).
  virtual void spawn_private(runtime&, int t, std::size_t b) = 0;
  virtual void spawn_shared(runtime&, int t, std::size_t b) = 0;
  virtual void spawn_own(runtime&, int t, std::size_t b) = 0;

  // What iteration t writes; 0 holds the initial values.
  const std::vector<data<double>>& blocks(int t) const { return blocks_[t & (generations - 1)]; }
  const own_blocks<double>& own(int t) const { return own_[t & (generations - 1)]; }
  const std::vector<data<char>>& tokens(int t) const { return tokens_[t & (generations - 1)]; }

  // The block itself; the side of the neighbour in this direction, or nothing at the end of the array. (Nothing is an
  // empty part of the block, so that a task has the same accesses wherever its block lies.)
  // Blocks are data or own memory.
  template <class Blocks>
  auto centre(const Blocks& x, std::size_t b) const {
    return part(x[b], 0, layout(b).elements());
  }
  template <class Blocks>
  auto halo_of(const Blocks& x, std::size_t b, side s) const {
    if (!grid_.has_neighbour(b, s)) return part(x[b], 0, 0);
    const std::size_t n = grid_.neighbour(b, s);
    const auto touching = layout(n).of(opposite(s));
    return part(x[n], touching.offset, touching.count);
  }
  const data<char>& token_of(const std::vector<data<char>>& x, std::size_t b, side s) const { return x[grid_.has_neighbour(b, s) ? grid_.neighbour(b, s) : b]; }

  // Tiles for bodies. Halos are given in the order of `side`; an empty one means the boundary.
  tile private_tile(std::size_t b, std::span<const double> old, std::span<double> next,
                    const std::array<std::span<const double>, 2 * Dimensions>& halos) const {
    return block_tile(layout(b), old, next, halos, boundary_.data());
  }
  tile shared_tile(int t, std::size_t b) const { return tile_of(shared_array(t - 1), shared_array(t), grid_.origin(b), grid_.shape(b)); }
  page_checker* pages() const { return options_.pages; }
  const configuration& options() const { return options_; }
  const block_grid& grid() const { return grid_; }
  // Of a task of block b in own memory. By hand every worker gets neighbouring rows of blocks.
  task_options named_of(const char* name, std::size_t b) const {
    return {.name = name_in(options_.names, name),
            .affinity = by_hand_.of(b / blocks_per_row(), grid_.outer(Dimensions))};
  }

  // A matrix of the program's own, in two dimensions. Tasks name whole blocks, also of their neighbours: what is
  // always named alike is found by one look-up, and who writes a block waits for the same tasks as if they had named
  // its sides. Blocks as wide as the matrix are strips of rows.
  const own_matrix& matrix(int t) const { return matrices_[t & (generations - 1)]; }
  bool blocks_are_rows() const { return grid_.blocks.columns == 1; }
  memory_range<double> strip(int t, std::size_t b) const { return matrix(t).rows(origin(b), shape(b)); }
  memory_range<double> strip_above(int t, std::size_t b) const {
    return b == 0 ? matrix(t).row_above(origin(b)) : strip(t, b - 1);
  }
  memory_range<double> strip_below(int t, std::size_t b) const {
    return b + 1 == grid_.count() ? matrix(t).row_below(origin(b), shape(b)) : strip(t, b + 1);
  }
  memory_tile<double> own_block(int t, std::size_t b) const { return matrix(t).block(origin(b), shape(b)); }
  memory_tile<double> own_beside(int t, std::size_t b, side s) const {
    if (!grid_.has_neighbour(b, s)) return matrix(t).layer_beside(origin(b), shape(b), s);
    return own_block(t, grid_.neighbour(b, s));
  }
  tile own_tile(int t, std::size_t b) const {
    return tile_of(matrix(t - 1).array(), matrix(t).array(), origin(b), shape(b));
  }
  void written_own(int t, std::size_t b) const {
    for (std::size_t r = 0; pages() != nullptr && r < shape(b).rows; r++)
      written(pages(), std::span(matrix(t).array().at(0, origin(b).rows + r, origin(b).columns), shape(b).columns));
  }

 private:
  // With those that load and store.
  int all_steps() const { return steps() + (options_.load_store ? 2 : 0); }
  void spawn_step(runtime& rt, int step, std::size_t b) {
    if (!options_.load_store) return spawn(rt, step, b);
    if (step == 1) return spawn_load(rt, b);
    if (step == all_steps()) return spawn_store(rt, b);
    spawn(rt, step - 1, b);
  }
  void spawn_load(runtime& rt, std::size_t b) {
    static constexpr task_options named{.name = "load"};
    rt.spawn(named, out(blocks(0)[b]), [this, b](std::span<double> block) {
      global_.load(b, block);
      written(options_.pages, block);
    });
  }
  void spawn_store(runtime& rt, std::size_t b) {
    static constexpr task_options named{.name = "store"};
    rt.spawn(named, in(centre(blocks(options_.iterations), b)), [this, b](auto block) { global_.store(b, block); });
  }

  static constexpr int generations = Method == method::jacobi ? 2 : 1;

  extent origin(std::size_t b) const { return grid_.origin(b); }
  extent shape(std::size_t b) const { return grid_.shape(b); }
  block_layout<Dimensions> layout(std::size_t b) const { return {grid_.shape(b)}; }
  chunking chunks(runtime& rt) const {
    return chunking::of(grid_.outer(Dimensions), blocks_per_row(), rt.workers());
  }
  // Chunks of neighbouring blocks in the two outer dimensions.
  tiling tiles(runtime& rt) const {
    const extent& n = grid_.blocks;
    const extent& b = grid_.block;
    constexpr std::size_t element = sizeof(double);
    // Blocks beside each other share the pages of a matrix.
    if (Dimensions == 2 && options_.data_in == storage::own)
      return {n.rows, n.columns, 1, std::min(n.rows, static_cast<std::size_t>(rt.workers())), 1};
    if (Dimensions == 3) return tiling::compact(n.planes, n.rows, n.columns, rt.workers(), b.rows * b.columns * element, b.planes * b.columns * element);
    if (Dimensions == 2) return tiling::compact(n.rows, n.columns, 1, rt.workers(), b.columns * element, b.rows * element);
    return tiling::compact(n.columns, 1, 1, rt.workers(), element, 0);
  }
  void make_chunk(runtime& rt, std::size_t chunk) {
    std::vector<std::size_t> numbers;
    std::vector<data<double>> filled;
    control_->chunks().for_each_run(chunk, [&](std::size_t first, std::size_t last) {
      make_data(rt, first, last);
      if (options_.data_in != storage::versions) return spawn_fills(rt, first, last, control_->filled_on(chunk));
      for (std::size_t b = first; b < last; b++) {
        numbers.push_back(b);
        filled.push_back(blocks_[0][b]);
      }
    });
    if (options_.load_store) return;
    const auto fill = [this, numbers](std::size_t i, std::span<double> block) { fill_block(numbers[i], block); };
    fill_by_parts(rt, std::span<const data<double>>(filled), fill, control_->filled_on(chunk));
  }
  // Shared arrays are near nobody: their chunks are with the tokens. Nobody can be near own memory, but a chunk of it
  // was filled on one node. What is still to be loaded lies nowhere.
  placement place_of(std::size_t chunk) const {
    if (options_.data_in != storage::versions || options_.load_store) return prefer(control_->node_of(chunk));
    return near(blocks_[0][control_->chunks().first_block(chunk)]);
  }
  std::size_t blocks_per_row() const { return grid_.count() / grid_.outer(Dimensions); }
  padded_array<Dimensions> shared_array(int t) const { return {const_cast<double*>(arrays_[t & (generations - 1)].data()), grid_.size}; }

  void allocate() {
    const std::size_t elements = padded_array<Dimensions>::memory_elements(grid_.size);
    for (int g = 0; g < generations; g++) switch (options_.data_in) {
        case storage::versions: blocks_[g].resize(grid_.count()); break;
        case storage::shared:
          arrays_[g] = interleaved_array<double>(elements);
          tokens_[g].resize(grid_.count());
          break;
        case storage::own:
          if constexpr (Dimensions == 2) matrices_[g] = own_matrix(grid_.size);
          else own_[g] = own_blocks<double>(grid_.count(), [this](std::size_t b) { return layout(b).size(); });
          break;
      }
  }
  void make_data(runtime& rt, std::size_t first, std::size_t last) {
    if (options_.data_in == storage::own) return;
    for (int g = 0; g < generations; g++)
      for (std::size_t b = first; b < last; b++) {
        if (options_.data_in == storage::shared)
          tokens_[g][b] = rt.make_data<char>(0, "block token");
        else
          blocks_[g][b] = rt.make_data<double>(layout(b).size(), "block");
      }
  }
  // Of what has no versions; `where` is for own memory, whose pages come to lie there.
  void spawn_fills(runtime& rt, std::size_t first, std::size_t last, placement where) {
    if (options_.data_in == storage::shared) spawn_shared_fills(rt, first, last);
    else
      for (std::size_t b = first; b < last; b++) spawn_own_fill(rt, b, where);
  }
  void spawn_own_fill(runtime& rt, std::size_t b, placement where) {
    if (options_.annotate) where = by_hand_.home_of(b / blocks_per_row(), grid_.outer(Dimensions));
    const task_options named{.name = name_in(options_.names, "fill"), .affinity = where};
    const auto fill = [this, b](auto...) { fill_own(b); };
    const auto spawn_fill = [&](const auto& block) {  // block(g): of array g
      if constexpr (generations == 1) rt.spawn(named, out(block(0)), fill);
      else rt.spawn(named, out(block(0)), out(block(1)), fill);
    };
    if constexpr (Dimensions != 2) spawn_fill([&](int g) { return whole(own_[g][b]); });
    else if (blocks_are_rows())
      spawn_fill([&](int g) { return matrices_[g].rows_with_layer(origin(b), shape(b)); });
    else spawn_fill([&](int g) { return matrices_[g].block_with_layer(origin(b), shape(b)); });
  }
  void fill_own(std::size_t b) {
    if constexpr (Dimensions == 2) {
      for (int g = 0; g < generations; g++) matrices_[g].array().fill(options_.seed, origin(b), shape(b));
    } else {
      fill_block(b, own_[0][b]);
      if (generations > 1) std::ranges::fill(own_[1][b], 0.0);  // only so that its pages come to lie here
    }
  }
  void fill_as_told(runtime& rt) {
    if (options_.parallel_control) control_.emplace(rt, tiles(rt), options_);
    if (options_.init == first_touch::one) {
      for (std::size_t b = 0; b < grid_.count(); b++) fill_own(b);
    } else if (options_.init == first_touch::tasks) {
      rt.run([&] { spawn_fills(rt, 0, grid_.count(), {}); });
      rt.wait();
    }
  }
  std::span<const data<double>> blocks_of(std::size_t first, std::size_t last) const { return std::span(blocks_[0]).subspan(first, last - first); }
  void spawn_shared_fills(runtime& rt, std::size_t first, std::size_t last) {
    static constexpr task_options named{.name = "fill"};
    for (std::size_t b = first; b < last; b++)
      rt.spawn(named, out(tokens_[0][b]), [this, b](auto) { for (int g = 0; g < generations; g++) shared_array(g).fill(options_.seed, grid_.origin(b), grid_.shape(b)); });
  }
  void fill_block(std::size_t b, std::span<double> block) const;
  void copy_out_own(std::size_t b) {
    if constexpr (Dimensions == 2) {
      const auto array = matrix(options_.iterations).array();
      copy_out(b, array.at(grid_.origin(b)), array.plane_stride(), array.row_stride());
    } else {
      copy_out_block(b, own(options_.iterations)[b]);
    }
  }
  void copy_out_block(std::size_t b, std::span<const double> block) {
    const extent shape = grid_.shape(b);
    copy_out(b, block.data(), shape.rows * shape.columns, shape.columns);
  }
  void copy_out(std::size_t b, const double* from, std::size_t plane_stride, std::size_t row_stride);

  configuration options_;
  block_grid grid_;
  std::vector<double> boundary_;
  hand_placement by_hand_;
  std::vector<data<double>> blocks_[2];
  std::vector<data<char>> tokens_[2];
  interleaved_array<double> arrays_[2];
  global_arrays<Dimensions> global_;
  own_blocks<double> own_[2];
  own_matrix matrices_[2];
  std::optional<parallel_control> control_;
  std::vector<double> result_;
};

// The fields of a kernel that follow from the kind of stencil.
template <int Dimensions, method Method>
kernel describe();

extern template class program<1, method::jacobi>;
extern template kernel describe<1, method::jacobi>();
extern template class program<2, method::jacobi>;
extern template kernel describe<2, method::jacobi>();
extern template class program<3, method::jacobi>;
extern template kernel describe<3, method::jacobi>();
extern template class program<1, method::seidel>;
extern template kernel describe<1, method::seidel>();
extern template class program<2, method::seidel>;
extern template kernel describe<2, method::seidel>();
extern template class program<3, method::seidel>;
extern template kernel describe<3, method::seidel>();

}  // namespace weir::bench::stencil
