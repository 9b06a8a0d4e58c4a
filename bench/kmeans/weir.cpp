// kmeans under weir.
//
// Each block of points is written once, and read in every iteration by the task that assigns it: where the block lies
// is where that task should run. The sums of the blocks are added up in a tree of fixed shape; its root moves the
// centroids, which all tasks of the next iteration read.
//
// The shared variant keeps points, centroids, sums and labels in interleaved arrays, and empty data in the same pattern
// carry the dependences. That suffices although arrays are overwritten: the centroids move after every task that reads
// them has been added up, and the next sums are written after the centroids have moved.
//
// Where loading and storing belong to it, blocks of points are first copied from an interleaved array, and blocks of
// labels to another at last. Where the clusters start is known before.
//
// In own memory the same arrays are the program's, and tasks name the parts that they work on.
#include <bench/common/check.hpp>
#include <bench/common/control.hpp>
#include <bench/common/creator_nodes.hpp>
#include <bench/common/interleaved_array.hpp>
#include <bench/common/own_array.hpp>
#include <bench/common/page_check.hpp>
#include <bench/common/registry.hpp>
#include <bench/kmeans/points.hpp>
#include <bench/kmeans/result.hpp>

#include <cstring>
#include <limits>
#include <optional>

namespace weir::bench {
namespace {

using namespace clustering;

constexpr task_options named_load{.name = "load"}, named_store{.name = "store"};
constexpr task_options named_fill{.name = "fill"}, named_assign{.name = "assign"}, named_reduce{.name = "reduce"}, named_label{.name = "label"};
task_options fill_on(placement where) { return {.name = named_fill.name, .affinity = where}; }
// Everything of the next iteration waits for this one.
constexpr task_options named_move{.name = "move", .priority = priority::high};

// What control programs need to know: the blocks, and the tree above them.
struct plan {
  std::size_t points, block;
  shape s;

  explicit plan(const configuration& c) : points(c.size[0]), block(c.block[0]), s{c.size[1], c.clusters} {}

  std::size_t blocks() const { return (points + block - 1) / block; }
  std::size_t first(std::size_t b) const { return b * block; }
  std::size_t count(std::size_t b) const { return std::min(block, points - first(b)); }

  // Numbers of nodes of the tree's levels: blocks first, 1 last.
  std::vector<std::size_t> levels() const {
    std::vector<std::size_t> n{blocks()};
    while (n.back() > 1) n.push_back((n.back() + reduction_arity - 1) / reduction_arity);
    return n;
  }
};

// Tasks on a datum per block, sum, set of centroids and set of labels.
class private_tasks {
 public:
  private_tasks(runtime& rt, const plan& p, page_checker* pages) : rt_(rt), plan_(p), pages_(pages) {
    for (std::size_t b = 0; b < p.blocks(); b++) {
      points_.push_back(rt.make_data<float>(p.count(b) * p.s.dimensions, "points"));
      labels_.push_back(rt.make_data<std::int32_t>(p.count(b), "labels"));
    }
    for (const std::size_t n : p.levels())
      for (auto& level = sums_.emplace_back(); level.size() < n;) level.push_back(rt.make_data<double>(p.s.sum_elements(), "sums"));
    centroids_ = rt.make_data<float>(p.s.centroid_elements(), "centroids");
  }

