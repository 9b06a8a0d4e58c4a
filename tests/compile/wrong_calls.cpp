// Calls that make no sense. The compiler refuses each with one error, whose text is the sentence behind `error:` or
// begins with it. wrong_calls.py compiles the cases one by one, behind what stands before the first of them.
#include <weir/weir.hpp>

#include <array>
#include <list>
#include <map>
#include <string>

using weir::in, weir::inout, weir::out, weir::ref;

struct only_movable {
  void operator()() const {}
  std::unique_ptr<int> held = nullptr;
};
struct immovable {
  immovable() = default;
  immovable(const immovable&) = delete;
  void operator()() const {}
};

struct context {
  weir::runtime& rt;
  weir::scope& scope;
  weir::data<double> x, y;
  std::vector<weir::data<double>> blocks;
  weir::stream<int> s;
  std::vector<weir::stream<int>> streams;
  std::vector<double> v;
  std::span<double> memory;
  std::vector<std::size_t> offsets;
  std::vector<std::uint32_t> columns;
  weir::graph& g;
  weir::coarse_graph& coarse;
};

// --- spawn: the body writes what the task only reads
// error: weir: the callable wants to write what the task only reads
rt.spawn(in(x), [](std::span<double> x) { x[0] = 1; });

// --- spawn: the same with options, in a scope
// error: weir: the callable wants to write what the task only reads
scope.spawn({.name = "relax"}, in(x), out(y), [](std::span<double> x, std::span<double> y) { y[0] = x[0]; });

// --- spawn: the same with a group
// error: weir: the callable wants to write what the task only reads
rt.spawn(in(blocks), [](weir::views<double> all) { all[0][0] = 1; });

// --- spawn: the same with a stream
// error: weir: the callable wants to write what the task only reads
rt.spawn(s.pop(2), [](std::span<int> window) { window[0] = 1; });

// --- spawn: no callable
// error: weir: the callable is missing
rt.spawn(in(x), out(y));

// --- spawn: no arguments
// error: weir: the callable is missing
rt.spawn();

// --- spawn: options alone
// error: weir: the callable is missing
scope.spawn({.name = "nothing"});

// --- spawn: the callable before the accesses
// error: weir: the callable comes last
rt.spawn([](auto x) { (void)x; }, in(x));

// --- spawn: the callable between the accesses
// error: weir: the callable comes last
rt.spawn(in(x), [](auto x, auto y) { (void)x, (void)y; }, out(y));

// --- spawn: a name
// error: weir: the name of a task is an option
rt.spawn("relax", in(x), [](auto x) { (void)x; });

// --- spawn: a name in a string
// error: weir: the name of a task is an option
rt.spawn(std::string("relax"), [] {});

// --- spawn: a priority
// error: weir: options come first and together
rt.spawn(weir::priority::high, in(x), [](auto x) { (void)x; });

// --- spawn: options behind an access
// error: weir: options come first and together
rt.spawn(in(x), weir::task_options{.name = "relax"}, [](auto x) { (void)x; });

// --- spawn: a node
// error: weir: options come first and together
scope.spawn(weir::prefer(1), [] {});

// --- spawn: values for the callable, as of a thread
// error: weir: spawn() hands no values to the callable as std::thread does
rt.spawn([](int a, int b) { return a + b; }, 1, 2);

// --- spawn: values for a function
// error: weir: spawn() hands no values to the callable as std::thread does
void f(std::string);
rt.spawn(f, std::string("text"));

// --- spawn: a datum without in, out or inout
// error: weir: a weir::data does not say what the task does with it
rt.spawn(x, [](std::span<const double>) {});

// --- spawn: a part of a datum
// error: weir: a weir::data does not say what the task does with it
rt.spawn(x.first(1), [](std::span<const double>) {});

// --- spawn: a group of data
// error: weir: a weir::data does not say what the task does with it
rt.spawn(blocks, [](weir::views<const double>) {});

// --- spawn: a stream
// error: weir: a weir::stream does not say what the task does with it
rt.spawn(s, [](std::span<int>) {});

