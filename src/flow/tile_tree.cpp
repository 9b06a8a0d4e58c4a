// Rectangles that do not overlap: the tree.
#include "flow/tile_tree.hpp"

#include <bit>
#include <limits>
#include <numeric>
#include <utility>

namespace weir::flow {
namespace {

using node = tile_tree::node;

rectangle around(const rectangle& a, const rectangle& b) {
  return {std::min(a.first_row, b.first_row), std::max(a.end_row, b.end_row), std::min(a.first_column, b.first_column),
          std::max(a.end_column, b.end_column)};
}

rectangle around(const node& n) {
  rectangle all = n.boxes[0];
  for (unsigned i = 1; i < n.count; i++) all = around(all, n.boxes[i]);
  return all;
}

double area(const rectangle& r) { return static_cast<double>(r.rows()) * static_cast<double>(r.width()); }

// The child that grows least by it; of those that grow as much the smallest.
unsigned best_child(const node& n, const rectangle& r) {
  unsigned best = 0;
  double least_growth = std::numeric_limits<double>::infinity(), least_area = 0;
  for (unsigned i = 0; i < n.count; i++) {
    const double before = area(n.boxes[i]), growth = area(around(n.boxes[i], r)) - before;
    if (growth > least_growth || (growth == least_growth && before >= least_area)) continue;
    best = i;
    least_growth = growth;
    least_area = before;
  }
  return best;
}

// Boxes lie farther apart by rows than by columns, in sizes of a box.
bool is_split_by_rows(const node& n) {
  const rectangle all = around(n);
  double rows = 0, width = 0;
  for (unsigned i = 0; i < n.count; i++) {
    rows += static_cast<double>(n.boxes[i].rows());
    width += static_cast<double>(n.boxes[i].width());
  }
  return static_cast<double>(all.rows()) * width >= static_cast<double>(all.width()) * rows;
}

}  // namespace

tile_tree::spares::~spares() {
  while (first_ != nullptr) delete std::exchange(first_, static_cast<node*>(first_->below[0]));
}

void tile_tree::spares::reserve(std::size_t nodes) {
  while (count_ < nodes) {
    node* const n = new node;
    n->below[0] = std::exchange(first_, n);
    count_++;
  }
}

node* tile_tree::spares::take() noexcept {
  WEIR_ASSERT(first_ != nullptr);
  node* const n = std::exchange(first_, static_cast<node*>(first_->below[0]));
  n->count = 0;
  count_--;
  return n;
}

void tile_tree::spares::give(node* n) noexcept {
  if (count_ >= most_kept) {
    delete n;
    return;
  }
  n->below[0] = std::exchange(first_, n);
  count_++;
}

tile_tree::~tile_tree() {
  if (root_ != nullptr) destroy(root_, levels_);
}

void tile_tree::destroy(node* n, unsigned level) noexcept {
  for (unsigned i = 0; level > 0 && i < n->count; i++) destroy(static_cast<node*>(n->below[i]), level - 1);
  unused_.give(n);
}

// Each may split a node on every level and give the tree a root; so may those before it.
std::size_t tile_tree::nodes_for(std::size_t more) const {
  return more * (levels_ + 2 + static_cast<std::size_t>(std::bit_width(more)));
}

void tile_tree::add(const rectangle& r, range_record* record) noexcept {
  if (root_ == nullptr) root_ = unused_.take();
  node* const beside = add_below(*root_, levels_, r, record);
  size_++;
  if (beside == nullptr) return;
  node* const root = unused_.take();
  root->count = 2;
  root->boxes[0] = around(*root_);
  root->boxes[1] = around(*beside);
  root->below[0] = root_;
  root->below[1] = beside;
  root_ = root;
  levels_++;
}

// Returns the node that was split off, or null.
node* tile_tree::add_below(node& n, unsigned level, const rectangle& r, void* what) noexcept {
  if (level == 0) return put(n, r, what);
  const unsigned i = best_child(n, r);
  node& child = *static_cast<node*>(n.below[i]);
  node* const beside = add_below(child, level - 1, r, what);
  n.boxes[i] = around(child);
  return beside == nullptr ? nullptr : put(n, around(*beside), beside);
}

node* tile_tree::put(node& n, const rectangle& r, void* what) noexcept {
  node* const beside = n.count == fanout ? split(n) : nullptr;
  node* to = &n;
  if (beside != nullptr && area(around(around(*beside), r)) - area(around(*beside)) <
                               area(around(around(n), r)) - area(around(n)))
    to = beside;
  to->boxes[to->count] = r;
  to->below[to->count++] = what;
  return beside;
}

// Half of them go, by where their middles lie.
node* tile_tree::split(node& n) noexcept {
  const bool by_rows = is_split_by_rows(n);
  std::array<std::uint8_t, fanout> order;
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  const auto middle = [&](std::uint8_t i) {
    const rectangle& r = n.boxes[i];
    return by_rows ? r.first_row + r.end_row : r.first_column + r.end_column;
  };
  std::sort(order.begin(), order.end(), [&](std::uint8_t a, std::uint8_t b) { return middle(a) < middle(b); });
  const node all = n;
  node& beside = *unused_.take();
  n.count = 0;
  for (unsigned i = 0; i < fanout; i++) {
    node& to = i < fanout / 2 ? n : beside;
    to.boxes[to.count] = all.boxes[order[i]];
    to.below[to.count++] = all.below[order[i]];
  }
  return &beside;
}

void tile_tree::remove(const rectangle& r, const range_record* record) noexcept {
  [[maybe_unused]] const bool found = root_ != nullptr && remove_below(*root_, levels_, r, record);
  WEIR_ASSERT(found);
  size_--;
  while (levels_ > 0 && root_->count == 1) {
    unused_.give(std::exchange(root_, static_cast<node*>(root_->below[0])));
    levels_--;
  }
  if (root_->count != 0) return;
  unused_.give(std::exchange(root_, nullptr));
  levels_ = 0;
}

bool tile_tree::remove_below(node& n, unsigned level, const rectangle& r, const range_record* record) noexcept {
  for (unsigned i = 0; i < n.count; i++) {
    if (level == 0) {
      if (n.below[i] != record) continue;
    } else {
      if (!n.boxes[i].contains(r)) continue;
      node& child = *static_cast<node*>(n.below[i]);
      if (!remove_below(child, level - 1, r, record)) continue;
      if (child.count != 0) {
        n.boxes[i] = around(child);
        return true;
      }
      unused_.give(&child);
    }
    n.count--;
    n.boxes[i] = n.boxes[n.count];
    n.below[i] = n.below[n.count];
    return true;
  }
  return false;
}

}  // namespace weir::flow
