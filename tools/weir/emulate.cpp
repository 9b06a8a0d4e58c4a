// weir emulate: options, and the order of work. Everything is checked before anything boots.
#include "emulate.hpp"

#include "emulate_report.hpp"

#include <bench/common/output.hpp>
#include <bench/common/parser.hpp>
#include <bench/common/plural.hpp>
#include <tools/emulator/boot/elf.hpp>
#include <tools/emulator/boot/kernel.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "weir/error.hpp"

namespace weir::tools {
namespace {

namespace fs = std::filesystem;
using namespace weir::emulator;

constexpr int bad_input = 2, signal_base = 128;
// A set has 1 KiB; less than one makes no cache.
constexpr std::uint64_t least_cache_kib = 1, most_cache_kib = 1 << 20;

struct emulate_options {
  std::string machine = "opteron-64", kernel, cpuset, huge_pages = "madvise";
  layout_options shape;
  std::uint64_t cache_kib = 1024, shared_cache_kib = 0;
  int scan_ms = 0, profile_rows = 0, profile_cpu = -1;   // not given
  double shared_cache_ns = model_config().shared_cache_ns, page_fault_ns = model_config().page_fault_ns;
  double skew_us = model_config().quantum_ns / 1000;
  double timeout_s = 600, boot_timeout_s = 0;
  std::vector<std::string> files, environment, names, command;
  bool no_mbind = false, no_model = false, numa_balancing = false, roi = false, profile = false;
  bool json = false, fetch_kernel = false;
};

// "NAME=VALUE" in two; `option` and `form` are for the complaint.
std::pair<std::string, std::string> divided(const std::string& text, const char* option, const char* form) {
  const std::size_t at = text.find('=');
  if (at == 0 || at == std::string::npos) throw configuration_error(fmt::format("{} {}: expected {}", option, text, form));
  return {text.substr(0, at), text.substr(at + 1)};
}

std::map<int, std::string> region_names(const std::vector<std::string>& given) {
  std::map<int, std::string> names;
  for (const std::string& g : given) {
    const auto [number, name] = divided(g, "--name", "NUMBER=NAME");
    char* end = nullptr;
    const long n = std::strtol(number.c_str(), &end, 10);
    if (*end != '\0' || n < 0 || n >= max_regions) throw configuration_error(fmt::format("--name {}: expected a region's number from 0 to {}", g, max_regions - 1));
    names[static_cast<int>(n)] = name;
  }
  return names;
}

// The variable's value in the guest: of --env, or else of this process.
std::string library_path(const std::vector<std::string>& environment) {
  for (const std::string& e : environment)
    if (e.starts_with("LD_LIBRARY_PATH=")) return e.substr(std::strlen("LD_LIBRARY_PATH="));
  const char* own = std::getenv("LD_LIBRARY_PATH");
  return own != nullptr ? own : "";
}

job make_job(const emulate_options& o, const std::string& program) {
  job j;
  j.program = fs::absolute(program).lexically_normal();
  j.arguments = o.command;
  j.folder = fs::current_path();
  j.environment = {"PATH=/programs:/usr/local/bin:/usr/bin:/bin:/sbin", "HOME=/tmp", "LC_ALL=C.UTF-8", "TERM=dumb"};
  if (const std::string path = library_path(o.environment); !path.empty()) j.environment.push_back("LD_LIBRARY_PATH=" + path);
  for (const std::string& e : o.environment) {
    divided(e, "--env", "NAME=VALUE");
    j.environment.push_back(e);
  }
  if (!o.cpuset.empty()) {
    const std::size_t colon = o.cpuset.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == o.cpuset.size()) throw configuration_error(fmt::format("--cpuset {}: expected CPUS:NODES, such as 0-1:0", o.cpuset));
    j.cpus = o.cpuset.substr(0, colon);
    j.memory_nodes = o.cpuset.substr(colon + 1);
  }
  j.huge_pages = o.huge_pages;
  j.numa_balancing = o.numa_balancing;
  if (o.scan_ms > 0) j.scan_ms = std::to_string(o.scan_ms);
  j.refuse_memory_calls = o.no_mbind;
  j.whole_program = !o.roi && !o.no_model;
  j.profile = o.profile;
  return j;
}

archive make_archive(const emulate_options& o, const job& j, const std::string& program) {
  const std::string path = library_path(o.environment);
  archive files;
  files.add_folder(j.folder);
  files.add_program(program, j.program, path);
  for (const std::string& item : o.files) {
    const std::size_t colon = item.rfind(":/");
    const bool whole = colon == std::string::npos || fs::exists(item);
    const std::string host = whole ? item : item.substr(0, colon);
    files.add_program(host, whole ? fs::absolute(host).lexically_normal().string() : item.substr(colon + 1), path);
  }
  return files;
}

// A line on a terminal that is gone when there is something to show.
class progress {
 public:
  explicit progress(const std::string& text) : shown_(::isatty(STDERR_FILENO) != 0), width_(text.size()) {
    if (shown_) fmt::print(stderr, "{}\r", text);
  }
  ~progress() { clear(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  void clear() {
    if (shown_) fmt::print(stderr, "{:{}}\r", "", width_);
    shown_ = false;
  }

 private:
  bool shown_;
  std::size_t width_;
};

void show(std::string_view text, int descriptor) {
  while (!text.empty()) {
    const ssize_t n = ::write(descriptor, text.data(), text.size());
    if (n < 0 && errno != EINTR) throw configuration_error(fmt::format("the program's output cannot be written: {}", std::strerror(errno)));
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
}

// The exit status, and what there is to say to people about how it came.
std::pair<int, std::string> outcome(const guest_result& r, const emulate_options& o) {
  const std::string& program = o.command.front();
  const char* memory = r.out_of_memory ? "; the guest's memory had run out (--memory)" : "";
  switch (r.end) {
    case ending::exited: return {r.number, r.out_of_memory ? fmt::format("{}: a process was killed{}", program, memory) : ""};
    case ending::signalled: return {signal_base + r.number, fmt::format("{} was ended by signal {} ({}){}", program, r.number, ::strsignal(r.number), memory)};
    case ending::failed: return {bad_input, fmt::format("{} could not be started: {}", program, r.what)};
    case ending::timed_out:
      if (r.boot_seconds == 0) return {bad_input, fmt::format("the guest had not begun {} after {:g} s (--timeout): {}", program, o.timeout_s, r.what)};
      return {bad_input, fmt::format("{} had not ended after {:g} s (--timeout)", program, o.timeout_s)};
    case ending::interrupted: return {signal_base + r.number, ""};
    case ending::crashed: break;
  }
  return {bad_input, fmt::format("the guest ended before {}: {}", program, r.what)};
}

void require_combination(const emulate_options& o) {
  if (o.scan_ms > 0 && !o.numa_balancing) throw configuration_error("--numa-balancing-scan-ms needs --numa-balancing");
  if (o.profile && o.no_model) throw configuration_error("--profile needs the model, which --no-model leaves out");
  if (!o.profile && o.profile_rows > 0) throw configuration_error("--profile-rows needs --profile");
  if (!o.profile && o.profile_cpu >= 0) throw configuration_error("--profile-cpu needs --profile");
}

std::vector<int> profiled_cpus(const emulate_options& o, int cpus) {
  if (!o.profile) return {};
  if (o.profile_cpu >= cpus)
    throw configuration_error(fmt::format("--profile-cpu {}: expected a CPU from 0 to {}", o.profile_cpu, cpus - 1));
  if (o.profile_cpu >= 0) return {o.profile_cpu};
  std::vector<int> all(static_cast<std::size_t>(cpus));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

model_config make_model(const emulate_options& o, const machine::description& machine, layout& shape) {
  model_config config;
  config.cache_bytes = o.cache_kib << 10;
  config.shared_cache_bytes = o.shared_cache_kib << 10;
  config.shared_cache_ns = o.shared_cache_ns;
  config.page_fault_ns = o.page_fault_ns;
  config.quantum_ns = o.skew_us * 1000;
  config.profiled_cpus = profiled_cpus(o, shape.cpu_count());
  return make_config(machine, shape, std::move(config));
}

// Names for all code that did anything in a region.
void add_profile(emulated_run& run, const emulate_options& o, const guest& g, const equipment& tools) {
  profile_report& profile = run.profile.emplace();
  if (o.profile_rows > 0) profile.rows = static_cast<std::size_t>(o.profile_rows);
  profile.program = g.work.program;
  std::unordered_set<std::uint64_t> addresses;
  for (const region_report& r : run.result.regions)
    for (const auto& [address, counts] : r.counted.code) addresses.insert(address);
  const auto host = [&](const std::string& path) {
    return path == guest_init_path ? tools.init : g.files.host_of(path);
  };
  profile.names = function_names(addresses, run.result.code, host, tools.addr2line);
  for (const std::string& complaint : profile.names.complaints()) run.shape.notes.push_back(complaint);
}

int run_emulate(const emulate_options& o) {
  if (o.fetch_kernel) {
    fmt::print("{}\n", fetch_kernel());
    return 0;
  }
  if (o.command.empty()) throw configuration_error("emulate: expected a program after --");
  require_combination(o);
  emulated_run run;
  run.names = region_names(o.names);
  run.machine = machine::load(o.machine);
  run.shape = make_layout(run.machine, o.shape);
  const std::string program = find_program(o.command.front());
  const equipment tools = find_equipment(o.kernel, !o.no_model, o.profile);
  if (!o.no_model) run.model = make_model(o, run.machine, run.shape);
  guest g;
  g.shape = run.shape;
  g.work = make_job(o, program);
  g.files = make_archive(o, g.work, program);
  g.model = run.model;
  g.limit = std::chrono::milliseconds(static_cast<std::int64_t>(o.timeout_s * 1000));
  g.boot_limit = std::chrono::milliseconds(static_cast<std::int64_t>(o.boot_timeout_s * 1000));
  require_memory(run.shape, run.model.has_value());
  progress booting(fmt::format("weir: booting {}", bench::plural(run.shape.nodes(), "node")));
  g.started = [&] { booting.clear(); };
  g.show = [&](emulator::stream s, std::string_view text) {
    show(text, s == emulator::stream::errors || o.json ? STDERR_FILENO : STDOUT_FILENO);
  };
  run.result = run_guest(g, tools);
  booting.clear();
  if (run.result.boots > 1) fmt::print(stderr, "weir: booted {} times: the guests before had not begun {} in time (--boot-timeout)\n", run.result.boots, o.command.front());
  if (o.profile) add_profile(run, o, g, tools);
  const auto [status, message] = outcome(run.result, o);
  run.status = status;
  if (o.json) fmt::print("{}\n", emulate_json(run).dump());
  else if (run.result.end == ending::exited || !run.result.regions.empty()) fmt::print("{}", emulate_text(run));
  bench::flush_output();
  if (!message.empty()) fmt::print(stderr, "weir: {}\n", message);
  return status;
}

}  // namespace

std::shared_ptr<int> add_emulate_command(CLI::App& app, std::vector<std::string> command) {
  auto options = std::make_shared<emulate_options>();
  auto status = std::make_shared<int>(0);
  emulate_options& o = *options;
  CLI::App* emulate = app.add_subcommand("emulate", "Run a program on an emulated NUMA machine, and say where its memory accesses went");
  emulate->add_option("--machine", o.machine, "a machine that comes with weir, a file ending in .toml or .xml, or \"nodes:N cpus:K [distance:D]\"")->capture_default_str();
  emulate->add_option("--cores", o.shape.cores, "CPUs of each node that has as many")
      ->transform(bench::whole_number(1, max_cpus))
      ->capture_default_str();
  emulate->add_option("--memory", o.shape.memory_mib,
                      "MiB of each node (default: 2048 divided by the nodes, 160 to 1024)")
      ->transform(bench::whole_number(1, 1 << 20));
  emulate->add_option("--cache-kib", o.cache_kib, "cache of each CPU")
      ->transform(bench::whole_number(least_cache_kib, most_cache_kib))
      ->capture_default_str();
  emulate->add_option("--shared-cache-kib", o.shared_cache_kib, "last-level cache of each node; 0: none")
      ->transform(bench::whole_number(0, most_cache_kib))
      ->capture_default_str();
  emulate->add_option("--shared-cache-ns", o.shared_cache_ns, "latency of a line found there")
      ->check(bench::number_between(0, 1e6))
      ->capture_default_str();
  emulate->add_option("--page-fault-ns", o.page_fault_ns, "what a page fault costs beyond the lines that it reads and writes")
      ->check(bench::number_between(0, 1e9))
      ->capture_default_str();
  emulate->add_option("--skew-us", o.skew_us, "how far the CPUs' clocks may be apart")
      ->check(bench::number_between(0.1, 1000))
      ->capture_default_str();
  emulate->add_option("--file", o.files, "HOST[:/GUEST]: file or folder to copy in, with the libraries it needs")->allow_extra_args(false);
  emulate->add_option("--env", o.environment, "NAME=VALUE: environment variable for the program")->allow_extra_args(false);
  emulate->add_option("--timeout", o.timeout_s, "seconds for boot and program together; 0: no limit")
      ->check(bench::number_between(0, 1e6))
      ->capture_default_str();
  emulate->add_option("--boot-timeout", o.boot_timeout_s,
                      fmt::format("seconds after which a guest that has not begun the program is booted again, {} "
                                  "times at most (default: 60, and 3 a CPU)", most_boots - 1))
      ->check(bench::number_between(0.001, 1e6));
  emulate->add_option("--cpuset", o.cpuset, "CPUS:NODES: run the program in this cpuset, such as 0-1:0");
  emulate->add_flag("--no-mbind", o.no_mbind, "Refuse the program the system calls that place memory, as containers do");
  emulate->add_flag("--numa-balancing", o.numa_balancing, "Let the kernel move pages by itself");
  emulate->add_option("--numa-balancing-scan-ms", o.scan_ms,
                      "How often the kernel then looks at a thread's pages, by this machine's time (default: the "
                      "kernel's own choice)")
      ->transform(bench::whole_number(1, 100000));
  emulate->add_option("--huge-pages", o.huge_pages, "transparent huge pages: always, madvise, never")
      ->check(bench::one_of({"always", "madvise", "never"}))
      ->capture_default_str();
  emulate->add_flag("--roi", o.roi, "Count only in the regions that the program marks (weir/region.h)");
  emulate->add_option("--name", o.names, "NUMBER=NAME: what to call a region")->allow_extra_args(false);
  emulate->add_flag("--profile", o.profile, "Say for each region which functions of the program its lines came to");
  emulate->add_option("--profile-rows", o.profile_rows,
                      fmt::format("how many functions the table for people has (default: {})", profile_report().rows))
      ->transform(bench::whole_number(1, 1 << 20));
  emulate->add_option("--profile-cpu", o.profile_cpu, "the only CPU to look at (default: all)")
      ->transform(bench::whole_number(0, max_cpus - 1));
  emulate->add_flag("--no-model", o.no_model, "Only run the program: nothing is counted, and it is several times as fast");
  emulate->add_option("--kernel", o.kernel, "Linux kernel to boot (default: the one that was fetched)");
  emulate->add_flag("--fetch-kernel", o.fetch_kernel, "Only fetch Debian's kernel, through apt");
  emulate->add_flag("--json", o.json, "Print one JSON object; the program's output goes to standard error");
  emulate->footer("The program and its arguments follow after --");
  o.command = std::move(command);
  emulate->callback([options, status] { *status = run_emulate(*options); });
  return status;
}

}  // namespace weir::tools