  void fill(const point_source& source, std::size_t b, placement where) {
    rt_.spawn(fill_on(where), out(points_[b]), [this, &source, b](std::span<float> points) {
      source.read(plan_.first(b), points);
      written(pages_, points);
    });
  }
  void fill_centroids(const point_source& source) {
    rt_.spawn(named_fill, out(centroids_), [&source](std::span<float> centroids) { source.read_initial_centroids(centroids); });
  }
  // What is loaded, and room for what is stored.
  void fill_global(const point_source& source) {
    all_points_ = interleaved_array<float>(plan_.points * plan_.s.dimensions);
    all_labels_ = interleaved_array<std::int32_t>(plan_.points);
    for (std::size_t b = 0; b < plan_.blocks(); b++)
      rt_.spawn(named_fill, [this, &source, b] { source.read(plan_.first(b), global_points(b)); });
    rt_.wait();
  }
  void load(std::size_t b) {
    rt_.spawn(named_load, out(points_[b]), [this, b](std::span<float> points) {
      std::ranges::copy(global_points(b), points.begin());
      written(pages_, points);
    });
  }
  void store(std::size_t b) {
    rt_.spawn(named_store, in(labels_[b]),
              [this, b](auto labels) { std::ranges::copy(labels, all_labels_.data() + plan_.first(b)); });
  }
  void assign(std::size_t b) {
    rt_.spawn(named_assign, in(points_[b]), in(centroids_), out(sums_[0][b]), [this](auto points, auto centroids, auto sums) {
      std::vector<float> distances(plan_.s.clusters);
      clustering::assign(points, centroids, plan_.s, distances, sums);
      written(pages_, sums);
    });
  }
  void reduce(std::size_t level, std::size_t node) {
    const std::size_t first = node * reduction_arity;
    const std::span<const data<double>> below(sums_[level - 1]);
    const auto parts = below.subspan(first, std::min(reduction_arity, below.size() - first));
    rt_.spawn(named_reduce, in(parts), out(sums_[level][node]), [](views<const double> sums, std::span<double> sum) {
      std::ranges::copy(sums[0], sum.begin());
      for (std::size_t i = 1; i < sums.size(); i++) add(sum, sums[i]);
    });
  }
  void move() {
    rt_.spawn(named_move, in(sums_.back()[0]), in(centroids_), out(centroids_),
              [this](auto sums, auto old, auto next) { move_centroids(sums, old, plan_.s, next); });
  }
  void label(std::size_t b) {
    rt_.spawn(named_label, in(points_[b]), in(centroids_), out(labels_[b]), [this](auto points, auto centroids, auto labels) {
      std::vector<float> distances(plan_.s.clusters);
      clustering::label(points, centroids, plan_.s, distances, labels);
      written(pages_, labels);
    });
  }

  result collect() const {
    result r;
    const auto centroids = centroids_.read();
    r.centroids.assign(centroids.begin(), centroids.end());
    if (all_labels_.size() != 0) {
      const auto labels = all_labels_.span();
      r.labels.assign(labels.begin(), labels.end());
      return r;
    }
    for (const auto& block : labels_) {
      const auto labels = block.read();
      r.labels.insert(r.labels.end(), labels.begin(), labels.end());
    }
    return r;
  }

 private:
  std::span<float> global_points(std::size_t b) {
    const std::size_t d = plan_.s.dimensions;
    return all_points_.span().subspan(plan_.first(b) * d, plan_.count(b) * d);
  }

  runtime& rt_;
  plan plan_;
  page_checker* pages_;
  interleaved_array<float> all_points_;
  interleaved_array<std::int32_t> all_labels_;
  std::vector<data<float>> points_;
  std::vector<data<std::int32_t>> labels_;
  std::vector<std::vector<data<double>>> sums_;  // by level
  data<float> centroids_;
};

// The same tasks on interleaved arrays.
class shared_tasks {
 public:
  shared_tasks(runtime& rt, const plan& p, page_checker*)
      : rt_(rt), plan_(p), points_(p.points * p.s.dimensions), labels_(p.points), centroids_(p.s.centroid_elements()), old_centroids_(p.s.centroid_elements()) {
    for (const std::size_t n : p.levels()) {
      sums_.emplace_back(n * p.s.sum_elements());
      for (auto& level = sum_tokens_.emplace_back(); level.size() < n;) level.push_back(rt.make_data<char>(0, "sums token"));
    }
    for (std::size_t b = 0; b < p.blocks(); b++) point_tokens_.push_back(rt.make_data<char>(0, "points token"));
    centroid_token_ = rt.make_data<char>(0, "centroids token");
  }