// --- spawn: memory without in, out or inout
// error: weir: weir::ref(x) does not say what the task does with the memory
rt.spawn(ref(v), [](std::span<double>) {});

// --- spawn: a group of memory
// error: weir: weir::ref(x) does not say what the task does with the memory
rt.spawn(std::vector{ref(v), ref(memory)}, [](weir::views<double>) {});

// --- spawn: a vector of the program's
// error: weir: an argument before the callable is no access
rt.spawn(v, [](std::span<double>) {});

// --- spawn: a span of the program's
// error: weir: an argument before the callable is no access
rt.spawn(in(x), memory, [](std::span<const double>, std::span<double>) {});

// --- spawn: a number
// error: weir: an argument before the callable is no access
rt.spawn(5, in(x), [](auto x) { (void)x; });

// --- spawn: what cannot be called
// error: weir: the last argument cannot be called
rt.spawn(in(x), 5);

// --- spawn: a datum at the end
// error: weir: the last argument cannot be called
rt.spawn(in(x), y);

// --- spawn: too few arguments
// error: weir: the callable takes more or fewer arguments than its accesses give
rt.spawn(in(x), out(y), [](std::span<const double>) {});

// --- spawn: too many arguments
// error: weir: the callable takes more or fewer arguments than its accesses give
void f(std::span<const double>, std::span<double>);
rt.spawn(in(x), f);

// --- spawn: no arguments at all
// error: weir: the callable takes more or fewer arguments than its accesses give
rt.spawn(in(x), [] {});

// --- spawn: an argument for a tick
// error: weir: the callable takes more or fewer arguments than its accesses give
rt.spawn(s.tick(2), [](std::span<const int>) {});

// --- spawn: a wrong number of arguments of unknown types
// error: weir: the callable cannot be called with what its accesses give
rt.spawn(in(x), out(y), [](auto x) { (void)x; });

// --- spawn: an element instead of a span
// error: weir: the callable cannot be called with what its accesses give
rt.spawn(in(x), [](double x) { (void)x; });

// --- spawn: another element
// error: weir: the callable cannot be called with what its accesses give
rt.spawn(in(x), [](std::span<const float> x) { (void)x; });

// --- spawn: a span by reference
// error: weir: the callable takes a std::span or weir::views by reference
rt.spawn(out(x), [](auto& x) { x[0] = 1; });

// --- spawn: a callable that cannot be copied
// error: weir: a task keeps a copy of its callable, and this one cannot be copied
only_movable f;
rt.spawn(f);

// --- spawn: a callable that cannot be moved
// error: weir: a task keeps its callable, and this one can be neither copied nor moved
immovable f;
rt.spawn({.name = "f"}, f);

// --- in: a number
// error: weir: in() takes a weir::data
rt.spawn(in(5), [](auto x) { (void)x; });

// --- in: a vector
// error: weir: in() takes a weir::data
rt.spawn(in(v), out(y), [](std::span<const double>, std::span<double>) {});

// --- out: a span
// error: weir: out() takes a weir::data
rt.spawn(out(memory), [](std::span<double>) {});

// --- out: a part
// error: weir: out() takes a whole weir::data
rt.spawn(out(x.first(1)), [](std::span<double>) {});

// --- inout: an array
// error: weir: inout() takes a weir::data
double array[4];
rt.spawn(inout(array), [](std::span<double>) {});

// --- ref: a temporary
// error: weir: ref() of a temporary
rt.spawn(in(ref(std::vector<double>(4))), [](std::span<const double>) {});

// --- ref: a number
// error: weir: ref() of a temporary
rt.spawn(in(ref(5)), [](auto x) { (void)x; });

// --- ref: a datum
// error: weir: weir::ref(x) names memory of your own
rt.spawn(in(ref(x)), [](auto x) { (void)x; });

// --- ref: a vector of data
// error: weir: weir::ref(x) names memory of your own
rt.spawn(in(ref(blocks)), [](auto x) { (void)x; });

