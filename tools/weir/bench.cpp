// weir bench: from options to runs. Everything is checked before the first run starts.
#include "bench.hpp"

#include "bench_aggregate.hpp"
#include "bench_bound.hpp"
#include "bench_main.hpp"
#include "bench_memory.hpp"
#include "bench_overhead.hpp"

#include <bench/common/median.hpp>
#include <bench/common/options.hpp>
#include <bench/common/output.hpp>
#include <bench/common/page_check.hpp>
#include <bench/common/parser.hpp>
#include <bench/common/report.hpp>
#include <bench/common/runner.hpp>
#include <machine/machine.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

namespace weir::tools {
namespace {

using namespace weir::bench;

struct bench_options {
  std::string kernels, control = "sequential", memory, init, input, output, machine, trace;
  std::optional<std::string> size, block, policies;
  int iterations = 0, clusters = 0, bins = 0, workers = 0, repeat = 1, warm_up = 1;
  std::uint64_t seed = 1;
  bool shared = false, movable = false, verify = false, json = false, list = false, pages_check = false, load_store = false;
  bool annotate = false, bound = false, counters = false;
};

void refuse(const kernel& k, bool has, bool given, const char* option) {
  if (given && !has) throw input_error(std::string(k.name) + " has no " + option);
}

// --shared is short for --memory shared. Where there is only one way it need not be said.
storage storage_of(const kernel& k, const bench_options& o) {
  if (o.shared && !o.memory.empty() && o.memory != "shared")
    throw input_error("--shared and --memory " + o.memory + " exclude each other");
  for (const storage s : {storage::shared, storage::own})
    if (o.memory == name_of(s)) return s;
  if (o.memory.empty() && !o.shared && !k.uses.versions) return storage::own;
  return o.shared ? storage::shared : storage::versions;
}

first_touch init_of(const kernel& k, const bench_options& o) {
  for (const first_touch f : {first_touch::tasks, first_touch::one, first_touch::inside})
    if (o.init == name_of(f)) return f;
  return k.defaults.init;
}

// What a program says by hand about memory and tasks is said about memory of its own.
void check_by_hand(const kernel& k, const bench_options& o, storage data_in) {
  for (const auto& [given, option] : {std::pair(o.annotate, "--annotate"), std::pair(!o.init.empty(), "--init")}) {
    refuse(k, k.uses.by_hand, given, option);
    if (given && data_in != storage::own) throw input_error(std::string(option) + " needs --memory own");
  }
}

configuration configure(const kernel& k, const bench_options& o) {
  refuse(k, k.uses.iterations, o.iterations != 0, "--iterations");
  refuse(k, k.uses.clusters, o.clusters != 0, "--clusters");
  refuse(k, k.uses.bins, o.bins != 0, "--bins");
  refuse(k, k.uses.parallel_control, o.control == "parallel", "--control parallel");
  refuse(k, k.uses.creators, o.control == "stolen" || o.control == "scattered", ("--control " + o.control).c_str());
  const storage data_in = storage_of(k, o);
  refuse(k, k.uses.versions, data_in == storage::versions, "--memory private");
  refuse(k, k.uses.shared, data_in == storage::shared, o.shared ? "--shared" : "--memory shared");
  refuse(k, k.uses.own, data_in == storage::own, "--memory own");
  check_by_hand(k, o, data_in);
  refuse(k, k.uses.load_store, o.load_store, "--load-store");
  if (o.load_store && data_in != storage::versions)
    throw input_error("--load-store needs --memory private: elsewhere tasks work on the arrays themselves");
  refuse(k, k.uses.input, !o.input.empty(), "--input");
  refuse(k, k.uses.output, !o.output.empty(), "--output");
  if (!o.input.empty() && o.size) throw input_error("--size and --input exclude each other: the size is the input's");
  if (!o.output.empty() && o.input.empty()) throw input_error("--output needs --input: what is computed from made-up input is not kept");
  if (o.movable && data_in != storage::shared)
    throw input_error("--movable needs --shared: it is for pages that the program has interleaved");
  if (o.pages_check && data_in == storage::shared)
    throw input_error("--pages-check and --shared exclude each other: pages of shared arrays belong to no task");

  configuration c = k.defaults;
  if (o.size) c.size = parse_size("--size", *o.size);
  if (o.block) c.block = parse_size("--block", *o.block);
  if (o.iterations) c.iterations = o.iterations;
  if (o.clusters) c.clusters = static_cast<std::size_t>(o.clusters);
  if (o.bins) c.bins = static_cast<std::size_t>(o.bins);
  c.seed = o.seed;
  c.parallel_control = o.control != "sequential";
  c.where_created = o.control == "stolen"      ? creators::stolen
                    : o.control == "scattered" ? creators::scattered
                                               : creators::dealt;
  c.data_in = data_in;
  c.load_store = o.load_store;
  c.init = init_of(k, o);
  c.annotate = o.annotate;
  c.input = o.input;
  c.output = o.output;
  check_configuration(k, c, o.block ? block_choice::exact : block_choice::fit);
  return c;
}

// Starts and stops a small runtime: only the runtime knows its policies, machines and trace files. Without tasks it leaves
// no trace.
void check_policy(const std::string& policy, const bench_options& o) {
  runtime_options one;
  one.workers = 1;
  one.policy = policy;
  one.machine = o.machine;
  one.trace = o.trace;
  runtime rt(one);
}

std::vector<int> os_nodes() {
  std::vector<int> nodes;
  for (const auto& n : machine::host().nodes) nodes.push_back(n.os_index);
  return nodes;
}

// All runs of one kernel, in rounds: the sequential program if results are verified, then each policy, so that a
// disturbance hits none of them alone. Rounds to warm up come first and are not counted: the first run of all gets its
// memory from the system, which the others find there.
class session {
 public:
  session(const kernel& k, configuration c, const bench_options& o, std::vector<std::string> policies) : options_(o), policies_(std::move(policies)) {
    request_.what = &k;
    request_.problem = std::move(c);
    request_.how.workers = o.workers;
    request_.how.machine = o.machine;
    request_.how.trace = o.trace;
    request_.movable = o.movable;
    request_.count = o.counters;
  }