  void fill(const point_source& source, std::size_t b, placement where) {
    rt_.spawn(fill_on(where), out(point_tokens_[b]), [this, &source, b](auto) { source.read(plan_.first(b), points(b)); });
  }
  void fill_centroids(const point_source& source) {
    rt_.spawn(named_fill, out(centroid_token_), [this, &source](auto) { source.read_initial_centroids(centroids_.span()); });
  }
  void assign(std::size_t b) {
    rt_.spawn(named_assign, in(point_tokens_[b]), in(centroid_token_), out(sum_tokens_[0][b]), [this, b](auto...) {
      std::vector<float> distances(plan_.s.clusters);
      clustering::assign(points(b), centroids_.span(), plan_.s, distances, sums(0, b));
    });
  }
  void reduce(std::size_t level, std::size_t node) {
    const std::size_t first = node * reduction_arity;
    const std::span<const data<char>> below(sum_tokens_[level - 1]);
    const std::size_t count = std::min(reduction_arity, below.size() - first);
    rt_.spawn(named_reduce, in(below.subspan(first, count)), out(sum_tokens_[level][node]), [this, level, node, first, count](auto...) {
      const std::span<double> sum = sums(level, node);
      std::ranges::copy(sums(level - 1, first), sum.begin());
      for (std::size_t i = 1; i < count; i++) add(sum, sums(level - 1, first + i));
    });
  }
  void move() {
    rt_.spawn(named_move, in(sum_tokens_.back()[0]), in(centroid_token_), out(centroid_token_), [this](auto...) {
      std::ranges::copy(centroids_.span(), old_centroids_.data());
      move_centroids(sums(sums_.size() - 1, 0), old_centroids_.span(), plan_.s, centroids_.span());
    });
  }
  void label(std::size_t b) {
    rt_.spawn(named_label, in(point_tokens_[b]), in(centroid_token_), [this, b](auto...) {
      std::vector<float> distances(plan_.s.clusters);
      clustering::label(points(b), centroids_.span(), plan_.s, distances, labels_.span().subspan(plan_.first(b), plan_.count(b)));
    });
  }

  result collect() const {
    const auto c = centroids_.span();
    const auto l = labels_.span();
    return {{c.begin(), c.end()}, {l.begin(), l.end()}};
  }

 private:
  std::span<float> points(std::size_t b) { return points_.span().subspan(plan_.first(b) * plan_.s.dimensions, plan_.count(b) * plan_.s.dimensions); }
  std::span<double> sums(std::size_t level, std::size_t node) { return sums_[level].span().subspan(node * plan_.s.sum_elements(), plan_.s.sum_elements()); }

  runtime& rt_;
  plan plan_;
  interleaved_array<float> points_;
  interleaved_array<std::int32_t> labels_;
  interleaved_array<float> centroids_, old_centroids_;
  std::vector<interleaved_array<double>> sums_;  // by level
  std::vector<data<char>> point_tokens_;
  std::vector<std::vector<data<char>>> sum_tokens_;
  data<char> centroid_token_;
};

// The same tasks on own memory. The sums that one task adds up lie one after the other.
class own_tasks {
 public:
  own_tasks(runtime& rt, const plan& p, page_checker* pages)
      : rt_(rt), plan_(p), pages_(pages), points_(p.points * p.s.dimensions), labels_(p.points),
        centroids_(p.s.centroid_elements()) {
    for (const std::size_t n : p.levels()) sums_.emplace_back(n * p.s.sum_elements());
  }

  // Also what the tasks of this block will write, so that all of it comes to lie together.
  void fill(const point_source& source, std::size_t b, placement where) {
    rt_.spawn(fill_on(where), out(whole(points(b))), out(whole(labels(b))), out(whole(sums(0, b))),
              [this, &source, b](std::span<float> points, std::span<std::int32_t> labels, std::span<double> sums) {
                source.read(plan_.first(b), points);
                std::ranges::fill(labels, 0);
                std::ranges::fill(sums, 0.0);
                written(pages_, points);
              });
  }
  void fill_centroids(const point_source& source) {
    rt_.spawn(named_fill, out(whole(centroids())),
              [&source](auto centroids) { source.read_initial_centroids(centroids); });
  }
  void assign(std::size_t b) {
    rt_.spawn(named_assign, in(whole(points(b))), in(whole(centroids())), out(whole(sums(0, b))),
              [this](auto points, auto centroids, auto sums) {
                std::vector<float> distances(plan_.s.clusters);
                clustering::assign(points, centroids, plan_.s, distances, sums);
                written(pages_, sums);
              });
  }
  void reduce(std::size_t level, std::size_t node) {
    const std::size_t first = node * reduction_arity;
    const std::size_t count = std::min(reduction_arity, plan_.levels()[level - 1] - first);
    rt_.spawn(named_reduce, in(whole(sums(level - 1, first, count))), out(whole(sums(level, node))),
              [](auto parts, auto sum) {
                const std::size_t n = sum.size();
                std::ranges::copy(parts.first(n), sum.begin());
                for (std::size_t at = n; at < parts.size(); at += n) add(sum, parts.subspan(at, n));
              });
  }
  void move() {
    rt_.spawn(named_move, in(whole(sums(sums_.size() - 1, 0))), inout(whole(centroids())),
              [this](auto sums, auto centroids) { move_centroids(sums, centroids, plan_.s, centroids); });
  }
  void label(std::size_t b) {
    rt_.spawn(named_label, in(whole(points(b))), in(whole(centroids())), out(whole(labels(b))),
              [this](auto points, auto centroids, auto labels) {
                std::vector<float> distances(plan_.s.clusters);
                clustering::label(points, centroids, plan_.s, distances, labels);
                written(pages_, labels);
              });
  }

