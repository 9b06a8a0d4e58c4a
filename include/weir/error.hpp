// Errors: every one is typed and says in a sentence which task, which access, and what was expected.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace weir {

// Base of everything weir throws.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The program asked for something that makes no sense: reading a datum that no task has written, a slice beyond
// the end, two writes of one datum in one task.
class usage_error : public error {
 public:
  using error::error;
};

// A configuration that cannot be used: unknown policy or parameter, zero workers. The message lists what is known.
class configuration_error : public error {
 public:
  using error::error;
};

// A machine description that cannot be read: file, line and key, and what was expected.
class machine_error : public error {
 public:
  using error::error;
};

// A task threw. what() carries the task's name and the message of its exception; cause() is that exception. If it came
// through the waits of outer tasks, these are the innermost task's; what() then says which tasks it came through.
class task_failed : public error {
 public:
  task_failed(const std::string& message, std::exception_ptr cause) : error(message), cause_(std::move(cause)) {}
  // The exception the task threw; rethrow it with std::rethrow_exception.
  const std::exception_ptr& cause() const noexcept { return cause_; }

 private:
  std::exception_ptr cause_;
};

// Tasks were skipped, or a loop was left early, because of what belongs to another scope: the failure of a task whose
// output they read, or the early end of the scope outside.
class task_cancelled : public error {
 public:
  using error::error;
};

// Tasks are waiting for something that can no longer happen (a stream nobody feeds). what() lists them.
class deadlock_error : public error {
 public:
  using error::error;
};

}  // namespace weir
