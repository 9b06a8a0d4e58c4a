// Options and environment: what a runtime is made of.
#include "runtime/runtime.hpp"

#include <weir/detail/nearest.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <unistd.h>

namespace weir::detail {
namespace {

constexpr int most_workers = runtime_options::most_workers;
static_assert(most_workers < 1 << 15);  // loop_shape::part_begin() divides exactly, up to 2^16

// What the environment says where the options leave something open. README.md lists them.
constexpr std::string_view variables[] = {"WEIR_WORKERS", "WEIR_POLICY", "WEIR_BIND",   "WEIR_SPIN",
                                          "WEIR_TRACE",   "WEIR_STATS",  "WEIR_MACHINE", "WEIR_STACK_BYTES",
                                          "WEIR_TUNING"};

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

bool boolean(const char* name, bool otherwise) {
  const char* text = environment(name);
  if (text == nullptr) return otherwise;
  if (std::strcmp(text, "0") != 0 && std::strcmp(text, "1") != 0)
    throw configuration_error(std::string(name) + "=" + text + ": expected 0 or 1");
  return text[0] == '1';
}

int wanted_workers(const runtime_options& o) {
  if (o.workers < 0 || o.workers > most_workers)
    throw configuration_error("runtime_options::workers is " + std::to_string(o.workers) + "; expected 0 (one per CPU) to " + std::to_string(most_workers));
  if (o.workers > 0) return o.workers;
  const char* text = environment("WEIR_WORKERS");
  if (text == nullptr) return 0;
  int n = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), n);
  if (error != std::errc() || *end != '\0' || n < 0 || n > most_workers)
    throw configuration_error(std::string("WEIR_WORKERS=") + text + ": expected 0 (one per CPU) to " + std::to_string(most_workers));
  return n;
}

}  // namespace

place::chosen chosen_policy(const runtime_options& o) {
  if (!o.policy.empty()) return place::parse(o.policy);
  if (const char* text = environment("WEIR_POLICY")) return place::parse(text);
  return place::parse("auto");
}

bool chosen_binding(const runtime_options& o) {
  const bool wanted = boolean("WEIR_BIND", true);
  return o.bind && wanted;
}

bool chosen_statistics() { return boolean("WEIR_STATS", false); }

machine::description chosen_machine(const runtime_options& o) {
  const char* text = o.machine.empty() ? environment("WEIR_MACHINE") : nullptr;
  if (text == nullptr) return machine::load(o.machine);
  try {
    return machine::load(text);
  } catch (const machine_error& e) {
    throw machine_error(std::string("WEIR_MACHINE: ") + e.what());
  }
}

// A program may have variables of its own that begin with WEIR_, so only what is nearly one of weir's is spoken of.
std::string misspelt_variable(std::string_view variable) {
  constexpr std::string_view prefix = "WEIR_";
  const std::string_view name = variable.substr(0, variable.find('='));
  if (!name.starts_with(prefix) || std::ranges::find(variables, name) != std::end(variables)) return "";
  std::vector<std::string_view> known;
  for (const std::string_view v : variables) known.push_back(v.substr(prefix.size()));
  const std::string near = nearest(name.substr(prefix.size()), known);
  if (near.empty()) return "";
  return "the environment variable " + std::string(name) + " means nothing to weir; did you mean " +
         std::string(prefix) + near + "?";
}

void say_misspelt_variables() {
  static const bool said = [] {
    for (char** variable = environ; variable != nullptr && *variable != nullptr; variable++)
      if (const std::string sentence = misspelt_variable(*variable); !sentence.empty())
        std::fprintf(stderr, "weir: %s\n", sentence.c_str());
    return true;
  }();
  static_cast<void>(said);
}

