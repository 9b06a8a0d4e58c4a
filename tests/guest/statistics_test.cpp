// Do statistics tell the truth? Every task asks the kernel where the bytes lie that it reads and writes; at the end the
// runtime's own figures, from which R_loc is computed, must be the same: to the byte wherever the runtime places blocks.
#include <gtest/gtest.h>

#include "base/base.hpp"
#include "guest_machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace weir::guest_test {
namespace {

using bytes_out = std::span<unsigned char>;
using bytes_in = std::span<const unsigned char>;

// Bytes by distance class, as statistics::distance_classes numbers them.
class traffic {
 public:
  explicit traffic(std::vector<double> classes) : classes_(std::move(classes)), bytes_(classes_.size()) {}

  template <class T>
  void add(std::span<T> memory) {
    const std::size_t page = os::page_bytes();
    const auto first = reinterpret_cast<std::uintptr_t>(memory.data()), end = first + memory.size_bytes();
    std::uintptr_t at = first;
    for (int node : nodes_of(memory)) {
      const std::uintptr_t next = std::min(end, (at / page + 1) * page);
      if (node == node_unknown) unknown_ += next - at;
      else bytes_[class_of(node)] += next - at;
      at = next;
    }
  }
  void add_on(int node, std::size_t bytes) { bytes_[class_of(node)] += bytes; }
  std::uint64_t unknown() const { return unknown_; }
  std::vector<std::uint64_t> bytes() const { return {bytes_.begin(), bytes_.end()}; }

 private:
  std::size_t class_of(int node) const {
    const int here = this_task::node();
    if (here == node) return 0;
    return static_cast<std::size_t>(std::find(classes_.begin() + 1, classes_.end(), host().distance_between(here, node)) - classes_.begin());
  }

  std::vector<double> classes_;
  std::vector<std::atomic<std::uint64_t>> bytes_;
  std::atomic<std::uint64_t> unknown_{0};
};

// Random tasks over a few data of many sizes: new values, stencil-like steps, privatized and in-place updates.
class random_program {
 public:
  random_program(runtime& rt, std::uint64_t seed, traffic& read, traffic& written) : rt_(rt), random_(seed), read_(read), written_(written) {
    static constexpr std::size_t sizes[] = {64, 100, 640, 4096, 9000, 70000, 300000};
    for (int i = 0; i < 28; i++) all_.push_back(rt.make_data<unsigned char>(sizes[static_cast<std::size_t>(i) % std::size(sizes)]));
  }

  void run(int tasks) {
    rt_.run([&](auto&&...) {
      for (std::size_t x = 0; x < all_.size(); x++) write(x);
      for (int i = 0; i < tasks; i++) spawn_any();
    });
    rt_.wait();
  }

 private:
  std::size_t any() { return random_.below(static_cast<std::uint32_t>(all_.size())); }

  // Half of the tasks are sent to a node, the others go where the policy likes.
  task_options somewhere() {
    task_options o{.name = "random"};
    if (random_.below(2) == 0) o.affinity = require(nodes_[random_.below(static_cast<std::uint32_t>(nodes_.size()))]);
    return o;
  }

  void write(std::size_t x) {
    rt_.spawn(somewhere(), out(all_[x]), [this](bytes_out values) { fill(values); });
  }
  void step(std::size_t x, std::size_t y) {
    rt_.spawn(somewhere(), in(all_[x]), out(all_[y]), [this](bytes_in before, bytes_out after) {
      read_.add(before);
      fill(after);
    });
  }
  // What has moved with its task has been read where it was.
  void update(std::size_t x) {
    rt_.spawn(somewhere(), inout(all_[x]), [this](bytes_out values) {
      place before{};
      std::memcpy(&before, values.data(), sizeof before);
      if (before.address == values.data()) read_.add(values);
      else read_.add_on(before.node, values.size());
      fill(values);
    });
  }
  // Each version says where it was written.
  void fill(bytes_out values) {
    std::ranges::fill(values, static_cast<unsigned char>(1));
    const place now{values.data(), nodes_of(values).front()};
    std::memcpy(values.data(), &now, sizeof now);
    written_.add(values);
  }
  void spawn_any() {
    switch (random_.below(4)) {
      case 0: return write(any());
      case 1: return update(any());
      case 2: {
        const std::size_t x = any();
        return step(x, x);
      }
      default: return step(any(), any());
    }
  }

  runtime& rt_;
  rng random_;
  traffic &read_, &written_;
  std::vector<data<unsigned char>> all_;
  struct place {
    const void* address;
    int node;
  };
  std::vector<int> nodes_ = nodes_with_cpus();
};

std::uint64_t chosen_seed() {
  const char* text = std::getenv("WEIR_TEST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 0) : os::now_ns();
}

// Equal class by class, but for a share of all bytes.
void expect_same(const std::vector<std::uint64_t>& claimed, const std::vector<std::uint64_t>& true_bytes, double share) {
  ASSERT_EQ(claimed.size(), true_bytes.size());
  const double all = static_cast<double>(std::accumulate(true_bytes.begin(), true_bytes.end(), std::uint64_t{0}));
  for (std::size_t c = 0; c < claimed.size(); c++)
    EXPECT_NEAR(static_cast<double>(claimed[c]), static_cast<double>(true_bytes[c]), share * all) << "distance class " << c << ", of " << all << " bytes";
}

class Statistics : public testing::TestWithParam<std::string> {};

TEST_P(Statistics, AreWhatTheKernelSays) {
  if (node_count() < 2) GTEST_SKIP() << "one node: everything is local";
  if (!can_ask(page_source::move_pages) && !can_ask(page_source::pagemap)) GTEST_SKIP() << "the kernel tells nobody where pages are";
  const std::uint64_t seed = chosen_seed();
  SCOPED_TRACE("WEIR_TEST_SEED=" + std::to_string(seed));
  runtime_options o;
  o.policy = GetParam();
  runtime rt(o);
  traffic read(rt.stats().distance_classes), written(rt.stats().distance_classes);
  random_program(rt, seed, read, written).run(600);
  const statistics s = rt.stats();
  EXPECT_EQ(read.unknown() + written.unknown(), 0u);
  // With first touch a block is counted where its first page is, and the page at its end may be a neighbour's.
  const double tolerance = GetParam() == "fifo" ? 0.02 : 0;
  expect_same(s.read_bytes_by_distance, read.bytes(), tolerance);
  expect_same(s.write_bytes_by_distance, written.bytes(), tolerance);
  EXPECT_GT(s.read_local() + s.read_remote(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Policy, Statistics, testing::Values("fifo", "steal", "push-inputs", "deferred", "local"), test_name);

}  // namespace
}  // namespace weir::guest_test