// --- ref: a vector of refs
// error: weir: weir::ref(x) names memory of your own
std::vector parts{ref(v), ref(memory)};
rt.spawn(in(ref(parts)), [](auto x) { (void)x; });

// --- ref: constant memory that the task is to write
// error: weir: out() and inout() say that the task writes, and the memory in ref() is const
rt.spawn(out(ref(std::as_const(v))), [](std::span<double> x) { x[0] = 1; });

// --- commutative: constant memory
// error: weir: commutative() and concurrent() say that the task writes, and the memory in ref() is const
rt.spawn(weir::commutative(ref(std::as_const(v))), [](std::span<double> x) { x[0] = 1; });

// --- concurrent: constant memory, as a group
// error: weir: commutative() and concurrent() say that the task writes, and the memory in ref() is const
const std::vector parts{ref(std::as_const(v))};
rt.spawn(weir::concurrent(parts), [](weir::views<double> all) { all[0][0] = 1; });

// --- commutative: an array
// error: weir: commutative() and concurrent() take a weir::data
double array[4];
rt.spawn(weir::commutative(array), [](std::span<double>) {});

// --- concurrent: memory without ref
// error: weir: commutative() and concurrent() take a weir::data
rt.spawn(weir::concurrent(memory), [](std::span<double>) {});

// --- commutative: of what another access has refused
// error: weir: in() takes a weir::data
rt.spawn(weir::commutative(in(3)), [](std::span<double>) {});

// --- concurrent: the body wants another element
// error: weir: the callable cannot be called with what its accesses give
rt.spawn(weir::concurrent(x), [](std::span<float>) {});

// --- ref: constant memory that the task is to update, as a group
// error: weir: out() and inout() say that the task writes, and the memory in ref() is const
const std::vector parts{ref(std::as_const(v))};
rt.spawn(inout(parts), [](weir::views<double> all) { all[0][0] = 1; });

// --- ref: a group that the task only reads
// error: weir: the callable wants to write what the task only reads
const std::vector parts{ref(v), ref(memory)};
rt.spawn(in(parts), [](weir::views<double> all) { all[0][0] = 1; });

// --- ref: a group of several types
// error: weir: in() takes a weir::data
rt.spawn(in(std::pair(ref(v), ref(offsets))), [](auto x) { (void)x; });

// --- ref: a group of spans
// error: weir: out() takes a weir::data
rt.spawn(out(std::vector{memory, memory}), [](weir::views<double>) {});

// --- ref: a body for one range
// error: weir: the callable cannot be called with what its accesses give
rt.spawn(out(std::vector{ref(memory)}), [](std::span<double>) {});

// --- ref: a tile that the task only reads
// error: weir: the callable wants to write what the task only reads
rt.spawn(in(ref(weir::tile(v.data(), 10, 0, 2, 0, 2))), [](weir::tile<double> t) { t(0, 0) = 1; });

// --- ref: a tile of constant memory that the task is to write
// error: weir: out() and inout() say that the task writes, and the memory in ref() is const
const double* const matrix = v.data();
rt.spawn(inout(ref(weir::tile(matrix, 10, 0, 2, 0, 2))), [](weir::tile<double>) {});

// --- spawn: a tile without in, out or inout
// error: weir: weir::ref(x) does not say what the task does with the memory
rt.spawn(ref(weir::tile(v.data(), 10, 0, 2, 0, 2)), [](weir::tile<double>) {});

// --- ref: a group of tiles that the task only reads
// error: weir: the callable wants to write what the task only reads
rt.spawn(in(std::vector{ref(weir::tile(v.data(), 10, 0, 2, 0, 2))}),
         [](weir::views<weir::tile<double>> t) { t[0](0, 0) = 1; });

// --- ref: a group of tiles of constant memory that the task is to write
// error: weir: out() and inout() say that the task writes, and the memory in ref() is const
const double* const matrix = v.data();
rt.spawn(out(std::vector{ref(weir::tile(matrix, 10, 0, 2, 0, 2))}), [](weir::views<weir::tile<double>>) {});