  // True if all results are as expected.
  bool run() {
    for (const std::string& p : policies_) groups_.push_back({p, {}});
    for (int round = 0; round < options_.warm_up; round++) warm_up();
    for (int round = 0; round < options_.repeat; round++) run_round(round);
    if (!options_.json) fmt::print("{}\n", to_table(request_, groups_, median(serial_seconds_), options_.warm_up));
    flush_output();
    return wrong_.empty() || complain();
  }

 private:
  void warm_up() {
    if (options_.verify) request_.what->solve(request_.problem);
    run_request request = request_;
    request.measured = false;
    request.how.trace = runtime_options::no_trace;
    for (const run_group& g : groups_) {
      request.how.policy = g.policy;
      run_once(request);
    }
  }

  // Each round begins with another policy: who runs after a certain other one may find caches and memory as that left
  // them.
  void run_round(int round) {
    if (options_.verify) {
      serial_result serial = request_.what->solve(request_.problem);
      serial_seconds_.push_back(serial.seconds);
      expected_ = std::move(serial.value);
      request_.expected = &expected_;
    }
    const std::size_t count = groups_.size(), first = static_cast<std::size_t>(round) % count;
    for (std::size_t i = 0; i < count; i++) run_one(groups_[(first + i) % count], round);
  }

  void run_one(run_group& g, int repeat) {
    request_.how.policy = g.policy;
    request_.write_output = !options_.output.empty() && repeat == 0 && &g == &groups_.front();
    page_checker pages(options_.pages_check ? os_nodes() : std::vector<int>{});
    request_.problem.pages = options_.pages_check ? &pages : nullptr;
    run_result r = run_once(request_);
    if (g.policy.empty()) g.policy = r.policy;
    if (r.verified && !r.verified->passed) wrong_ = fmt::format("{} under {}: the result differs ({}); largest difference {:g}, tolerance {:g}", request_.what->name, r.policy, r.verified->what, r.verified->largest_difference, r.verified->tolerance);
    if (!r.trace_failure.empty()) wrong_ = r.trace_failure;
    say_what_is_not_counted(r.counters_missing);
    if (options_.json) {
      fmt::print("{}\n", to_json(request_, r, repeat, request_.problem.pages));
      flush_output();
    } else if (options_.pages_check) {
      fmt::print("{} under {}: {} of {} pages written are on another node than their task, {} unknown\n", request_.what->name, r.policy, pages.misplaced(), pages.checked(), pages.unknown());
    }
    g.runs.push_back(std::move(r));
  }
  // Once a process.
  static void say_what_is_not_counted(const std::string& missing) {
    static bool said = false;
    if (missing.empty() || said) return;
    said = true;
    fmt::print(stderr, "weir: note: --counters does not count {}\n", missing);
  }

  bool complain() const {
    fmt::print(stderr, "weir: {}\n", wrong_);
    return false;
  }