  result collect() const {
    const auto c = centroids_.span();
    const auto l = labels_.span();
    return {{c.begin(), c.end()}, {l.begin(), l.end()}};
  }

 private:
  std::span<float> points(std::size_t b) const {
    const std::size_t d = plan_.s.dimensions;
    return points_.part(plan_.first(b) * d, plan_.count(b) * d);
  }
  std::span<std::int32_t> labels(std::size_t b) const { return labels_.part(plan_.first(b), plan_.count(b)); }
  std::span<float> centroids() const { return centroids_.span(); }
  std::span<double> sums(std::size_t level, std::size_t first, std::size_t count = 1) const {
    const std::size_t n = plan_.s.sum_elements();
    return sums_[level].part(first * n, count * n);
  }

  runtime& rt_;
  plan plan_;
  page_checker* pages_;
  own_array<float> points_;
  own_array<std::int32_t> labels_;
  own_array<float> centroids_;
  std::vector<own_array<double>> sums_;  // by level
};

// The control programs, and what instances have to offer, whatever the tasks work on.
template <class Tasks>
class program final : public instance {
 public:
  explicit program(const configuration& c) : options_(c), plan_(c) {}

  void prepare(runtime& rt) override {
    const point_source source(options_);
    tasks_ = std::make_unique<Tasks>(rt, plan_, options_.pages);
    tasks_->fill_centroids(source);
    creators_.emplace(rt, chunks(rt).chunks, options_);
    if constexpr (can_load_and_store)
      if (loads_and_stores()) return tasks_->fill_global(source);
    const auto fill = [&](std::size_t first, std::size_t last, placement where = {}) {
      for (std::size_t b = first; b < last; b++) tasks_->fill(source, b, where);
    };
    if (options_.parallel_control) fill_on_nodes(rt, chunks(rt), *creators_, fill);
    else fill_by_chunks(rt, chunks(rt), fill);
  }

  void run(runtime& rt) override {
    if (options_.parallel_control)
      rt.run([&] { create_by_chunks(rt); });
    else
      rt.run([&] { create_all(); });
    rt.wait();
  }

  void collect(runtime&) override { result_ = tasks_->collect(); }

  verification verify(const std::any& expected) const override {
    const auto& e = std::any_cast<const result&>(expected);
    verification v{.what = "centroids and labels bit for bit with the sequential program"};
    v.passed = result_.labels == e.labels && result_.centroids.size() == e.centroids.size() &&
               std::memcmp(result_.centroids.data(), e.centroids.data(), e.centroids.size() * sizeof(float)) == 0;
    for (std::size_t i = 0; i < std::min(e.centroids.size(), result_.centroids.size()); i++)
      v.largest_difference = std::max(v.largest_difference, static_cast<double>(std::abs(result_.centroids[i] - e.centroids[i])));
    return v;
  }

  void write_output() const override { write_labels(options_.output, result_.labels); }
  std::uint64_t live_bytes() const override { return plan_.points * plan_.s.dimensions * sizeof(float); }

 private:
  static constexpr bool can_load_and_store = std::is_same_v<Tasks, private_tasks>;
  bool loads_and_stores() const { return can_load_and_store && options_.load_store; }

  chunking chunks(runtime& rt) const { return chunking::of(plan_.blocks(), 1, rt.workers()); }

  // What is done in iteration t, from 1 on, with blocks [first, last); after the last one: with their labels.
  void create_blocks(int t, std::size_t first, std::size_t last) {
    const bool labels = t > options_.iterations;
    if constexpr (can_load_and_store)
      if (loads_and_stores() && t == 1)
        for (std::size_t b = first; b < last; b++) tasks_->load(b);
    for (std::size_t b = first; b < last; b++) labels ? tasks_->label(b) : tasks_->assign(b);
    if constexpr (can_load_and_store)
      if (loads_and_stores() && labels)
        for (std::size_t b = first; b < last; b++) tasks_->store(b);
  }

