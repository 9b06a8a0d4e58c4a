// Calls that must compile without a warning: every public aggregate with its members named, and calls that are close to
// those which wrong_calls.cpp wants refused.
#include <weir/weir.hpp>

#include <weir/region.h>
#include <weir/solver.hpp>

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>

using weir::in, weir::inout, weir::out, weir::ref;

void named_members(weir::runtime& rt) {
  weir::runtime two({.workers = 2});
  weir::runtime three({.workers = 3, .policy = "local", .bind = false, .machine = "nodes:2 cpus:2", .spin = 0,
                       .trace = weir::runtime_options::no_trace, .backlog = 64});
  weir::runtime pretended({.machine = "nodes:2 cpus:2"}), all{weir::runtime_options()}, none;
  rt.spawn({.name = "a"}, [] {});
  rt.spawn({.priority = weir::priority::high}, [] {});
  rt.spawn({.affinity = weir::require(0)}, [] {});
  rt.spawn({.affinity = {.node = 1}}, [] {});
  rt.spawn({.affinity = near(rt.make_data<int>(1))}, [] {});
  rt.spawn({.name = "a", .affinity = {.required = true}}, [] {});
  rt.spawn({}, [] {});
  weir::parallel_for(rt, 0, 10, [](int) {}, {.grain = 4});
  weir::parallel_for(rt, 0, 10, [](int) {}, {.distribution = weir::distribution::none});
  weir::parallel_for(rt, 0, 10, [](int) {}, {.name = "loop"});
  const std::vector<std::size_t> begin{0, 0}, end{0, 1};
  const std::vector<std::uint32_t> before{0};
  weir::graph g({.begin = begin, .end = end, .predecessors = before}), h({begin, end, before});
  const weir::move_report report{.pages = 1, .refused = 1};
  const weir::statistics counts{.workers = 2};
  (void)report, (void)counts;
}

void solver_options() {
  const weir::solver::ilu_options ilu{.level = 1};
  const weir::solver::krylov_options krylov{.tolerance = 1e-8};
  const weir::solver::krylov_result result{.iterations = 1};
  const weir::solver::permeability rock{.nx = 1};
  const weir::solver::matrix a{.rows = 0};
  (void)rock, (void)a, (void)ilu, (void)krylov, (void)result;
}

void free_function(std::span<const double>, std::span<double>) {}
struct member {
  void call() { calls++; }
  int calls = 0;
};
struct block : weir::data<double> {};

void callables(weir::runtime& rt, weir::scope& scope, const weir::data<double>& x, const weir::data<double>& y) {
  rt.spawn(in(x), out(y), free_function);
  rt.spawn(in(x), out(y), &free_function);
  rt.spawn(in(x), out(y), std::function<void(std::span<const double>, std::span<double>)>(free_function));
  rt.spawn(inout(x), [n = 0](std::span<double> s) mutable { s[0] = n++; });
  rt.spawn(inout(x), [](const auto& s) { s[0] = 1; });
  rt.spawn(inout(x), [](auto&& s) { s[0] = 1; });
  rt.spawn(inout(x), [](std::span<const double>) {});
  rt.spawn(in(x), in(y), [](auto... parts) { static_assert(sizeof...(parts) == 2); });
  rt.spawn(in(x), [](auto, int factor = 2) { (void)factor; });
  rt.spawn([held = std::make_unique<int>(1)] { (void)held; });
  rt.spawn([&rt] { return rt.workers(); });
  static member m;
  rt.spawn(std::bind_front(&member::call, &m));
  const weir::task_options constant{.name = "constant"};
  weir::task_options variable{.name = "variable"};
  rt.spawn(constant, [] {});
  scope.spawn(variable, in(x), [](auto) {});
  rt.run([] {});
  rt.run([](weir::scope& s) { s.spawn([] {}); });
  rt.run([held = std::make_unique<int>(1)](weir::scope&) { (void)held; });
  // What calls itself again is not known yet where it is called.
  const auto recursive = [&rt](auto self, int depth) -> void {
    if (depth > 0) rt.spawn([self, depth] { self(self, depth - 1); });
  };
  recursive(recursive, 3);
}