// --- spawn: a group of tiles without in, out or inout
// error: weir: weir::ref(x) does not say what the task does with the memory
rt.spawn(std::vector{ref(weir::tile(v.data(), 10, 0, 2, 0, 2))}, [](weir::views<weir::tile<double>>) {});

// --- ref: a body that takes a group of tiles as one of ranges
// error: weir: the callable cannot be called with what its accesses give
rt.spawn(out(std::vector{ref(weir::tile(v.data(), 10, 0, 2, 0, 2))}), [](weir::views<double>) {});

// --- in: tiles without ref
// error: weir: in() takes a weir::data
rt.spawn(in(std::vector{weir::tile(v.data(), 10, 0, 2, 0, 2)}), [](weir::views<weir::tile<const double>>) {});

// --- in: a tile
// error: weir: in() takes a weir::data
rt.spawn(in(weir::tile(v.data(), 10, 0, 2, 0, 2)), [](weir::tile<const double>) {});

// --- ref: a body that takes a tile as a range
// error: weir: the callable cannot be called with what its accesses give
rt.spawn(out(ref(weir::tile(v.data(), 10, 0, 2, 0, 2))), [](std::span<double>) {});

// --- run: a callable with an argument
// error: weir: run() takes one callable, which takes nothing or a weir::scope&
rt.run([](int n) { (void)n; });

// --- run: accesses
// error: weir: run() takes one callable, which takes nothing or a weir::scope&
rt.run(in(x), [](std::span<const double>) {});

// --- run: a callable that cannot be copied
// error: weir: run() keeps a copy of its callable, and this one cannot be copied
only_movable f;
rt.run(f);

// --- runtime: a number of workers
// error: weir: a weir::runtime takes options by name
weir::runtime other(4);

// --- runtime: a policy
// error: weir: a weir::runtime takes options by name
weir::runtime other("local");

// --- make_data: elements with a destructor
// error: weir::data<T>: T must be trivially copyable
rt.make_data<std::string>(10);

// --- data: constant elements
// error: weir::data<T>: T must not be const
weir::data<const double> z;

// --- make_data: no type
// error: weir: make_data<T>() takes a number of elements, or a std::vector<T> or std::span<const T>
auto z = rt.make_data(10);
rt.spawn(out(z), [](auto z) { z[0] = 1; });

// --- make_data: other values
// error: weir: make_data<T>() takes a number of elements, or a std::vector<T> or std::span<const T>
weir::data<double> z = rt.make_data<double>(std::vector<float>(10));

// --- make_data: a list
// error: weir: make_data<T>() takes a number of elements, or a std::vector<T> or std::span<const T>
rt.make_data<int>(std::list<int>{1, 2, 3}, "list");

// --- make_stream: elements with a destructor
// error: weir::stream<T>: T must be trivially copyable
rt.make_stream<std::string>();

// --- push: a value
// error: weir: a stream's push(n), pop(n), peek(n) and tick(n) take a number of elements
rt.spawn(s.push(1.5), [](std::span<int>) {});

// --- pop: nothing
// error: weir: a stream's push(n), pop(n), peek(n) and tick(n) take a number of elements
rt.spawn(s.pop(), [](std::span<const int>) {});

// --- peek: memory
// error: weir: a stream's push(n), pop(n), peek(n) and tick(n) take a number of elements
int place[4];
rt.spawn(s.peek(place), [](std::span<const int>) {});

// --- tick: twice
// error: weir: a stream's push(n), pop(n), peek(n) and tick(n) take a number of elements
rt.spawn(s.tick(1, 2), [] {});

// --- push_each: one stream
// error: weir: push_each(), pop_each() and peek_each() take a std::vector<stream<T>> and a number of elements
rt.spawn(weir::push_each(s, 4), [](weir::views<int>) {});

// --- blocking: a callable with an argument
// error: weir: blocking() takes one callable, which takes nothing
weir::blocking([](int) {});

