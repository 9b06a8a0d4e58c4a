// Options and environment: what a runtime is made of.
#include "runtime/runtime.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace weir::detail {
namespace {

// More workers than this are a typing error.
constexpr int most_workers = 32767;

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
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

place::policy chosen_policy(const runtime_options& o) {
  if (!o.policy.empty()) return place::parse(o.policy);
  if (const char* text = environment("WEIR_POLICY")) return place::parse(text);
  return place::parse("local");
}

bool chosen_binding(const runtime_options& o) {
  const char* text = environment("WEIR_BIND");
  if (text == nullptr) return o.bind;
  if (std::strcmp(text, "0") != 0 && std::strcmp(text, "1") != 0) throw configuration_error(std::string("WEIR_BIND=") + text + ": expected 0 or 1");
  return o.bind && text[0] == '1';
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

std::unique_ptr<trace::recorder> chosen_recorder(const runtime_options& o) {
  if (o.trace == runtime_options::no_trace) return nullptr;
  if (!o.trace.empty()) return std::make_unique<trace::recorder>(o.trace);
  if (const char* path = environment("WEIR_TRACE")) return std::make_unique<trace::recorder>(path);
  return nullptr;
}

os::stack_size chosen_stack(const runtime_options& o) {
  constexpr std::uint64_t most_stack_bytes = std::uint64_t{1} << 40;  // more is a typing error
  const std::uint64_t least_bytes = os::least_stack_bytes();
  const auto expected = [&] { return "; expected 0 (256 MiB where addresses are plenty), or " + std::to_string(least_bytes) + " to " + std::to_string(most_stack_bytes) + " bytes"; };
  const auto possible = [&](std::uint64_t bytes) { return bytes == 0 || (bytes >= least_bytes && bytes <= most_stack_bytes); };
  if (!possible(o.stack_bytes)) throw configuration_error("runtime_options::stack_bytes is " + std::to_string(o.stack_bytes) + expected());
  std::uint64_t bytes = o.stack_bytes;
  if (const char* text = environment("WEIR_STACK_BYTES"); text != nullptr && bytes == 0) {
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), bytes);
    if (error != std::errc() || *end != '\0' || !possible(bytes)) throw configuration_error(std::string("WEIR_STACK_BYTES=") + text + expected());
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