void accesses(weir::runtime& rt, const std::vector<weir::data<double>>& blocks, const weir::stream<int>& s,
              const std::vector<weir::stream<int>>& streams) {
  block derived{blocks[0]};
  rt.spawn(in(derived), [](std::span<const double>) {});
  rt.spawn(in(blocks[0].slice(1, 2)), inout(blocks[1].last(1)), [](std::span<const double>, std::span<double>) {});
  rt.spawn(in(blocks), out(std::span<const weir::data<double>>(blocks).first(1)),
           [](weir::views<const double>, weir::views<double> w) { w[0][0] = 1; });
  rt.spawn(in(std::vector{blocks[0], blocks[1]}), [](auto) {});
  std::vector<double> v(4);
  const std::vector<double> constant(4);
  double number = 0;
  std::span<double, 4> fixed(v.data(), 4);
  rt.spawn(in(ref(v)), inout(ref(number)), [](std::span<const double>, std::span<double> n) { n[0] = 1; });
  rt.spawn(in(ref(constant)), out(ref(std::span(v).first(2))), [](auto, auto) {});
  rt.spawn(in(ref(std::as_const(number))), in(ref(std::span<double>(fixed))), [](auto, auto) {});
  const std::vector ranges{ref(v), ref(std::span<double>(fixed)), ref(number)};
  const std::vector<weir::memory_range<const double>> read_only{ref(constant), ref(std::as_const(v))};
  rt.spawn(in(ranges), out(std::span(ranges).first(1)), inout(std::vector{ref(number)}), in(read_only),
           [](weir::views<const double> r, weir::views<double> w, auto, weir::views<const double>) {
             for (const std::span<const double> part : r) w.begin()[0][0] = part[0];
           });
  const weir::tile block(v.data(), 2, 0, 1, 0, 2);
  const weir::memory_tile<double> named = ref(block);
  rt.spawn(in(ref(block)), inout(named), out(ref(weir::tile(v.data(), 2, 1, 1, 0, 2))),
           in(ref(weir::tile<const double>(block))),
           [](weir::tile<const double> r, weir::tile<double> w, auto, auto) { w(0, 1) = r.row(0)[0]; });
  const std::vector named_tiles{named, ref(block)};
  const std::vector constant_tiles{ref(weir::tile<const double>(block))};
  rt.spawn(in(named_tiles), out(std::span(named_tiles).first(1)), inout(named_tiles), in(constant_tiles),
           [](weir::views<weir::tile<const double>> r, weir::views<weir::tile<double>> w, auto,
              weir::views<weir::tile<const double>>) {
             for (const weir::tile<const double> t : r) w[0](0, 1) = t(0, 0);
           });
  using weir::commutative, weir::concurrent;
  rt.spawn(commutative(derived), concurrent(blocks[1].last(1)), [](std::span<double>, std::span<double>) {});
  rt.spawn(concurrent(blocks), commutative(std::span<const weir::data<double>>(blocks).first(1)),
           [](weir::views<double>, weir::views<double> w) { w[0][0] = 1; });
  rt.spawn(commutative(ref(v)), concurrent(ref(number)), commutative(ref(std::span<double>(fixed))),
           [](std::span<double>, std::span<double> n, std::span<double>) { n[0] = 1; });
  rt.spawn(commutative(ranges), concurrent(std::span(ranges).first(1)), [](weir::views<double>, auto) {});
  rt.spawn(commutative(blocks[0]), [](std::span<const double>) {});
  rt.spawn(s.push(2), s.tick(std::size_t{1}), s.pop(1), [](std::span<int>, std::span<const int>) {});
  rt.spawn(weir::push_each(streams, 2), weir::pop_each(streams, 1), [](weir::views<int>, weir::views<const int>) {});
}

void making_data(weir::runtime& rt) {
  const std::vector<double> v(4);
  const char* const name = "name";
  const weir::data<double> x = rt.make_data<double>(4), y = rt.make_data<double>(4, name);
  const weir::data<double> z = rt.make_data(v), u = rt.make_data(v, "u");
  const weir::data<double> spans = rt.make_data(std::span(v)), braces = rt.make_data<double>({1.0, 2.0});
  std::vector<double> changing(4);
  const weir::data<double> converted = rt.make_data<double>(std::span(changing));
  const weir::data<double> array = rt.make_data<double>(std::array<double, 2>{1, 2}, "array");
}

void graphs(weir::runtime& rt, std::vector<std::size_t>& offsets, const std::vector<std::uint32_t>& before,
            std::vector<float>& cost) {
  weir::graph g(offsets, before), all(offsets, before, cost), no_edges(offsets, {});
  weir::graph spans(std::span<std::size_t>(offsets).first(1), before, std::span<float>(cost));
  weir::graph recorded, moved(std::move(recorded));
  const auto a = moved.add([] {}), b = moved.add({.name = "b"}, [held = std::make_unique<int>(1)] { (void)held; });
  moved.precede(a, b);
  moved.run(rt);
  g.run(rt, [](weir::graph::task_id) {});
  g.run_transposed(rt, [](std::span<const std::uint32_t>) {});
  weir::coarse_graph c = weir::aggregate(g, std::string("S"));
  weir::coarse_graph known = weir::aggregate(g, "auto", rt), costs = weir::aggregate(g, "auto", rt, 100);
  weir::coarse_graph tried = weir::aggregate(g, "auto", rt, [](weir::graph::task_id) {});
  c.run(rt);
  c.distribute(rt, [&](weir::graph::task_id t, weir::written_memory& memory) { memory.add(cost[t]); });
}

void loops(weir::runtime& rt, std::vector<double>& v) {
  weir::parallel_for(rt, std::size_t{0}, v.size(), [&](std::size_t i) { v[i] = 1; });
  weir::parallel_for(rt, 0, 5L, [](auto) {}, {.grain = 2});
  weir::parallel_for(rt, v.begin(), v.end(), [](double& x) { x = std::sqrt(x); });
  weir::parallel_for(rt, std::span(v), [](auto begin, auto end) { std::fill(begin, end, 0.0); });
  const double sum = weir::parallel_reduce(rt, v, 0.0, std::identity(), std::plus());
  const auto larger = [](double a, double b) { return std::max(a, b); };
  const double most = weir::parallel_reduce(rt, 0, 10, 0.0, [](int i) { return i; }, larger, {.grain = 4});
  (void)sum, (void)most;
}

void pipelines(weir::runtime& rt, std::vector<double>& v) {
  const auto source = [&]() -> std::optional<double> { return v.empty() ? std::nullopt : std::optional(v.front()); };
  const auto root = weir::parallel_stage([](double x) { return std::sqrt(x); });
  weir::parallel_pipeline(rt, source, root, weir::serial_stage([&](double x) { v.push_back(x); }));
  weir::parallel_pipeline(rt, {.tokens = 4, .name = "roots"}, source, root, root, weir::parallel_stage([](auto) {}));
}