// Spinning workers take time from each other where there are more of them than CPUs, or where time is limited.
std::uint64_t chosen_spin_ns(const runtime_options& o, const machine::description& m, std::size_t workers) {
  constexpr std::uint64_t usual_us = 2000, most_us = 3'600'000'000;
  std::int64_t us = o.spin;
  if (const char* text = environment("WEIR_SPIN"); text != nullptr && us < 0) {
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), us);
    if (error != std::errc() || *end != '\0' || us < 0) throw configuration_error(std::string("WEIR_SPIN=") + text + ": expected microseconds, 0 and up");
  }
  if (us >= 0) return std::min<std::uint64_t>(static_cast<std::uint64_t>(us), most_us) * 1000;
  const std::size_t cpus = m.is_host ? m.cpus.size() : std::thread::hardware_concurrency();
  return m.cpu_quota > 0 || workers > cpus ? 0 : usual_us * 1000;
}

namespace {

// "name=value": sets it. What it says otherwise: what is wrong.
std::string set_number(sched::tuning& t, std::string_view assignment) {
  const std::size_t equals = std::min(assignment.find('='), assignment.size());
  const std::string_view name = assignment.substr(0, equals),
                         text = assignment.substr(std::min(equals + 1, assignment.size()));
  std::string known;
  for (const auto& f : sched::tuning::fields()) {
    known += (known.empty() ? "" : ", ") + std::string(f.name);
    if (f.name != name) continue;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool fits = error == std::errc() && end == text.data() + text.size() && value >= f.least && value <= f.most;
    if (fits) t.*f.value = value;
    return fits ? ""
                : "expected " + std::string(f.name) + " from " + std::to_string(f.least) + " to " +
                      std::to_string(f.most);
  }
  return "expected name=value with one of " + known;
}

}  // namespace

sched::tuning chosen_tuning() {
  sched::tuning t;
  const char* const all = environment("WEIR_TUNING");
  for (std::string_view rest = all != nullptr ? all : ""; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (const std::string wrong = set_number(t, rest.substr(0, comma)); !wrong.empty())
      throw configuration_error(std::string("WEIR_TUNING=") + all + ": " + wrong);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return t;
}

std::unique_ptr<trace::recorder> chosen_recorder(const runtime_options& o) {
  if (o.trace == runtime_options::no_trace) return nullptr;
  if (!o.trace.empty()) return std::make_unique<trace::recorder>(o.trace);
  if (const char* path = environment("WEIR_TRACE")) return std::make_unique<trace::recorder>(path);
  return nullptr;
}

os::stack_size chosen_stack(const runtime_options& o) {
  constexpr std::uint64_t most_stack_bytes = std::uint64_t{1} << 40;  // more is a typing error
  const std::uint64_t least_bytes = os::least_stack_bytes();
  const auto expected = [&] {
    return "; expected 0 (256 MiB where addresses are plenty), or " + std::to_string(least_bytes) + " to " +
           std::to_string(most_stack_bytes) + " bytes";
  };
  const auto possible = [&](std::uint64_t bytes) {
    return bytes == 0 || (bytes >= least_bytes && bytes <= most_stack_bytes);
  };
  if (!possible(o.stack_bytes))
    throw configuration_error("runtime_options::stack_bytes is " + std::to_string(o.stack_bytes) + expected());
  std::uint64_t bytes = o.stack_bytes;
  if (const char* text = environment("WEIR_STACK_BYTES"); text != nullptr && bytes == 0) {
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), bytes);
    if (error != std::errc() || *end != '\0' || !possible(bytes))
      throw configuration_error(std::string("WEIR_STACK_BYTES=") + text + expected());
  }
  return bytes == 0 ? os::usual_stack() : os::stack_size{bytes, bytes};
}

int chosen_workers(const runtime_options& o, const machine::description& m) {
  const int workers = wanted_workers(o);
  return workers != 0 ? workers : std::min(machine::default_worker_count(m), most_workers);
}

machine::cpu_claim claim_cpus(const runtime_options& o, const machine::description& m) {
  return machine::cpu_claim(m, chosen_workers(o, m), m.is_host && chosen_binding(o));
}

}  // namespace weir::detail