// --- parallel_pipeline: a stage that is none
// error: weir::parallel_pipeline: expected (rt, source, stages...), or options before the source
weir::parallel_pipeline(rt, [] { return std::optional(1); }, [](int) {});

// --- parallel_pipeline: no stages
// error: weir::parallel_pipeline: expected (rt, source, stages...), or options before the source
weir::parallel_pipeline(rt, {.tokens = 4}, [] { return std::optional(1); });

// --- parallel_pipeline: a source without an end
// error: weir::parallel_pipeline: the source returns a std::optional
weir::parallel_pipeline(rt, [] { return 1; }, weir::serial_stage([](int) {}));

// --- parallel_pipeline: stages that do not fit
// error: weir::parallel_pipeline: a stage takes what the one before it returns
weir::parallel_pipeline(rt, [] { return std::optional(1); }, weir::serial_stage([](std::string) {}));

// --- parallel_pipeline: a mutable parallel stage
// error: weir::parallel_pipeline: a stage takes what the one before it returns
weir::parallel_pipeline(rt, [] { return std::optional(1); }, weir::parallel_stage([n = 0](int) mutable { n++; }));

// --- parallel_pipeline: a result that nobody takes
// error: weir::parallel_pipeline: the last stage returns nothing
weir::parallel_pipeline(rt, [] { return std::optional(1); }, weir::serial_stage([](int i) { return i; }));

// --- parallel_pipeline: nothing for the next stage
// error: weir::parallel_pipeline: only the last stage may return nothing
weir::parallel_pipeline(rt, [] { return std::optional(1); }, weir::serial_stage([](int) {}), weir::serial_stage([] {}));

// --- parallel_pipeline: tokens that cannot be moved
// error: weir::parallel_pipeline: tokens are moved from stage to stage
weir::parallel_pipeline(rt, [] { return std::optional(1); }, weir::parallel_stage([](int) { return std::atomic<int>(); }),
                        weir::serial_stage([](const std::atomic<int>&) {}));

// --- parallel_for: a body without arguments
// error: weir::parallel_for: the body takes an index or element
weir::parallel_for(rt, 0, 10, [] {});

// --- parallel_for: a mutable body
// error: weir::parallel_for: the body takes an index or element
weir::parallel_for(rt, v, [n = 0](double& e) mutable { e = n++; });

// --- parallel_for: floating-point bounds
// error: weir::parallel_for: expected (rt, first, last, body)
weir::parallel_for(rt, 0.0, 1.0, [](double) {});

// --- parallel_for: a list
// error: weir::parallel_for: expected (rt, first, last, body)
std::list<int> list;
weir::parallel_for(rt, list, [](int) {}, {.grain = 4});

// --- parallel_for: no runtime
// error: weir::parallel_for: expected (rt, first, last, body)
weir::parallel_for(0, 10, [](int) {});

// --- parallel_for: the body first
// error: weir::parallel_for: expected (rt, first, last, body)
weir::parallel_for(rt, [](int) {}, 0, 10);

// --- parallel_reduce: a body with too many arguments
// error: weir::parallel_reduce: the body takes an index or element
double sum = weir::parallel_reduce(rt, v, 0.0, [](double, double, double) { return 0.0; }, std::plus());

// --- parallel_reduce: a result of another type
// error: weir::parallel_reduce: the body's result must be convertible to the type of the identity
double sum = weir::parallel_reduce(rt, v, 0.0, [](double) { return std::string(); }, std::plus());

// --- parallel_reduce: a body without result
// error: weir::parallel_reduce: the body's result must be convertible to the type of the identity
double sum = weir::parallel_reduce(rt, v, 0.0, [](double) {}, std::plus());

// --- parallel_reduce: an integer as the identity
// error: weir::parallel_reduce: the result has the type of the identity, here an integer
double sum = weir::parallel_reduce(rt, v, 0, std::identity(), std::plus());

