// What is reported of a task that throws or is skipped. A failure that comes through the waits of outer tasks says first
// what happened, then on which way it came.
#include "engine/threads/engine.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace weir::engine {
namespace {

std::string times(std::size_t n) { return n == 1 ? "" : std::to_string(n) + " times "; }

// The tasks that waited, from the inside to the outside. A recursion is deep: what repeats is counted, and of many
// different names only those at both ends are kept.
class way {
 public:
  void add(const std::string& task) {
    if (!steps_.empty() && steps_.back().task == task) {
      steps_.back().count++;
      return;
    }
    steps_.push_back({task, 1});
    if (steps_.size() <= 2 * most_at_an_end) return;
    left_out_ += steps_[most_at_an_end].count;
    steps_.erase(steps_.begin() + most_at_an_end);
  }
  std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < steps_.size(); i++) {
      if (i == most_at_an_end && left_out_ != 0) all += ", inside " + std::to_string(left_out_) + " more";
      all += ", inside " + times(steps_[i].count) + steps_[i].task;
    }
    return all;
  }

 private:
  static constexpr std::ptrdiff_t most_at_an_end = 4;
  struct step {
    std::string task;
    std::size_t count;
  };
  std::vector<step> steps_;
  std::size_t left_out_ = 0;
};

struct story {
  std::string began;  // "task x failed: why"
  std::exception_ptr cause;
  way through;

  std::string text() const { return began + through.text(); }
};

// What a wait throws, with all that is needed to tell it again further outside.
class told_failure final : public task_failed {
 public:
  explicit told_failure(story s) : task_failed(s.text(), s.cause), what_happened(std::move(s)) {}
  story what_happened;
};
class told_deadlock final : public deadlock_error {
 public:
  explicit told_deadlock(story s) : deadlock_error(s.text()), what_happened(std::move(s)) {}
  story what_happened;
};

template <class Told>
std::exception_ptr told_again(const Told& inner, const std::string& outer_task) {
  story s = inner.what_happened;
  s.through.add(outer_task);
  return std::make_exception_ptr(Told(std::move(s)));
}

// What the scope of a task is told whose body threw.
std::exception_ptr failure_of(const std::string& task, const std::exception_ptr& cause) {
  const auto begins = [&](const std::string& why) { return std::make_exception_ptr(told_failure({task + " failed: " + why, cause, {}})); };
  try {
    std::rethrow_exception(cause);
  } catch (const told_failure& e) {
    return told_again(e, task);
  } catch (const told_deadlock& e) {
    return told_again(e, task);
  } catch (const deadlock_error& e) {
    story s{e.what(), cause, {}};
    s.through.add(task);
    return std::make_exception_ptr(told_deadlock(std::move(s)));
  } catch (const std::exception& e) {
    const char* const why = e.what();
    return begins(why != nullptr ? why : "an exception whose what() is null");
  } catch (...) {
    return begins("an exception that is no std::exception");
  }
}

std::string called(const frame& f, const char* name) {
  if (name == nullptr && f.unusual == frame::of_graph) return graphs::name_of(f);
  return std::string("task ") + (name != nullptr ? name : f.display_name());
}

// There may be no memory left for words: then that is what is reported.
template <class Tell>
void note_told(scope_state& scope, Tell&& tell) noexcept {
  std::exception_ptr told;
  try {
    told = tell();
  } catch (...) {
    told = std::current_exception();
  }
  scope.note_failure(std::move(told));
}

bool is_cancellation(const std::exception_ptr& e) {
  try {
    std::rethrow_exception(e);
  } catch (const task_cancelled&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

// News if the scope itself was neither cancelled nor has failed.
void engine::record_skipped(frame* f, const char* cause) noexcept {
  scope_state& scope = scope_of(*f);
  if (scope.cancelled() || !scope.claim_failure()) return;
  note_told(scope, [&] {
    const std::string skipped = called(*f, nullptr) + " was skipped: ";
    if (cause == of_ended_scope) return std::make_exception_ptr(task_cancelled(skipped + "the scope of the task that waits for it has ended early"));
    return std::make_exception_ptr(task_cancelled(skipped + "its input should have come from task " + cause + ", which failed"));
  });
}

void engine::record_failure(frame* f, const std::exception_ptr& cause, const char* name) noexcept {
  scope_state& scope = scope_of(*f);
  const bool ended_outside = ends_early(current(), scope) && is_cancellation(cause);
  if (ended_outside && scope.cancelled()) return;  // as was asked for
  if (!scope.claim_failure()) return;
  if (scope.fails_as_a_whole) end_early(scope, scope_state::has_failed);
  note_told(scope, [&] { return ended_outside ? cause : failure_of(called(*f, name), cause); });
}

}  // namespace weir::engine