  const bench_options& options_;
  std::vector<std::string> policies_;
  run_request request_;
  std::vector<run_group> groups_;
  std::any expected_;  // the sequential program's result
  std::vector<double> serial_seconds_;
  std::string wrong_;
};

void list_kernels() {
  for (const kernel& k : kernels()) {
    const configuration& d = k.defaults;
    std::string more;
    if (k.uses.iterations) more += fmt::format(" --iterations {}", d.iterations);
    if (k.uses.clusters) more += fmt::format(" --clusters {}", d.clusters);
    if (k.uses.bins) more += fmt::format(" --bins {}", d.bins);
    fmt::print("{:<18} {}\n{:<18}   --size {} --block {}{}   ({})\n", k.name, k.description, "", format_size(d.size), format_size(d.block), more, k.size_meaning);
  }
  fmt::print("{:<18} {}\n{:<18}   has options of its own: weir bench overhead --help\n", "overhead", "no kernel: what one task costs, under weir and other runtimes", "");
  fmt::print("{:<18} {}\n{:<18}   has options of its own: weir bench main --help\n", "main",
             "no kernel: what things cost from main(), under weir and other runtimes", "");
  fmt::print("{:<18} {}\n{:<18}   has options of its own: weir bench latency --help\n", "latency", "no kernel: time of a line of memory, from node to node", "");
  fmt::print("{:<18} {}\n{:<18}   has options of its own: weir bench migration --help\n", "migration", "no kernel: threads that change buffers, while the system may move pages", "");
  fmt::print("{:<18} {}\n{:<18}   has options of its own: weir bench aggregate --help\n", "aggregate", "no kernel: coarse strings on graphs of a million tiny tasks", "");
}

// `overhead`, `aggregate` and their like are subcommands beside the kernels, and none of the kernels' options applies to them.
void refuse_options_before(const CLI::App& bench, const CLI::App& own) {
  for (const CLI::Option* option : bench.get_options())
    if (option->count() != 0) throw input_error(own.get_name() + " takes its own options only, not " + option->get_name());
}

// Bytes, not times: of each kernel the graph, its divisions, and where tasks run.
int run_bound(const bench_options& o, const std::vector<std::string>& policies) {
  for (const auto& [given, option] : {std::pair(o.verify, "--verify"), std::pair(o.pages_check, "--pages-check"),
                                      std::pair(!o.trace.empty(), "--trace"), std::pair(!o.output.empty(), "--output"),
                                      std::pair(o.counters, "--counters")})
    if (given) throw input_error(std::string("--bound and ") + option + " exclude each other");
  std::vector<bound_request> requests;
  for (const std::string& name : parse_names("kernels", o.kernels)) {
    const kernel& k = find_kernel(name);
    run_request r{.what = &k, .problem = configure(k, o), .how = {.workers = o.workers, .machine = o.machine}};
    check_bound(k, r.problem);
    requests.push_back({std::move(r), policies, o.repeat, o.json});
  }
  for (const std::string& p : policies) check_policy(p, o);
  for (bound_request& r : requests) print_bound(r);
  return 0;
}

int run_bench(const bench_options& o) {
  if (o.list) return list_kernels(), 0;
  if (o.kernels.empty()) throw input_error("bench needs the name of a kernel; --list shows them");
  if (o.pages_check && !o.machine.empty() && o.machine != "host") throw input_error("--pages-check and --machine exclude each other: on a pretended machine pages lie anywhere");
  std::vector<std::string> policies = o.policies ? parse_policies(*o.policies) : std::vector<std::string>{""};
  if (!o.trace.empty() && (policies.size() > 1 || o.repeat > 1 || parse_names("kernels", o.kernels).size() > 1)) throw input_error("--trace is for one run: name one kernel, one policy, and no --repeat");
  if (o.bound) return run_bound(o, policies);
  std::vector<session> sessions;
  for (const std::string& name : parse_names("kernels", o.kernels)) {
    const kernel& k = find_kernel(name);
    sessions.emplace_back(k, configure(k, o), o, policies);
  }
  for (const std::string& p : policies) check_policy(p, o);
  bool right = true;
  for (session& s : sessions) right &= s.run();
  return right ? 0 : 1;
}

}  // namespace

// As their files declare them.
std::string policies_for_help() {
  std::string text = "Policies and their parameters:";
  for (const std::string& name : policy_names()) {
    text += "\n  " + name;
    for (const auto& p : policy_parameters_of(name))
      text += fmt::format("\n    {:<10} {} ({}; {} unless told otherwise)", p.name, p.meaning, p.range, p.usual);
  }
  return text;
}

std::shared_ptr<const int> add_bench_command(CLI::App& app) {
  auto o = std::make_shared<bench_options>();
  auto status = std::make_shared<int>(0);
  CLI::App* bench = app.add_subcommand("bench", "Run kernels under policies and measure them");
  constexpr int most = 1 << 30;
  bench->footer(policies_for_help);
  bench->add_option("kernels", o->kernels, "Names with commas between them")->type_name("KERNEL[,KERNEL...]");
  bench->add_flag("--list", o->list, "List the kernels with their defaults");
  bench->add_option("--size", o->size, "Elements per dimension")->type_name("N[xM[xK]]");
  bench->add_option("--block", o->block, "Elements per dimension of one block")->type_name("N[xM[xK]]");
  bench->add_option("--iterations", o->iterations, "Iterations")->transform(whole_number(1, most))->type_name("T");
  bench->add_option("--clusters", o->clusters, "Clusters (kmeans)")->transform(whole_number(1, most))->type_name("K");
  bench->add_option("--bins", o->bins, "Bins (integral-histogram)")->transform(whole_number(1, most))->type_name("B");
  bench->add_option("--policy", o->policies, "Policies, with parameters as in push-weighted:in=1,out=2; or all")->type_name("P[,P...]");
  bench->add_option("--workers", o->workers, "Workers; 0: one per CPU the process may use")
      ->transform(whole_number(0, runtime_options::most_workers))
      ->type_name("N");
  bench->add_option("--machine", o->machine,
                    "Machine to pretend: a machine that comes with weir, a machine file, or \"nodes:N cpus:K\"; "
                    "default: the host")
      ->type_name("M")
      ->envname("WEIR_MACHINE");
  bench->add_option("--control", o->control,
                    "Who creates the tasks: one task; or tasks chunk by chunk, each on its chunk's node (parallel), "
                    "wherever somebody is idle (stolen), or on nodes at random (scattered)")
      ->check(one_of({"sequential", "parallel", "stolen", "scattered"}))
      ->type_name("sequential|parallel|stolen|scattered");
  bench->add_option("--memory", o->memory,
                    "private (default): data of the runtime's, with versions; shared: arrays interleaved over the "
                    "nodes; own: arrays of the program's, which tasks name with weir::ref")
      ->check(one_of({"private", "shared", "own"}))
      ->type_name("private|shared|own");
  bench->add_flag("--shared", o->shared, "As --memory shared");
  bench->add_flag("--load-store", o->load_store,
                  "With --memory private: measure also how blocks are filled from an array interleaved over the nodes, "
                  "and results stored in another");
  bench->add_option("--init", o->init,
                    "With --memory own, who writes it first: tasks, a task a block; one thread; inside: tasks in the "
                    "measured region, which nobody waits for")
      ->check(one_of({"tasks", "one", "inside"}))
      ->type_name("tasks|one|inside");
  bench->add_flag("--annotate", o->annotate, "With --memory own: the program says on which node each task is to run");
  bench->add_flag("--movable", o->movable, "With --shared: once filled, pages may be moved by the system (numa_balancing)");
  bench->add_option("--repeat", o->repeat, "Runs per policy, of which medians are shown")
      ->transform(whole_number(1, 1000000))
      ->type_name("R");
  bench->add_option("--warm-up", o->warm_up, "Rounds before those that count")
      ->transform(whole_number(0, 1000000))
      ->capture_default_str()
      ->type_name("W");
  bench->add_option("--seed", o->seed, "Seed of made-up input")->transform(whole_number(0, UINT64_MAX))->type_name("S");
  bench->add_option("--input", o->input, "File to read instead of made-up input")->type_name("FILE");
  bench->add_option("--output", o->output, "File for the result")->type_name("FILE");
  bench->add_flag("--verify", o->verify, "Compare with the sequential program; exit status 1 if a result differs");
  bench->add_flag("--pages-check", o->pages_check, "Ask the system where every page lies that a task has written (slow)");
  bench->add_option("--trace", o->trace, "File for a trace of the run, for ui.perfetto.dev and weir trace")->type_name("FILE");
  bench->add_flag("--counters", o->counters, "Count lines from memory and instructions with the processor's counters");
  bench->add_flag("--bound", o->bound,
                  "Bytes between nodes under the policies, beside those of the whole task graph divided offline");
  bench->add_flag("--json", o->json, "One JSON object a run, one a line");
  CLI::App* overhead = add_overhead_command(*bench, status);
  CLI::App* from_main = add_main_command(*bench, status);
  CLI::App* aggregate = add_aggregate_command(*bench, status);
  std::vector<CLI::App*> others = add_memory_commands(*bench, status);
  others.insert(others.end(), {overhead, from_main, aggregate});
  for (CLI::App* own : others) own->parse_complete_callback([bench, own] { refuse_options_before(*bench, *own); });
  bench->callback([o, status, others] {
    if (std::ranges::none_of(others, &CLI::App::parsed)) *status = run_bench(*o);
  });
  return status;
}

}  // namespace weir::tools
