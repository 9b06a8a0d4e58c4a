// The shapes of bench/shapes notice it when dependent tasks are executed in another order.
#include <bench/shapes/serial.hpp>

#include <bench/shapes/all.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace weir::bench::shapes;

constexpr std::size_t words_of_datum = 64;
constexpr problem small{.size = 32, .iterations = 0, .seed = 1};

// Executes tasks at the end, or at the next barrier: the last one first.
class backwards : public serial {
 public:
  backwards() : serial(words_of_datum) {}

  template <class... Arguments>
  void spawn(const Arguments&... arguments) {
    bind_task([this](const auto& task, const auto&...) { waiting_.emplace_back(task); }, arguments...);
  }
  void wait() {
    for (; !waiting_.empty(); waiting_.pop_back()) waiting_.back()();
  }

 private:
  std::vector<std::function<void()>> waiting_;
};

template <template <class> class Shape>
word serial_result(const problem& p) {
  serial runtime(words_of_datum);
  Shape<serial> shape(runtime, p);
  shape.run();
  return shape.result();
}

template <template <class> class Shape>
word backwards_result(const problem& p) {
  backwards runtime;
  Shape<backwards> shape(runtime, p);
  shape.run();
  runtime.wait();
  return shape.result();
}

template <template <class> class Shape>
constexpr bool ordered_by_data() {
  const shape_info& info = Shape<serial>::info;
  return info.has_data && !info.recursive && info.name != "map-rounds";  // there barriers order all
}

TEST(shapes, another_order_has_another_result) {
  for_each_shape([]<template <class> class Shape> {
    if constexpr (ordered_by_data<Shape>()) {
      EXPECT_NE(serial_result<Shape>(small), backwards_result<Shape>(small)) << Shape<serial>::info.name;
    }
  });
}

TEST(shapes, the_same_order_has_the_same_result) {
  for_each_shape([]<template <class> class Shape> {
    EXPECT_EQ(serial_result<Shape>(small), serial_result<Shape>(small)) << Shape<serial>::info.name;
  });
}

TEST(shapes, names_are_unique) {
  std::set<std::string_view> names;
  for_each_shape([&]<template <class> class Shape> {
    EXPECT_TRUE(names.insert(Shape<serial>::info.name).second) << Shape<serial>::info.name;
  });
  EXPECT_GE(names.size(), 20u);
}

TEST(shapes, what_a_task_writes_depends_on_all_that_it_reads) {
  const auto written = [](std::vector<word> first, std::vector<word> second) {
    std::vector<word> own(words_of_datum);
    body<false>{.number = 1, .iterations = 0}(std::span<const word>(first), std::span<const word>(second),
                                              std::span<word>(own));
    return own;
  };
  const std::vector<word> a(words_of_datum, 1), b(words_of_datum, 2);
  std::vector<word> c = a;
  c[words_of_datum - words_of_line] = 5;
  EXPECT_EQ(written(a, b), written(a, b));
  EXPECT_NE(written(a, b), written(b, a));
  EXPECT_NE(written(a, b), written(c, b));
}

TEST(shapes, a_task_that_produces_does_not_read_what_it_writes) {
  std::vector<word> a(words_of_datum, 1), b(words_of_datum, 2);
  const auto first_of = [](auto body, std::vector<word> values) {
    body(std::span<word>(values));
    return values[0];
  };
  EXPECT_EQ(first_of(small.produces(3), a), first_of(small.produces(3), b));
  EXPECT_NE(first_of(small.updates(3), a), first_of(small.updates(3), b));
}

}  // namespace
