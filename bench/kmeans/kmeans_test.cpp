// What is particular to k-means: its input, its labels, empty clusters. That the runtime's result is the sequential
// program's is tested for all kernels alike in tests/bench.
#include <bench/common/io/file.hpp>
#include <bench/common/registry.hpp>
#include <bench/kmeans/points.hpp>
#include <bench/kmeans/result.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

namespace weir::bench {
namespace {

namespace fs = std::filesystem;
using clustering::result;

configuration problem(const fs::path& input, std::size_t clusters, std::size_t block, int iterations) {
  configuration c = kmeans().defaults;
  c.input = input;
  c.clusters = clusters;
  c.block = {block};
  c.iterations = iterations;
  kmeans().complete(c);
  return c;
}

class kmeans_files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-kmeans-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path points(const std::string& text) {
    std::ofstream(folder_ / "points.csv") << text;
    return folder_ / "points.csv";
  }
  fs::path folder_;
};

result run(configuration c, bool parallel_control, storage data_in, verification& v) {
  c.parallel_control = parallel_control;
  c.data_in = data_in;
  const serial_result expected = solve_kmeans(c);
  runtime rt({.workers = 3, .bind = false});
  const auto i = kmeans().make(c);
  i->prepare(rt);
  i->run(rt);
  i->collect(rt);
  v = i->verify(expected.value);
  if (!c.output.empty()) i->write_output();
  return std::any_cast<result>(expected.value);
}

TEST_F(kmeans_files, labels_of_points_that_are_far_apart) {
  configuration c = problem(points("x,y\n0,0\n10,10\n0,1\n11,10\n1,0\n10,11\n"), 2, 2, 5);
  c.output = folder_ / "labels.csv";
  for (const bool parallel : {false, true})
    for (const storage data_in : {storage::versions, storage::shared, storage::own}) {
      verification v;
      const result r = run(c, parallel, data_in, v);
      EXPECT_TRUE(v.passed) << v.what;
      // The clusters start at points 0 and 3.
      EXPECT_EQ(r.labels, (std::vector<std::int32_t>{0, 1, 0, 1, 0, 1}));
      EXPECT_NEAR(r.centroids[0], 1 / 3.0, 1e-6);
      EXPECT_NEAR(r.centroids[1], 31 / 3.0, 1e-6);
      EXPECT_EQ(read_file(c.output), "label\n0\n1\n0\n1\n0\n1\n");
    }
}

TEST_F(kmeans_files, an_empty_cluster_keeps_its_centroid) {
  // Clusters 0 and 1 start at the same point: of equally near centroids the first takes all.
  configuration c = problem(points("5\n5\n5\n5\n9\n9\n"), 3, 4, 3);
  verification v;
  const result r = run(c, false, storage::versions, v);
  EXPECT_TRUE(v.passed);
  EXPECT_EQ(r.labels, (std::vector<std::int32_t>{0, 0, 0, 0, 2, 2}));
  EXPECT_EQ(r.centroids, (std::vector<float>{5, 5, 9}));
}

TEST_F(kmeans_files, as_many_clusters_as_points) {
  configuration c = problem(points("3\n1\n2\n"), 3, 1, 2);
  verification v;
  EXPECT_EQ(run(c, true, storage::versions, v).labels, (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_TRUE(v.passed);
}

TEST_F(kmeans_files, the_shipped_data_set) {
  const configuration c = problem(fs::path(WEIR_DATA_DIRECTORY) / "digits.csv", 10, 100, 5);
  EXPECT_EQ(c.size, (std::vector<std::size_t>{1797, 64}));
  verification v;
  const result r = run(c, true, storage::versions, v);
  EXPECT_TRUE(v.passed);
  EXPECT_EQ(std::set<std::int32_t>(r.labels.begin(), r.labels.end()).size(), 10u);
}

TEST_F(kmeans_files, refuses_what_cannot_be_clustered) {
  const auto message = [&](const fs::path& input, std::size_t clusters) -> std::string {
    try {
      problem(input, clusters, 1, 1);
    } catch (const input_error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(message(points("1\n2\n"), 3), "kmeans: --clusters 3 is more than there are points (2)");
  EXPECT_NE(message(points(""), 1).find("is empty, expected points"), std::string::npos);
  EXPECT_NE(message(points("1\nx\n"), 1).find("points.csv, line 2, column 1: 'x' is not a number"), std::string::npos);
  EXPECT_NE(message(folder_ / "none.csv", 1).find("cannot be opened"), std::string::npos);
}

TEST(kmeans_points, do_not_depend_on_how_they_are_read) {
  configuration c = kmeans().defaults;
  c.size = {10, 3};
  const clustering::point_source source(c);
  std::vector<float> all(30), one(3);
  source.read(0, all);
  for (std::size_t p = 0; p < 10; p++) {
    source.read(p, one);
    EXPECT_TRUE(std::ranges::equal(one, std::span(all).subspan(3 * p, 3)));
  }
}

}  // namespace
}  // namespace weir::bench
