// Runs a test body under all schedules, or many random ones, and reports the first that fails.
#include "base/model/check.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "base/model/engine.hpp"

namespace weir::model {
namespace {

std::string text_from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 10);
  if (*end != '\0' || value == 0) {
    std::fprintf(stderr, "%s=%s: expected a positive whole number\n", name, text);
    std::exit(2);
  }
  return value;
}

// Runs until failure, the end of all runs (true) or the limit.
bool explore(engine& e, const std::function<void()>& body, bool bounded, std::uint64_t limit, result& r) {
  for (std::uint64_t n = 0; n < limit; n++) {
    if (n > 0 && !e.decisions().next_run()) return true;
    r.runs++;
    if (!e.run(body, bounded)) {
      r.passed = false;
      r.report = e.report();
      return false;
    }
  }
  return false;
}

// All runs within the bound on preemptions and, if these were few, all runs. True: all those within the bound were made.
bool explore_in_order(engine& e, const std::function<void()>& body, std::uint64_t limit, result& r) {
  e.decisions().start_exhaustive();
  if (!explore(e, body, true, limit, r)) return false;
  if (!e.was_cut() || r.runs > limit / 10) return true;
  e.decisions().start_exhaustive();
  if (explore(e, body, false, limit, r)) e.forget_cuts();
  return r.passed;
}

// The stacks of a failed run are not unwound. They are kept, for what they own would be reported as leaked.
void bury(std::unique_ptr<engine> e) {
  static auto& failed_engines = *new std::vector<std::unique_ptr<engine>>;
  failed_engines.push_back(std::move(e));
}

}  // namespace

result check(const std::function<void()>& body, const limits& l) {
  static const mutation weakened = mutation::parse(text_from_environment("WEIR_MODEL_WEAKEN"));
  static const bool wants_places = !text_from_environment("WEIR_MODEL_PLACES").empty();
  result r;
  places seen;
  auto e = std::make_unique<engine>(l, weakened.file.empty() ? nullptr : &weakened, wants_places ? &seen : nullptr);
  if (const char* path = std::getenv("WEIR_MODEL_REPLAY"); path != nullptr && *path != '\0') {
    e->decisions().start_replay(path);
    explore(*e, body, false, 1, r);
  } else {
    const std::uint64_t limit = l.runs != 0 ? l.runs : from_environment("WEIR_MODEL_RUNS", 100'000) / l.cost + 1;
    r.seed = l.seed != 0 ? l.seed : from_environment("WEIR_MODEL_SEED", (std::uint64_t{std::random_device{}()} << 1) | 1);
    r.exhausted = explore_in_order(*e, body, limit, r);
    if (r.passed && (!r.exhausted || e->was_cut())) {
      e->decisions().start_random(r.seed);
      explore(*e, body, false, limit, r);
    }
  }
  std::printf("model: %llu runs, %s, seed %llu%s\n", static_cast<unsigned long long>(r.runs),
              !r.exhausted ? "not exhaustive" : e->was_cut() ? "exhaustive up to the bound on preemptions" : "exhaustive",
              static_cast<unsigned long long>(r.seed), r.passed ? "" : ", failed");
  r.places = seen.text();
  if (!r.passed) bury(std::move(e));
  return r;
}

}  // namespace weir::model