// --- parallel_reduce: combine with one argument
// error: weir::parallel_reduce: combine(left, right) takes two results and returns one
double sum = weir::parallel_reduce(rt, v, 0.0, std::identity(), [](double left) { return left; });

// --- parallel_reduce: no identity
// error: weir::parallel_reduce: expected (rt, first, last, identity, body, combine)
double sum = weir::parallel_reduce(rt, v, std::identity(), std::plus());

// --- graph: a callable with an argument
// error: weir: a task of a graph is a callable without arguments
g.add([](int n) { (void)n; });

// --- graph: a callable that cannot be copied
// error: weir: a graph keeps a copy of the callable, and this one cannot be copied
only_movable f;
g.add(f);

// --- graph: a callable that cannot be moved
// error: weir: a graph keeps the callable, and this one can be neither copied nor moved
immovable f;
g.add({.name = "f"}, f);

// --- graph: a name
// error: weir: graph::add() takes a callable, or options and a callable
g.add("load", [] {});

// --- graph: an access
// error: weir: graph::add() takes a callable, or options and a callable
const weir::graph::task_id task = g.add(in(x), out(y), [](auto x, auto y) { y[0] = x[0]; });

// --- graph: an edge at once
// error: weir: a task of a graph is a callable without arguments
g.add(5);

// --- bulk graph: a temporary array
// error: weir::graph(offsets, predecessors, cost_ns): an array is temporary
weir::graph bulk(offsets, std::vector<std::uint32_t>(10));

// --- bulk graph: a temporary array, no edges
// error: weir::graph(offsets, predecessors, cost_ns): an array is temporary
weir::graph bulk(std::vector<std::size_t>(10), {});

// --- bulk graph: temporary costs
// error: weir::graph(offsets, predecessors, cost_ns): an array is temporary
weir::graph bulk(offsets, columns, std::vector<float>(10));

// --- bulk graph: a temporary array without a heap
// error: weir::graph(offsets, predecessors, cost_ns): an array is temporary
weir::graph bulk(std::array<std::size_t, 2>(), columns);

// --- bulk graph: offsets of another type
// error: weir::graph(offsets, predecessors, cost_ns): expected arrays, spans or vectors of std::size_t
std::vector<int> rows;
weir::graph bulk(rows, columns);

// --- bulk graph: arrays in another order
// error: weir::graph(offsets, predecessors, cost_ns): expected arrays, spans or vectors of std::size_t
weir::graph bulk(columns, offsets);

// --- bulk graph: costs of another type
// error: weir::graph(offsets, predecessors, cost_ns): expected arrays, spans or vectors of std::size_t
std::vector<double> costs;
weir::graph bulk(offsets, columns, costs);

// --- bulk graph: a body without arguments
// error: weir: the body takes a task's index
g.run(rt, [] {});

// --- bulk graph: a mutable body
// error: weir: the body takes a task's index
g.run_transposed(rt, [n = 0](weir::graph::task_id) mutable { n++; });

// --- bulk graph: a scope as the runtime
// error: weir: a graph runs as run(rt)
g.run(scope);

// --- bulk graph: the body first
// error: weir: a graph runs as run(rt)
g.run([](weir::graph::task_id) {}, rt);

// --- coarse graph: a body with another argument
// error: weir: the body takes a task's index
coarse.run(rt, [](std::string) {});

// --- coarse graph: no runtime
// error: weir: a graph runs as run(rt)
coarse.run_transposed([](weir::graph::task_id) {});

// --- coarse graph: distribute without memory
// error: weir: distribute() calls writes(task, memory)
coarse.distribute(rt, [](weir::graph::task_id) {});

// --- aggregate: a number
// error: weir: aggregate() takes a weir::graph and a coarse string
weir::coarse_graph c = weir::aggregate(g, 4);

// --- aggregate: the arguments in another order
// error: weir: aggregate() takes a weir::graph and a coarse string
auto c = weir::aggregate(g, rt, "auto");

// --- aggregate: a body without arguments
// error: weir: the body takes a task's index
auto c = weir::aggregate(g, "auto", rt, [] {});
