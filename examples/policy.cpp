// A policy of one's own: a task runs where most of what it reads lies, but off the node of the first worker, which this
// program is to leave to others. Chosen by name, here or with WEIR_POLICY=mostly.
#include <weir/weir.hpp>

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

class mostly final : public weir::policy {
 public:
  explicit mostly(weir::policy_parameters& p)
      : shun_ns_(p.number("shun", 10'000, 0, 1e9, "ns that it may cost to leave the first worker's node alone")) {}

  double cost(const weir::task_view& task, int node) const override {
    double ns = node == machine().node_of_worker[0] ? shun_ns_ : 0;
    task.for_each_input([&](const weir::task_view::part& p) {
      if (p.node >= 0)
        ns += static_cast<double>(p.bytes) / 64 * (machine().read(node, p.node) - machine().read(node, node));
    });
    return std::max(ns, 0.0);
  }

 private:
  const double shun_ns_;
};
const weir::policy_registration<mostly> here("mostly");

int main() {
  weir::runtime_options options{.policy = "mostly:shun=50000"};
  options.workers = 4;
  options.machine = "nodes:4 cpus:1";  // pretended, so that the example says something on a laptop, too
  weir::runtime rt(options);

  std::vector<weir::data<double>> blocks;
  for (int i = 0; i < 40; i++) blocks.push_back(rt.make_data<double>(512));
  for (auto& b : blocks) rt.spawn(weir::out(b), [](std::span<double> x) { std::ranges::fill(x, 1.0); });
  for (int t = 0; t < 10; t++)
    for (auto& b : blocks)
      rt.spawn(weir::inout(b), [](std::span<double> x) {
        for (double& v : x) v += 1;
      });
  rt.wait();

  double sum = 0;
  for (auto& b : blocks) sum += b.read()[0];
  const weir::statistics s = rt.stats();
  std::printf("policy %s: sum %.0f, %llu tasks sent to another node\n", rt.policy().c_str(), sum,
              static_cast<unsigned long long>(s.pushes));
  return sum == 40 * 11 && s.pushes > 0 ? 0 : 1;
}