  void create_all() {
    for (int t = 1; t <= options_.iterations; t++) {
      create_blocks(t, 0, plan_.blocks());
      create_tree();
    }
    create_blocks(options_.iterations + 1, 0, plan_.blocks());
  }

  void create_tree() {
    const auto levels = plan_.levels();
    for (std::size_t level = 1; level < levels.size(); level++)
      for (std::size_t node = 0; node < levels[level]; node++) tasks_->reduce(level, node);
    tasks_->move();
  }

  task_options control(std::size_t chunk, int t) const {
    return {.name = "control", .priority = priority::high, .affinity = creators_->of(chunk, t)};
  }
  // One control task a chunk creates its assignments; when all of an iteration have, another creates the tree, on
  // another node each time, and then the next iteration's may go on. Empty data carry this order.
  void create_by_chunks(runtime& rt) {
    const chunking c = chunks(rt);
    const data<char> whole = rt.make_data<char>(std::span<const char>{}, "created");
    std::vector<data<char>> part;
    for (std::size_t i = 0; i < c.chunks; i++) part.push_back(rt.make_data<char>(std::span<const char>{}, "created"));
    for (int t = 1; t <= options_.iterations; t++) {
      for (std::size_t i = 0; i < c.chunks; i++)
        rt.spawn(control(i, t), in(whole), out(part[i]),
                 [this, t, c, i](auto...) { create_blocks(t, c.first_block(i), c.first_block(i + 1)); });
      rt.spawn(control(static_cast<std::size_t>(t) % c.chunks, t), in(part), out(whole),
               [this](auto...) { create_tree(); });
    }
    for (std::size_t i = 0; i < c.chunks; i++)
      rt.spawn(control(i, options_.iterations + 1), in(whole), [this, c, i](auto...) {
        create_blocks(options_.iterations + 1, c.first_block(i), c.first_block(i + 1));
      });
  }

  configuration options_;
  plan plan_;
  std::unique_ptr<Tasks> tasks_;
  std::optional<creator_nodes> creators_;
  result result_;
};

void complete(configuration& c) {
  if (!c.input.empty()) {
    const point_table table = read_points(c.input);
    c.size = {table.rows, table.columns};
  }
  if (c.size.size() != 2) return;
  if (c.block.size() == 1) c.block.push_back(c.size[1]);
  if (c.block.size() == 2 && c.block[1] != c.size[1]) throw input_error("kmeans: --block: points are not cut; expected one number, of points");
  if (c.clusters > c.size[0])
    throw input_error("kmeans: --clusters " + std::to_string(c.clusters) + " is more than there are points (" + std::to_string(c.size[0]) + ")");
  if (c.clusters > std::numeric_limits<std::int32_t>::max()) throw input_error("kmeans: --clusters " + std::to_string(c.clusters) + " is more than labels can tell");
}

// Points as read from a file, of the sequential program, of the run and to load from; labels; sums.
std::uint64_t memory_bytes(const configuration& c) {
  const std::uint64_t points = saturating_product(c.size, (c.input.empty() ? 3 : 5) * sizeof(float));
  const std::uint64_t blocks = c.size[0] / c.block[0] + 1;
  const std::uint64_t sums = saturating_multiply(saturating_multiply(blocks, c.clusters), saturating_multiply(3 * sizeof(double), c.size[1] + 1));
  return saturating_add(saturating_add(points, sums), saturating_multiply(c.size[0], 5 * sizeof(std::int32_t)));
}

}  // namespace

kernel kmeans() {
  kernel k;
  k.name = "kmeans";
  k.description = "k-means clustering (Lloyd), single precision; starts from points evenly spread over the input";
  k.size_meaning = "POINTSxDIMENSIONS";
  k.block_meaning = "POINTS";
  k.uses = {.iterations = true,
            .clusters = true,
            .parallel_control = true,
            .creators = true,
            .shared = true,
            .own = true,
            .load_store = true,
            .input = true,
            .output = true};
  k.defaults.size = {100000, 10};
  k.defaults.block = {250};
  k.defaults.iterations = 20;
  k.defaults.clusters = 11;
  k.complete = complete;
  k.memory_bytes = memory_bytes;
  k.solve = solve_kmeans;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> {
    switch (c.data_in) {
      case storage::versions: return std::make_unique<program<private_tasks>>(c);
      case storage::shared: return std::make_unique<program<shared_tasks>>(c);
      case storage::own: return std::make_unique<program<own_tasks>>(c);
    }
    return nullptr;
  };
  return k;
}

}  // namespace weir::bench
