// Seven-point lower triangles, in natural order and in nested dissection.
#include <bench/aggregate/problem.hpp>

#include <bench/common/kernel.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace weir::bench {
namespace {

using cell = std::array<std::uint32_t, 3>;

struct box {
  cell low, high;  // high is beyond the last
  std::uint64_t cells() const {
    std::uint64_t n = 1;
    for (std::size_t d = 0; d < 3; d++) n *= high[d] - low[d];
    return n;
  }
};

class numbering {
 public:
  explicit numbering(std::uint32_t side) : side_(side), number_(std::size_t{side} * side * side) {}

  void natural() {
    for (std::size_t c = 0; c < number_.size(); c++) number_[c] = static_cast<std::uint32_t>(c);
  }
  // Halves first, then the plane between them (George, 1973).
  void nested(const box& b) {
    constexpr std::uint64_t smallest = 8;
    std::size_t widest = 0;
    for (std::size_t d = 1; d < 3; d++)
      if (b.high[d] - b.low[d] > b.high[widest] - b.low[widest]) widest = d;
    if (b.cells() <= smallest || b.high[widest] - b.low[widest] < 3) return in_order(b);
    const std::uint32_t middle = b.low[widest] + (b.high[widest] - b.low[widest]) / 2;
    box left = b, right = b, plane = b;
    left.high[widest] = plane.low[widest] = middle;
    right.low[widest] = plane.high[widest] = middle + 1;
    nested(left);
    nested(right);
    in_order(plane);
  }
  std::uint32_t at(const cell& c) const { return number_[(std::size_t{c[2]} * side_ + c[1]) * side_ + c[0]]; }

 private:
  void in_order(const box& b) {
    for (std::uint32_t z = b.low[2]; z < b.high[2]; z++)
      for (std::uint32_t y = b.low[1]; y < b.high[1]; y++)
        for (std::uint32_t x = b.low[0]; x < b.high[0]; x++) number_[(std::size_t{z} * side_ + y) * side_ + x] = next_++;
  }
  std::uint32_t side_, next_ = 0;
  std::vector<std::uint32_t> number_;
};

std::vector<cell> cells_by_number(const numbering& n, std::uint32_t side) {
  std::vector<cell> cells(std::size_t{side} * side * side);
  for (std::uint32_t z = 0; z < side; z++)
    for (std::uint32_t y = 0; y < side; y++)
      for (std::uint32_t x = 0; x < side; x++) cells[n.at({x, y, z})] = {x, y, z};
  return cells;
}

}  // namespace

triangle make_triangle(const std::string& text) {
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon), count = colon == std::string::npos ? "" : text.substr(colon + 1);
  std::uint32_t side = 0;
  const auto [end, problem] = std::from_chars(count.data(), count.data() + count.size(), side);
  if ((kind != "cube" && kind != "nested") || problem != std::errc() || end != count.data() + count.size() || side < 1 || side > 400)
    throw input_error("--matrix " + text + ": expected cube:N or nested:N with N from 1 to 400");
  numbering order(side);
  if (kind == "cube") order.natural();
  else order.nested({{0, 0, 0}, {side, side, side}});
  triangle t;
  for (const cell& c : cells_by_number(order, side)) {
    const std::uint32_t row = order.at(c);
    const std::size_t begin = t.columns.size();
    for (std::size_t d = 0; d < 3; d++)
      for (int step : {-1, 1}) {
        cell other = c;
        other[d] += static_cast<std::uint32_t>(step);
        if (other[d] < side && order.at(other) < row) t.columns.push_back(order.at(other));
      }
    std::sort(t.columns.begin() + static_cast<std::ptrdiff_t>(begin), t.columns.end());
    t.offsets.push_back(t.columns.size());
  }
  t.values.resize(t.columns.size());
  for (std::size_t e = 0; e < t.values.size(); e++) t.values[e] = -0.1 - 0.05 * static_cast<double>(e % 3);
  t.right_side.assign(t.rows(), 1);
  t.x.assign(t.rows(), 0);
  return t;
}

}  // namespace weir::bench
